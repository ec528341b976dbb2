// Prints how the journal behaves with 1,000 requests: frames while it is scrolled to the end and back, and while requests
// arrive. Figures depend on the machine; nothing is asserted.
//
//   MOCKSERVER=path/to/mockserver node measure.js

import { browse, open } from "./page.js";
import { serve } from "./server.js";

const total = 1_000;
const server = await serve();
const browser = await browse();
let session;
try {
  await send(total);
  const began = performance.now();
  const { page } = await open(browser, server, "");
  await page.locator(".row").first().waitFor();
  console.log(`first row                  ${Math.round(performance.now() - began)} ms`);
  await page.evaluate(() => {
    globalThis.shifts = 0;
    new PerformanceObserver((all) => { for (const one of all.getEntries()) globalThis.shifts += one.value; }).observe({ type: "layout-shift" });
  });
  session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  await print("scroll, rows being loaded", () => page.evaluate(scroll, 1));
  await print("scroll back", () => page.evaluate(scroll, -1));
  await print("scroll again, all loaded", () => page.evaluate(scroll, 1));
  await page.locator(".scroll").hover();
  await print("1,000 requests arrive", async () => {
    const frames = page.evaluate(watch, 5000);
    await send(1000);
    return frames;
  });
  await page.evaluate(() => new Promise((done) => { requestIdleCallback(done); }));
  const { rows, loaded } = await page.evaluate(() => ({ rows: document.querySelectorAll(".row").length, loaded: document.querySelector(".row")?.parentElement?.getAttribute("aria-setsize") }));
  const heap = await page.evaluate(() => Math.round(performance.memory.usedJSHeapSize / 1e6));
  console.log(`rows loaded ${loaded}, elements ${rows}, heap ${heap} MB, layout shift ${await page.evaluate(() => globalThis.shifts)}`);
} finally {
  await browser.close();
  await server.stop();
}

/** @param {number} count */
async function send(count) {
  for (let sent = 0; sent < count; sent += 50) await Promise.all(Array.from({ length: 50 }, () => server.call("GET", "/v1/rates?perPage=1")));
}

/**
 * print writes the median, the 95th percentile and the longest of the times between frames, and what the page did in
 * each, in milliseconds.
 */
async function print(name, measured) {
  const before = await cost(session);
  const { times, seconds } = await measured();
  const after = await cost(session);
  const each = (i) => (((after[i] - before[i]) * 1000) / times.length).toFixed(2);
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))].toFixed(1);
  console.log(`${name.padEnd(26)} ${sorted.length} frames in ${seconds.toFixed(1)} s: median ${at(0.5)}, p95 ${at(0.95)}, longest ${at(1)} ms; script ${each(0)}, layout ${each(1)} ms a frame`);
}

/** cost is how long the page has run scripts and laid out, in seconds. */
async function cost(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  const value = (name) => metrics.find((one) => one.name === name).value;
  return [value("ScriptDuration"), value("LayoutDuration") + value("RecalcStyleDuration")];
}

/** scroll moves by 10 rows a frame to the end (1) or to the start (-1), in the page. */
async function scroll(direction) {
  const node = document.querySelector(".scroll");
  const times = [];
  const began = performance.now();
  let last = await new Promise(requestAnimationFrame);
  for (let resting = 0; resting < 20;) {
    const before = node.scrollTop;
    node.scrollTop += direction * 320;
    const now = await new Promise(requestAnimationFrame);
    times.push(now - last);
    last = now;
    resting = node.scrollTop === before ? resting + 1 : 0;
  }
  return { times, seconds: (performance.now() - began) / 1000 };
}

/** watch records frames for a time, in the page. */
async function watch(duration) {
  const times = [];
  const began = performance.now();
  let last = await new Promise(requestAnimationFrame);
  while (last - began < duration) {
    const now = await new Promise(requestAnimationFrame);
    times.push(now - last);
    last = now;
  }
  return { times, seconds: duration / 1000 };
}
