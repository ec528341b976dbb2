// Requests that the page sends, and the money that it moves.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { suite } from "./suite.js";

const s = suite(["-clock", "virtual"]);
const { visit } = s;
afterEach(async () => {
  await s.server.call("POST", "/_mock/worlds/home/reset", {});
});

test("every operation of the document is sent with the identifiers of the world", async () => {
  const { data } = await s.server.call("POST", "/v1/regulatory-documents/analyze", { shipment_id: s.server.shipments[0] });
  const response = await fetch(s.server.url + "/_mock/openapi.json");
  const paths = Object.entries((await response.json()).paths).filter(([path]) => path.startsWith("/v1/"));
  const wanted = paths.flatMap(([, methods]) => Object.values(methods).map((one) => one.operationId).filter(Boolean)).sort();
  const page = await visit("#/requests");
  const chooser = page.getByRole("combobox", { name: "Operation" });
  await chooser.locator("option").nth(1).waitFor({ state: "attached" });
  const offered = (await chooser.locator("option").evaluateAll((all) => all.map((one) => one.value))).filter(Boolean);
  assert.deepEqual(offered.sort(), wanted);
  for (const [i, name] of wanted.entries()) {
    await chooser.selectOption(name);
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.waitForURL(new RegExp(`#/requests/req-${i + 2}$`));
    await page.locator(".detail .facts", { hasText: name }).waitFor();
  }
  const statuses = (await s.server.call("GET", "/_mock/journal?after=req-1&bodies=false")).data.map((one) => `${one.operation} ${one.status} ${one.message ?? ""}`);
  assert.deepEqual(statuses.filter((one) => !/ 200 /.test(one) && !one.startsWith("regulatory.")), []);
  assert.ok(statuses.some((one) => one.startsWith("regulatory.purchase 200")), statuses.join("\n"));
  assert.ok(data.request_id);
});

test("fields and text of a body are one, and a refusal is explained beside the form", async () => {
  const page = await visit("#/requests?operation=webhooks.replay");
  const text = page.getByLabel("Body, JSON");
  await page.getByLabel("event", { exact: true }).fill("shipment.updated");
  assert.equal(JSON.parse(await text.inputValue()).event, "shipment.updated");
  await text.fill('{"shipment_id": "SH-0"}');
  assert.equal(await page.getByLabel("shipment_id", { exact: true }).inputValue(), "SH-0");
  assert.equal(await page.getByLabel("event", { exact: true }).inputValue(), "");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.locator(".detail .reason").getByText("The nearest request that this world accepts").waitFor();
  await text.fill("{");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("The body is not valid JSON.").waitFor();
});

test("a request of the journal is edited and sent; so is one for no operation", async () => {
  await s.server.call("GET", "/v1/rates?perPage=7");
  const page = await visit("#/journal/req-1");
  await page.getByRole("link", { name: "Edit and send" }).click();
  await page.waitForURL(/#\/requests\?from=req-1/);
  const perPage = page.getByLabel("perPage");
  await page.locator("[aria-label=Request]", { hasText: "/v1/rates?perPage=7" }).waitFor();
  await perPage.fill("8"); // more than the journal keeps of a response
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.locator(".detail h2", { hasText: "/v1/rates?perPage=8" }).waitFor();
  assert.equal((await page.locator(".detail .body").last().innerText()).match(/"rate_id"/g)?.length, 8);
  await page.getByRole("combobox", { name: "Operation" }).selectOption("");
  await page.getByLabel("Method").selectOption("DELETE");
  await page.getByLabel("Path and query").fill("/v1/rates");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.locator(".detail h2", { hasText: "405" }).waitFor();
});

test("a wallet is funded, and an exchange rate set", async () => {
  const page = await visit("#/ledger");
  await page.getByRole("button", { name: "Dollar wallet" }).click();
  await page.waitForURL(/wallet=VA-/);
  await page.getByLabel("Amount").fill("1234567890.25");
  await page.getByRole("button", { name: "Fund wallet" }).click();
  await page.locator(".row", { hasText: "+1,234,567,890.25" }).waitFor();
  await page.getByLabel("Amount").fill("much");
  await page.getByRole("button", { name: "Fund wallet" }).click();
  await page.locator(".notice.bad").waitFor();
  s.tab.wrong.length = 0; // the refused amount
  await page.getByRole("button", { name: "Exchange rates" }).click();
  await page.getByRole("button", { name: "Edit NGN" }).click();
  await page.getByLabel("Units per US dollar").fill("1600.5");
  await page.getByRole("button", { name: "Set rate" }).click();
  await page.locator("tr", { hasText: "NGN" }).getByText("1600.5").waitFor();
  const group = await page.locator(".wallets").evaluate((node) => [node.scrollWidth, node.clientWidth]);
  assert.ok(group[0] <= group[1], `the wallets need ${group[0]} of ${group[1]} pixels`);
});

test("a request is sent, found, compared and exported with the keyboard alone", async () => {
  await s.server.call("GET", "/v1/rates?perPage=1");
  const page = await visit();
  await page.locator(".row").first().waitFor();
  const focused = () => page.evaluate(() => window.document.activeElement?.getAttribute("aria-label") ?? window.document.activeElement?.textContent);
  const tabTo = async (name) => {
    for (let i = 0; (await focused()) !== name; i++) {
      assert.ok(i < 120, `Tab does not reach ${name}`);
      await page.keyboard.press("Tab");
    }
  };
  await page.keyboard.press("2");
  await page.locator("h1", { hasText: "Send requests" }).waitFor();
  await page.locator("#main option").nth(1).waitFor({ state: "attached" });
  await page.keyboard.press("/");
  assert.equal(await focused(), "Operation");
  await page.keyboard.type("transactions");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.press("Enter");
  await page.locator(".detail .reason").getByText("wallet is required").first().waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.locator(".detail").waitFor({ state: "hidden" });
  await page.keyboard.press("1");
  await tabTo("Refused");
  await page.keyboard.press("Enter");
  await page.getByText("1 match", { exact: true }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.locator(".detail .reason").waitFor();
  await tabTo("All");
  await page.keyboard.press("Space");
  await page.locator(".row").nth(1).waitFor();
  await tabTo("Compare with");
  await page.keyboard.press("ArrowDown");
  await page.locator(".compared").waitFor();
  await page.keyboard.press("Escape");
  await tabTo("HAR");
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
  assert.equal(download.suggestedFilename(), "journal.har");
});
