// Tests of shipping.mjs against the reference server: node --test, in this folder.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHmac, timingSafeEqual } from "node:crypto";
import { on, once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { Server, World } from "./mockserver.mjs";
import { Shipping, ShippingError } from "./shipping.mjs";

let server;
before(async () => {
  server = await Server.start();
});
after(() => server?.close());

// Opens a world for a test, and a client of it.
async function open(t, scenario) {
  const world = await World.open(server, scenario);
  t.after(() => world.close());
  return { world, client: new Shipping(server.url, world.key, (seconds) => world.advance(seconds)) };
}

// Receives webhook notifications on a free port of this machine: next() returns one after the other.
async function receive(t) {
  const receiver = createServer();
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  t.after(() => receiver.close());
  const requests = on(receiver, "request", { signal: AbortSignal.timeout(30_000) });
  const next = async () => {
    const [request, response] = (await requests.next()).value;
    const body = Buffer.concat(await request.toArray());
    response.end();
    return { headers: request.headers, body };
  };
  return { url: `http://127.0.0.1:${receiver.address().port}/`, next };
}

test("a server that is not closed stops with its process", async () => {
  // The server inherits standard error, so the promise is fulfilled only when the server has stopped too.
  const code = 'import { Server } from "./mockserver.mjs"; console.log((await Server.start()).url);';
  const environment = { ...process.env, SHIPPING_BASE_URL: "" };
  const ended = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code], { env: environment, timeout: 60_000 });
  assert.match(ended.stdout, /^http:\/\/127\.0\.0\.1:/);
  assert.equal(ended.stderr, "");
});

test("rates are listed page by page", async (t) => {
  const { world, client } = await open(t);
  const ids = new Set();
  for await (const rate of client.rates(100)) ids.add(rate.rate_id);
  assert.equal(ids.size, 250);
  assert.deepEqual(
    (await world.journal("rates.list")).map((call) => call.query),
    ["page=1&perPage=100", "page=2&perPage=100", "page=3&perPage=100"],
  );
});

test("a lost response charges once", async (t) => {
  const { world, client } = await open(t);
  const draft = await client.analyze(world.shipments[0]);
  // The wallet is charged, and then the connection is closed without a response.
  await world.inject("regulatory.purchase", { kind: "drop" }, { first: 1, committed: true });
  const bought = await client.purchase(draft.request_id, "CUSTOMS", "FDA");
  assert.equal(bought.status, "processing");
  assert.equal((await world.journal("regulatory.purchase")).length, 1);
  const entries = await world.purchases();
  assert.equal(entries.length, 1);
  assert.equal(entries[0].reference, draft.request_id);
  assert.equal(entries[0].amount, bought.charged_amount);
  await world.lint();
});

test("a program that starts over buys twice", async (t) => {
  const { world, client } = await open(t);
  for (let i = 0; i < 2; i++) await client.purchase((await client.analyze(world.shipments[0])).request_id, "CUSTOMS");
  await assert.rejects(world.lint(), /bought-twice .*CUSTOMS/);
  await world.lint("bought-twice");
});

test("insufficient funds", async (t) => {
  const { world, client } = await open(t, "lowfunds-virtual");
  const draft = await client.analyze(world.shipments[0]);
  let refusal;
  await assert.rejects(client.purchase(draft.request_id, "CUSTOMS"), (error) => {
    refusal = error;
    return error instanceof ShippingError && error.code === "insufficient_funds";
  });
  assert.deepEqual(await world.purchases(), []);

  // Numbers are binary fractions: count in hundredths.
  const missing = (Math.round(refusal.data.needed * 100) - Math.round(refusal.data.balance * 100)) / 100;
  await world.patch("ledger", { fund: [{ wallet: draft.wallet, amount: missing }] });
  await client.purchase(draft.request_id, "CUSTOMS");
  assert.equal(await world.balance(draft.wallet), 0);
});

test("a webhook notification is received and signed", async (t) => {
  const { world } = await open(t);
  const receiver = await receive(t);
  await world.post("webhooks", { url: receiver.url, events: ["shipment.delivered"] });
  await world.post("events", { event: "shipment.delivered", shipment_id: world.shipments[0] });
  const { headers, body } = await receiver.next();
  // The signature is over the bytes as they came: do not decode and encode them again.
  const signature = createHmac("sha512", world.key).update(body).digest("hex");
  assert.ok(timingSafeEqual(Buffer.from(signature), Buffer.from(headers["x-webhook-signature"])));
  assert.equal(JSON.parse(body).data.shipment_id, world.shipments[0]);
});

test("a notification comes twice", async (t) => {
  const { world } = await open(t);
  const receiver = await receive(t);
  await world.post("webhooks", { url: receiver.url });
  await world.inject("notification", { kind: "repeat-notification" }, { first: 1 });
  await world.post("events", { event: "shipment.updated", shipment_id: world.shipments[0] });
  const first = await receiver.next();
  const again = await receiver.next();
  assert.equal(again.headers["x-webhook-delivery-id"], first.headers["x-webhook-delivery-id"]);
  assert.deepEqual(again.body, first.body);
});

test("documents are generated as time passes", async (t) => {
  const { world, client } = await open(t);
  const draft = await client.analyze(world.shipments[0]);
  assert.equal((await client.purchase(draft.request_id, "CUSTOMS")).status, "processing");
  await world.advance("1h");
  assert.equal((await client.request(draft.request_id)).status, "completed");
});

test("a shipment of the test", async (t) => {
  const { world, client } = await open(t);
  const added = await world.post("shipments", { line_items: [{ hs_code: "910211" }], documents: [{ document_type: "CUSTOMS", amount: 1500.5 }] });
  const { available_documents: [offer] } = await client.analyze(added.shipment_id);
  assert.deepEqual([offer.document_type, offer.amount], ["CUSTOMS", 1500.5]);
});

test("another service with a key of its own", async (t) => {
  const { world } = await open(t);
  const rates = `/fx/${world.name}/rates`; // its own path: one world of a server has the open stub of a path
  await world.post("stubs", { method: "POST", pattern: rates, open: true, nth: 1, status: 503 });
  await world.post("stubs", { method: "POST", pattern: rates, open: true, match: { to: "NGN" }, body: '{"rate":1476.04}' });
  const ask = async (to) => (await fetch(server.url + rates, {
    method: "POST", headers: { authorization: "Bearer fx-key" }, body: JSON.stringify({ from: "USD", to }),
  })).status;
  assert.deepEqual([await ask("NGN"), await ask("NGN"), await ask("GHS")], [503, 200, 404]);
  assert.equal((await world.journal(`POST ${rates}`)).length, 3);
});

test("Retry-After is respected", async (t) => {
  const { world, client } = await open(t);
  const fault = { kind: "status", status: 503, header: { "Retry-After": "7" } };
  await world.inject("rates.list", fault, { first: 2 });
  for await (const rate of client.rates(250)) assert.match(rate.rate_id, /^RT-/);
  const calls = await world.journal("rates.list");
  assert.deepEqual(calls.map((call) => call.status), [503, 503, 200]);
  // Each call has the time of the world's clock, which only the client's sleep moved.
  assert.deepEqual(calls.map((call) => call.at.slice(17, 19)), ["00", "07", "14"]);
});

test("two outcomes of one state", async (t) => {
  const analyzed = async () => { // opens a world in that state
    const { world, client } = await open(t);
    return { world, client, draft: await client.analyze(world.shipments[0]) };
  };
  for (const documents of [["CUSTOMS"], ["CUSTOMS", "FDA"]]) {
    const { world, client, draft } = await analyzed();
    const bought = await client.purchase(draft.request_id, ...documents);
    assert.deepEqual(bought.documents.map((document) => document.document_type), documents);
    assert.equal((await world.purchases()).length, 1);
  }
});

test("a call in the background is awaited", async (t) => {
  const { world, client } = await open(t);
  const awaited = world.waitFor("regulatory.analyze");
  await client.analyze(world.shipments[0]);
  assert.equal((await awaited).status, 200);
});

test("twenty worlds at once", async (t) => {
  const all = await Promise.all(Array.from({ length: 20 }, async (_, number) => {
    const { world, client } = await open(t);
    await world.patch("ledger", { exchange_rates: { NGN: 1000 + number } });
    return { number, world, client, draft: await client.analyze(world.shipments[0]) };
  }));
  await Promise.all(all.map(({ client, draft }) => client.purchase(draft.request_id, "CUSTOMS")));
  for (const { number, world, draft } of all) {
    const entries = await world.purchases();
    assert.equal(entries.length, 1);
    assert.equal(entries[0].reference, draft.request_id);
    assert.equal(entries[0].amount, 4 * (1000 + number)); // CUSTOMS costs 4 dollars
    assert.equal((await world.journal("regulatory.purchase")).length, 1);
  }
});
