// Worlds: access, copies, scenarios, the clock and assumptions.

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

test("a world is opened from several scenarios, contrary to the assumptions, and closed", async () => {
  const page = await s.visit("#/worlds");
  await page.getByRole("button", { name: "New world" }).click();
  await page.locator(".detail dt", { hasText: "rowsN" }).waitFor();
  await page.getByLabel(/^Body of/).fill('{"scenario": "lowfunds-rows1000-virtual", "name": "console", "preset": "contrary"}');
  await page.getByRole("button", { name: "Open a world" }).click();
  await page.waitForURL(/world=lowfunds-rows1000-virtual_console/);
  const { data } = await s.server.call("GET", "/_mock/assumptions?world=lowfunds-rows1000-virtual_console");
  assert.equal(data.find((one) => one.field === "FundsStatus").value, 402);
  await page.getByRole("button", { name: "Close world" }).click();
  await page.waitForURL((url) => !url.hash.includes("world="));
  await page.getByText("Closed: lowfunds-rows1000-virtual_console").waitFor();
});

test("a world that somebody else closes is left", async () => {
  const { data: world } = await s.server.call("POST", "/_mock/worlds", { name: "gone" });
  const page = await s.visit(`#/ledger?world=${world.name}`);
  await s.server.call("DELETE", `/_mock/worlds/${world.name}`);
  await page.getByText(`The world ${world.name} is closed.`).waitFor();
  await page.waitForURL((url) => !url.hash.includes("world="));
  s.refused(); // the reads of the closed world
});

test("a copy keeps the contents, and the world is restored from it, and to its initial contents", async () => {
  const wallet = s.server.wallets[0];
  const balance = async (world) => (await s.server.call("GET", `/_mock/ledger?wallet=${wallet}&perPage=1&world=${world}`)).data.wallets[0].balance;
  const fund = (amount) => s.server.call("PATCH", "/_mock/ledger", { fund: [{ wallet, amount }] });
  const initial = await balance("home");
  await fund(5);
  const page = await s.visit("#/worlds/home");
  await page.getByLabel("Name of the copy").fill("before");
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await page.waitForURL(/world=.*before/);
  const copy = new URL(page.url()).hash.split("world=")[1];
  assert.equal(await balance(copy), initial + 5);
  await fund(7);
  await page.goto(`${s.server.url}/_mock/#/worlds/home`);
  await page.getByLabel("Contents of").selectOption(copy);
  await page.getByRole("button", { name: "Restore from this world" }).click();
  await page.getByText(`Restored: home has the contents of ${copy}`).waitFor();
  assert.equal(await balance("home"), initial + 5);
  await page.getByRole("button", { name: "Restore initial contents" }).click();
  await page.getByText("Restored: home has its initial contents").waitFor();
  assert.equal(await balance("home"), initial);
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

// The switch of an assumption takes effect at once.
test("assumptions: one is switched, one is set to a number, all with contrary, and restoring undoes it", async () => {
  const page = await s.visit("#/worlds/LastPageNull?show=assumptions");
  const row = (name) => page.locator(`.row[href*="/${name}?"]`);
  await page.getByRole("button", { name: "Turn on" }).click();
  await row("LastPageNull").getByText("changed").waitFor();
  await page.getByRole("button", { name: "Default", exact: true }).click();
  await row("LastPageNull").getByText("changed").waitFor({ state: "detached" });
  await row("PerPageCap").click();
  await page.getByLabel("PerPageCap").fill("7");
  await page.getByRole("button", { name: "Set", exact: true }).click();
  await row("PerPageCap").getByText("changed").waitFor();
  const response = await fetch(`${s.server.url}/v1/rates?perPage=50`, { headers: { Authorization: `Bearer ${s.server.secret_key}` } });
  assert.equal((await response.json()).data.pagination.perPage, 7);
  await page.getByRole("button", { name: /^Contrary/ }).click();
  await row("OldestFirst").getByText("changed").waitFor();
  assert.equal((await s.server.call("GET", "/v1/transactions")).status, 422);
  await s.server.call("POST", "/_mock/worlds/home/restore", {});
  await row("OldestFirst").getByText("changed").waitFor({ state: "detached" });
});
