// Each section does its job against the running server.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { after, afterEach, before, test } from "node:test";
import { browse, open, shot } from "./page.js";
import { serve } from "./server.js";

let server;
let browser;
let tab;

before(async () => {
  server = await serve("-clock", "virtual");
  browser = await browse();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});
afterEach(async () => {
  const wrong = tab?.wrong ?? [];
  await tab?.context.close();
  tab = undefined;
  assert.deepEqual(wrong, [], "forbidden actions of the page");
});

const visit = async (hash, options) => (tab = await open(browser, server, hash, options)).page;
const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());

test("no requests yet: the page shows the line to try, without the key", async () => {
  const page = await visit();
  await page.getByText("No requests yet").waitFor();
  const line = await page.locator(".command").innerText();
  assert.match(line, /\$SHIPPING_SECRET_KEY/);
  assert.match(line, /\$SHIPPING_BASE_URL/);
  await shot(page, "requests-empty");
});

test("a request appears without a reload, with its bodies and the reason of its refusal", async () => {
  const page = await visit();
  const { id } = await server.call("POST", "/v1/webhooks/replay", { event: "shipment.created" });
  const row = page.locator(`.row[href*="${id}"]`);
  await row.waitFor();
  assert.match(await row.innerText(), /400[\s\S]*POST \/v1\/webhooks\/replay/);
  await row.click();
  const detail = page.locator(".detail");
  await detail.getByText("delivery_id, or shipment_id together with event").first().waitFor();
  await detail.getByText("POST /v1/webhooks/replay, Rules").waitFor();
  await detail.locator(".body").first().getByText('"shipment.created"').waitFor();
  await shot(page, "request-refused");

  await detail.getByRole("button", { name: "Copy as curl", exact: true }).click();
  await page.getByText("curl command copied").waitFor();
  assert.match(await clipboard(page), /^curl -i -X POST .*\$SHIPPING_SECRET_KEY/);
  await detail.getByRole("button", { name: "Copy as Go" }).click();
  await page.getByText("Go test copied").waitFor();
  assert.match(await clipboard(page), /func TestReplayed_req_\d+/);

  await detail.getByRole("button", { name: "Send it" }).click();
  await page.getByText("Sent: 200").waitFor();
  assert.match(page.url(), /#\/journal\/req-2/);
});

test("requests are searched, also in their bodies, and chosen", async () => {
  await server.call("GET", "/v1/rates?perPage=3");
  const page = await visit();
  await page.getByLabel("Search requests").fill("perPage=3");
  await page.getByText("1 match", { exact: true }).waitFor();
  assert.match(page.url(), /q=perPage/);
  await page.getByLabel("Search requests").fill("");
  await page.getByRole("button", { name: "Refused" }).click();
  await page.locator(".row", { hasText: "400" }).waitFor();
  assert.equal(await page.locator(".row", { hasText: "/v1/rates" }).count(), 0);
});

test("hostile texts stay texts", async () => {
  const evil = "<img src=x onerror=\"globalThis.struck=1\">";
  await server.call("GET", "/v1/" + encodeURIComponent(evil) + "?q=" + encodeURIComponent(evil));
  await server.call("POST", "/v1/regulatory-documents/analyze", { shipment_id: evil, file_url: "" });
  await server.call("POST", "/_mock/webhooks", { url: "http://127.0.0.1:1/", name: evil, events: [evil] });
  await server.call("POST", "/_mock/events", { event: evil, data: { evil } });
  const page = await visit();
  for (const row of await page.locator(".row").all()) {
    await row.click();
    await page.locator(".detail h2").waitFor();
  }
  await page.goto(server.url + "/_mock/#/webhooks");
  await page.locator(".hooks").getByText(evil).first().waitFor();
  await page.locator(".row", { hasText: evil }).first().click();
  await page.locator(".detail .body", { hasText: "onerror" }).waitFor();
  await page.goto(server.url + "/_mock/#/journal/" + encodeURIComponent(evil));
  await page.locator(".detail .none").waitFor();
  assert.equal(await page.evaluate(() => globalThis.struck), undefined);
  assert.equal(await page.locator("img").count(), 0);
  tab.wrong.splice(0, tab.wrong.length, ...tab.wrong.filter((text) => !text.includes("404"))); // the unknown request
});

test("ledger: a draft is purchased, the wallet falls, and the ledger has the reason", async () => {
  const page = await visit("#/regulatory-requests");
  await page.getByRole("button", { name: "Analyze" }).click();
  const detail = page.locator(".detail");
  await detail.getByText("FDA", { exact: true }).waitFor();
  await shot(page, "regulatory-request-draft");
  await detail.getByRole("button", { name: "Purchase selected" }).click();
  await page.getByText("Wallet charged").first().waitFor();
  const transaction = detail.getByRole("link", { name: /^TR-/ });
  await transaction.click();
  await page.locator(".detail h2", { hasText: "NGN" }).waitFor();
  await page.getByText("Every entry sums to zero").waitFor();
  await page.locator(".chart .line").waitFor();
  const before = await page.locator("figcaption").innerText();
  await page.locator(".chart").focus();
  await page.keyboard.press("ArrowLeft");
  assert.notEqual(await page.locator("figcaption").innerText(), before);
  await shot(page, "ledger");
});

test("regulatory requests: evidence is submitted, the clock moved, failures shown, documents opened as PDF", async () => {
  const page = await visit("#/regulatory-requests");
  await page.locator(".row").first().click();
  const detail = page.locator(".detail");
  await detail.getByText("awaiting evidence").first().waitFor();
  await detail.getByRole("button", { name: "Submit evidence" }).first().click();
  await page.getByText("Evidence submitted").waitFor();
  await page.getByRole("button", { name: "+1 h" }).click();
  await detail.locator("h2 .badge", { hasText: "completed" }).waitFor();
  for (const state of ["draft", "purchasing", "processing", "generated", "completed"]) {
    await detail.locator(".timeline .badge", { hasText: state }).first().waitFor();
  }
  await shot(page, "regulatory-request-completed");
  const link = await detail.getByRole("link", { name: "PDF" }).first().getAttribute("href");
  const pdf = await fetch(new URL(link, `${server.url}/_mock/`));
  assert.equal(pdf.headers.get("Content-Type"), "application/pdf");

  const { data } = await server.call("POST", "/v1/regulatory-documents/analyze", { shipment_id: "SH-MAGICFAILONCE" });
  await server.call("POST", "/v1/regulatory-documents/purchase", { request_id: data.request_id, document_types: [data.available_documents[0].document_type] });
  await server.call("POST", "/_mock/clock/advance", { duration: "1h" });
  await page.locator(`.row[href*="${data.request_id}"]`).click();
  await detail.getByRole("button", { name: "Retry failed" }).click();
  await page.getByRole("button", { name: "+1 h" }).click();
  await detail.locator("h2 .badge", { hasText: "completed" }).waitFor();
});

test("webhooks: a receiver is subscribed, notified, notified again, and disabled", async () => {
  const heard = [];
  const receiver = createServer((request, response) => {
    heard.push(request.headers["x-webhook-delivery-id"]);
    response.end();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const page = await visit("#/webhooks");
  const url = `http://127.0.0.1:${receiver.address().port}/hook`;
  await page.getByLabel("URL of a receiver").fill(url);
  await page.getByRole("button", { name: "Subscribe" }).click();
  await page.locator(".hooks").getByText(url).waitFor();
  await page.getByRole("button", { name: "Send event" }).click();
  await page.locator(".row", { hasText: "delivered" }).filter({ hasText: url }).first().click();
  await page.locator(".detail .body", { hasText: "shipment.created" }).waitFor();
  await shot(page, "webhooks");
  await page.getByRole("button", { name: "Replay to this webhook only" }).click();
  await page.getByText("Webhook replay queued").waitFor();
  await page.locator(".row", { hasText: "delivered" }).filter({ hasText: url }).nth(1).waitFor();
  assert.equal(new Set(heard).size, 2);
  const turn = page.getByRole("switch", { name: "From the console is active" });
  await turn.click();
  await page.locator('.hooks [role=switch][aria-checked=false][aria-label="From the console is active"]').waitFor();
  receiver.close();
});

test("countries: on a map and in a table, searched by name, code and money", async () => {
  const page = await visit("#/countries");
  await page.getByText("250 countries").waitFor();
  assert.equal(await page.locator(".map circle").count(), 250);
  await page.getByLabel("Search countries").fill("niger");
  await page.getByText("2 countries").waitFor();
  await page.locator(".row", { hasText: "Nigeria" }).click();
  await page.locator(".detail").getByText("Africa/Lagos").waitFor();
  assert.equal(await page.locator(".map .chosen").count(), 1);
  await page.getByLabel("Search countries").fill("");
  await shot(page, "countries");
});

test("faults: presets and custom rules are added, disabled, counted and removed", async () => {
  const page = await visit("#/faults");
  await page.getByText("Nothing goes wrong").waitFor();
  const presets = await page.locator(".presets button").all();
  for (const [i, preset] of presets.entries()) {
    await preset.click();
    await page.getByText("1 rule", { exact: true }).waitFor();
    if (i < presets.length - 1) {
      await page.getByRole("button", { name: "Remove all" }).click();
      await page.getByText("Nothing goes wrong").waitFor();
    }
  }
  await page.getByLabel("Operation").selectOption("rates.list");
  await page.getByRole("combobox", { name: "Fault" }).selectOption("status");
  await page.getByRole("button", { name: "Add the rule" }).click();
  await page.getByText("2 rules").waitFor();
  assert.equal((await server.call("GET", "/v1/rates")).status, 503);
  await page.getByText("struck 1").waitFor();
  await shot(page, "faults");
  await page.getByRole("switch").last().click();
  await page.locator(".rules .disabled").waitFor();
  assert.equal((await server.call("GET", "/v1/rates?perPage=1")).status, 200);
  await page.getByRole("button", { name: "Remove all" }).click();
  await page.getByText("Nothing goes wrong").waitFor();
});

// S12: requests whose key opens no world are in the journal of none, and the page leads to them.
test("journal: those with an unknown key are a link away", async () => {
  await server.call("GET", "/v1/rates", undefined, "sk_test_typo");
  const page = await visit("#/journal");
  await page.getByRole("link", { name: /with an unknown key/ }).click();
  await page.waitForURL(/world=unauthenticated/);
  await page.getByText("/v1/rates").first().waitFor();
});

// S29: a scenario that takes a number is opened with the one that is typed.
test("worlds: a scenario takes a number", async () => {
  const page = await visit("#/worlds");
  await page.getByLabel("Scenario").selectOption("seedN");
  await page.getByRole("spinbutton", { name: "Number" }).fill("42");
  await page.getByLabel("Name").fill("numbered");
  await page.getByRole("button", { name: "Open a world" }).click();
  await page.waitForURL(/world=seed42_numbered/);
});

test("worlds: one is opened, chosen, moved in time, forked, snapshotted, reset and closed, and no key is shown", async () => {
  const page = await visit("#/worlds");
  await page.getByLabel("Scenario").selectOption("virtual");
  await page.getByLabel("Name").fill("console");
  await page.getByRole("button", { name: "Open a world" }).click();
  await page.waitForURL(/world=virtual_console/);
  await page.locator("#world option:checked", { hasText: "virtual_console" }).waitFor({ state: "attached" });
  const { data } = await server.call("POST", "/v1/regulatory-documents/analyze", { shipment_id: server.shipments[0] }, "sk_test_virtual_console");
  const shipment = data?.request_id ? data : (await server.call("GET", "/_mock/consignments?world=virtual_console")).data;
  assert.ok(shipment);
  await server.call("POST", "/v1/regulatory-documents/purchase", { request_id: data.request_id, document_types: ["CUSTOMS"] }, "sk_test_virtual_console");
  await page.getByText("Pending", { exact: true }).waitFor();
  await page.getByLabel("Time to move by").fill("2h");
  await page.getByRole("button", { name: "Advance" }).click();
  await page.getByLabel("What fired").getByText("CUSTOMS").waitFor();
  await page.getByRole("heading", { name: "Coverage" }).waitFor();
  await shot(page, "worlds");
  await page.getByRole("button", { name: "Snapshot virtual_console" }).click();
  await page.getByRole("button", { name: "Restore virtual_console" }).click();
  await page.getByText("Restore: virtual_console").waitFor();
  await page.getByRole("button", { name: "Fork virtual_console" }).click();
  await page.getByRole("link", { name: /virtual_fork-/ }).waitFor();
  await page.getByRole("button", { name: "Reset virtual_console" }).click();
  await page.getByText("Reset: virtual_console").waitFor();
  assert.ok(!(await page.content()).includes("sk_test"));
  await page.getByRole("button", { name: "Close virtual_console" }).click();
  await page.waitForURL((url) => !url.hash.includes("world="));
  await page.getByText("Closed: virtual_console").waitFor();
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie);
  assert.ok(!kept.includes("sk_"));
});
