// What holds for the page as a whole: keys, small screens, light and dark, many requests, both clocks.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { browse, complaints, open, shot, tooWide } from "./page.js";
import { serve } from "./server.js";

const sections = ["journal", "requests", "ledger", "regulatory-requests", "webhooks", "countries", "faults", "worlds"];
const heading = (section) => new RegExp(section.replace("-", " "), "i");
let server;
let browser;
let tab;

before(async () => {
  server = await serve();
  browser = await browse();
  await server.call("GET", "/v1/rates?perPage=2");
  await server.call("GET", "/v1/webhooks?perPage=1");
  await server.call("POST", "/v1/webhooks/replay", { event: "shipment.created" });
  const { data } = await server.call("POST", "/v1/regulatory-documents/analyze", { shipment_id: server.shipments[0] });
  await server.call("POST", "/v1/regulatory-documents/purchase", { request_id: data.request_id, document_types: ["FDA", "CUSTOMS", "QUARANTINE"] });
  await server.call("GET", "/v1/regulatory-documents/request/" + data.request_id);
  await server.call("POST", "/_mock/faults", { rules: [{ operation: "rates.list", nth: 9, fault: { kind: "status", status: 503 } }] });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});
afterEach(async () => {
  const wrong = tab?.wrong ?? [];
  await tab?.context.close();
  tab = undefined;
  assert.deepEqual(wrong, [], "forbidden actions of the page");
});
const visit = async (hash, options) => (tab = await open(browser, server, hash, options)).page;

for (const colorScheme of ["light", "dark"]) {
  for (const width of [1280, 390]) {
    test(`axe finds nothing in ${colorScheme}, ${width} pixels wide`, async () => {
      const page = await visit("", { colorScheme, viewport: { width, height: 800 } });
      for (const section of sections) {
        await page.goto(server.url + "/_mock/#/" + section);
        await page.locator("h1", { hasText: heading(section) }).waitFor();
        await page.waitForLoadState("networkidle").catch(() => {});
        assert.deepEqual(await complaints(page), [], section);
        assert.deepEqual(await tooWide(page), [], `${section}: wider than its place`);
        await shot(page, `${section}-${width}-${colorScheme}`);
        if (["journal", "ledger", "regulatory-requests", "webhooks", "countries"].includes(section)) {
          await page.locator(".row").first().click();
          await page.locator(".detail h2").waitFor();
          assert.deepEqual(await complaints(page), [], `${section}, with a record`);
          await shot(page, `${section}-record-${width}-${colorScheme}`);
        }
      }
    });
  }
}

test("a narrow screen has everything and scrolls in one direction", async () => {
  const page = await visit("", { viewport: { width: 360, height: 720 }, hasTouch: true });
  for (const section of sections) {
    await page.locator(`nav a[href*="/${section}"]`).click();
    await page.locator("h1", { hasText: heading(section) }).waitFor();
    if (section === "journal" || section === "regulatory-requests") {
      await page.locator(".row").first().click();
      await page.locator(".detail h2").waitFor();
    }
    await shot(page, `${section}-narrow`);
    const { wide, tall } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, tall: document.documentElement.scrollHeight }));
    assert.ok(wide <= 360, `${section} is ${wide} wide`);
    assert.deepEqual(await tooWide(page), [], `${section}: wider than its place`);
    assert.ok(tall <= 720, `${section} is ${tall} tall`);
    if (section === "journal" || section === "regulatory-requests") await page.getByRole("button", { name: "Close" }).first().click();
  }
});

test("everything can be reached with the keyboard alone", async () => {
  const page = await visit();
  await page.locator(".row").first().waitFor();
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  for (const [i, section] of sections.entries()) {
    await page.keyboard.press(String(i + 1));
    await page.locator("h1", { hasText: heading(section) }).waitFor();
  }
  await page.keyboard.press("1");
  await page.locator(".row").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  assert.equal(await page.evaluate(() => document.activeElement === document.querySelector(".row")), true);
  await page.keyboard.press("Enter");
  await page.locator(".detail h2").waitFor();
  await page.keyboard.press("c");
  await page.getByText("curl command copied").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".detail").waitFor({ state: "hidden" });
  await page.keyboard.press("/");
  await page.keyboard.type("webhooks");
  await page.getByText("2 matches").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("t");
  await page.getByText("Theme: light").waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
});

test("thousands of requests arrive: only the rows in view are elements", async () => {
  const page = await visit();
  for (let i = 0; i < 40; i++) {
    await Promise.all(Array.from({ length: 75 }, () => server.call("GET", "/v1/rates?perPage=1")));
  }
  const { id } = await server.call("GET", "/v1/rates?perPage=1&page=2");
  await page.locator(`.row[href*="${id}"]`).waitFor();
  const rows = await page.locator(".row").count();
  assert.ok(rows <= 80, `${rows} rows`);
  assert.ok(Number(await page.locator(".rows li").first().getAttribute("aria-setsize")) >= 3000);
  await page.keyboard.press("p");
  await page.getByRole("button", { name: "Resume" }).waitFor();
});

test("a deep link opens its target, and a real clock explains how to get a virtual one", async () => {
  const page = await visit("#/countries/NG");
  await page.locator(".detail").getByText("Africa/Lagos").waitFor();
  await page.goto(server.url + "/_mock/#/worlds");
  await page.getByText("serve -clock virtual").waitFor();
});

test("a reset world is shown as it is: empty", async () => {
  const page = await visit();
  await page.locator(".row").first().waitFor();
  await server.call("POST", "/_mock/worlds/home/reset", {});
  await page.getByText("No requests yet").waitFor();
});
