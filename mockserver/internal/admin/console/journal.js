// The requests to the service, as they arrive. The server filters the whole journal.

import { series } from "./api.js";
import { badge, button, h, note, part, put, status } from "./dom.js";
import { entryDetail } from "./entry.js";
import { lesson, list, searchField, split } from "./list.js";
import { attempt } from "./notice.js";
import { sendForm } from "./send.js";
import { count, linked, money, time } from "./text.js";

const page = 200; // requests that are loaded at once
const most = 1000; // requests that are kept while more arrive
const outcomes = [["", "All"], ["refused", "Refused"], ["faulted", "Faulted"]];
const exports = [["jsonl", "JSON lines"], ["curl", "curl"]];
const noMatch = "No request matches. The search covers operations, paths, queries, statuses, error codes, "
  + "reasons and bodies.";
/** subject is what a request is about. */
const subject = ({ shipment_id: shipment, regulatory_request_id: request, charged }) => [
  [shipment, request].filter(Boolean).join(" → "), charged && h("b", null, " ", spent(charged))];
const spent = (charged) => money(`-${charged.split(" ")[0]}`, charged.split(" ")[1]);
const none = "No requests yet. Requests to the service appear here as they arrive. Worlds has “Copy env”. Try:";
const example = 'curl -H "Authorization: Bearer $SHIPPING_SECRET_KEY" "$SHIPPING_BASE_URL/v1/rates?perPage=2"';

/** @param {import("./app.js").App} app */
export function journal(app) {
  /** @type {any[]} */
  let entries = []; // newest first
  let kept = most;
  let complete = true; // the oldest request that matches is loaded
  let loaded = ""; // the filters of entries
  /** @type {Map<string, string>} bodies of responses to this page by request id, longer than the journal has them */
  const received = new Map();

  const search = searchField(app, "Path, status, reason or body");
  const chips = outcomes.map(([value, text]) => button(text, () => app.go({ query: { outcome: value } })));
  const since = button("Clear", mark, { title: "Shows only the requests from now on; the journal keeps the others" });
  const lint = button("Findings", () => app.go({ id: "findings" }), { title: "Requests that a careful client would not send" });
  const extent = h("span", { class: "note", role: "status" });
  const unauthenticated = h("a", { class: "note", hidden: true });
  const downloads = exports.map(([, text]) => h("a", { download: "" }, text));
  const rows = list(app, {
    label: "Requests, newest first",
    heads: ["Time", "Status", "Request", "What it is about, and why it was refused", "Took, id"],
    key: (entry) => entry.request_id,
    row: (entry) => [
      time(entry.at, app.summary?.now), status(entry.status),
      h("span", { class: "mono" }, h("b", null, entry.method), " ", entry.path, entry.query && "?" + entry.query),
      [h("span", { class: "mono" }, subject(entry)), " ", h("span", { class: entry.fault && "struck" },
        entry.fault || entry.message || !entry.shipment_id && !entry.regulatory_request_id && entry.operation)],
      `${entry.duration} · ${entry.request_id}`,
    ],
    empty: () => (loaded === "{}" ? lesson(none, example) : lesson(noMatch)),
  });
  const view = split(app, {
    title: "Journal",
    tools: [
      search, h("div", { class: "chips", role: "group", "aria-label": "Which requests" }, chips), since, extent, unauthenticated,
      h("span", { class: "note exports" }, "Export ", downloads),
      lint,
      button("Send a request", () => app.go({ id: "send" }), { class: "primary" }),
    ],
    content: rows.node,
  });
  const detail = entryDetail(app, view, received);
  const sending = sendForm(app, view, received);

  /** filter is the query of GET /_mock/journal for the address. */
  function filter() {
    const { outcome, q, after } = app.route.query;
    const text = /^req-\d+$/.test(q) ? "request_id" : "contains";
    return { ...(outcome && { [outcome]: "true" }), ...(q && { [text]: q }), ...(after && { after }) };
  }

  /** mark hides the requests that have arrived, or shows them again. */
  function mark() {
    const { journal_entries: last = 0 } = app.summary ?? {};
    app.go({ id: "", query: { after: app.route.query.after ? "" : `req-${last}` } });
  }

  /** read returns entries, newest first. */
  const read = async (query) => {
    const found = await attempt(() => app.api.get("journal", { ...filter(), bodies: "false", ...query }));
    return found?.reverse();
  };

  const number = (entry) => Number(entry.request_id.slice("req-".length));

  /** load loads the latest requests, or those that are newer than the loaded ones. */
  const load = series(async () => {
    const wanted = JSON.stringify(filter());
    const reset = entries.length > 0 && app.summary?.journal_entries < number(entries[0]);
    const fresh = wanted !== loaded || reset || entries.length === 0;
    const found = await read(fresh ? { last: page } : { after: entries[0].request_id, last: page });
    if (!found || wanted !== JSON.stringify(filter())) return;
    const gap = found.length === page; // there may be more between them and the loaded ones
    complete = fresh || gap ? found.length < page : complete && found.length + entries.length <= kept;
    entries = fresh || gap ? found : [...found, ...entries].slice(0, kept);
    if (fresh) kept = most;
    if (wanted !== loaded) rows.top();
    loaded = wanted;
    draw();
  });

  /** tally counts the findings on their button. */
  const tally = series(async () => {
    const all = await attempt(() => app.api.get("journal", { as: "findings" })) ?? [];
    put(lint, "Findings", all.length > 0 && badge(all.length, "warn"));
    if (app.route.id === "findings") findings(all);
  });

  const older = series(async () => {
    const found = await read({ before: entries[entries.length - 1].request_id, last: page });
    if (!found) return;
    entries = [...entries, ...found];
    kept = Math.max(most, entries.length + page);
    complete = found.length < page;
    draw();
  });

  function draw() {
    rows.set(entries, complete ? undefined : older);
    const total = app.summary?.journal_entries ?? 0;
    if (loaded === "{}") extent.textContent = total > entries.length ? `latest ${entries.length} of ${total}` : "";
    else extent.textContent = (complete ? "" : "latest ") + count(entries.length, "match", "matches");
  }

  /** findings shows what lint found in the requests. */
  function findings(all) {
    const rules = [...new Set(all.map(({ rule }) => rule))].map((rule) => all.filter((one) => one.rule === rule));
    view.open("findings", h("h2", null, count(all.length, "finding")),
      note("What a careful client does not do: send a request with an unknown field, or pay for a document twice. "
        + "Go tests check it with Lint."),
      rules.map((same) => part([badge(same[0].rule, "warn"), ` ${count(same.length, "finding")}`], note(same[0].advice),
        h("ul", null, same.map((one) => h("li", null, one.operation, " ", linked(one.detail), ` ${count(one.times, "time")}`,
          one.request_id && [", last as ", linked(one.request_id)]))))));
  }

  return {
    node: view.node,
    search,
    move: rows.move,
    show({ id, query }) {
      if (document.activeElement !== search) search.value = query.q ?? "";
      outcomes.forEach(([value], i) => chips[i].setAttribute("aria-pressed", String(value === (query.outcome ?? ""))));
      since.textContent = query.after ? `Since ${query.after} ×` : "Clear";
      exports.forEach(([as], i) => { downloads[i].href = app.api.address("journal", { ...filter(), as }); });
      if (loaded && loaded !== JSON.stringify(filter())) load();
      rows.mark(id);
      if (id === "findings") tally();
      else if (id.startsWith("send")) sending.show(id);
      else detail(id);
    },
    refresh(changed) {
      const { after } = app.route.query;
      if (after && Number(after.slice("req-".length)) > app.summary.journal_entries) app.go({ query: { after: "" } }); // reset
      if (changed.has("journal_entries")) {
        load();
        tally();
      }
      const refused = app.summary.unauthenticated_entries;
      unauthenticated.hidden = !refused || app.route.world === "unauthenticated";
      unauthenticated.href = app.link({ world: "unauthenticated" });
      put(unauthenticated, count(refused, "request"), " with an unknown key");
    },
  };
}
