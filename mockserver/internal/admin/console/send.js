// Sends any request to the service with the key of the world. The journal has the response, and the reason of a refusal.

import { openAPI } from "./api.js";
import { actions, button, choice, form, h, labelled, note, put, textarea } from "./dom.js";
import { attempt, notice } from "./notice.js";
import { indent } from "./text.js";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];

/**
 * sent sends a request and shows its journal entry, also if the response is lost.
 * @param {import("./app.js").App} app
 * @param {Map<string, string>} received gets the body of the response
 */
export async function sent(app, received, method, target, text = "") {
  if (!target.startsWith("/v1/")) return notice("The path must begin with /v1/.", "bad");
  const made = await attempt(() => app.api.service(method, target, ["GET", "HEAD"].includes(method) ? "" : text),
    ({ response }) => (response ? `Sent: ${response.status || "redirected"}` : "The response was lost."));
  if (!made?.id) return;
  if (made.text) received.set(made.id, made.text);
  app.go({ section: "journal", id: made.id });
}

/**
 * sendForm makes the form of a request, filled with an example of an operation or with a request of the journal.
 * @param {import("./app.js").App} app
 * @param {ReturnType<import("./list.js").split>} view
 * @param {Map<string, string>} received bodies of responses by request id
 */
export function sendForm(app, view, received) {
  const operation = h("select", { "aria-label": "Operation", onchange: () => fill(examples.get(operation.value)) });
  const method = choice(methods.map((name) => [name, name]));
  const target = h("input", { type: "text", class: "mono", spellcheck: "false", value: "/v1/" });
  const text = textarea("Body, JSON", 12, { class: "mono" });
  const node = form(() => sent(app, received, method.value, target.value.trim(), text.value.trim()),
    labelled("Example", operation),
    h("div", { class: "line" }, labelled("Method", method), labelled("Path and query", target)),
    labelled("Body, JSON", text),
    actions(button("Send", () => {}, { type: "submit", class: "primary" })), note("The page sends the key of this world."));
  /** @type {Map<string, Request>} by operation */
  let examples = new Map();

  /** @typedef {{method: string, target: string, body?: string}} Request */

  /** @param {Request | undefined} request */
  function fill(request) {
    if (!request) return;
    method.value = request.method;
    target.value = request.target;
    text.value = request.body ? indent(request.body) : "";
  }

  /** of returns the request of a journal entry, or the valid request that is nearest to it. */
  async function of(id, valid) {
    const entry = await app.api.get(`journal/${encodeURIComponent(id)}`);
    if (!valid) return { method: entry.method, target: entry.path + (entry.query ? "?" + entry.query : ""), body: entry.request_body };
    const why = entry.why ?? await app.api.get(`why/${id}`);
    return why.nearest_valid;
  }

  return {
    /** @param {string} id send, send/req-1, or send/req-1/valid */
    async show(id) {
      if (view.shows(id)) return;
      view.open(id, h("h2", null, "Send a request"), node);
      const [, from, valid] = id.split("/");
      if (from) fill(await attempt(() => of(from, valid)));
      examples = await attempt(() => exampleRequests(app)) ?? examples;
      put(operation, h("option", { value: "" }, "Choose an operation"), [...examples].map(([name, { method, target }]) =>
        h("option", { value: name }, `${name}: ${method} ${target}`)));
    },
  };
}

/**
 * exampleRequests returns a request for each operation of the service, with the identifiers of the world.
 * @param {import("./app.js").App} app
 */
async function exampleRequests(app) {
  const document = await openAPI();
  const known = await identifiers(app);
  const resolve = (value) => (value?.$ref ? value.$ref.slice(2).split("/").reduce((at, name) => at[name], document) : value);

  /** sample returns a value of a schema: its required members, or the first one if none is required. */
  function sample(name, schema) {
    const one = resolve(schema);
    if (known[name] !== undefined) return known[name];
    if (one.properties) {
      const all = Object.keys(one.properties);
      const required = one.required ?? (one.then ? one.if.required : one.else?.required) ?? all.slice(0, 1);
      return Object.fromEntries(required.map((member) => [member, sample(member, one.properties[member])]));
    }
    if (one.type === "array") return [sample("", one.items)];
    if (one.type === "object") return one.examples?.[0] ?? {};
    return one.examples?.[0] ?? one.default ?? one.enum?.[0] ?? { number: 1, integer: 1, boolean: true }[one.type] ?? "";
  }

  /** example returns a request for an operation. */
  function example(method, path, about) {
    const query = new URLSearchParams();
    let filled = path;
    for (const parameter of (about.parameters ?? []).map(resolve)) {
      const value = known[parameter.name] ?? parameter.example ?? "";
      filled = filled.replace(`{${parameter.name}}`, encodeURIComponent(value));
      if (parameter.in === "query" && parameter.required) query.set(parameter.name, value);
    }
    const schema = about.requestBody?.content["application/json"].schema;
    return { method: method.toUpperCase(), target: filled + (query.size ? "?" + query : ""), body: schema && JSON.stringify(sample("", schema)) };
  }

  return new Map(Object.entries(document.paths).filter(([path]) => path.startsWith("/v1/")).flatMap(([path, methods]) =>
    Object.entries(methods).filter(([, about]) => about.operationId).map(([method, about]) =>
      /** @type {[string, any]} */ ([about.operationId, example(method, path, about)]))));
}

/** identifiers returns values of the world by the names of fields. */
async function identifiers(app) {
  const [world, rows, [delivery]] = await Promise.all([
    app.api.get(`worlds/${encodeURIComponent(app.route.world)}`, { keys: "false" }),
    app.api.get("regulatory-requests", { perPage: "50" }), app.api.get("deliveries", { perPage: "1" }),
  ]);
  const row = rows.find(({ status }) => status === "draft") ?? rows[0];
  const record = row && (await app.api.get(`regulatory-requests/${row.request_id}`)).record;
  const type = [...(record?.available_documents ?? []), ...(record?.documents ?? [])][0]?.document_type;
  return {
    wallet: world.wallets[0], shipment_id: world.shipments[0], file_url: world.invoices[0],
    webhook_id: world.webhooks[0], delivery_id: delivery?.delivery_id, request_id: row?.request_id,
    document_type: type, document_types: type && [type],
  };
}
