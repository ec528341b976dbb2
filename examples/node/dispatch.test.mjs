// A whole program against the reference server: it creates shipments, buys rates and documents, and receives
// notifications. Run it with node --test, in this folder.
import assert from "node:assert/strict";
import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { Server, World } from "./mockserver.mjs";
import { Shipping } from "./shipping.mjs";

// Dispatch sends orders abroad: a shipment, the cheapest rate, and the documents that customs requires.
class Dispatch {
  #client;
  #secret;
  #orders = new Map(); // by shipment id
  #seen = new Set(); // ids of events that were handled

  constructor(client, secret) {
    this.#client = client;
    this.#secret = secret;
  }

  // Sends an order and returns what is known about it. limit is the most that its documents may cost, in hundredths.
  async send(parcel, limit) {
    const { shipment_id: id } = await this.#client.createShipment(parcel);
    const order = { id, state: "created", delivered: 0 };
    this.#orders.set(id, order);
    order.rate = await this.#cheapest();
    const draft = await this.#client.analyze(id);
    const offers = draft.available_documents.filter((offer) => offer.mode === "automated");
    const cost = offers.reduce((sum, offer) => sum + Math.round(offer.amount * 100), 0);
    if (cost > limit) {
      order.state = "too expensive";
      return order;
    }
    if (offers.length > 0) {
      const bought = await this.#client.purchase(draft.request_id, ...offers.map((offer) => offer.document_type));
      order.request = bought.request_id;
      order.charged = bought.charged_amount;
    }
    order.state = "sent";
    return order;
  }

  // Updates the documents of an order, and reports whether all of them are ready.
  async documentsReady(id) {
    const order = this.#orders.get(id);
    if (!order.request) return true;
    const { status, documents } = await this.#client.request(order.request);
    order.documents = documents.map((document) => document.document_type);
    return status === "completed";
  }

  // Returns the cheapest rate of all pages.
  async #cheapest() {
    let best;
    for await (const rate of this.#client.rates(100)) {
      if (!best || rate.amount < best.amount) best = rate;
    }
    return best;
  }

  // Returns an HTTP server that receives notifications. It responds once a notification is handled.
  receiver() {
    return createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray());
      response.statusCode = this.#notified(request.headers, body);
      response.end();
    });
  }

  // Handles a notification once, however often it arrives, and returns the status of the response.
  #notified(headers, body) {
    const want = createHmac("sha512", this.#secret).update(body).digest();
    const sent = Buffer.from(headers["x-webhook-signature"] ?? "", "hex");
    if (sent.length !== want.length || !timingSafeEqual(sent, want)) return 401;
    const id = headers["x-webhook-event-id"];
    if (this.#seen.has(id)) return 200;
    const { event, data } = JSON.parse(body);
    const order = this.#orders.get(data.shipment_id);
    if (event === "shipment.delivered" && order) {
      order.state = "delivered";
      order.delivered++;
    }
    this.#seen.add(id);
    return 200;
  }
}

let server;
before(async () => {
  server = await Server.start();
});
after(() => server?.close());

// Opens a world in which the program creates the shipment SH-ORDER, with two documents that cost 2,500.50.
async function open(t) {
  const world = await World.open(server);
  t.after(() => world.close());
  await world.post("shipments", {
    shipment_id: "SH-ORDER",
    documents: [{ document_type: "CUSTOMS", amount: 1500.5 }, { document_type: "TEXTILE", amount: 1000 }],
  });
  await world.post("stubs", {
    method: "POST", pattern: "/v1/shipments", status: 201,
    body: JSON.stringify({ status: true, message: "Created", data: { shipment_id: "SH-ORDER" } }),
  });
  const client = new Shipping(server.url, world.key, (seconds) => world.advance(seconds));
  return { world, program: new Dispatch(client, world.key) };
}

test("an order is sent, its documents are bought once, and its delivery counts once", async (t) => {
  const { world, program } = await open(t);
  await world.inject("regulatory.purchase", { kind: "drop" }, { first: 1, committed: true }); // the response is lost
  const order = await program.send({ weight: 2 }, 300_000);
  assert.equal(order.state, "sent");
  assert.equal(order.charged, 2500.5);
  assert.ok(order.rate.amount > 0);
  await world.advance("1h");
  assert.ok(await program.documentsReady(order.id));
  assert.deepEqual(order.documents.toSorted(), ["CUSTOMS", "TEXTILE"]);

  const receiver = program.receiver().listen(0, "127.0.0.1");
  await once(receiver, "listening");
  t.after(() => receiver.close());
  await world.post("webhooks", { url: `http://127.0.0.1:${receiver.address().port}/`, events: ["shipment.delivered"] });
  await world.inject("notification", { kind: "repeat-notification" }, { first: 1 });
  const [delivery] = (await world.post("events", { event: "shipment.delivered", shipment_id: order.id }))
    .filter(({ url }) => url.startsWith("http://127.0.0.1"));
  await world.advance("1m"); // waits for both attempts
  const [sent] = await world.get("deliveries", { contains: delivery.delivery_id });
  assert.equal(sent.attempts.length, 2);
  assert.deepEqual([order.state, order.delivered], ["delivered", 1]);

  assert.equal((await world.journal("POST /v1/shipments")).length, 1);
  assert.equal((await world.purchases()).length, 1);
  await world.lint();
});

test("an order whose documents are too expensive buys nothing", async (t) => {
  const { world, program } = await open(t);
  assert.equal((await program.send({ weight: 2 }, 200_000)).state, "too expensive");
  assert.deepEqual(await world.purchases(), []);
});
