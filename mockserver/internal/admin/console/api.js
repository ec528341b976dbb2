// What the page asks the server. It asks this server only, and never for a secret key.

/** Refusal is an answer that says no, in the server's words. */
export class Refusal extends Error {}

/** exact keeps a decimal that JavaScript would write otherwise as the text that it was. */
function exact(_, value, context) {
  const source = context?.source;
  const differs = typeof value === "number" && source !== undefined && String(value) !== source;
  return differs && /^-?\d+(\.\d+)?$/.test(source) ? source : value;
}

async function ask(method, path, text, signal) {
  let response;
  let answer;
  try {
    response = await fetch(path, { method, signal, body: text, headers: text === undefined ? {} : { "Content-Type": "application/json" } });
    answer = await response.text();
  } catch {
    if (signal?.aborted) throw new Refusal(""); // nobody waits for the answer any more
    throw new Refusal("The server does not answer. Is it still running?");
  }
  if (!response.headers.get("Content-Type")?.startsWith("application/json")) {
    if (!response.ok) throw new Refusal(`The server answered ${response.status}.`);
    return answer;
  }
  const envelope = JSON.parse(answer, exact);
  if (envelope.status === false) throw new Refusal(envelope.message);
  return envelope.data ?? envelope;
}

/** api asks about one world, until the page leaves it. */
export function api(world) {
  const left = new AbortController();
  const { signal } = left;
  const address = (path, query) => {
    const all = new URLSearchParams(query);
    if (world !== "home") all.set("world", world);
    const text = all.toString();
    return path + (text && "?" + text);
  };
  return {
    address,
    get: (path, query) => ask("GET", address(path, query), undefined, signal),
    post: (path, data, query) => ask("POST", address(path, query), JSON.stringify(data ?? {}), signal),
    patch: (path, data) => ask("PATCH", address(path), JSON.stringify(data), signal),
    remove: (path, query) => ask("DELETE", address(path, query), undefined, signal),
    /** send sends a request to the service with the key of the world, with a body that is JSON already. */
    send: (method, target, text) => {
      const order = JSON.stringify({ method, target });
      return ask("POST", address("requests"), text ? `${order.slice(0, -1)},"body":${text}}` : order, signal);
    },
    leave: () => left.abort(),
  };
}

let document;

/** operation is the path of an operation of the service on this server, with its placeholders filled in. */
export async function operation(name, values = {}) {
  document ??= ask("GET", "openapi.json").catch((error) => {
    document = undefined;
    throw error;
  });
  for (const [path, methods] of Object.entries((await document).paths)) {
    for (const [method, about] of Object.entries(methods)) {
      if (about.operationId === name) {
        const filled = path.replace(/\{(\w+)\}/g, (_, key) => encodeURIComponent(values[key] ?? ""));
        return { method: method.toUpperCase(), path: filled };
      }
    }
  }
  throw new Refusal(`This server has no operation ${name}.`);
}
