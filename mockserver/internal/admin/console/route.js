// The address of what the page shows: #/section/id?world=name&q=words. Everything that can be looked at
// can be linked to.

export function parse(hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split("?");
  const [section, ...rest] = path.split("/");
  const values = new URLSearchParams(query);
  return {
    section: section || "journal",
    id: rest.length ? decode(rest.join("/")) : "",
    world: values.get("world") || "home",
    q: values.get("q") || "",
  };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function format({ section, id, world, q }) {
  const values = new URLSearchParams();
  if (world && world !== "home") values.set("world", world);
  if (q) values.set("q", q);
  const query = values.toString();
  return `#/${section}${id ? "/" + encodeURIComponent(id) : ""}${query && "?" + query}`;
}
