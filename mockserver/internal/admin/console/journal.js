// The requests to the service, as they arrive. The server filters the whole journal; older rows are loaded as
// they come into view.

import { status } from "./badge.js";
import { button, choice, h, put } from "./dom.js";
import { entryDetail, exported } from "./entry.js";
import { filters, filterValues, otherFilters, serverQuery } from "./filters.js";
import { count, number, time } from "./format.js";
import { list } from "./list.js";
import { attempt, notice } from "./notice.js";
import { lesson, split } from "./split.js";

const page = 200; // rows that are loaded at once
const most = 20_000; // rows that are kept
const searched = "The search covers operations, paths, queries, statuses, error codes, reasons and bodies";

/** @param {import("./app.js").App} app */
export function journal(app) {
  /** @type {any[]} */
  let entries = []; // newest first
  let complete = false; // the oldest row that matches is loaded
  let paused = false;
  let loaded = "none"; // the filters of the rows
  let loading = false;
  let again = false; // load once more
  let reload = false; // from the start
  /** @type {AbortController | undefined} */
  let awaited;

  const search = h("input", { type: "search", placeholder: "Path, status, reason or body", title: searched, "aria-label": "Search requests", oninput: () => typed() });
  const extent = h("span", { class: "note" });
  const unauthenticated = h("a", { class: "note", hidden: true });
  const pauseButton = button("Pause", () => pause(), { class: "fixed", "aria-pressed": "false", title: "Pause (p)" });
  const waitButton = button("Wait for the next", () => wait(), { class: "fixed wait", title: "Opens the next request that matches (n)" });
  const newer = button("0 new", () => rows.top(), { class: "newer", hidden: true, title: "To the top" });
  const outcomes = ["All", "Refused", "Faulted"].map((name) => button(name, () => choose({ outcome: name === "All" ? "" : name.toLowerCase() })));
  const fields = filters.map(({ name, label }) => choice([["", label]], { "aria-label": label, onchange: (/** @type {any} */ event) => choose({ [name]: event.target.value }) }));
  const exports = [["jsonl", "JSON lines"], ["har", "HAR"], ["curl", "curl"]].map(([as, text]) => h("a", { class: "button small", "data-as": as, download: "" }, text));
  const reset = button("Clear filters", () => app.go({ id: app.route.id }), { class: "small" });
  const more = h("details", { class: "filters" }, h("summary", null, "Filters and export"),
    h("div", { class: "tools" }, fields, reset, h("span", { class: "exports", role: "group", "aria-label": "Export the filtered requests" }, h("span", { class: "note" }, "Export"), exports)));

  new ResizeObserver(() => { more.open ||= innerWidth > 640; }).observe(more); // a wide screen has no summary to open it

  const rows = list({
    label: "Requests, newest first", kind: "journal",
    heads: ["Time", "Status", "Request", "Operation, or why it was refused", "Duration", "Id"],
    key: (entry) => entry.request_id,
    href: (entry) => here({ id: entry.request_id }),
    row: (entry) => [
      h("time", { datetime: entry.at }, time(entry.at, app.summary?.now)),
      status(entry.status),
      h("span", { class: "target" }, h("b", { class: "method" }, entry.method), " ", entry.path, entry.query && h("i", null, "?" + entry.query)),
      h("span", { class: entry.fault ? "struck" : "why", title: entry.fault || entry.message }, entry.fault || entry.message || entry.operation || ""),
      entry.duration, h("span", { class: "mono" }, entry.request_id),
    ],
    above: (arrived) => {
      newer.hidden = arrived === 0;
      newer.textContent = `${number(arrived)} new`;
    },
    more: () => older(),
  });
  const view = split({
    title: "Journal", label: "The request",
    tools: [h("div", { class: "tools" }, search, h("div", { class: "chips", role: "group", "aria-label": "Which requests" }, outcomes), pauseButton, waitButton, newer), unauthenticated, extent, more],
    content: rows.node, closing: () => close(),
  });
  const detail = entryDetail(app, view, () => entries);

  /**
   * here is the address of a request among the filtered ones.
   * @param {{id: string, with?: string}} to
   */
  function here(to) {
    const query = filterValues(app.route.query);
    if (to.with) query.with = to.with;
    return app.link({ id: to.id, q: app.route.q, query });
  }

  /** @param {Record<string, string>} changed */
  function choose(changed) {
    location.replace(app.link({ id: app.route.id, q: search.value.trim(), query: filterValues({ ...app.route.query, ...changed }) }));
  }

  let timer = 0;
  function typed() {
    clearTimeout(timer);
    timer = setTimeout(choose, 150, {});
  }

  function draw() {
    const filtered = loaded !== "";
    rows.set(entries, () => filtered
      ? lesson(app.route.q ? `No request matches “${app.route.q}”. ${searched}.` : "No request matches.", undefined,
        `Other filters: ${otherFilters(app.route.query)}. The journal keeps the latest requests, and refused ones longer.`)
      : [lesson("No requests yet. Requests to the service appear here as they arrive. Try:", example), h("p", null,
        h("a", { href: app.link({ section: "worlds", id: "" }) }, "Copy env"), " sets both variables, or ", h("a", { href: app.link({ section: "requests", id: "" }) }, "send a request"), " from here.")]);
    const total = app.summary?.journal_entries ?? 0;
    extent.ariaLive = filtered ? "polite" : "off"; // not for each request that arrives
    if (filtered) extent.textContent = complete ? count(entries.length, "match", "matches") : `latest ${number(entries.length)} matches`;
    else if (total <= entries.length) extent.textContent = "";
    else extent.textContent = `latest ${number(entries.length)} of ${number(total)}${complete ? "; older ones were dropped" : ""}`;
  }

  /**
   * load loads the first rows, or those newer than what is loaded. One at a time: what arrives meanwhile is loaded next.
   * @param {boolean} fresh
   */
  async function load(fresh) {
    if (loading) {
      again = true;
      reload ||= fresh;
      return;
    }
    const query = serverQuery(app.route);
    const wanted = query.toString();
    fresh ||= wanted !== loaded || entries.length === 0;
    if (fresh) query.set("last", String(page));
    else query.set("after", entries[0].request_id);
    const found = await fetchRows(query);
    if (found) {
      entries = fresh ? found : [...found, ...entries].slice(0, most);
      if (fresh) complete = found.length < page;
      loaded = wanted;
      again ||= wanted !== serverQuery(app.route).toString();
      draw();
    }
    next();
  }

  /** next loads what arrived while something was loaded. */
  function next() {
    if (!again) return;
    const fresh = reload;
    again = reload = false;
    load(fresh);
  }

  /** older loads the rows before the last one. */
  async function older() {
    if (complete || loading || entries.length === 0 || entries.length >= most) return;
    const query = serverQuery(app.route);
    if (query.toString() !== loaded) return;
    query.set("before", entries[entries.length - 1].request_id);
    query.set("last", String(page));
    const found = await fetchRows(query);
    if (!found) return;
    complete = found.length < page;
    entries = [...entries, ...found];
    draw();
    next();
  }

  /**
   * fetchRows returns entries, newest first.
   * @param {URLSearchParams} query
   */
  async function fetchRows(query) {
    loading = true;
    const found = await attempt(() => app.api.get("journal", { ...Object.fromEntries(query), bodies: "false" }));
    loading = false;
    return found?.reverse();
  }

  /** wait opens the next request that matches, or stops waiting. */
  async function wait() {
    if (awaited) return awaited.abort();
    awaited = new AbortController();
    waitButton.textContent = "Stop waiting";
    waitButton.setAttribute("aria-pressed", "true");
    const { signal } = awaited;
    const found = await attempt(() => app.api.get("journal", { ...Object.fromEntries(serverQuery(app.route)), after: "latest", wait: "10m", bodies: "false" }, signal));
    awaited = undefined;
    waitButton.textContent = "Wait for the next";
    waitButton.setAttribute("aria-pressed", "false");
    if (!found?.length) return;
    notice(`${found[0].request_id} arrived`);
    if (app.route.section === "journal") location.hash = here({ id: found[0].request_id });
  }

  function pause() {
    paused = !paused;
    pauseButton.setAttribute("aria-pressed", String(paused));
    pauseButton.textContent = paused ? "Resume" : "Pause";
    if (!paused) load(true);
  }

  function close() {
    location.hash = app.route.query.with ? here({ id: app.route.id }) : here({ id: "" });
  }

  /**
   * tools shows the filters of the address.
   * @param {import("./route.js").Route} route
   */
  function tools(route) {
    if (document.activeElement !== search) search.value = route.q;
    const outcome = route.query.outcome ?? "";
    for (const chip of outcomes) chip.setAttribute("aria-pressed", String(chip.textContent?.toLowerCase() === (outcome || "all")));
    filters.forEach(({ name, label, values }, i) => {
      const now = route.query[name] ?? "";
      const all = new Set(values(known, entries));
      if (now) all.add(now);
      if (document.activeElement !== fields[i]) put(fields[i], h("option", { value: "" }, label), [...all].map((value) => h("option", { value }, value)));
      fields[i].value = now;
    });
    reset.hidden = serverQuery(route).toString() === "";
    const query = Object.fromEntries(serverQuery(route));
    for (const link of exports) link.href = app.api.address("journal", { ...query, as: link.dataset.as ?? "" });
  }

  /** @type {any} */
  let known; // operations and kinds of faults
  app.api.get("faults").then((found) => {
    known = found;
    tools(app.route);
  }, () => {});

  return {
    node: view.node,
    search,
    move: rows.move,
    pause,
    wait,
    close,
    copy: (/** @type {"curl" | "go"} */ as) => {
      const id = app.route.id || rows.focused();
      if (id) exported(app, id, as);
    },
    show(/** @type {import("./route.js").Route} */ route) {
      tools(route);
      if (loaded !== "none" && serverQuery(route).toString() !== loaded) load(true);
      rows.relink();
      rows.mark(route.id);
      detail.show(route.id, route.query.with);
    },
    refresh(/** @type {Set<string>} */ changed) {
      if (changed.has("unauthenticated_entries")) {
        const refused = app.summary.unauthenticated_entries;
        unauthenticated.hidden = refused === 0 || app.route.world === "unauthenticated";
        unauthenticated.textContent = `${count(refused, "request")} with an unknown key`;
        unauthenticated.href = app.link({ world: "unauthenticated", id: "" });
      }
      if (paused || !changed.has("journal_entries")) return;
      load(entries.length > 0 && app.summary.journal_entries < Number(entries[0].request_id.slice(4)));
    },
  };
}

const example = 'curl -H "Authorization: Bearer $SHIPPING_SECRET_KEY" "$SHIPPING_BASE_URL/v1/rates?perPage=2"';
