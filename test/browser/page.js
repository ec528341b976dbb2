// A real browser, which reports everything that a page must not do.

import { createRequire } from "node:module";
import { mkdirSync, readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const shots = new URL("./shots/", import.meta.url).pathname;
mkdirSync(shots, { recursive: true });
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export async function browse() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
  });
}

/** open opens the console. What it does wrong is gathered in wrong: errors, refused loads, other hosts. */
export async function open(browser, server, hash = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) wrong.push(message.text()); });
  page.on("dialog", (dialog) => dialog.accept()); // closing and resetting ask first
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("request", (request) => { if (request.url().startsWith("http") && new URL(request.url()).origin !== server.url) wrong.push("asked " + request.url()); });
  await page.addInitScript(() => addEventListener("securitypolicyviolation", (event) => console.error("policy: " + event.violatedDirective)));
  await page.goto(server.url + "/_mock/" + hash);
  await page.locator(".live[data-state=live]").waitFor({ state: "attached" });
  return { page, wrong, context };
}

export async function shot(page, name) {
  await page.screenshot({ path: shots + name + ".png" });
}

/** complaints are the violations that axe finds. Its script is injected by the debugger, which no policy binds. */
export async function complaints(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return violations.map((one) => `${one.id}: ${one.nodes.slice(0, 4).map((node) => node.html.slice(0, 160) + " " + node.failureSummary).join(" | ")}`);
}

/** tooWide returns the elements whose content is wider than their place. */
export function tooWide(page) {
  return page.evaluate(() => [...document.querySelectorAll("main *")].filter((node) => node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).overflowX === "visible" && node.clientWidth > 0)
    .map((node) => `${node.tagName}.${node.className} ${node.scrollWidth} > ${node.clientWidth}`).slice(0, 3));
}
