// The journal: everything that it has is found, also behind thousands of other requests.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { afterEach, test } from "node:test";
import { open, shot } from "./page.js";
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

test("no requests yet: the page shows the line to try, without the key", async () => {
  const page = await visit();
  await page.getByText("No requests yet").waitFor();
  const line = await page.locator(".empty .body").innerText();
  assert.match(line, /\$SHIPPING_SECRET_KEY/);
  assert.match(line, /\$SHIPPING_BASE_URL/);
});

test("a request appears without a reload, with its bodies and the reason of its refusal", async () => {
  const page = await visit();
  await page.getByText("No requests yet").waitFor();
  const { id } = await s.server.call("POST", "/v1/webhooks/replay", { event: "shipment.created" });
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
  assert.match(await s.clipboard(), /^curl -i -X POST .*\$SHIPPING_SECRET_KEY/);

  await detail.getByRole("button", { name: "Send the valid request" }).click();
  await page.getByText("Sent: 200").waitFor();
  assert.match(page.url(), /#\/journal\/req-2/);
  await detail.locator("h2", { hasText: "200" }).waitFor();
});

// The filters search the whole journal, not only the latest 200 requests.
test("a refused request behind 5,000 good ones is two clicks away, with its reason and the correct request", async () => {
  const { id } = await s.server.call("POST", "/v1/webhooks/replay", { shipment_id: s.server.shipments[0] });
  await good(5000);
  const page = await visit();
  await page.locator(".row").first().waitFor();
  await page.getByRole("button", { name: "Refused" }).click();
  await page.getByText("1 match", { exact: true }).waitFor();
  await page.locator(".row").click();
  const detail = page.locator(".detail");
  await detail.getByText("delivery_id, or shipment_id together with event").first().waitFor();
  await detail.locator(".nearest .body").getByText('"event"').waitFor();
  await page.reload();
  await detail.getByText("delivery_id, or shipment_id together with event").first().waitFor();
  assert.match(page.url(), new RegExp(`#/journal/${id}\\?outcome=refused`));
  await page.locator(".row").waitFor();
});

test("the search is of the whole journal, and in the address", async () => {
  await s.server.call("POST", "/_mock/faults", { rules: [{ operation: "countries.list", first: 1, fault: { kind: "drop" } }] });
  await s.server.call("GET", "/v1/countries").catch(() => {}); // req-1
  await s.server.call("GET", "/v1/transactions"); // req-2
  await s.server.call("POST", "/v1/regulatory-documents/analyze", { shipment_id: s.server.shipments[0] }); // req-3
  await good(400);
  const page = await visit();
  await page.getByText("latest 200 of 403").waitFor();
  const search = page.getByLabel("Path, status, reason or body");
  const only = async (id) => {
    await page.locator(`.row[href*="/${id}?"]`).waitFor();
    await page.getByText("1 match", { exact: true }).waitFor();
  };
  for (const [text, id] of [
    [s.server.shipments[0], "req-3"], ["wallet is required", "req-2"], ["req-1", "req-1"], ["400", "req-2"],
    ["invalid_request", "req-2"], ["transactions.list", "req-2"],
  ]) {
    await search.fill(text);
    await page.waitForURL((url) => new URLSearchParams(url.hash.split("?")[1]).get("q") === text);
    await only(id);
    await page.reload();
    await only(id);
    assert.equal(await search.inputValue(), text);
  }
  await search.fill("no such request");
  await page.getByText("No request matches. The search covers operations, paths").waitFor();
  await search.fill("");
  await page.getByText("latest 200 of 403").waitFor();
  await page.getByRole("button", { name: "Faulted" }).click();
  await only("req-1");
});

test("older requests are loaded with a button", async () => {
  await s.server.call("GET", "/v1/countries");
  await good(500);
  const page = await visit();
  await page.getByText("latest 200 of 501").waitFor();
  const older = page.getByRole("button", { name: "Load older" });
  await older.click();
  await page.getByText("latest 400 of 501").waitFor();
  await older.click();
  await page.locator('.row[href*="/req-1"]', { hasText: "countries" }).click();
  await page.locator(".detail h2", { hasText: "/v1/countries" }).waitFor();
  assert.equal(await older.count(), 0);
});

test("thousands of requests arrive: the page keeps the latest thousand", async () => {
  const page = await visit();
  await page.getByText("No requests yet").waitFor();
  await good(3000);
  const { id } = await s.server.call("GET", "/v1/rates?perPage=1&page=2");
  await page.locator(`.row[href$="/${id}"]`).waitFor();
  assert.ok(await page.locator(".row").count() <= 1000);
  await page.getByRole("button", { name: "Load older" }).waitFor();
});

for (const width of [1280, 390]) test(`rows that somebody points at stay in place while requests arrive, ${width} pixels wide`, async () => {
  await good(100);
  const page = await visit("", { viewport: { width, height: 800 } });
  const row = page.locator('.row[href$="/req-95"]');
  await row.hover();
  const before = await row.boundingBox();
  await good(30);
  await page.getByRole("button", { name: "30 new" }).waitFor();
  assert.deepEqual(await row.boundingBox(), before);
  await page.getByRole("button", { name: "30 new" }).click();
  await page.locator('.row[href$="/req-130"]').waitFor();
});

test("what has arrived is hidden with a button, and shown again", async () => {
  await good(2);
  const page = await visit();
  await page.locator(".row").nth(1).waitFor();
  await page.getByRole("button", { name: "Clear" }).click();
  await page.locator(".row").first().waitFor({ state: "detached" });
  const { id } = await s.server.call("GET", "/v1/countries");
  await page.locator(`.row[href*="${id}"]`).waitFor();
  assert.equal(await page.locator(".row").count(), 1);
  await page.getByRole("button", { name: /^Since/ }).click();
  await page.locator(".row").nth(2).waitFor();
});

test("what is filtered is exported as JSON lines and curl commands", async () => {
  await good(3);
  await s.server.call("GET", "/v1/transactions"); // req-4
  const page = await visit("#/journal?outcome=refused");
  await page.getByText("1 match", { exact: true }).waitFor();
  const exported = async (name) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name }).click()]);
    return [download.suggestedFilename(), await readFile(await download.path(), "utf8")];
  };
  const [lines, text] = await exported("JSON lines");
  assert.equal(lines, "journal.jsonl");
  assert.deepEqual(text.trim().split("\n").map((line) => JSON.parse(line).request_id), ["req-4"]);
  const [script, curl] = await exported("curl");
  assert.equal(script, "journal.sh");
  assert.match(curl, /^curl -i -H "Authorization: Bearer \$SHIPPING_SECRET_KEY" .*\/v1\/transactions\n$/);
});

test("the findings of lint stand beside the request, and together", async () => {
  await s.server.call("GET", "/v1/transactions?colour=red");
  const page = await visit("#/journal/req-1");
  const detail = page.locator(".detail");
  await detail.locator(".reason").getByText("wallet is required").first().waitFor();
  await detail.getByText("unknown-parameter").waitFor();
  await page.getByRole("button", { name: "Findings 1" }).click();
  await detail.getByText("1 finding", { exact: true }).first().waitFor();
  await detail.getByText("the specification does not list this query parameter").waitFor();
  await detail.getByRole("link", { name: "req-1" }).click();
  await detail.locator(".reason").waitFor();
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

test("a misspelt field is named, and the valid request is copied, edited and sent apart from the refused one", async () => {
  await s.server.call("POST", "/v1/regulatory-documents/analyze", { shipmentId: "SH-1" });
  const page = await visit("#/journal/req-1?outcome=refused");
  const reason = page.locator(".detail .reason");
  await reason.getByText('unknown field "shipmentId": did you mean "shipment_id"?').waitFor();
  await page.getByRole("button", { name: "Copy as curl: the valid request" }).click();
  await page.getByText("curl command copied: it needs the environment variable SHIPPING_SECRET_KEY").waitFor();
  const filled = (word) => page.waitForFunction((text) => document.querySelector("textarea")?.value.includes(text), word);
  await page.getByRole("link", { name: "Edit and send", exact: true }).click();
  await filled("shipmentId");
  await page.goBack();
  await page.getByRole("link", { name: "Edit and send the valid request" }).click();
  await filled("shipment_id");
  assert.ok(s.server.shipments.includes(JSON.parse(await page.getByLabel("Body, JSON").inputValue()).shipment_id));
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.locator(".detail h2", { hasText: "200" }).waitFor();
});

// A request whose key opens no world is in no journal of a world; the page links to such requests.
test("requests with an unknown key are a link away", async () => {
  await s.server.call("GET", "/v1/rates", undefined, "sk_test_typo");
  const page = await visit("#/journal");
  await page.getByRole("link", { name: /with an unknown key/ }).click();
  await page.waitForURL(/world=unauthenticated/);
  await page.getByText("/v1/rates").first().waitFor();
});

test("a world that was reset is shown as it is: empty", async () => {
  await good(1);
  const page = await visit();
  await page.locator(".row").first().waitFor();
  await page.getByRole("button", { name: "Clear" }).click();
  await page.waitForURL(/after=req-1/);
  await s.server.call("POST", "/_mock/worlds/home/reset", {});
  await page.getByText("No requests yet").waitFor();
  await good(1);
  await page.locator('.row[href$="/req-1"]').waitFor();
});

test("the page recovers after the error page of a proxy, and its clock ticks", async () => {
  const page = await s.visit();
  await page.getByText("Live", { exact: true }).waitFor();
  await page.route("**/_mock/live*", (route) => route.fulfill({ status: 502, contentType: "text/html", body: "<h1>Bad Gateway</h1>" }));
  await page.getByText("Reconnecting", { exact: true }).waitFor();
  await page.unroute("**/_mock/live*");
  await page.getByText("Live", { exact: true }).waitFor();
  const now = await page.locator(".now").textContent();
  await page.locator(".now").filter({ hasNotText: now }).waitFor();
  s.refused(); // the 502
});
