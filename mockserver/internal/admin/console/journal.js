// Section 1: the requests to the service, as they arrive.

import { status } from "./badge.js";
import { button, h } from "./dom.js";
import { count, number, size, time } from "./format.js";
import { list } from "./list.js";
import { attempt } from "./notice.js";
import { exported, entryDetail } from "./entry.js";
import { lesson, split } from "./split.js";

const kept = 300; // rows
const filters = { all: () => true, refused: (call) => Boolean(call.error_code), struck: (call) => Boolean(call.fault) };

export function journal(app) {
  let calls = []; // newest first
  let filter = "all";
  let paused = false;
  let asking = false;
  let again = false;
  let words = "";

  const search = h("input", { type: "search", placeholder: "Search paths, bodies, ids", "aria-label": "Search requests", oninput: () => look(search.value.trim()) });
  const told = h("span", { class: "told" });
  const strangers = h("a", { class: "told", hidden: true });
  const holder = button("Pause", () => pause(), { "aria-pressed": "false", title: "Pause (p)" });
  const chips = h("div", { class: "chips", role: "group", "aria-label": "Which requests" }, Object.keys(filters).map((name) => {
    const chip = button(name === "struck" ? "Faulted" : name[0].toUpperCase() + name.slice(1), () => {
      filter = name;
      for (const other of chips.children) other.setAttribute("aria-pressed", String(other === chip));
      draw();
    }, { "aria-pressed": String(name === filter) });
    return chip;
  }));

  const rows = list({
    label: "Requests, newest first", kind: "journal",
    heads: ["Time", "Status", "Request", "Operation, or why not", "Size"],
    key: (call) => call.request_id,
    href: (call) => app.link({ id: call.request_id, q: words }),
    row: (call) => [
      h("time", { datetime: call.at }, time(call.at, app.pulse?.now)),
      status(call.status),
      h("span", { class: "target" }, h("b", { class: "method" }, call.method), " ", call.path, call.query && h("i", null, "?" + call.query)),
      h("span", { class: call.fault ? "struck" : "why" }, call.fault || call.message || call.operation || ""),
      size(call.response_bytes),
    ],
  });
  const view = split({
    title: "Journal", label: "The request",
    tools: [h("div", { class: "tools" }, search, chips, holder), strangers, told],
    content: rows.node, closing: () => app.go({ id: "", q: words }),
  });

  function draw() {
    const shown = calls.filter(filters[filter]);
    rows.set(shown, () => calls.length || words
      ? lesson("No request matches.", undefined, "The journal keeps the latest requests only.")
      : lesson("No requests yet. Requests to the service appear here as they arrive. Try:", example));
    const total = app.pulse?.journal_entries ?? 0;
    told.textContent = words ? count(shown.length, "match", "matches") : total > calls.length ? `latest ${number(calls.length)} of ${number(total)}` : "";
  }

  /** load asks for what is new, and for no more than fits. One question at a time: what comes meanwhile is asked for next. */
  async function load(all) {
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    const fresh = all || calls.length === 0;
    const query = { bodies: "false", last: String(kept) };
    if (words) query.contains = words;
    if (!fresh && !words) query.after = calls[0].request_id;
    const found = await attempt(() => app.api.get("journal", query));
    asking = false;
    if (found) {
      found.reverse();
      calls = fresh || words ? found : [...found, ...calls].slice(0, kept);
      draw();
    }
    if (again) {
      again = false;
      load(false);
    }
  }

  function look(text) {
    words = text;
    calls = [];
    load(true);
    app.go({ id: app.route.id, q: words });
  }

  function pause() {
    paused = !paused;
    holder.setAttribute("aria-pressed", String(paused));
    holder.textContent = paused ? "Resume" : "Pause";
    if (!paused) load(true);
  }

  const detail = entryDetail(app, view);
  return {
    node: view.node,
    search,
    move: rows.move,
    pause,
    copy: (as) => {
      const id = app.route.id || rows.focused();
      if (id) exported(app, id, as);
    },
    show(route) {
      if (route.q !== words && route.q !== search.value.trim()) {
        search.value = route.q;
        words = route.q;
        calls = [];
        load(true);
      }
      rows.relink(calls);
      rows.mark(route.id);
      detail(route.id);
    },
    refresh(changed) {
      if (changed.has("unauthenticated_entries")) {
        const refused = app.pulse.unauthenticated_entries;
        strangers.hidden = refused === 0 || app.route.world === "unauthenticated";
        strangers.textContent = `${count(refused, "request")} with an unknown key`;
        strangers.href = app.link({ world: "unauthenticated", id: "" });
      }
      if (paused || !changed.has("journal_entries")) return;
      const reset = calls.length > 0 && app.pulse.journal_entries < Number(calls[0].request_id.slice(4));
      load(reset);
    },
  };
}

const example = 'curl -H "Authorization: Bearer $SHIPPING_SECRET_KEY" "$SHIPPING_BASE_URL/v1/rates?perPage=2"';
