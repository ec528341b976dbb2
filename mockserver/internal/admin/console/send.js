// Sends requests to the service with the key of the world. The journal has the response, and the reason of a refusal.

import { openAPI, operation } from "./api.js";
import { actions, choice, form, h, labelled, note, put, submit, textarea } from "./dom.js";
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
  const body = ["GET", "HEAD"].includes(method) ? "" : text;
  const made = await attempt(() => app.api.service(method, target, body),
    ({ response }) => (response ? `Sent: ${response.status || "redirected"}` : "The response was lost."));
  if (!made?.id) return;
  if (made.text) received.set(made.id, made.text);
  app.go({ section: "journal", id: made.id });
}

/**
 * operate sends a request for an operation and shows the message of the response. values fill the path. It returns
 * undefined if the request was refused.
 * @param {import("./app.js").App} app
 */
export async function operate(app, name, values, body) {
  return attempt(async () => {
    const { method, path } = await operation(name, values);
    const { id, response, text } = await app.api.service(method, path, JSON.stringify(body));
    const { message = "" } = JSON.parse(text || "{}");
    if (!response?.ok) throw new Error(message || `The request failed: the journal has it as ${id}.`);
    return message || "Sent";
  }, (message) => message);
}

/**
 * sendForm makes the form of a request, filled with an example of an operation or with a request of the journal.
 * @param {import("./app.js").App} app
 * @param {ReturnType<import("./list.js").split>} view
 * @param {Map<string, string>} received bodies of responses by request id
 */
export function sendForm(app, view, received) {
  /** @typedef {{method: string, target: string, body?: string}} Request */
  /** @type {Map<string, Request>} by operation */
  let examples = new Map();
  const chooser = h("select", { onchange: () => fill(examples.get(chooser.value)) });
  const method = choice(methods.map((name) => [name, name]));
  const target = h("input", { type: "text", class: "mono", spellcheck: "false", value: "/v1/" });
  const text = textarea(12);
  const node = form(() => sent(app, received, method.value, target.value.trim(), text.value.trim()),
    labelled("Operation", chooser),
    h("div", { class: "line" }, labelled("Method", method), labelled("Path and query", target)),
    labelled("Body, JSON", text),
    actions(submit("Send", { class: "primary" }), note("with the key of this world")),
    note("A browser can repeat a request whose connection closes without a response: the journal has both."));

  /** @param {Request | undefined} request */
  function fill(request) {
    if (!request) return;
    method.value = request.method;
    target.value = request.target;
    text.value = request.body ? indent(request.body) : "";
  }

  /** requestOf returns the request of a journal entry, or the valid request that is nearest to it. */
  async function requestOf(id, valid) {
    const entry = await app.api.get(`journal/${encodeURIComponent(id)}`);
    if (valid) return entry.why.nearest_valid;
    return { method: entry.method, target: entry.path + (entry.query ? "?" + entry.query : ""), body: entry.request_body };
  }

  return {
    /** @param {string} id send, send/req-1, or send/req-1/valid */
    async show(id) {
      if (view.shows(id)) return;
      view.open(id, h("h2", null, "Send a request"), node);
      const [, from, valid] = id.split("/");
      if (from) fill(await attempt(() => requestOf(from, valid)));
      examples = await attempt(() => exampleRequests(app)) ?? examples;
      put(chooser, h("option", { value: "" }, "Fill in an example of …"),
        [...examples].map(([name, one]) => h("option", { value: name }, `${name}: ${one.method} ${one.target}`)));
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

  /** resolve follows a reference within the document. */
  function resolve(value) {
    if (!value?.$ref) return value;
    return value.$ref.slice("#/".length).split("/").reduce((at, name) => at[name], document);
  }

  /** sample returns a value of a schema: its required members, or the first one if none is required. */
  function sample(name, schema) {
    const one = resolve(schema);
    if (known[name] !== undefined) return known[name];
    if (one.properties) {
      const first = Object.keys(one.properties).slice(0, 1);
      const required = one.required ?? (one.then ? one.if.required : one.else?.required) ?? first;
      return Object.fromEntries(required.map((member) => [member, sample(member, one.properties[member])]));
    }
    if (one.type === "array") return [sample("", one.items)];
    if (one.type === "object") return one.examples?.[0] ?? {};
    const plain = { number: 1, integer: 1, boolean: true }[one.type] ?? "";
    return one.examples?.[0] ?? one.default ?? one.enum?.[0] ?? plain;
  }

  /** example returns a request for an operation. */
  function example(method, path, about) {
    const query = new URLSearchParams();
    let target = path;
    for (const parameter of (about.parameters ?? []).map(resolve)) {
      const value = known[parameter.name] ?? parameter.example ?? "";
      target = target.replace(`{${parameter.name}}`, encodeURIComponent(value));
      if (parameter.in === "query" && parameter.required) query.set(parameter.name, value);
    }
    const schema = about.requestBody?.content["application/json"].schema;
    if (query.size) target += "?" + query;
    return { method: method.toUpperCase(), target, body: schema && JSON.stringify(sample("", schema)) };
  }

  const all = new Map();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, about] of Object.entries(methods)) {
      if (path.startsWith("/v1/") && about.operationId) all.set(about.operationId, example(method, path, about));
    }
  }
  return all;
}

/** identifiers returns values of the world by the names of fields. */
async function identifiers(app) {
  const [world, rows, [delivery]] = await Promise.all([
    app.api.details(), app.api.get("regulatory-requests", { perPage: "50" }), app.api.get("deliveries", { perPage: "1" }),
  ]);
  const row = rows.find(({ status }) => status === "draft") ?? rows[0];
  const type = [...(row?.available_documents ?? []), ...(row?.documents ?? [])][0]?.document_type;
  return {
    wallet: world.wallets[0],
    shipment_id: world.shipments[0],
    file_url: world.invoices[0],
    webhook_id: world.webhooks[0],
    delivery_id: delivery?.delivery_id,
    request_id: row?.request_id,
    document_type: type,
    document_types: type && [type],
  };
}
