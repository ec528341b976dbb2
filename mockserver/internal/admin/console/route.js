// The address of what the page shows: #/section/id?world=name&q=words. Every record has an address.

/**
 * @typedef {object} Route
 * @property {string} section
 * @property {string} id the record or the form that is open; "" without one
 * @property {string} world
 * @property {Record<string, string>} query the filters of the section; q is the text that is searched
 */

/**
 * @param {string} hash
 * @returns {Route}
 */
export function parse(hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split("?");
  const [section, ...id] = path.split("/");
  const { world, ...others } = Object.fromEntries(new URLSearchParams(query));
  return { section: section || "journal", id: decode(id.join("/")), world: world || "home", query: others };
}

/** decode undoes percent-encoding, if it can. */
export function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {Route} route */
export function format({ section, id, world, query }) {
  const values = new URLSearchParams(Object.entries(query).filter(([, value]) => value));
  if (world !== "home") values.set("world", world);
  const path = id ? `${section}/${encodeURIComponent(id).replaceAll("%2F", "/")}` : section;
  return `#/${path}${values.size ? "?" + values : ""}`;
}

/**
 * change returns a route with other parts. Another section or world begins with no record and no filters.
 * @param {Route} route
 * @param {Partial<Route>} to
 * @returns {Route}
 */
export function change(route, to) {
  const { section = route.section, world = route.world } = to;
  const stays = section === route.section && world === route.world;
  const { id = stays ? route.id : "", query = {} } = to;
  return { section, world, id, query: stays ? { ...route.query, ...query } : query };
}
