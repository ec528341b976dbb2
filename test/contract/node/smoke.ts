// Opens a world, funds a wallet in it, injects a fault, lists rates, analyzes a shipment, purchases what is offered and
// advances the clock until it is generated, through types that openapi-typescript generates from the document: what does
// not fit them does not compile.
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/service.js";

type Schemas = components["schemas"];

const baseUrl = required("SHIPPING_BASE_URL");
const control = createClient<paths, "application/json">({ baseUrl, headers: { Authorization: `Bearer ${required("SHIPPING_SECRET_KEY")}` } });

const dialect = { time: { purchasing: "5s" }, list: { order: "oldest first" } };
const name = `contract${Date.now()}`;
const world = take(await control.POST("/_mock/worlds", { body: { scenario: "lowfunds-virtual", name, dialect } }));
const inWorld = { query: { world: world.name } };
const details = take(await control.GET("/_mock/worlds/{world}", { params: { path: { world: world.name } } }));
const wallet = details.wallets[0];
expect(wallet !== undefined, "the world has a wallet");
const service = createClient<paths, "application/json">({ baseUrl, headers: { Authorization: `Bearer ${world.secret_key ?? ""}` } });

// The rate moves the price, and the wallet is funded for it.
const money = take(await control.PATCH("/_mock/ledger", { params: inWorld, body: { exchange_rates: { NGN: 1600 }, fund: [{ wallet, amount: 99_999 }] } }));
expect(money.wallets[0]?.balance === 100_000, `a balance of 100000, not ${money.wallets[0]?.balance}`);

// The first list of rates fails, the second does not.
const rule: Schemas["FaultRule"] = { operation: "rates.list", first: 1, fault: { kind: "status", status: 503 } };
const [added] = take(await control.POST("/_mock/faults", { params: inWorld, body: { rules: [rule] } }));
expect(added?.fault?.kind === "status" && added.struck === undefined, "a rule that has struck nothing yet");
const struck = await service.GET("/v1/rates", { params: { query: { perPage: 5 } } });
expect(struck.response.status === 503, `503, not ${struck.response.status}`);
const rates = take(await service.GET("/v1/rates", { params: { query: { perPage: 5 } } }));
expect(rates.rates.length === 5, `5 rates, not ${rates.rates.length}`);
expect(rates.rates.every((rate) => typeof rate.amount === "number"), "every amount is a number");

const draft = take(
  await service.POST("/v1/regulatory-documents/analyze", { body: { shipment_id: "SH-MAGICCUSTOMSONLY" } }),
);
const offer = draft.available_documents[0];
expect(draft.status === "draft" && offer !== undefined, "a draft that offers a document");

const bought = take(
  await service.POST("/v1/regulatory-documents/purchase", {
    body: { request_id: draft.request_id, document_types: [offer.document_type] },
  }),
);
expect(bought.charged_amount === offer.amount, `${offer.amount} is charged, not ${bought.charged_amount}`);

const again = await service.POST("/v1/regulatory-documents/purchase", {
  body: { request_id: draft.request_id, document_types: [offer.document_type] },
});
expect(again.error?.data?.error_code === "already_purchased", "a second purchase is refused");

let request: Schemas["RegulatoryRequest"] = draft;
for (let polls = 0; request.status !== "completed" && request.status !== "failed"; polls++) {
  expect(polls < 100, `the request ends; it is ${request.status}`);
  take(await control.POST("/_mock/clock/advance", { params: inWorld, body: { duration: "1s" } }));
  request = take(
    await service.GET("/v1/regulatory-documents/request/{request_id}", {
      params: { path: { request_id: draft.request_id } },
    }),
  );
}
expect(request.status === "completed", `the request is completed, not ${request.status}`);

// The journal and the ledger have what happened.
const [refusal] = take(await control.GET("/_mock/journal", { params: { query: { ...inWorld.query, status: "400", last: 1 } } }));
expect(refusal !== undefined, "the refused purchase is in the journal");
const entry = take(
  await control.GET("/_mock/journal/{request_id}", { params: { path: { request_id: refusal.request_id }, ...inWorld } }),
);
expect(entry.why?.error_code === "already_purchased", "the refused purchase is explained");
const ledger = take(await control.GET("/_mock/ledger", { params: { query: { ...inWorld.query, wallet } } }));
expect(ledger.entries[0]?.kind === "debit" && ledger.problems === "", "the last entry is the purchase");
take(await control.DELETE("/_mock/worlds/{world}", { params: { path: { world: world.name } } }));
console.log(`${offer.document_type} of ${request.request_id} for ${offer.currency} ${offer.amount}; ${entry.why.error_code} explained`);

/** The data of a success. */
function take<T>(answer: { data?: { data: T }; error?: unknown; response: Response }): T {
  if (answer.data === undefined) {
    throw new Error(`${answer.response.url}: ${answer.response.status} ${JSON.stringify(answer.error)}`);
  }
  return answer.data.data;
}

function expect(holds: boolean, promise: string): asserts holds {
  if (!holds) {
    throw new Error(`expected: ${promise}`);
  }
}

function required(name: string): string {
  const value = process.env[name];
  if (!value) {
    throw new Error(`${name} is not set`);
  }
  return value;
}
