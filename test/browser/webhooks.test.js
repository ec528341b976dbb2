// Webhooks: the inbox, search, the form of a webhook, the composer of events, and replays.

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
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const row = page.locator(".inbox .row").first();
  await row.getByText("valid", { exact: true }).waitFor();
  await row.click();
  const detail = page.locator(".detail");
  await detail.getByText("X-Webhook-Signature").waitFor();
  await detail.locator(".body", { hasText: "shipment.created" }).waitFor();
  await s.server.call("POST", "/_mock/inbox", { event: "forged" });
  await page.locator(".inbox .row", { hasText: "forged" }).click();
  await detail.getByText("there is no signature").waitFor();
  await page.getByRole("button", { name: "Empty inbox" }).click();
  await page.getByText("No notifications").waitFor();
});

// The search runs on the server, over all webhooks and deliveries.
test("webhooks and deliveries are searched, and the address keeps the search", async () => {
  const page = await s.visit("#/webhooks?show=webhooks");
  await page.getByText(/^13\d webhooks$/).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("Shop 12");
  await page.getByText("7 webhooks", { exact: true }).waitFor();
  assert.match(page.url(), /q=Shop\+12/);
  await page.reload();
  await page.getByText("7 webhooks", { exact: true }).waitFor();
  await page.getByLabel("Search webhooks").fill("no such webhook");
  await page.getByText("Nothing matches.").waitFor();
  await page.goto(`${s.server.url}/_mock/#/webhooks?q=SHIPMENT.delivered`);
  await page.locator(".deliveries .row").first().waitFor();
  assert.deepEqual(await page.locator(".deliveries .row > span:nth-child(3)").evaluateAll((cells) => [...new Set(cells.map((cell) => cell.textContent))]), ["shipment.delivered"]);
});

test("a webhook is added, edited, put in an order, disabled and removed", async () => {
  const page = await s.visit("#/webhooks?show=webhooks");
  await page.getByRole("button", { name: "New webhook" }).click();
  const detail = page.locator(".detail");
  await detail.getByLabel("Name").fill("Orders");
  await detail.getByLabel("URL of the receiver").fill("http://inbox.localhost/");
  for (const kind of ["created", "updated", "delivered"]) await detail.getByLabel(`shipment.${kind}`).uncheck();
  await detail.getByLabel("Other events").fill("order.paid, order.cancelled");
  await detail.getByLabel("Order of deliveries").selectOption("reverse");
  await detail.getByRole("button", { name: "Add webhook" }).click();
  const row = page.locator(".webhooks .row", { hasText: "Orders" });
  assert.match(await row.innerText(), /active[\s\S]*Orders[\s\S]*reverse/);
  await detail.getByLabel("Name").fill("Paid orders");
  await detail.getByLabel("Order of deliveries").selectOption("fifo");
  await detail.getByRole("button", { name: "Save" }).click();
  await page.locator(".webhooks .row", { hasText: "Paid orders" }).getByText("fifo").waitFor();
  const { data: hooks } = await s.server.call("GET", "/_mock/webhooks?contains=Paid");
  assert.deepEqual(hooks.map(({ order, events }) => ({ order, events })), [{ order: "fifo", events: ["order.paid", "order.cancelled"] }]);
  await detail.getByRole("switch", { name: "Paid orders is active" }).click();
  await page.locator(".webhooks .row", { hasText: "Paid orders" }).getByText("inactive").waitFor();
  await detail.getByRole("button", { name: "Remove Paid orders" }).click();
  await page.locator(".webhooks .row", { hasText: "Paid orders" }).waitFor({ state: "detached" });
});

test("an event is composed with a payload, byte for byte, and a delivery is replayed", async () => {
  await s.server.call("POST", "/_mock/webhooks", { name: "Mine", url: "http://inbox.localhost/", events: ["order.paid"] });
  const page = await s.visit("#/webhooks/event");
  const detail = page.locator(".detail");
  await detail.getByLabel("Event").fill("order.paid");
  await detail.getByLabel("About").selectOption("data");
  await detail.getByLabel(/Payload/).fill('{"amount": 100.10, "note": "é"}');
  await detail.getByRole("button", { name: "Send", exact: true }).click();
  await detail.getByRole("link", { name: "http://inbox.localhost/" }).click();
  await detail.getByRole("button", { name: "Replay to this webhook only" }).click();
  await page.getByText("Webhook replay queued").waitFor();
  const { data } = await s.server.call("GET", "/_mock/inbox?contains=order.paid&wait=10s&count=2");
  assert.equal(data.notifications.length, 2);
  const text = await (await fetch(`${s.server.url}/_mock/inbox?contains=order.paid`)).text();
  assert.ok(text.includes('"amount":100.10') || text.includes('"amount": 100.10'), text);
});

test("the form of an event shows the problem of an invalid event", async () => {
  const page = await s.visit("#/webhooks/event");
  const detail = page.locator(".detail");
  await detail.getByLabel("Event").fill("nobody.listens");
  await detail.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText(/no active webhook is subscribed/).waitFor();
  s.refused();
});

test("a schedule delivers events in a given order, one before the response to a request", async () => {
  await s.server.call("POST", "/_mock/webhooks", { name: "Ordered", url: "http://inbox.localhost/", events: ["step.one", "step.two"] });
  const page = await s.visit("#/webhooks/event");
  const detail = page.locator(".detail");
  await detail.getByRole("button", { name: "Several, in a given order" }).click();
  await detail.getByLabel("Events, separated by commas").fill("step.one, step.two");
  await detail.getByRole("button", { name: "Add step" }).click();
  const steps = detail.getByLabel("Steps").locator("li");
  await steps.nth(1).getByLabel("Wait before the step").fill("10ms");
  await steps.nth(2).getByLabel("Wait before the step").fill("10ms");
  await steps.nth(2).getByLabel("Event").selectOption("1");
  await detail.getByRole("button", { name: "Run schedule" }).click();
  await detail.getByText("Delivered, in this order").waitFor();
  const { data } = await s.server.call("GET", "/_mock/inbox?contains=step.");
  assert.deepEqual(data.notifications.map((one) => one.event), ["step.two", "step.one", "step.two"]);
  await detail.getByRole("link", { name: "The request in the journal" }).click();
  await page.locator(".detail h2", { hasText: "/v1/rates" }).waitFor();
});
