// Webhooks: the inbox, search, the form of a webhook, events and replays.

import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "./suite.js";

const s = suite();

// The inbox shows notifications without a receiver.
test("the inbox is subscribed with one button, receives an event, and verifies it", async () => {
  const page = await s.visit("#/webhooks?show=inbox");
  await page.getByText("No notifications").waitFor();
  await page.getByRole("button", { name: "Subscribe inbox" }).click();
  await page.getByText("The inbox is subscribed").waitFor();
  await page.getByRole("button", { name: "Send event" }).click();
  await page.waitForFunction(() => document.querySelector("textarea")?.value.includes("SH-"));
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.locator(".row", { hasText: "shipment.updated" }).first().click();
  const detail = page.locator(".detail");
  await detail.locator("h2 .badge", { hasText: /^valid$/ }).waitFor();
  await detail.getByText("X-Webhook-Signature").waitFor();
  await detail.locator(".body", { hasText: "shipment.updated" }).waitFor();
  await s.server.call("POST", "/_mock/inbox", { event: "forged" });
  await page.getByRole("button", { name: "1 new" }).click(); // the pointer is on the list
  await page.locator(".row", { hasText: "forged" }).click();
  await detail.getByText("the header X-Webhook-Signature is missing").waitFor();
});

// The search runs on the server, over all webhooks and deliveries.
test("webhooks and deliveries are searched, and the address keeps the search", async () => {
  const page = await s.visit("#/webhooks?show=webhooks");
  await page.locator(".row").nth(100).waitFor({ state: "attached" });
  await page.keyboard.press("/");
  await page.keyboard.type("Shop 12");
  const seven = () => page.waitForFunction(() => document.querySelectorAll(".row").length === 7);
  await seven();
  assert.match(page.url(), /q=Shop\+12/);
  await page.reload();
  await seven();
  await page.getByLabel("Event, URL, id or text").fill("no such webhook");
  await page.getByText("Nothing matches.").waitFor();
  await page.goto(`${s.server.url}/_mock/#/webhooks?q=SHIPMENT.delivered`);
  await page.locator(".row", { hasText: "shipment.delivered" }).first().waitFor();
  assert.equal(await page.locator(".row", { hasNotText: "shipment.delivered" }).count(), 0);
});

test("a webhook is added, edited, disabled and removed", async () => {
  const page = await s.visit("#/webhooks?show=webhooks");
  await page.getByRole("button", { name: "New webhook" }).click();
  const detail = page.locator(".detail");
  const text = detail.getByLabel(/^Body of/);
  await detail.getByLabel("Receiver").selectOption("The inbox of this world");
  await detail.getByLabel("Events").selectOption("shipment.updated");
  assert.deepEqual(JSON.parse(await text.inputValue()), { name: "Orders", url: "http://inbox.localhost/", events: ["shipment.updated"] });
  await text.fill('{"name": "Orders", "url": "http://inbox.localhost/", "events": ["order.paid", "order.cancelled"]}');
  await detail.getByRole("button", { name: "Add webhook" }).click();
  const row = page.locator(".row", { hasText: "orders" });
  await row.waitFor();
  assert.match(await row.innerText(), /active[\s\S]*Orders/);
  await detail.getByRole("button", { name: "Save" }).waitFor();
  await text.fill((await text.inputValue()).replace("Orders", "Paid orders"));
  await detail.getByRole("button", { name: "Save" }).click();
  await row.getByText("Paid orders").waitFor();
  const { data: hooks } = await s.server.call("GET", "/_mock/webhooks?contains=Paid");
  assert.deepEqual(hooks.map(({ events }) => events), [["order.paid", "order.cancelled"]]);
  await detail.getByRole("button", { name: "Disable" }).click();
  await row.getByText("inactive").waitFor();
  await detail.getByRole("button", { name: "Remove" }).click();
  await row.waitFor({ state: "detached" });
});

test("an event is sent with a payload, byte for byte, and a delivery is replayed", async () => {
  await s.server.call("POST", "/_mock/webhooks", { name: "Mine", url: "http://inbox.localhost/", events: ["order.paid"] });
  const page = await s.visit("#/webhooks/event");
  const detail = page.locator(".detail");
  await page.waitForFunction(() => document.querySelector("textarea")?.value.includes("SH-"));
  await detail.getByLabel(/^Body of/).fill('{"event": "order.paid", "data": {"amount": 100.10, "note": "é"}}');
  await detail.getByRole("button", { name: "Send", exact: true }).click();
  await detail.getByRole("link", { name: "http://inbox.localhost/" }).click();
  await detail.getByRole("button", { name: "Replay to this webhook only" }).click();
  await page.getByText("Webhook replay queued").waitFor();
  const { data } = await s.server.call("GET", "/_mock/inbox?contains=order.paid&wait=10s&count=2");
  assert.equal(data.notifications.length, 2);
  const text = await (await fetch(`${s.server.url}/_mock/inbox?contains=order.paid`)).text();
  assert.match(text, /"amount": ?100\.10/);
});

test("the form of an event shows the problem of an invalid event", async () => {
  const page = await s.visit("#/webhooks/event");
  const detail = page.locator(".detail");
  await page.waitForFunction(() => document.querySelector("textarea")?.value.includes("SH-"));
  await detail.getByLabel(/^Body of/).fill('{"event": "nobody.listens", "data": {}}');
  await detail.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText(/no active webhook is subscribed/).waitFor();
  s.refused();
});
