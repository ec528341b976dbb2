// Worlds: access, snapshots, scenarios with numbers, assumptions and special inputs; and countries.

import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "./suite.js";

const s = suite(["-clock", "virtual"]);

// The address and the key of a world can be copied for a program; the page shows the key only on request.
test("the key is copied, alone and as an environment, and shown on request only", async () => {
  const page = await s.visit("#/worlds");
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

// The number of a scenario can be set, and several scenarios can be joined.
test("a world is opened from several scenarios with numbers, contrary to the assumptions, and closed", async () => {
  const page = await s.visit("#/worlds");
  await page.getByRole("spinbutton", { name: "Number of rowsN" }).fill("1000");
  await page.getByRole("checkbox", { name: "lowfunds" }).check();
  await page.getByRole("checkbox", { name: "virtual" }).check();
  await page.getByRole("combobox", { name: /^Assumptions/ }).selectOption("contrary");
  await page.getByLabel("Name", { exact: true }).fill("console");
  await page.getByText("lowfunds-rows1000-virtual_console").waitFor();
  await page.getByRole("button", { name: "Open a world" }).click();
  await page.waitForURL(/world=lowfunds-rows1000-virtual_console/);
  const { data } = await s.server.call("GET", "/_mock/assumptions?world=lowfunds-rows1000-virtual_console");
  assert.equal(data.find((one) => one.field === "FundsStatus").value, 402);
  await page.getByRole("button", { name: "Close lowfunds-rows1000-virtual_console" }).click();
  await page.waitForURL((url) => !url.hash.includes("world="));
  await page.getByText("Closed: lowfunds-rows1000-virtual_console").waitFor();
});

test("snapshots: taken under a name, restored, forked and removed", async () => {
  const wallet = s.server.wallets[0];
  const balance = async (world) => (await s.server.call("GET", `/_mock/ledger?wallet=${wallet}&perPage=1&world=${world}`)).data.wallets[0].balance;
  const before = await balance("home");
  const page = await s.visit("#/worlds");
  await page.getByLabel("Name of the snapshot").fill("before lunch");
  await page.getByRole("button", { name: "Take a snapshot" }).click();
  await page.getByRole("button", { name: "Restore before lunch" }).waitFor();
  await s.server.call("POST", "/_mock/ledger/fund", { wallet, amount: 5 });
  assert.equal(await balance("home"), before + 5);
  await page.getByRole("button", { name: "Fork from before lunch" }).click();
  await page.waitForURL(/world=.*_before-lunch-\d+/);
  assert.equal(await balance(new URL(page.url()).hash.split("world=")[1]), before);
  await page.goto(`${s.server.url}/_mock/#/worlds`);
  await page.getByRole("button", { name: "Restore before lunch" }).click();
  await page.getByText("Restored: before lunch").waitFor();
  assert.equal(await balance("home"), before);
  await page.getByRole("button", { name: "Remove before lunch" }).click();
  await page.getByText("Removed: before lunch").waitFor();
  await page.getByRole("button", { name: "Restore before lunch" }).waitFor({ state: "detached" });
  await page.getByLabel("Name of the fork").fill("copy");
  await page.getByRole("button", { name: "Fork", exact: true }).click();
  await page.waitForURL(/world=.*_copy/);
});

test("the clock is advanced, and what fired is listed", async () => {
  const { data } = await s.server.call("POST", "/v1/regulatory-documents/analyze", { shipment_id: s.server.shipments[0] });
  await s.server.call("POST", "/v1/regulatory-documents/purchase", { request_id: data.request_id, document_types: ["CUSTOMS"] });
  const page = await s.visit("#/worlds");
  await page.getByText("Pending", { exact: true }).waitFor();
  await page.getByLabel("Duration to advance by").fill("2h");
  await page.keyboard.press("Enter");
  await page.getByLabel("Fired").getByText("CUSTOMS").waitFor();
});

// The switch of an assumption takes effect at once.
test("assumptions: one is changed with its switch, one with a number, all with contrary, and Reset undoes it", async () => {
  const page = await s.visit("#/worlds?show=assumptions");
  const list = page.getByLabel("Assumptions", { exact: true }).locator("li");
  await page.keyboard.press("/");
  await page.keyboard.type("lastpage");
  const status = page.locator("main").getByRole("status");
  await status.getByText("1 of 40").waitFor();
  await page.getByRole("switch", { name: "LastPageNull" }).click();
  await page.getByRole("switch", { name: "LastPageNull", checked: true }).waitFor();
  await page.getByLabel("Search assumptions").fill("");
  await page.getByRole("spinbutton", { name: "PerPageCap" }).fill("7");
  await page.getByRole("button", { name: "Set PerPageCap" }).click();
  await page.getByText("The assumptions are changed").first().waitFor();
  await page.waitForFunction(() => document.querySelector('[aria-label="PerPageCap"]')?.closest("li")?.textContent.includes("changed"));
  assert.equal((await fetch(`${s.server.url}/v1/rates?perPage=50`, { headers: { Authorization: `Bearer ${s.server.secret_key}` } }).then((r) => r.json())).data.pagination.perPage, 7);
  await page.getByRole("button", { name: /^Contrary/ }).click();
  await page.getByRole("switch", { name: "OldestFirst", checked: true }).waitFor();
  assert.equal((await s.server.call("GET", "/v1/transactions")).status, 422);
  await page.getByLabel("changed only").check();
  assert.ok(await list.filter({ visible: true }).count() > 20);
  await s.server.call("POST", "/_mock/worlds/home/reset", {});
  await page.getByLabel("changed only").uncheck();
  await page.getByRole("switch", { name: "OldestFirst", checked: false }).waitFor();
});

test("special inputs are listed with their effects, and copied", async () => {
  const page = await s.visit("#/worlds?show=special-inputs");
  await page.getByText("Each document takes ten minutes longer to generate.").waitFor();
  await page.getByRole("button", { name: "Copy SH-MAGICGENERATESLOWLY" }).click();
  await page.getByText("SH-MAGICGENERATESLOWLY copied").waitFor();
  assert.equal(await s.clipboard(), "SH-MAGICGENERATESLOWLY");
});

test("countries are searched by name, code and currency", async () => {
  const page = await s.visit("#/countries");
  await page.getByText("250 countries").waitFor();
  await page.getByLabel("Search countries").fill("niger");
  await page.getByText("2 countries").waitFor();
  await page.locator(".row", { hasText: "Nigeria" }).click();
  await page.locator(".detail").getByText("Africa/Lagos").waitFor();
});
