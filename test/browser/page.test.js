// What holds for the page as a whole: small screens, light and dark, keys, hostile texts, both clocks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { complaints, shot, tooWide } from "./page.js";
import { suite } from "./suite.js";

const base = "/v1/regulatory-documents";
const sections = { journal: "Journal", ledger: "Ledger", "regulatory-requests": "Regulatory", webhooks: "Webhooks", faults: "Faults", worlds: "Worlds" };
/** @type {Record<string, [string, string]>} the address of each part, and what is there when it is shown */
const parts = {};

const s = suite(["-clock", "virtual"], async ({ call, shipments, wallets }) => {
  const analyze = async (shipment) => (await call("POST", base + "/analyze", { shipment_id: shipment })).data.request_id;
  const done = await analyze(shipments[0]);
  await call("POST", base + "/purchase", { request_id: done, document_types: ["CUSTOMS", "FDA"] });
  await call("POST", "/_mock/clock/advance", { duration: "1h" });
  const draft = await analyze("SH-MAGICNEEDEVIDENCE");
  await call("POST", "/_mock/webhooks", { url: "http://inbox.localhost/", name: "Inbox", events: ["order.paid"] });
  const sent = (await call("POST", "/_mock/events", { event: "order.paid", data: { order_id: "OR-1" } })).data;
  await call("POST", "/_mock/clock/advance", { duration: "10s" });
  await call("POST", "/_mock/inbox", { event: "order.paid" });
  await call("POST", "/_mock/faults", { rules: [
    { name: "The second page of rates fails", operation: "rates.list", nth: 2, each_request: true, fault: { kind: "status", status: 503, header: { "Retry-After": "2" } } },
    { operation: "regulatory.purchase", point: "after-charge" },
  ] });
  await call("POST", "/_mock/stubs", { method: "POST", pattern: "/v1/shipments", status: 201, body: '{"status":true}' });
  await call("POST", "/v1/shipments", { parcel: "PC-1" });
  await call("GET", "/v1/rates?perPage=1");
  await call("GET", "/v1/rates?perPage=1");
  const { id: refused } = await call("POST", "/v1/webhooks/replay", { event: "shipment.created" });
  await call("GET", "/v1/transactions?colour=red");
  const entry = (await call("GET", `/_mock/ledger?perPage=1&wallet=${wallets[0]}`)).data.entries[0].id;
  await call("POST", "/_mock/worlds", { scenario: "lowfunds-rows1000", name: "other" });
  Object.assign(parts, {
    journal: ["journal", ".row"], refused: [`journal/${refused}`, ".nearest"], send: ["journal/send", ".detail option:nth-child(2)"],
    "send-valid": [`journal/send/${refused}/valid`, ".detail option:nth-child(2)"], findings: ["journal/findings", ".detail .badge"],
    ledger: ["ledger", ".wallet"], entry: [`ledger/${entry}`, ".detail h2"], "exchange-rates": ["ledger/exchange-rates", ".detail dt"],
    "regulatory-requests": ["regulatory-requests", ".row"], done: [`regulatory-requests/${done}`, "text=PDF"], draft: [`regulatory-requests/${draft}`, "text=Purchase selected"],
    "shipment-new": ["regulatory-requests/new-shipment", ".detail textarea"], "invoice-new": ["regulatory-requests/new-invoice", ".detail textarea"],
    deliveries: ["webhooks", ".row"], delivery: [`webhooks/${sent[0].delivery_id}`, ".detail h2"], webhooks: ["webhooks?show=webhooks", ".row"],
    webhook: [`webhooks/${sent[0].webhook_id}?show=webhooks`, ".detail h2"], inbox: ["webhooks/notification-1?show=inbox", ".detail h2"], event: ["webhooks/event", ".detail h2"],
    "webhook-new": ["webhooks/new", ".detail textarea"],
    faults: ["faults", ".row"], fault: ["faults/1", ".detail h2"], "fault-new": ["faults/new", ".detail dt"],
    stubs: ["faults?show=stubs", ".row"], stub: ["faults/POST%20/v1/shipments?show=stubs", ".detail h2"],
    "stub-new": ["faults/new?show=stubs", ".detail textarea"],
    worlds: ["worlds", ".row"], world: ["worlds/home", ".detail h2"], "world-new": ["worlds/new", ".detail dt"],
    dialect: ["worlds?show=dialect", ".row"], field: ["worlds/list.max_per_page?show=dialect", ".detail h2"],
  });
});

for (const [size, viewport] of Object.entries({ wide: { width: 1280, height: 800 }, narrow: { width: 390, height: 780 } })) {
  for (const colorScheme of ["light", "dark"]) {
    test(`${size} and ${colorScheme}: axe finds nothing, and nothing is too wide`, async () => {
      const page = await s.visit("", { colorScheme, viewport });
      for (const [name, [address, ready]] of Object.entries(parts)) {
        await page.goto(`${s.server.url}/_mock/#/${address}`);
        await page.locator(ready).first().waitFor({ state: "attached" });
        await shot(page, `${name}-${size}-${colorScheme}`);
        assert.deepEqual(await complaints(page), [], name);
        assert.deepEqual(await tooWide(page), [], `${name}: wider than its place`);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is wider than the screen`);
      }
    });
  }
}

test("a narrow screen has every section, and scrolls in one direction", async () => {
  const page = await s.visit("", { viewport: { width: 360, height: 720 }, hasTouch: true });
  for (const [section, title] of Object.entries(sections)) {
    await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name: title }).click();
    await page.locator("h1", { hasText: title }).waitFor();
    await page.locator(".row").first().click();
    await page.locator(".detail h2").waitFor();
    await page.locator(".list").waitFor({ state: "hidden" });
    const { wide, tall } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, tall: document.documentElement.scrollHeight }));
    assert.ok(wide <= 360 && tall <= 720, `${section} is ${wide} wide, ${tall} tall`);
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await page.locator(".list").waitFor();
  }
});

test("everything can be reached with the keyboard alone", async () => {
  const page = await s.visit();
  for (const [i, title] of Object.values(sections).entries()) {
    await page.keyboard.press(String(i + 1));
    await page.locator("h1", { hasText: title }).waitFor();
    await page.locator(".row").nth(1).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    assert.equal(await page.evaluate(() => document.activeElement === document.querySelector(".row")), true, title);
    await page.keyboard.press("Enter");
    await page.locator(".detail h2").waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".detail").waitFor({ state: "hidden" });
  }
  await page.keyboard.press("1");
  await page.locator("h1", { hasText: "Journal" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("rates.list");
  await page.getByText("2 matches", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  for (let i = 0; (await focused()) !== "JSON lines"; i++) {
    assert.ok(i < 50, "Tab does not reach the export");
    await page.keyboard.press("Tab");
  }
});

test("hostile texts stay texts", async () => {
  const evil = "<img src=x onerror=\"globalThis.struck=1\">";
  await s.server.call("GET", "/v1/" + encodeURIComponent(evil) + "?q=" + encodeURIComponent(evil));
  await s.server.call("POST", base + "/analyze", { shipment_id: evil, file_url: "" });
  await s.server.call("POST", "/_mock/webhooks", { url: "http://127.0.0.1:1/", name: evil, events: [evil] });
  await s.server.call("POST", "/_mock/events", { event: evil, data: { evil } });
  await s.server.call("POST", "/_mock/faults", { rules: [{ name: evil, nth: 1000, fault: { kind: "drop" } }] });
  const page = await s.visit();
  for (const address of ["journal", "webhooks?show=webhooks", "webhooks", "faults"]) {
    await page.goto(`${s.server.url}/_mock/#/${address}`);
    await page.locator(".row", { hasText: evil }).first().click();
    await page.locator(".detail", { hasText: "onerror" }).waitFor();
  }
  await page.goto(`${s.server.url}/_mock/#/journal/${encodeURIComponent(evil)}`);
  await page.locator(".detail .note", { hasText: "onerror" }).waitFor();
  assert.equal(await page.evaluate(() => globalThis.struck), undefined);
  assert.equal(await page.locator("img").count(), 0);
  s.refused(); // the unknown request
});

test("a notice covers nothing", async () => {
  for (const width of [1280, 390]) {
    const page = await s.visit("#/worlds/home", { viewport: { width, height: 780 } });
    await page.getByRole("button", { name: "Advance" }).click();
    await page.locator(".notice").waitFor();
    const overlaps = await page.evaluate(() => {
      const boxes = [...document.querySelectorAll("header, main, #notices")].map((node) => node.getBoundingClientRect());
      return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1));
    });
    assert.deepEqual(overlaps, []);
    if (width === 1280) await s.tab.context.close();
  }
});

test("buttons are at least 32 pixels high on a touch screen", async () => {
  const page = await s.visit("", { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true });
  for (const [name, [address, ready]] of Object.entries(parts)) {
    await page.goto(`${s.server.url}/_mock/#/${address}`);
    await page.locator(ready).first().waitFor({ state: "attached" });
    assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll("main :is(button, .button, select, input:not([type=checkbox]))")]
      .filter((node) => node.checkVisibility() && node.getBoundingClientRect().height < 32).map((node) => node.textContent)), [], name);
  }
});
