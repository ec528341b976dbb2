// Documents of regulatory requests: what they cost before the purchase, evidence, and the PDFs beside the record.

import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "./suite.js";

const s = suite(["-clock", "virtual"]);
const analyze = async (shipment, key) => (await s.server.call("POST", "/v1/regulatory-documents/analyze", { shipment_id: shipment }, key)).data;

// A document that needs evidence is selected only by hand, and the total and the balance are beside the button.
test("a draft: nothing that needs evidence is selected, and the total follows", async () => {
  const draft = await analyze("SH-MAGICNEEDEVIDENCE");
  const page = await s.visit(`#/regulatory-requests/${draft.request_id}`);
  const detail = page.locator(".detail");
  const bill = detail.getByRole("status");
  await bill.getByText("1 document: 5,904.16 NGN").waitFor();
  await bill.getByText(/Balance [\d,.]+\sNGN/).waitFor();
  const box = (type) => detail.getByRole("checkbox", { name: new RegExp(type) });
  assert.equal(await box("MSDS").isChecked(), false);
  assert.equal(await box("CUSTOMS").isChecked(), true);
  await box("MSDS").check();
  await bill.getByText("2 documents: 38,377.04 NGN").waitFor();
  await s.server.call("POST", "/_mock/ledger/fund", { wallet: draft.wallet, amount: 0.01 }); // the selection stays when the balance changes
  await bill.getByText(/Balance [\d,]+\.\d\d\sNGN/).waitFor();
  assert.equal(await box("MSDS").isChecked(), true);
  await box("MSDS").uncheck();
  await box("CUSTOMS").uncheck();
  assert.equal(await detail.getByRole("button", { name: "Purchase selected" }).isDisabled(), true);
});

test("a draft that the wallet cannot pay for shows the missing amount, until the wallet is funded", async () => {
  const { data: world } = await s.server.call("POST", "/_mock/worlds", { scenario: "lowfunds", name: "poor" });
  const draft = await analyze("SH-MAGICNEEDEVIDENCE", world.secret_key);
  const page = await s.visit(`#/regulatory-requests/${draft.request_id}?world=lowfunds_poor`);
  await page.getByText("Balance 1.00 NGN, 5,903.16 NGN too little").waitFor();
  await s.server.call("POST", "/_mock/ledger/fund?world=lowfunds_poor", { wallet: draft.wallet, amount: 5903.16 });
  await page.getByText("Balance 5,904.16 NGN", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Purchase selected" }).click();
  await page.locator(".detail h2 .badge", { hasText: "processing" }).waitFor();
});

test("evidence is submitted, the clock advanced, and a PDF shown beside the record", async () => {
  const draft = await analyze("SH-MAGICNEEDEVIDENCE");
  await s.server.call("POST", "/v1/regulatory-documents/purchase", { request_id: draft.request_id, document_types: ["CUSTOMS", "MSDS"] });
  const page = await s.visit(`#/regulatory-requests/${draft.request_id}`);
  const detail = page.locator(".detail");
  await detail.getByRole("button", { name: "Submit evidence for MSDS" }).click();
  await page.getByText("Evidence submitted").waitFor();
  await page.getByRole("button", { name: "+1 h" }).first().click();
  await detail.locator("h2 .badge", { hasText: "completed" }).waitFor();
  for (const state of ["draft", "processing", "generated", "completed"]) await detail.locator(".timeline .badge", { hasText: state }).first().waitFor();
  await detail.getByRole("link", { name: "PDF of MSDS", exact: true }).click();
  const frame = detail.locator("iframe");
  const pdf = await fetch(new URL(await frame.getAttribute("src"), `${s.server.url}/_mock/`));
  assert.equal(pdf.headers.get("Content-Type"), "application/pdf");
  assert.match(page.url(), /document=MSDS/);
  await detail.locator(".part", { hasText: "Record" }).waitFor(); // in the same pane
  await detail.getByRole("link", { name: "Hide PDF of MSDS" }).click();
  await frame.waitFor({ state: "detached" });
});

test("a special input is chosen by its effect, fails once, and is retried", async () => {
  const page = await s.visit("#/worlds?show=special-inputs");
  await page.getByRole("button", { name: "Analyze SH-MAGICFAILONCE" }).click();
  const detail = page.locator(".detail");
  await detail.getByRole("button", { name: "Purchase selected" }).click();
  await page.getByRole("button", { name: "+1 h" }).first().click();
  await detail.getByRole("button", { name: "Retry failed" }).click();
  await page.getByRole("button", { name: "+1 h" }).first().click();
  await detail.locator("h2 .badge", { hasText: "completed" }).waitFor();
  const option = page.getByLabel("Shipment or invoice").locator("option", { hasText: "SH-MAGICNEEDEVIDENCE: A manual document" });
  assert.equal(await option.count(), 1);
});
