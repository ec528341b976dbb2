// Requests that the page sends to the service with the key of the world.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { suite } from "./suite.js";

const s = suite(["-clock", "virtual"]);
const { visit } = s;
afterEach(async () => {
  await s.server.call("POST", "/_mock/worlds/home/reset", {});
  await s.server.call("DELETE", "/_mock/faults");
});

const send = (page) => page.getByRole("button", { name: "Send", exact: true }).click();

test("an example of every operation is sent with the identifiers of the world", async () => {
  await s.server.call("POST", "/v1/regulatory-documents/analyze", { shipment_id: s.server.shipments[0] });
  const document = await (await fetch(s.server.url + "/_mock/openapi.json")).json();
  const paths = Object.entries(document.paths).filter(([path]) => path.startsWith("/v1/"));
  const wanted = paths.flatMap(([, methods]) => Object.values(methods).map((one) => one.operationId).filter(Boolean)).sort();
  const page = await visit("#/journal/send");
  const chooser = page.getByRole("combobox", { name: "Operation" });
  await chooser.locator("option").nth(1).waitFor({ state: "attached" });
  const offered = await chooser.locator("option").evaluateAll((all) => all.map((one) => one.value).filter(Boolean));
  assert.deepEqual(offered.sort(), wanted);
  for (const [i, name] of wanted.entries()) {
    await page.goto(`${s.server.url}/_mock/#/journal/send`);
    await chooser.locator(`option[value="${name}"]`).waitFor({ state: "attached" });
    await chooser.selectOption("");
    await chooser.selectOption(name);
    await send(page);
    await page.waitForURL(new RegExp(`#/journal/req-${i + 2}$`));
    await page.locator(".detail .facts", { hasText: name }).waitFor();
  }
  const entries = (await s.server.call("GET", "/_mock/journal?after=req-1&bodies=false")).data;
  const refused = entries.filter((one) => one.status !== 200 && !one.operation.startsWith("regulatory."));
  assert.deepEqual(refused.map((one) => `${one.operation} ${one.message}`), []);
  assert.ok(entries.some((one) => one.operation === "regulatory.purchase" && one.status === 200));
  s.refused();
});

test("a request of the journal is edited and sent, and its whole response is shown", async () => {
  await s.server.call("GET", "/v1/rates?perPage=7");
  const page = await visit("#/journal/req-1");
  await page.getByRole("link", { name: "Edit and send" }).click();
  const target = page.getByLabel("Path and query");
  await page.waitForFunction(() => document.querySelector("input.mono")?.value === "/v1/rates?perPage=7");
  await target.fill("/v1/rates?perPage=8"); // more than the journal keeps of a response
  await send(page);
  await page.locator(".detail h2", { hasText: "/v1/rates?perPage=8" }).waitFor();
  assert.equal((await page.locator(".detail .body").last().innerText()).match(/"rate_id"/g)?.length, 8);
  await page.getByRole("button", { name: "Send again" }).click();
  await page.waitForURL(/req-3/);
  await page.getByRole("button", { name: "Send a request" }).click();
  await page.getByLabel("Method").selectOption("DELETE");
  await target.fill("/v1/rates");
  await send(page);
  await page.locator(".detail h2", { hasText: "405" }).waitFor();
  await page.getByRole("button", { name: "Send a request" }).click();
  await target.fill("/_mock/worlds");
  await send(page);
  await page.getByText("The path must begin with /v1/.").waitFor();
  s.refused();
});

// A fault closes the connection after the operation; only the journal knows what happened.
test("a request whose response is lost is found in the journal", async () => {
  const rule = { operation: "regulatory.analyze", committed: true, fault: { kind: "drop" } };
  await s.server.call("POST", "/_mock/faults", { rules: [rule] });
  const page = await visit("#/journal/send");
  await page.getByLabel("Method").selectOption("POST");
  await page.getByLabel("Path and query").fill("/v1/regulatory-documents/analyze");
  await page.getByLabel("Body, JSON").fill(JSON.stringify({ shipment_id: s.server.shipments[0] }));
  await send(page);
  await page.getByText("The response was lost.").waitFor();
  await page.locator(".detail h2", { hasText: "dropped" }).waitFor();
  await page.locator(".detail").getByText("An injected fault struck").waitFor();
  s.tab.wrong.length = 0; // the dropped connection
});

test("a refused request is sent with the keyboard alone, and explained", async () => {
  const page = await visit("#/journal/send");
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent);
  await page.getByLabel("Path and query").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("/v1/transactions");
  for (let i = 0; (await focused()) !== "Send"; i++) {
    assert.ok(i < 5, "Tab does not reach Send");
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await page.locator(".detail .reason").getByText("wallet is required").first().waitFor();
  await page.locator(".detail").getByText("The nearest request that this world accepts").waitFor();
  s.refused();
});
