// Documents, webhooks, faults and worlds on a wide and on a narrow screen, light and dark: nothing serious for axe, nothing wider
// than the screen.

import assert from "node:assert/strict";
import { test } from "node:test";
import { complaints, shot, tooWide } from "./page.js";
import { suite } from "./suite.js";

const base = "/v1/regulatory-documents";
/** @type {Record<string, string>} the address of each part, by name */
const parts = {};

const s = suite(["-clock", "virtual"], async ({ call, shipments, wallets }) => {
  const analyze = async (shipment) => (await call("POST", base + "/analyze", { shipment_id: shipment })).data.request_id;
  const done = await analyze(shipments[0]);
  await call("POST", base + "/purchase", { request_id: done, document_types: ["CUSTOMS", "FDA"] });
  await call("POST", "/_mock/clock/advance", { duration: "1h" });
  const draft = await analyze("SH-MAGICNEEDEVIDENCE");
  const hook = (await call("POST", "/_mock/webhooks", { url: "http://inbox.localhost/", name: "Inbox", events: ["order.paid"] })).data.webhook_id;
  const refusing = "http://inbox.localhost/?status=503";
  await call("POST", "/_mock/webhooks", { url: refusing, name: "Refuses", events: ["order.paid"], order: "fifo" });
  const sent = (await call("POST", "/_mock/events", { event: "order.paid", data: { order_id: "OR-1", shipment_id: shipments[0] } })).data;
  await call("POST", "/_mock/clock/advance", { duration: "10s" });
  await call("POST", "/_mock/inbox", { event: "order.paid" });
  await call("POST", "/_mock/faults", { rules: [
    { name: "The second page of rates fails", operation: "rates.list", nth: 2, each_request: true, fault: { kind: "status", status: 503, header: { "Retry-After": "2" } } },
    { operation: "regulatory.purchase", point: "after-charge" },
  ] });
  await call("GET", "/v1/rates?perPage=1");
  await call("GET", "/v1/rates?perPage=1");
  await call("GET", "/v1/transactions?colour=red"); // req-6
  await call("PATCH", "/_mock/assumptions", { assumptions: { PerPageCap: 100 } });
  await call("POST", "/_mock/worlds/home/snapshot", { snapshot: "before" });
  await call("POST", "/_mock/ledger/fund", { wallet: wallets[0], amount: 100.5 });
  await call("POST", "/_mock/exchange-rates", { currency: "NGN", per_dollar: 1600.5 });
  await call("POST", "/_mock/worlds", { scenario: "lowfunds-rows1000", name: "other" });
  Object.assign(parts, {
    draft: `#/regulatory-requests/${draft}`, pdf: `#/regulatory-requests/${done}?document=FDA`,
    deliveries: `#/webhooks/${sent[0].delivery_id}`, "webhook-list": "#/webhooks?show=webhooks", webhook: `#/webhooks/${hook}?show=webhooks`,
    inbox: "#/webhooks/notification-1?show=inbox", event: "#/webhooks/event", schedule: "#/webhooks/schedule", faults: "#/faults", fault: "#/faults/1", "fault-new": "#/faults/new",
    countries: "#/countries/NG", "exchange-rates": "#/ledger/exchange-rates", compare: "#/journal/req-4?with=req-5", response: "#/requests/req-6", world: "#/worlds", assumptions: "#/worlds?show=assumptions", "special-inputs": "#/worlds?show=special-inputs", lint: "#/worlds?show=lint",
  });
});

const ready = {
  draft: "text=Purchase selected", pdf: "iframe", deliveries: ".detail h2", "webhook-list": ".row", webhook: "text=Save", inbox: ".detail .body", event: "text=Payload", schedule: "text=Run schedule", faults: ".rules li",
  fault: "text=Save", "fault-new": ".detail fieldset", countries: ".detail h2", "exchange-rates": ".detail td", compare: ".compared td", response: ".detail .reason", world: ".terms li", assumptions: ".assumptions li", "special-inputs": ".special li", lint: ".findings",
};

for (const [size, viewport] of Object.entries({ wide: { width: 1280, height: 800 }, narrow: { width: 390, height: 780 } })) {
  for (const colorScheme of ["light", "dark"]) {
    test(`${size} and ${colorScheme}: axe finds nothing serious, and nothing is too wide`, async () => {
      const page = await s.visit("", { colorScheme, viewport });
      for (const [name, hash] of Object.entries(parts)) {
        await page.goto(`${s.server.url}/_mock/${hash}`);
        await page.locator(ready[name]).first().waitFor({ state: "attached" });
        await shot(page, `part-${name}-${size}-${colorScheme}`);
        assert.deepEqual(await complaints(page), [], `${name}, ${size}, ${colorScheme}`);
        assert.deepEqual(await tooWide(page), [], `${name}, ${size}: wider than its place`);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is wider than the screen`);
      }
    });
  }
}
