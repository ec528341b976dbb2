// Lists rates, analyzes a shipment, purchases what is offered and polls until it is generated, through
// types that openapi-typescript generates from the document: what does not fit them does not compile.
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/service.js";

const baseUrl = required("SHIPPING_BASE_URL");
const key = required("SHIPPING_SECRET_KEY");
const service = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });

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

let request: components["schemas"]["RegulatoryRequest"] = draft;
for (let polls = 0; request.status !== "completed" && request.status !== "failed"; polls++) {
  expect(polls < 100, `the request ends; it is ${request.status}`);
  await service.POST("/_mock/clock/advance", { body: { duration: "1s" } });
  request = take(
    await service.GET("/v1/regulatory-documents/request/{request_id}", {
      params: { path: { request_id: draft.request_id } },
    }),
  );
}
expect(request.status === "completed", `the request is completed, not ${request.status}`);
console.log(`${offer.document_type} of ${request.request_id} for ${offer.currency} ${offer.amount}`);

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
