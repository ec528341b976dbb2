// Worlds: access, scenarios, resets, the clock and dialects.

import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "./page.js";
import { serve } from "./server.js";
import { suite } from "./suite.js";

const s = suite(["-clock", "virtual"]);

// The address and the key of a world can be copied for a program; the page shows the key only on request.
test("the key is copied, alone and as an environment, and shown on request only", async () => {
  const page = await s.visit("#/worlds/home");
  await page.getByRole("button", { name: "Copy key" }).click();
  await page.getByText("Key copied").waitFor();
  assert.equal(await s.clipboard(), s.server.secret_key);
  await page.getByRole("button", { name: "Copy env" }).click();
  await page.getByText("Environment copied").waitFor();
  assert.equal(await s.clipboard(), `export SHIPPING_BASE_URL='${s.server.url}'\nexport SHIPPING_SECRET_KEY='${s.server.secret_key}'\n`);
  assert.ok(!(await page.content()).includes(s.server.secret_key));
  await page.getByRole("button", { name: /secret key/ }).click();
  await page.getByText(s.server.secret_key).waitFor();
  await page.getByRole("button", { name: /secret key/ }).click();
  await page.getByText("sk_test_…").waitFor();
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie);
  assert.ok(!kept.includes("sk_"));
});

test("a world is opened from several scenarios, in the contrary dialect, and closed", async () => {
  const page = await s.visit("#/worlds");
  await page.getByRole("button", { name: "New world" }).click();
  await page.locator(".detail dt", { hasText: "rowsN" }).waitFor();
  await page.getByLabel(/^Body of/).fill('{"scenario": "lowfunds-rows1000-virtual", "name": "console", "dialect": "contrary"}');
  await page.getByRole("button", { name: "Open a world" }).click();
  await page.waitForURL(/world=lowfunds-rows1000-virtual_console/);
  const { data } = await s.server.call("GET", "/_mock/dialect?world=lowfunds-rows1000-virtual_console");
  assert.equal(data.find((one) => one.field === "refusal.analysis").value, "200");
  await page.getByRole("button", { name: "Close world" }).click();
  await page.getByText("Closed: lowfunds-rows1000-virtual_console").waitFor();
  await page.waitForURL((url) => !url.hash.includes("world="));
});

test("a world that somebody else closes is left", async () => {
  const { data: world } = await s.server.call("POST", "/_mock/worlds", { name: "gone" });
  const page = await s.visit(`#/ledger?world=${world.name}`);
  await s.server.call("DELETE", `/_mock/worlds/${world.name}`);
  await page.getByText(`The world ${world.name} is closed.`).waitFor();
  await page.waitForURL((url) => !url.hash.includes("world="));
  s.refused(); // the reads of the closed world
});

test("a world is reset to its initial contents", async () => {
  const wallet = s.server.wallets[0];
  const balance = async () => (await s.server.call("GET", `/_mock/ledger?wallet=${wallet}&perPage=1`)).data.wallets[0].balance;
  const initial = await balance();
  await s.server.call("PATCH", "/_mock/ledger", { fund: [{ wallet, amount: 5 }] });
  const page = await s.visit("#/worlds/home");
  assert.equal(await balance(), initial + 5);
  await page.getByRole("button", { name: "Reset" }).click();
  await page.getByText("Reset: home has its initial contents").waitFor();
  assert.equal(await balance(), initial);
});

test("the clock is advanced, and what fired is listed", async () => {
  const { data } = await s.server.call("POST", "/v1/regulatory-documents/analyze", { shipment_id: s.server.shipments[0] });
  await s.server.call("POST", "/v1/regulatory-documents/purchase", { request_id: data.request_id, document_types: ["CUSTOMS"] });
  const page = await s.visit("#/worlds/home");
  const detail = page.locator(".detail");
  await detail.locator("li", { hasText: "CUSTOMS" }).waitFor();
  await page.getByLabel("Duration to advance by").fill("2h");
  await page.keyboard.press("Enter");
  await detail.getByRole("status").getByText("CUSTOMS").waitFor();
  await detail.getByText("Nothing is pending.").waitFor();
});

test("a real clock explains how to get a virtual one", async () => {
  const server = await serve();
  const { page, context, wrong } = await open(s.browser, server, "#/worlds/home");
  try {
    await page.getByText("serve -clock virtual").waitFor();
    assert.equal(await page.getByRole("button", { name: "+1 h" }).isVisible(), false);
    assert.deepEqual(wrong, []);
  } finally {
    await context.close();
    await server.stop();
  }
});

test("a field of the dialect of a world is shown with its value", async () => {
  const { data: world } = await s.server.call("POST", "/_mock/worlds", { name: "changed", dialect: "list.max_per_page=7" });
  const page = await s.visit(`#/worlds/list.max_per_page?show=dialect&world=${world.name}`);
  await page.locator('.row[href*="/list.max_per_page?"]').getByText("set", { exact: true }).waitFor();
  await page.locator(".detail dd", { hasText: /^7$/ }).waitFor();
});
