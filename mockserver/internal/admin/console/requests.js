// Sends any request of the OpenAPI document to the service, with the key of the world. The response is shown
// as the journal has it, with the reason of a refusal.

import { openAPI } from "./api.js";
import { choice, h, labelled, put } from "./dom.js";
import { entryDetail, target } from "./entry.js";
import { attempt, notice } from "./notice.js";
import { operations, parameters, resolve, sample } from "./schema.js";
import { split } from "./split.js";

/** @param {import("./app.js").App} app */
export function requests(app) {
  /** @type {any} */
  let document; // OpenAPI
  /** @type {import("./schema.js").Operation[]} */
  let known = [];
  /** @type {Record<string, string[]>} identifiers of the world by the name of the field */
  let identifiers = {};
  /** @type {import("./schema.js").Operation | undefined} */
  let operation;
  /** @type {Map<string, HTMLInputElement>} of the parameters */
  let inputs = new Map();
  let from = ""; // what the form was filled from

  const chooser = h("select", { "aria-label": "Operation", onchange: () => use(chooser.value) });
  const summary = h("p", { class: "note" });
  const method = choice(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"], { onchange: preview });
  const address = h("input", { type: "text", class: "mono", spellcheck: "false", value: "/v1/", oninput: preview });
  const path = h("div", { class: "fields" });
  const fields = h("div", { class: "fields" });
  const text = h("textarea", { class: "mono", rows: "9", spellcheck: "false", oninput: () => { reread(); preview(); } });
  const bodyPart = h("div", { class: "part" }, fields, labelled("Body, JSON", text));
  const line = h("output", { class: "mono", "aria-live": "off", "aria-label": "Request" });
  const lists = h("div", { hidden: true });
  const form = h("form", { class: "page", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); send(); } },
    h("div", { class: "part" },
      labelled("Operation", chooser), summary, path, bodyPart, line,
      h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Send"), h("span", { class: "note" }, "with the key of this world"))),
    lists);
  const view = split({ title: "Send requests", label: "The response", content: form, closing: () => app.go({ id: "" }) });
  const detail = entryDetail(app, view);

  /** load reads the operations, and the identifiers of the world. */
  async function load() {
    document ??= await attempt(() => openAPI());
    if (!document) return;
    const [world, rows, deliveries, special] = await Promise.all([
      app.api.get(`worlds/${app.route.world}`, { keys: "false" }), app.api.get("regulatory-requests", { perPage: "50" }),
      app.api.get("deliveries", { perPage: "50" }), app.api.get("special-inputs"),
    ].map((one) => one.catch(() => undefined)));
    const drafts = (rows ?? []).filter((/** @type {any} */ row) => row.status === "draft");
    identifiers = {
      wallet: world?.wallets ?? [],
      shipment_id: [...(world?.shipments ?? []), ...(special ?? []).map((/** @type {any} */ one) => one.shipment_id).filter(Boolean)],
      file_url: [...(world?.invoices ?? []), ...(special ?? []).map((/** @type {any} */ one) => one.file_url).filter(Boolean)],
      webhook_id: world?.webhooks ?? [],
      delivery_id: (deliveries ?? []).map((/** @type {any} */ one) => one.delivery_id),
      request_id: [...drafts, ...(rows ?? [])].map((row) => row.request_id).filter((id, i, all) => all.indexOf(id) === i),
      document_type: [],
    };
    const record = identifiers.request_id[0] && (await app.api.get(`regulatory-requests/${identifiers.request_id[0]}`).catch(() => undefined))?.record;
    const offered = [...(record?.available_documents ?? []), ...(record?.documents ?? [])].map((one) => one.document_type);
    identifiers.document_type = [...new Set([...offered, ...(resolve(document, { $ref: "#/components/schemas/DocumentType" }).enum ?? [])])];
    put(lists, Object.entries(identifiers).map(([name, all]) => h("datalist", { id: `known-${name}` }, all.map((value) => h("option", { value })))));
    if (known.length) return;
    known = operations(document);
    const tags = [...new Set(known.map((one) => one.tag))];
    put(chooser, tags.map((tag) => h("optgroup", { label: tag }, known.filter((one) => one.tag === tag).map((one) => h("option", { value: one.name }, `${one.name}: ${one.method} ${one.path}`)))),
      h("option", { value: "" }, "Any other request"));
    use(known[0].name);
  }

  /**
   * identifier is the first one of the world for a field.
   * @param {string} name
   */
  const identifier = (name) => identifiers[name]?.[0];

  /**
   * use shows the form of an operation.
   * @param {string} name
   */
  function use(name) {
    operation = known.find((one) => one.name === name);
    chooser.value = operation?.name ?? "";
    summary.textContent = operation?.summary ?? "The path and the query are sent as they are.";
    inputs = new Map();
    const needed = operation ? parameters(document, operation) : [];
    put(path, operation ? needed.map((parameter) => {
      const input = field(parameter.name, parameter.schema);
      if (parameter.required) input.value = identifier(parameter.name) ?? parameter.example ?? "";
      input.addEventListener("input", preview);
      inputs.set(parameter.name, input);
      return described(parameter.name + (parameter.required ? " *" : ""), input, parameter.description);
    }) : [labelled("Method", method), labelled("Path and query", address)]);
    text.value = operation?.body ? JSON.stringify(sample(document, operation.body, identifier), null, 2) : "";
    bodyPart.hidden = Boolean(operation && !operation.body);
    members();
    preview();
  }

  /**
   * field is an input with the identifiers of the world.
   * @param {string} name
   * @param {any} schema
   */
  function field(name, schema) {
    const list = name === "document_types" ? "document_type" : name;
    return h("input", {
      type: "text", spellcheck: "false", autocomplete: "off", list: identifiers[list] && `known-${list}`, placeholder: schema?.default === undefined ? "" : String(schema.default),
    });
  }

  /**
   * @param {string} name
   * @param {HTMLElement} input
   * @param {string} [description]
   */
  function described(name, input, description) {
    const note = h("small", { id: `about-${name.replace(/\W.*/, "")}` }, description ?? "");
    input.setAttribute("aria-describedby", note.id);
    return h("div", null, labelled(name, input), note);
  }

  /** members shows the simple members of the body as fields, which write into its text. */
  function members() {
    const properties = Object.entries(operation?.body ? resolve(document, operation.body).properties ?? {} : {});
    put(fields, properties.map(([name, one]) => {
      const schema = resolve(document, one);
      const items = resolve(document, schema.items ?? {});
      const list = schema.type === "array" && items.type === "string";
      if (!list && !["string", "number", "integer", "boolean"].includes(schema.type)) return null;
      const input = field(name, schema);
      input.dataset.member = name;
      input.addEventListener("input", () => write(name, input.value, list ? "list" : schema.type));
      return described(name + (list ? ", separated by commas" : ""), input, schema.description);
    }));
    reread();
  }

  /** reread shows the members of the text in the fields. */
  function reread() {
    const body = parsed();
    for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (fields.querySelectorAll("input"))) {
      const value = body?.[input.dataset.member ?? ""];
      if (window.document.activeElement !== input) input.value = Array.isArray(value) ? value.join(", ") : String(value ?? "");
    }
  }

  /**
   * write sets a member of the text, or removes it if the value is empty.
   * @param {string} name
   * @param {string} value
   * @param {string} type
   */
  function write(name, value, type) {
    const body = parsed() ?? {};
    if (value === "") delete body[name];
    else if (type === "list") body[name] = value.split(",").map((one) => one.trim()).filter(Boolean);
    else if (type === "boolean") body[name] = value === "true";
    else if (type !== "string" && !Number.isNaN(Number(value))) body[name] = Number(value);
    else body[name] = value;
    text.value = JSON.stringify(body, null, 2);
    preview();
  }

  function parsed() {
    try {
      return JSON.parse(text.value);
    } catch {
      return undefined;
    }
  }

  /** request is the method and the target of the form. */
  function request() {
    if (!operation) return { method: method.value, target: address.value };
    let filled = operation.path;
    const query = new URLSearchParams();
    for (const { name, in: place } of parameters(document, operation)) {
      const value = inputs.get(name)?.value ?? "";
      if (place === "path") filled = filled.replace(`{${name}}`, encodeURIComponent(value));
      else if (value) query.set(name, value);
    }
    return { method: operation.method, target: filled + (query.size ? "?" + query : "") };
  }

  function preview() {
    const made = request();
    put(line, h("b", { class: "method" }, made.method), " ", made.target);
  }

  async function send() {
    const made = request();
    const body = bodyPart.hidden ? "" : text.value.trim();
    if (body && parsed() === undefined) return notice("The body is not valid JSON.", "bad");
    await detail.send(made.method, made.target, body);
    load();
  }

  /**
   * fill fills the form from a journal entry, or from the valid request that is nearest to it.
   * @param {string} id
   * @param {boolean} valid
   */
  async function fill(id, valid) {
    const entry = await attempt(async () => (valid ? suggested(await app.api.get(`why/${encodeURIComponent(id)}`)) : app.api.get(`journal/${encodeURIComponent(id)}`)));
    if (!entry) return;
    use(entry.operation);
    if (operation) {
      const values = new RegExp("^" + operation.path.replace(/\{(\w+)\}/g, "(?<$1>[^/]*)") + "$").exec(entry.path)?.groups ?? {};
      const query = new URLSearchParams(entry.query);
      for (const [name, input] of inputs) input.value = values[name] ?? query.get(name) ?? "";
    } else {
      method.value = entry.method;
      address.value = target(entry);
    }
    if (entry.request_body) {
      text.value = entry.request_body;
      const body = parsed();
      if (body !== undefined) text.value = JSON.stringify(body, null, 2);
    }
    reread();
    preview();
  }

  const ready = load();
  return {
    node: view.node,
    search: chooser,
    async show(/** @type {import("./route.js").Route} */ route) {
      detail.show(route.id);
      await ready;
      const wanted = route.query.from ?? "";
      const source = `${wanted} ${route.query.valid}`;
      if (wanted && source !== from) fill(wanted, Boolean(route.query.valid));
      from = source;
      const name = route.query.operation;
      if (!wanted && name && name !== operation?.name) use(name);
    },
    refresh(/** @type {Set<string>} */ changed) {
      if (known.length && (changed.has("regulatory_requests") || changed.has("webhooks") || changed.has("deliveries"))) load();
    },
  };
}

/**
 * suggested returns the nearest valid request of an explanation in the form of a journal entry.
 * @param {any} why
 */
function suggested({ nearest_valid: nearest }) {
  if (!nearest) return undefined;
  const [path, query] = nearest.target.split("?");
  return { operation: nearest.operation, method: nearest.method, path: decodeURIComponent(path), query, request_body: nearest.body };
}
