// The address of what the page shows: #/section/id?world=name&q=words&…. Everything that can be looked at can be linked
// to.

/**
 * @typedef {object} Route
 * @property {string} section
 * @property {string} id
 * @property {string} world
 * @property {string} q the words that are searched
 * @property {Record<string, string>} query the other choices of the section, such as filters
 */

/**
 * @param {string} hash
 * @returns {Route}
 */
export function parse(hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split("?");
  const [section, ...rest] = path.split("/");
  const { world, q, ...others } = Object.fromEntries(new URLSearchParams(query));
  return {
    section: section || "journal",
    id: rest.length ? decode(rest.join("/")) : "",
    world: world || "home",
    q: q || "",
    query: others,
  };
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {Partial<Route>} route */
export function format({ section, id, world, q, query }) {
  const values = new URLSearchParams(query);
  if (world && world !== "home") values.set("world", world);
  if (q) values.set("q", q);
  const text = values.toString();
  return `#/${section}${id ? "/" + encodeURIComponent(id) : ""}${text && "?" + text}`;
}
