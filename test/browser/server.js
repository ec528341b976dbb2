// The reference server under test, started as a user starts it, and calls to it from outside the page.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** serve starts the command whose path MOCKSERVER holds, on a free port. */
export async function serve(...args) {
  const command = process.env.MOCKSERVER;
  if (!command) throw new Error("set MOCKSERVER to the built command, or use run.sh");
  const child = spawn(command, ["serve", "-json", "-addr", "127.0.0.1:0", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const about = JSON.parse(line);
  const call = async (method, path, data, key = about.secret_key) => {
    const response = await fetch(about.url + path, {
      method, headers: { Authorization: `Bearer ${key}`, ...(data !== undefined && { "Content-Type": "application/json" }) },
      body: data === undefined ? undefined : JSON.stringify(data),
    });
    const text = await response.text();
    return { status: response.status, id: response.headers.get("X-Request-Id"), data: text.startsWith("{") ? JSON.parse(text).data : text };
  };
  return {
    ...about, call,
    async stop() {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}
