// Each section does its job against the running server.

import assert from "node:assert/strict";
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

  await detail.getByRole("button", { name: "Send the valid request" }).click();
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
  await page.locator(".row", { hasText: "/v1/rates" }).first().waitFor({ state: "detached" });
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
  await page.goto(server.url + "/_mock/#/webhooks?show=webhooks");
  await page.locator(".row", { hasText: evil }).first().waitFor();
  await page.goto(server.url + "/_mock/#/webhooks");
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

// A request whose key opens no world is in no journal of a world; the page links to such requests.
test("journal: those with an unknown key are a link away", async () => {
  await server.call("GET", "/v1/rates", undefined, "sk_test_typo");
  const page = await visit("#/journal");
  await page.getByRole("link", { name: /with an unknown key/ }).click();
  await page.waitForURL(/world=unauthenticated/);
  await page.getByText("/v1/rates").first().waitFor();
});
