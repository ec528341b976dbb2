// The journal: everything that it has is found, also behind thousands of other requests.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { afterEach, test } from "node:test";
import { open } from "./page.js";
import { serve } from "./server.js";
import { suite } from "./suite.js";

const s = suite();
const { visit } = s;
afterEach(async () => {
  await s.server.call("POST", "/_mock/worlds/home/reset", {});
  await s.server.call("DELETE", "/_mock/faults");
});

/** good sends so many requests that succeed. */
async function good(count) {
  for (let sent = 0; sent < count; sent += 50) {
    await Promise.all(Array.from({ length: Math.min(50, count - sent) }, () => s.server.call("GET", "/v1/rates?perPage=1")));
  }
}

// The filters search the whole journal, not only the latest 300 requests.
test("a refused request behind 5,000 good ones is found, with its reason and the correct request", async (t) => {
  const { id } = await s.server.call("POST", "/v1/webhooks/replay", { shipment_id: s.server.shipments[0] });
  await good(5000);
  const began = Date.now();
  const page = await visit();
  await page.locator(".row").first().waitFor();
  await page.getByRole("button", { name: "Refused" }).click();
  await page.getByText("1 match", { exact: true }).waitFor();
  await page.locator(".row").click();
  const detail = page.locator(".detail");
  await detail.getByText("delivery_id, or shipment_id together with event").first().waitFor();
  await detail.getByText("The nearest request that this world accepts").waitFor();
  await detail.locator(".nearest .body").getByText('"event"').waitFor();
  const seconds = (Date.now() - began) / 1000;
  await page.reload();
  await detail.getByText("delivery_id, or shipment_id together with event").first().waitFor();
  assert.match(page.url(), new RegExp(`#/journal/${id}\\?outcome=refused`));
  await page.locator(".row").waitFor();
  await detail.getByRole("button", { name: "Send the valid request" }).click();
  await page.getByText("Sent: 200").waitFor();
  t.diagnostic(`the reason and the correct request were on the page after ${seconds.toFixed(1)} s`);
});

test("filters are of the whole journal, and in the address", async () => {
  await s.server.call("POST", "/_mock/faults", { rules: [{ operation: "countries.list", first: 1, fault: { kind: "drop" } }] });
  await s.server.call("GET", "/v1/countries").catch(() => {}); // req-1
  await s.server.call("GET", "/v1/transactions"); // req-2
  await s.server.call("POST", "/v1/regulatory-documents/analyze", { shipment_id: s.server.shipments[0] }); // req-3
  await good(400);
  const page = await visit();
  const only = async (id) => {
    await page.locator(`.row[href*="/${id}?"]`).waitFor();
    await page.getByText("1 match", { exact: true }).waitFor();
  };
  for (const [label, value, id, hash] of [
    ["Any method", "POST", "req-3", "method=POST"],
    ["Any operation", "transactions.list", "req-2", "operation=transactions.list"],
    ["Any status", "4xx", "req-2", "status=4xx"],
    ["Any fault", "drop", "req-1", "fault=drop"],
  ]) {
    await page.getByLabel(label).selectOption(value);
    await only(id);
    assert.ok(page.url().includes(hash), page.url());
    await page.reload();
    await only(id);
    assert.equal(await page.getByLabel(label).inputValue(), value);
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByText("latest 200 of 403").waitFor();
  }
  await page.getByLabel("Search requests").fill(s.server.shipments[0]);
  await only("req-3");
  await page.getByLabel("Search requests").fill("wallet is required");
  await only("req-2");
  await page.getByLabel("Search requests").fill("req-1");
  await only("req-1");
  await page.getByLabel("Search requests").fill("");
  await page.getByRole("button", { name: "Faulted" }).click();
  await only("req-1");
});

test("older requests are loaded as they come into view", async () => {
  await s.server.call("GET", "/v1/countries");
  await good(900);
  const page = await visit();
  await page.getByText("latest 200 of 901").waitFor();
  const oldest = page.locator('.row[href*="/req-1"]', { hasText: "countries" });
  while (!(await oldest.isVisible())) {
    await page.locator(".scroll").evaluate((node) => { node.scrollTop = node.scrollHeight; });
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  assert.ok(await page.locator(".row").count() < 80);
  await oldest.click();
  await page.locator(".detail h2", { hasText: "/v1/countries" }).waitFor();
});

for (const width of [1280, 390]) test(`rows that somebody reads stay in place while requests arrive, ${width} pixels wide`, async () => {
  await good(100);
  const page = await visit("", { viewport: { width, height: 800 } });
  await page.locator(".row").nth(5).hover();
  await page.evaluate(() => {
    globalThis.shifts = [];
    new PerformanceObserver((all) => globalThis.shifts.push(...all.getEntries().map((one) => one.value))).observe({ type: "layout-shift" });
  });
  const places = () => page.evaluate(() => [...document.querySelectorAll(".bar h1, .tools > *, .heads, .row[href*='/req-95?'], .row[href$='/req-95']")]
    .filter((node) => node.checkVisibility() && !node.matches(".newer"))
    .map((node) => [node.textContent?.slice(0, 20), Math.round(node.getBoundingClientRect().x), Math.round(node.getBoundingClientRect().y)]));
  const before = await places();
  assert.ok(before.length > 5, `${before}`);
  await good(150);
  await page.getByRole("button", { name: "150 new" }).waitFor();
  assert.deepEqual(await places(), before);
  assert.deepEqual(await page.evaluate(() => globalThis.shifts), []);
  await page.getByRole("button", { name: "150 new" }).click();
  await page.locator('.row[href$="/req-250"]').waitFor();
  await page.getByRole("button", { name: "150 new" }).waitFor({ state: "hidden" });
});

test("two requests are shown side by side, with their differences", async () => {
  await s.server.call("POST", "/v1/webhooks/replay", { shipment_id: s.server.shipments[0], event: "shipment.created" });
  await s.server.call("POST", "/v1/webhooks/replay", { shipment_id: s.server.shipments[0] });
  const page = await visit("#/journal/req-2");
  await page.locator(".row").nth(1).waitFor();
  const picker = page.getByLabel("Compare with");
  await picker.focus();
  await picker.selectOption("req-1");
  await page.waitForURL(/req-2\?with=req-1/);
  await page.locator(".compared .differs", { hasText: "Status" }).waitFor();
  assert.equal(await page.locator(".compared tr:not(.differs)", { hasText: "Operation" }).count(), 1);
  await page.locator(".lines .differs", { hasText: '"event": "shipment.created"' }).first().waitFor();
  await page.reload();
  await page.locator(".lines .differs", { hasText: '"event": "shipment.created"' }).first().waitFor();
  await page.keyboard.press("Escape");
  await page.waitForURL(/req-2$/);
  await page.locator(".detail").getByText("delivery_id, or").first().waitFor();
});

test("what is filtered is exported as JSON lines, HAR and curl", async () => {
  await s.server.call("GET", "/v1/countries");
  await s.server.call("GET", "/v1/transactions");
  const page = await visit("#/journal?outcome=refused");
  await page.getByText("1 match", { exact: true }).waitFor();
  const exported = async (name) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name }).click()]);
    return [download.suggestedFilename(), await readFile(await download.path(), "utf8")];
  };
  const [lines, text] = await exported("JSON lines");
  assert.equal(lines, "journal.jsonl");
  assert.deepEqual(text.trim().split("\n").map((line) => JSON.parse(line).request_id), ["req-2"]);
  const [archive, har] = await exported("HAR");
  assert.equal(archive, "journal.har");
  assert.equal(JSON.parse(har).log.entries[0].request.url, s.server.url + "/v1/transactions");
  const [script, curl] = await exported("curl");
  assert.equal(script, "journal.sh");
  assert.match(curl, /^curl -i -H "Authorization: Bearer \$SHIPPING_SECRET_KEY" .*\/v1\/transactions\n$/);
});

test("the next request that matches is opened when it arrives", async () => {
  const page = await visit("#/journal?operation=countries.list");
  await page.getByRole("button", { name: "Wait for the next" }).click();
  const waiting = page.getByRole("button", { name: "Stop waiting" });
  await waiting.waitFor();
  await s.server.call("GET", "/v1/rates?perPage=1");
  await s.server.call("GET", "/v1/countries");
  await page.locator(".detail h2", { hasText: "/v1/countries" }).waitFor();
  await page.keyboard.press("n");
  await waiting.click();
  await page.getByRole("button", { name: "Wait for the next" }).waitFor();
});

test("a notice covers nothing", async () => {
  await good(50);
  for (const width of [1280, 390]) {
    const page = await visit("", { viewport: { width, height: 780 } });
    await page.locator(".row").first().waitFor();
    await page.keyboard.press("t");
    await page.keyboard.press("t");
    const overlaps = await page.evaluate(() => {
      const boxes = [...document.querySelectorAll("header, nav, main, #notices")].map((node) => node.getBoundingClientRect());
      return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1));
    });
    assert.equal(await page.locator(".notice").count(), 2);
    assert.deepEqual(overlaps, []);
    if (width === 1280) await s.tab.context.close();
  }
});

test("the findings of lint stand beside the request, also a refused one that is sent from the console", async () => {
  const page = await visit("#/requests");
  await page.getByLabel("Operation").selectOption("");
  await page.getByLabel("Path and query").fill("/v1/transactions?colour=red");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const detail = page.locator(".detail");
  await detail.locator(".reason").getByText("wallet is required").first().waitFor();
  await detail.getByText("unknown-parameter").waitFor();
  await detail.getByText("the specification does not list this query parameter").waitFor();
});

test("an entry that the journal has dropped is reported as dropped", async () => {
  const server = await serve();
  const { page, context } = await open(s.browser, server, "#/journal");
  try {
    for (let sent = 0; sent < 1025; sent++) await server.call("GET", "/v1/rates?perPage=1");
    await page.goto(`${server.url}/_mock/#/journal/req-1`);
    await page.locator(".detail").getByText('the journal has dropped the request "req-1": it keeps the latest 1024').waitFor();
  } finally {
    await context.close();
    await server.stop();
  }
});

test("a search matches the status and the error code, and an empty one names the other filters", async () => {
  await s.server.call("GET", "/v1/transactions"); // req-1
  await good(3);
  const page = await visit();
  for (const text of ["400", "invalid_request", "transactions.list"]) {
    await page.getByLabel("Search requests").fill(text);
    await page.getByText("1 match", { exact: true }).waitFor();
    await page.locator('.row[href*="/req-1?"]').waitFor();
  }
  await page.getByLabel("Any method").selectOption("POST");
  await page.getByText("No request matches “transactions.list”. The search covers operations, paths").waitFor();
  await page.getByText("Other filters: any outcome, method POST, any operation, any status").waitFor();
});

test("a misspelt field is named, and the valid request is copied, edited and sent apart from the refused one", async () => {
  await s.server.call("POST", "/v1/regulatory-documents/analyze", { shipmentId: "SH-1" });
  const page = await visit("#/journal/req-1?outcome=refused");
  const reason = page.locator(".detail .reason");
  await reason.getByText('unknown field "shipmentId": did you mean "shipment_id"?', { exact: true }).waitFor();
  await reason.getByText("SH-1 is not a shipment of this world").waitFor();
  const valid = page.getByRole("group", { name: "The valid request" });
  await valid.getByRole("button", { name: "Copy the valid request as curl" }).click();
  await page.getByText("curl command copied: it needs the environment variable SHIPPING_SECRET_KEY").waitFor();
  const one = page.getByRole("group", { name: "This request" });
  await one.getByRole("link", { name: "Edit and send" }).click();
  const text = page.getByLabel("Body, JSON");
  await page.waitForFunction(() => [...document.querySelectorAll("textarea")].some((node) => node.value.includes("shipmentId")));
  await page.goBack();
  await valid.getByRole("link", { name: "Edit and send the valid request" }).click();
  await page.waitForFunction(() => [...document.querySelectorAll("textarea")].some((node) => node.value.includes("shipment_id")));
  assert.ok(s.server.shipments.includes(JSON.parse(await text.inputValue()).shipment_id));
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.locator(".detail h2", { hasText: "200" }).waitFor();
});

test("the link of a key keeps the other filters", async () => {
  await s.server.call("GET", "/v1/transactions"); // req-1
  await good(1);
  const page = await visit("#/journal/req-1?outcome=refused&q=wallet");
  await page.locator(".detail").getByText("a fingerprint of the key, not its end").waitFor();
  await page.getByTitle("Requests with this key").click();
  await page.waitForURL(/key=sk_test/);
  assert.match(page.url(), /outcome=refused/);
  assert.match(page.url(), /q=wallet/);
});

for (const colorScheme of ["light", "dark"]) test(`true and false do not have the colour of an error, ${colorScheme}`, async () => {
  await s.server.call("GET", "/v1/countries?perPage=1");
  const page = await visit("#/journal/req-1", { colorScheme });
  const word = page.locator(".detail .j-word").first();
  await word.waitFor();
  const [red, green, blue] = (await word.evaluate((node) => getComputedStyle(node).color)).match(/\d+/g).map(Number);
  assert.ok(Math.max(red, green, blue) - Math.min(red, green, blue) < 32, `${red} ${green} ${blue}`);
});

test("buttons are at least 32 pixels high on a touch screen", async () => {
  await s.server.call("GET", "/v1/transactions");
  const page = await visit("", { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true });
  const low = () => page.evaluate(() => [...document.querySelectorAll("main :is(button, .button, select, summary, input)")]
    .filter((node) => node.checkVisibility() && node.getBoundingClientRect().height < 32).map((node) => `${node.textContent} ${node.getBoundingClientRect().height}`));
  await page.locator(".row").first().waitFor();
  await page.getByText("Filters and export").click();
  await page.getByLabel("Any method").waitFor();
  assert.deepEqual(await low(), []);
  await page.locator(".row").first().click();
  await page.getByRole("group", { name: "The valid request" }).waitFor();
  assert.deepEqual(await low(), []);
});
