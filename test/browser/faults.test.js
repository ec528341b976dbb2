// Faults: examples, every kind, copies of rules, and counts as they strike.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { suite } from "./suite.js";

const s = suite();
beforeEach(() => s.server?.call("DELETE", "/_mock/faults"));
const rules = async () => (await s.server.call("GET", "/_mock/faults")).data.rules;

test("every example and every kind of fault can be added as it is", async () => {
  const page = await s.visit("#/faults");
  await page.getByText("No rules: nothing goes wrong").waitFor();
  const chooser = page.getByLabel("Begin with");
  await page.getByRole("button", { name: "New rule" }).click();
  const titles = await chooser.locator("option").allInnerTexts();
  const { data } = await s.server.call("GET", "/_mock/faults");
  assert.deepEqual(titles.slice(-data.kinds.length), data.kinds.map(({ kind }) => kind));
  for (const title of titles) {
    await chooser.selectOption({ label: title });
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.locator(".detail").waitFor({ state: "hidden" });
    assert.equal((await rules()).map((rule) => rule.name ?? rule.fault.kind).join(". "), title);
    await page.getByRole("button", { name: "Remove all" }).click();
    await page.getByText("No rules: nothing goes wrong").waitFor();
    await page.getByRole("button", { name: "New rule" }).click();
  }
});

test("a rule counts as it strikes, is copied with a change, and removed", async () => {
  const rule = { name: "Lost", operation: "rates.list", nth: 1, each_request: true, fault: { kind: "respond", status: 418, header: { "X-A": ["b", "c"] }, body: "tea" } };
  await s.server.call("POST", "/_mock/faults", { rules: [rule] });
  const page = await s.visit("#/faults");
  const row = page.locator(".row", { hasText: "Lost" });
  await row.getByText("struck 0").waitFor();
  assert.equal((await s.server.call("GET", "/v1/rates?perPage=1")).status, 418);
  await row.getByText("struck 1").waitFor();
  assert.equal((await s.server.call("GET", "/v1/rates?perPage=1")).status, 200);
  await row.getByText("2 seen").waitFor();
  await row.click();
  const detail = page.locator(".detail");
  await detail.getByRole("link", { name: "New rule like this" }).click();
  const text = detail.getByLabel(/^Body of/);
  assert.deepEqual(JSON.parse(await text.inputValue()), { rules: [rule] });
  await text.fill((await text.inputValue()).replace("Lost", "Lost again").replace("rates.list", "countries.list"));
  await detail.getByRole("button", { name: "Add", exact: true }).click();
  await page.locator(".row", { hasText: "Lost again" }).click();
  await detail.getByRole("button", { name: "Remove" }).click();
  await page.locator(".row", { hasText: "Lost again" }).waitFor({ state: "detached" });
  assert.deepEqual((await rules()).map(({ name }) => name), ["Lost"]);
});

test("two rules are added together or not at all", async () => {
  const page = await s.visit("#/faults/new");
  const detail = page.locator(".detail");
  const text = detail.getByLabel(/^Body of/);
  await text.fill('{"rules": [{"first": 1, "fault": {"kind": "drop"}}, {"point": "generation", "nth": 2, "first": 1}]}');
  await detail.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText(/rule 2 of 2 can never apply/).waitFor();
  s.refused();
  assert.equal((await rules()).length, 0);
  assert.match(await text.inputValue(), /generation/, "what was typed stays");
  await text.fill('{"rules": [{"first": 1, "fault": {"kind": "drop"}}, {"point": "generation", "first": 1}]}');
  await detail.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText("2 rules added").waitFor();
  assert.equal((await rules()).length, 2);
});

test("a stub is added, counts its requests, and is removed", async () => {
  const page = await s.visit("#/faults?show=stubs");
  await page.getByText("No stubs").waitFor();
  await page.getByRole("button", { name: "New stub" }).click();
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const row = page.locator(".row", { hasText: "/v1/shipments" });
  await row.getByText("0 requests").waitFor();
  assert.equal((await s.server.call("POST", "/v1/shipments", {})).status, 201);
  await row.getByText("1 request", { exact: true }).waitFor();
  await row.click();
  await page.locator(".detail").getByRole("button", { name: "Remove" }).click();
  await page.getByText("No stubs").waitFor();
});
