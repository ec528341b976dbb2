// Regulatory requests and the ledger: purchases, evidence, PDFs and money.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { suite } from "./suite.js";

const s = suite(["-clock", "virtual"]);
const analyze = async (shipment, key) => (await s.server.call("POST", "/v1/regulatory-documents/analyze", { shipment_id: shipment }, key)).data;

// A document that needs evidence is selected only by hand.
test("a shipment is analyzed, its documents are purchased, and the ledger has the entry", async () => {
  const page = await s.visit("#/regulatory-requests");
  const goods = page.getByLabel("Shipment or invoice");
  await goods.locator("option", { hasText: "SH-MAGICNEEDEVIDENCE A manual document" }).waitFor({ state: "attached" });
  await page.getByText("No regulatory requests yet").waitFor();
  await goods.selectOption({ label: await goods.locator("option", { hasText: "SH-MAGICNEEDEVIDENCE" }).innerText() });
  await page.getByRole("button", { name: "Analyze" }).click();
  const detail = page.locator(".detail");
  const box = (type) => detail.getByRole("checkbox", { name: new RegExp(type) });
  await box("CUSTOMS").waitFor();
  assert.equal(await box("MSDS").isChecked(), false);
  assert.equal(await box("CUSTOMS").isChecked(), true);
  await detail.getByRole("button", { name: "Purchase selected" }).click();
  await page.getByText("Wallet charged").first().waitFor();
  await detail.getByRole("link", { name: /^TR-/ }).first().click();
  await page.locator(".detail h2", { hasText: "5,904.16 NGN" }).waitFor();
  await page.getByText("Every entry sums to zero").waitFor();
  await page.locator(".detail").getByRole("link", { name: /^RD-/ }).first().click();
  await detail.getByText("CUSTOMS").first().waitFor();
  await page.getByLabel("Id, wallet, URL or state").fill("no such request");
  await page.getByText("No request matches").waitFor();
  await page.goto(`${s.server.url}/_mock/#/ledger?q=funding`);
  await page.locator(".row .badge").first().waitFor();
  assert.deepEqual([...new Set(await page.locator(".row .badge").allInnerTexts())], ["funding"]);

  // The journal's row names the shipment, the request and what was charged.
  await page.goto(`${s.server.url}/_mock/#/journal`);
  await page.locator(".row", { hasText: /purchase[\s\S]*SH-MAGICNEEDEVIDENCE → RD-\w+ −5,904\.16/ }).click();
  await detail.getByRole("link", { name: /^RD-/ }).first().click();
  await page.waitForURL(/#\/regulatory-requests\/RD-/);
});

test("a purchase that the wallet cannot pay for is refused with the reason, until the wallet is funded", async () => {
  const { data: world } = await s.server.call("POST", "/_mock/worlds", { scenario: "lowfunds-virtual", name: "poor" });
  const draft = await analyze("SH-MAGICNEEDEVIDENCE", world.secret_key);
  const page = await s.visit(`#/regulatory-requests/${draft.request_id}?world=lowfunds-virtual_poor`);
  await page.getByRole("button", { name: "Purchase selected" }).click();
  await page.locator(".notice.bad").waitFor();
  s.refused();
  await s.server.call("PATCH", "/_mock/ledger?world=lowfunds-virtual_poor", { fund: [{ wallet: draft.wallet, amount: 5903.16 }] });
  await page.getByRole("button", { name: "Purchase selected" }).click();
  await page.locator(".detail h2 .badge", { hasText: "processing" }).waitFor();
});

test("evidence is submitted, the clock advanced, and a PDF saved", async () => {
  const draft = await analyze("SH-MAGICNEEDEVIDENCE");
  await s.server.call("POST", "/v1/regulatory-documents/purchase", { request_id: draft.request_id, document_types: ["CUSTOMS", "MSDS"] });
  const page = await s.visit(`#/regulatory-requests/${draft.request_id}`);
  const detail = page.locator(".detail");
  await detail.getByRole("button", { name: "Submit evidence for MSDS" }).click();
  await page.getByText("Evidence submitted").waitFor();
  await page.getByRole("button", { name: "+1 h" }).click();
  await detail.locator("h2 .badge", { hasText: "completed" }).waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), detail.getByRole("button", { name: "PDF of MSDS" }).click()]);
  assert.equal(download.suggestedFilename(), `${draft.request_id}-MSDS.pdf`);
  assert.ok((await readFile(await download.path(), "latin1")).startsWith("%PDF-"));
});

test("a special input fails once, and is retried", async () => {
  const draft = await analyze("SH-MAGICFAILONCE");
  const page = await s.visit(`#/regulatory-requests/${draft.request_id}`);
  const detail = page.locator(".detail");
  const generating = detail.locator("h2 .badge", { hasText: "processing" }); // time passes for what has begun
  await detail.getByRole("button", { name: "Purchase selected" }).click();
  await generating.waitFor();
  await page.getByRole("button", { name: "+1 h" }).click();
  await detail.getByRole("button", { name: "Retry failed" }).click();
  await generating.waitFor();
  await page.getByRole("button", { name: "+1 h" }).click();
  await detail.locator("h2 .badge", { hasText: "completed" }).waitFor();
});

test("a wallet is funded, and an exchange rate set", async () => {
  const page = await s.visit("#/ledger");
  await page.getByRole("link", { name: "Dollar wallet" }).click();
  await page.waitForURL(/wallet=VA-/);
  await page.getByLabel("Amount").fill("1234567890.25");
  await page.getByRole("button", { name: "Fund wallet" }).click();
  await page.locator(".row", { hasText: "+1,234,567,890.25" }).waitFor();
  await page.getByLabel("Amount").fill("much");
  await page.getByRole("button", { name: "Fund wallet" }).click();
  await page.locator(".notice.bad").waitFor();
  s.refused(); // the amount
  await page.getByRole("button", { name: "Exchange rates" }).click();
  await page.getByLabel("Body of PATCH /_mock/ledger").fill('{"exchange_rates":{"NGN":1600.50}}');
  await page.getByRole("button", { name: "Set rates" }).click();
  await page.locator(".detail .facts").getByText("1600.5").waitFor();
});

test("older entries of a wallet are loaded with a button", async () => {
  const { data: world } = await s.server.call("POST", "/_mock/worlds", { scenario: "history500", name: "long" });
  const page = await s.visit(`#/ledger?world=${world.name}`);
  await page.getByRole("link", { name: "Main wallet" }).waitFor();
  const before = await page.locator(".row").count();
  await page.getByRole("button", { name: "Load older" }).click();
  await page.waitForFunction((count) => document.querySelectorAll(".row").length > count, before);
});
