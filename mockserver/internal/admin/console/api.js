// Requests to the server. The page sends requests to this server only, and none for a secret key.

/** Refusal is a refused request, with the message of the server. */
export class Refusal extends Error {}

/**
 * exact returns a decimal that JavaScript would write differently as its text.
 * @param {string} _
 * @param {any} value
 * @param {{source?: string}} [context]
 */
function exact(_, value, context) {
  const source = context?.source;
  const differs = typeof value === "number" && source !== undefined && String(value) !== source;
  return differs && /^-?\d+(\.\d+)?$/.test(source) ? source : value;
}

/**
 * send returns the data of the response. A request that was given up has an empty message.
 * @param {string} method
 * @param {string} path
 * @param {string} [text] the body
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
async function send(method, path, text, signal) {
  let response;
  let received;
  try {
    response = await fetch(path, { method, signal, body: text, headers: text === undefined ? {} : { "Content-Type": "application/json" } });
    received = await response.text();
  } catch {
    if (signal?.aborted) throw new Refusal("");
    throw new Refusal("The server does not respond. Is it still running?");
  }
  if (!response.headers.get("Content-Type")?.startsWith("application/json")) {
    if (!response.ok) throw new Refusal(`The response has status ${response.status}.`);
    return received;
  }
  const envelope = JSON.parse(received, exact);
  if (envelope.status === false) throw new Refusal(envelope.message);
  return envelope.data ?? envelope;
}

/**
 * api returns the requests about one world. leave gives up those in progress.
 * @param {string} world
 */
export function api(world) {
  const left = new AbortController();
  const { signal } = left;
  /**
   * @param {string} path
   * @param {Record<string, string>} [query]
   */
  const address = (path, query) => {
    const all = new URLSearchParams(query);
    if (world !== "home") all.set("world", world);
    const text = all.toString();
    return path + (text && "?" + text);
  };
  return {
    address,
    /**
     * @param {string} path
     * @param {Record<string, string>} [query]
     * @param {AbortSignal} [until] gives up this request
     */
    get: (path, query, until) => send("GET", address(path, query), undefined, until ? AbortSignal.any([signal, until]) : signal),
    /**
     * @param {string} path
     * @param {any} [data]
     * @param {Record<string, string>} [query]
     */
    post: (path, data, query) => send("POST", address(path, query), JSON.stringify(data ?? {}), signal),
    /**
     * @param {string} path
     * @param {any} data
     */
    patch: (path, data) => send("PATCH", address(path), JSON.stringify(data), signal),
    /**
     * @param {string} path
     * @param {Record<string, string>} [query]
     */
    remove: (path, query) => send("DELETE", address(path, query), undefined, signal),
    /**
     * json sends a body that is JSON already.
     * @param {string} method
     * @param {string} path
     * @param {string} text
     */
    json: (method, path, text) => send(method, address(path), text, signal),
    /**
     * send sends a request to the service with the key of the world, with a body that is JSON already.
     * @param {string} method
     * @param {string} target
     * @param {string} [text]
     */
    send: (method, target, text) => {
      const order = JSON.stringify({ method, target });
      return send("POST", address("requests"), text ? `${order.slice(0, -1)},"body":${text}}` : order, signal);
    },
    leave: () => left.abort(),
  };
}

/** @type {Promise<any> | undefined} */
let description;

/** openAPI returns the OpenAPI document of the server. */
export function openAPI() {
  description ??= send("GET", "openapi.json").catch((error) => {
    description = undefined;
    throw error;
  });
  return description;
}

/**
 * operation returns the method and the path of an operation of the service, with its placeholders filled in.
 * @param {string} name
 * @param {Record<string, string>} values
 * @returns {Promise<{method: string, path: string}>}
 */
export async function operation(name, values = {}) {
  for (const [path, methods] of Object.entries((await openAPI()).paths)) {
    for (const [method, about] of Object.entries(/** @type {Record<string, any>} */ (methods))) {
      if (about.operationId === name) {
        const filled = path.replace(/\{(\w+)\}/g, (_, key) => encodeURIComponent(values[key] ?? ""));
        return { method: method.toUpperCase(), path: filled };
      }
    }
  }
  throw new Refusal(`This server has no operation ${name}.`);
}
