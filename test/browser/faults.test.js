// Faults: presets, every field of a rule, editing, duplicates, several rules at once, and counts as they strike.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { suite } from "./suite.js";

const s = suite();
beforeEach(() => s.server?.call("DELETE", "/_mock/faults"));
const rules = async () => (await s.server.call("GET", "/_mock/faults")).data.rules;

// A preset keeps its meaning when its rules are applied.
test("presets: each adds rules under its own name, which count as they strike", async () => {
  const page = await s.visit("#/faults");
  await page.getByText("No rules: nothing goes wrong").waitFor();
  for (const preset of await page.locator(".presets button").all()) {
    const name = await preset.innerText();
    await preset.click();
    await page.locator(".rules a").first().waitFor();
    const names = await page.locator(".rules a").allInnerTexts();
    assert.equal(names.map((one) => one.replace(/^\d+\. /, "")).join(". "), name);
    await page.getByRole("button", { name: "Remove all" }).click();
    await page.getByText("No rules: nothing goes wrong").waitFor();
  }
  await page.getByRole("button", { name: "Every page of rates fails once" }).click();
  await page.getByText("struck 0").waitFor();
  const toggle = page.getByRole("switch");
  await toggle.focus();
  assert.equal((await s.server.call("GET", "/v1/rates?perPage=1")).status, 503);
  await page.getByText("struck 1").waitFor();
  assert.equal((await s.server.call("GET", "/v1/rates?perPage=1")).status, 200);
  await page.getByText("of 2 seen").waitFor();
  assert.equal(await toggle.evaluate((node) => node === document.activeElement), true, "the focus stays while counts change");
  await page.keyboard.press("Space");
  await page.locator(".rules .disabled").waitFor();
});

test("every field of a rule is set, and edited in its place", async () => {
  await s.server.call("POST", "/_mock/faults", { rules: [
    { operation: "rates.list", nth: 2, each_request: true, probability: 0.5, from: "2026-01-05T09:30:00Z", until: "2099-01-05T09:30:00Z", committed: true, fault: { kind: "respond", status: 418, header: { "X-A": ["b", "c"] }, body: "tea" } },
    { operation: "countries.list", fault: { kind: "drop" } },
  ] });
  const [before] = await rules();
  const page = await s.visit(`#/faults/${before.number}`);
  const detail = page.locator(".detail");
  assert.equal(await detail.getByLabel("Header").inputValue(), "X-A: b\nX-A: c");
  await detail.getByRole("button", { name: "Save" }).click();
  await detail.waitFor({ state: "hidden" });
  const { seen, struck, ...same } = (await rules())[0];
  assert.deepEqual(same, before, "saving without a change changes nothing");

  await page.goto(`${s.server.url}/_mock/#/faults/${before.number}`);
  await detail.getByLabel("Name").fill("Slow countries");
  await detail.getByRole("combobox", { name: "Operation" }).selectOption("countries.list");
  await detail.getByRole("combobox", { name: "Fault", exact: true }).selectOption("latency");
  await detail.getByLabel("Duration").fill("1500ms");
  await detail.getByLabel("Only request number").fill("");
  await detail.getByLabel("Only the first").fill("3");
  await detail.getByLabel("Probability").fill("");
  await detail.getByLabel("From").fill("");
  await detail.getByLabel("Until").fill("");
  await detail.getByLabel("After the operation").uncheck();
  await detail.getByRole("button", { name: "Save" }).click();
  await page.locator(".rules").getByText("Slow countries").waitFor();
  assert.deepEqual((await rules())[0], { number: before.number, name: "Slow countries", operation: "countries.list", first: 3, each_request: true, fault: { kind: "latency", duration: "1.5s" } });
});

test("a rule is duplicated, and two are added together or not at all", async () => {
  await s.server.call("POST", "/_mock/faults", { rules: [{ name: "Lost", operation: "regulatory.purchase", first: 1, committed: true, fault: { kind: "drop" } }] });
  const page = await s.visit("#/faults");
  await page.getByRole("button", { name: /Duplicate rule/ }).click();
  const detail = page.locator(".detail");
  await detail.getByLabel("Name").fill("Lost again");
  await detail.getByRole("button", { name: "Another rule with these" }).click();
  const second = detail.locator(".several fieldset").nth(1);
  await second.getByLabel("Name").fill("At a point");
  await second.getByLabel("At a point of a purchase").selectOption("generation");
  await second.getByLabel("Only request number").fill("2");
  await second.getByLabel("Only the first").fill("1");
  await detail.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText(/rule 2 of 2 can never strike/).waitFor();
  assert.equal((await rules()).length, 1);
  s.refused();
  await second.getByLabel("Only request number").fill("");
  await detail.getByRole("button", { name: "Copy as JSON" }).click();
  assert.equal(JSON.parse(await s.clipboard()).rules.length, 2);
  await detail.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText("2 rules added").waitFor();
  assert.deepEqual((await rules()).map(({ name, point, fault }) => [name, point ?? "", fault?.kind ?? ""]), [["Lost", "", "drop"], ["Lost again", "", "drop"], ["At a point", "generation", ""]]);
  await page.getByRole("button", { name: "Copy all as JSON" }).click();
  const copied = await s.clipboard();
  await page.getByRole("button", { name: "Remove all" }).click();
  await page.getByText("No rules: nothing goes wrong").waitFor();
  assert.equal((await s.server.call("POST", "/_mock/faults", JSON.parse(copied))).status, 200);
});

test("every kind of fault can be added with the values that the form suggests", async () => {
  const page = await s.visit("#/faults/new");
  const detail = page.locator(".detail");
  await detail.getByRole("combobox", { name: "Fault", exact: true }).waitFor();
  const kinds = await detail.getByRole("combobox", { name: "Fault", exact: true }).locator("option").evaluateAll((options) => options.map((option) => option.value));
  assert.ok(kinds.length >= 17, kinds);
  for (const kind of kinds) {
    if (!page.url().endsWith("/new")) await page.getByRole("button", { name: "New rule" }).click();
    await detail.getByRole("combobox", { name: "Fault", exact: true }).selectOption(kind);
    await detail.getByLabel("Only the first").fill("1");
    await detail.getByRole("button", { name: "Add", exact: true }).click();
    await detail.waitFor({ state: "hidden" });
  }
  assert.deepEqual((await rules()).map(({ fault }) => fault.kind), kinds);
});

test("the keyboard alone: a rule is found, opened and left", async () => {
  await s.server.call("POST", "/_mock/faults", { rules: [{ first: 1, fault: { kind: "empty" } }, { operation: "rates.list", first: 1, fault: { kind: "drop" } }] });
  const page = await s.visit("#/faults");
  await page.locator(".rules a").nth(1).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.locator(".detail h2", { hasText: "Edit rule" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".detail").waitFor({ state: "hidden" });
});
