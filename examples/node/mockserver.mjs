// The reference server for tests: a server, and a world (an isolated account) for each test.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";

// The server at SHIPPING_BASE_URL, or, if that is not set, one that is started here on a free port. A server that was
// started here stops on close(), and when this process ends without it.
//
// MOCKSERVER is the command, if it is not on the PATH. MOCKSERVER_TOKEN is needed for a server on another machine,
// behind a proxy, or with a token of its own.
export class Server {
  static async start() {
    const server = new Server();
    server.url = (process.env.SHIPPING_BASE_URL ?? "").replace(/\/+$/, "");
    server.token = process.env.MOCKSERVER_TOKEN ?? "";
    if (server.url) return server;
    const command = process.env.MOCKSERVER || "mockserver";
    server.process = spawn(command, ["serve", "-addr", "127.0.0.1:0", "-json", "-stdin"], { stdio: ["pipe", "pipe", "inherit"] });
    server.exited = once(server.process, "exit"); // rejects if there is no such command
    // The line is written once the server accepts connections.
    const line = once(createInterface({ input: server.process.stdout }), "line").then(([text]) => text);
    const text = await Promise.race([line, server.exited.then(() => "")]).catch((error) => {
      throw new Error(`cannot start ${command}: ${error.code}; install it, or set MOCKSERVER to its path`);
    });
    if (!text) throw new Error(`${command} did not start: its exit code is ${server.process.exitCode}`);
    // Neither the server nor its pipes keep this process alive. At its end the pipes are closed, and the server stops.
    for (const handle of [server.process, server.process.stdin, server.process.stdout]) handle.unref();
    const { url, token } = JSON.parse(text);
    Object.assign(server, { url, token: token || server.token });
    return server;
  }

  // Stops the server if it was started here.
  async close() {
    if (!this.process) return;
    this.process.ref();
    this.process.stdin.end();
    await this.exited;
  }

  // Calls a route under /_mock/ and returns its data. GET /_mock/ lists the routes.
  async control(method, path, body, query = {}) {
    const headers = {};
    if (body) headers["content-type"] = "application/json";
    if (this.token) headers["x-mock-token"] = this.token;
    const response = await fetch(`${this.url}/_mock/${path}?${new URLSearchParams(query)}`, {
      method,
      headers,
      body: body && JSON.stringify(body),
    }).catch((error) => {
      throw new Error(`${method} /_mock/${path}: no mockserver responds on ${this.url} (SHIPPING_BASE_URL): ${error.cause?.code ?? error.message}`);
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} /_mock/${path}: ${response.status}: ${text}`);
    return JSON.parse(text).data;
  }
}

// An account with wallets, shipments, webhooks, faults and a clock that no other test touches.
//
// The scenario virtual stands for a clock that moves by advance only; GET /_mock/ lists the others.
export class World {
  static async open(server, scenario = "virtual") {
    const world = new World();
    world.server = server;
    const opened = await server.control("POST", "worlds", { scenario, name: randomUUID() });
    world.name = opened.name;
    world.key = opened.secret_key; // for the client; control routes take ?world=NAME
    world.wallets = opened.wallets;
    world.shipments = opened.shipments;
    return world;
  }

  // Calls a GET route under /_mock/ for this world.
  get(path, query = {}) {
    return this.server.control("GET", path, undefined, { ...query, world: this.name });
  }

  // Calls a POST route under /_mock/ for this world.
  post(path, body) {
    return this.server.control("POST", path, body, { world: this.name });
  }

  // Calls a PATCH route under /_mock/ for this world.
  patch(path, body) {
    return this.server.control("PATCH", path, body, { world: this.name });
  }

  // Adds a fault rule. GET /_mock/faults lists operations and kinds of faults.
  inject(operation, fault, rule = {}) {
    return this.post("faults", { rules: [{ operation, fault, ...rule }] });
  }

  // Moves the clock by a duration such as 90s, or by a number of seconds.
  advance(duration) {
    return this.post("clock/advance", { duration: typeof duration === "number" ? `${duration}s` : duration });
  }

  // Returns the journal entry of the first request of an operation, as soon as it has arrived.
  async waitFor(operation, timeout = "30s") {
    return (await this.get("journal", { operation, wait: timeout }))[0];
  }

  // Returns the journal entries of an operation, oldest first.
  journal(operation) {
    return this.get("journal", { operation });
  }

  // Returns the ledger entries of purchases, newest first, and fails if the books do not add up.
  async purchases() {
    const books = await this.get("ledger", { perPage: 1000 });
    if (books.problems) throw new Error(books.problems);
    return books.entries.filter((entry) => entry.memo.startsWith("Regulatory documents"));
  }

  // Fails if a careful client would not have sent a request, or if documents were bought twice.
  async lint(...allowed) {
    const findings = (await this.get("journal", { as: "findings" })).filter((finding) => !allowed.includes(finding.rule));
    if (findings.length > 0) throw new Error(findings.map((f) => `${f.rule} (${f.detail}): ${f.advice}`).join("\n"));
  }

  // Returns what a wallet holds.
  async balance(wallet) {
    const books = await this.get("ledger", { perPage: 1 });
    const found = books.wallets.find((one) => one.reference === wallet);
    if (!found) throw new Error(`no wallet ${wallet}: the world has ${books.wallets.map((one) => one.reference).join(", ")}`);
    return found.balance;
  }

  // Removes the world.
  close() {
    return this.server.control("DELETE", `worlds/${this.name}`);
  }
}
