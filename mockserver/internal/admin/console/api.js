// Requests to the server: to the control routes below /_mock/, and to the service with the key of a world.

import { decode } from "./route.js";

/** Refusal is a refused request, with the message of the server. That of a request that was given up is empty. */
class Refusal extends Error {
  /** @param {string} message */
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

/** root is the address of the server, also behind a proxy that serves it below a prefix. */
export const root = new URL("..", location.href).href.replace(/\/$/, "");

/** exact keeps a decimal that JavaScript would write differently as its text. */
function exact(_, value, context) {
  const source = context?.source;
  const differs = typeof value === "number" && source !== undefined && String(value) !== source;
  return differs && /^-?\d+(\.\d+)?$/.test(source) ? source : value;
}

/** @returns {Record<string, string>} the header of a request with a body */
const contentType = (text) => (text ? { "Content-Type": "application/json" } : {});

/**
 * api returns the requests about one world.
 * @param {string} world
 */
export function api(world) {
  const left = new AbortController();

  /** address returns the address of a control route, for this world. */
  function address(path, query = {}) {
    const all = new URLSearchParams(query);
    if (world !== "home") all.set("world", world);
    return path + (all.size ? "?" + all : "");
  }

  /** send sends a request to a control route, and returns the data of its response. text is JSON. */
  async function send(method, path, text = "", query = {}) {
    let response;
    let received;
    try {
      const options = { method, headers: contentType(text), body: text || undefined, signal: left.signal };
      response = await fetch(address(path, query), options);
      received = await response.text();
    } catch {
      throw new Refusal(left.signal.aborted ? "" : "The server does not respond. Is it still running?");
    }
    if (!response.headers.get("Content-Type")?.startsWith("application/json")) {
      if (response.ok) return received;
      throw new Refusal(`A proxy responds with status ${response.status}. Is the server still running?`);
    }
    const envelope = JSON.parse(received, exact);
    if (envelope.status === false) throw new Refusal(envelope.message, response.status);
    return envelope.data ?? envelope;
  }

  const get = (path, query = {}) => send("GET", path, "", query);

  /** details returns the world, with its secret key and the identifiers in it. */
  const details = () => get(`worlds/${encodeURIComponent(world)}`);

  /**
   * service sends a request to the service with the key of the world. id is that of the journal entry, and text the
   * body of the response. If the response is lost, there is no response.
   */
  async function service(method, target, text = "") {
    const { secret_key: key } = await details();
    const headers = { Authorization: `Bearer ${key}`, "X-Mock-Console": "1", ...contentType(text) };
    const caching = /** @type {RequestInit} */ ({ cache: "no-store", redirect: "manual" });
    const options = { method, headers, body: text || undefined, signal: left.signal, ...caching };
    try {
      const response = await fetch(root + target, options);
      const id = response.headers.get("X-Request-Id") ?? await latest(method, target);
      return { id, response, text: await response.clone().text().catch(() => "") };
    } catch {
      return { id: await latest(method, target), response: undefined, text: "" };
    }
  }

  /** latest returns the id of the latest request in the journal to a target, whose response was lost. */
  async function latest(method, target) {
    const entries = await get("journal", { last: "50", bodies: "false" });
    const [path] = target.split("?");
    return entries.findLast((entry) => entry.method === method && entry.path === decode(path))?.request_id;
  }

  return {
    address,
    send,
    get,
    details,
    service,
    post: (path, data = {}, query = {}) => send("POST", path, JSON.stringify(data), query),
    patch: (path, data) => send("PATCH", path, JSON.stringify(data)),
    remove: (path, query = {}) => send("DELETE", path, "", query),
    /** leave gives up the requests in progress. */
    leave: () => left.abort(),
  };
}

/** @type {Promise<any> | undefined} */
let description;

/** openAPI returns the OpenAPI document of the server. */
export function openAPI() {
  return description ??= api("home").get("openapi.json").catch((error) => {
    description = undefined;
    throw error;
  });
}

/**
 * operation returns the method and the path of an operation of the service, with its placeholders filled in.
 * @param {string} name
 * @param {Record<string, string>} values
 */
export async function operation(name, values = {}) {
  for (const [path, methods] of Object.entries((await openAPI()).paths)) {
    const [method] = Object.entries(methods).find(([, about]) => about.operationId === name) ?? [];
    const filled = path.replace(/\{(\w+)\}/g, (_, field) => encodeURIComponent(values[field] ?? ""));
    if (method) return { method: method.toUpperCase(), path: filled };
  }
  throw new Refusal(`This server has no operation ${name}.`);
}

/**
 * series returns a function that loads one at a time, so that no later response is overtaken by an earlier one. A call
 * during a load makes one more load after it.
 * @param {() => Promise<void>} load
 * @returns {() => Promise<void>}
 */
export function series(load) {
  /** @type {Promise<void> | undefined} */
  let running;
  let again = false;
  async function run() {
    try {
      while (again) {
        again = false;
        await load();
      }
    } finally {
      running = undefined;
    }
  }
  return () => {
    again = true;
    return running ??= run();
  };
}
