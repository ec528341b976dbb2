// A journal entry: the request, the response, the reason of a refusal, and ways to send the request again.

import { badge, status } from "./badge.js";
import { comparison } from "./compare.js";
import { button, choice, h, put } from "./dom.js";
import { filterValues } from "./filters.js";
import { moment, size, time } from "./format.js";
import { body } from "./json.js";
import { attempt, copy } from "./notice.js";
import { fact, facts, part } from "./split.js";

/**
 * exported copies a request as a command or a test that sends it again. The key is a variable in it.
 * @param {import("./app.js").App} app
 * @param {string} id
 * @param {"curl" | "go"} as
 */
export async function exported(app, id, as) {
  const text = await attempt(() => app.api.get(`journal/${id}`, { as }));
  if (text) copy(text, as === "go" ? "Go test" : "curl command", needs);
}

const needs = "it needs the environment variable SHIPPING_SECRET_KEY; Worlds has “Copy env”";

/** @param {any} entry */
export const target = (entry) => entry.path + (entry.query ? "?" + entry.query : "");

/**
 * entryDetail shows a request in the detail of a section.
 * @param {import("./app.js").App} app
 * @param {ReturnType<import("./split.js").split>} view
 * @param {() => any[]} [others] the requests to compare with
 */
export function entryDetail(app, view, others) {
  let shown = "";
  /** @type {Map<string, string>} bodies of responses by request id, longer than the journal has them */
  const received = new Map();

  /**
   * show shows a request by its id, beside another if there is one, and nothing without an id.
   * @param {string} id
   * @param {string} [other]
   */
  async function show(id, other) {
    shown = id + " " + other;
    const wanted = shown;
    view.node.classList.toggle("wide", Boolean(id && other));
    if (!id) return view.close();
    const ids = other ? [id, other] : [id];
    const found = await Promise.all(ids.map((one) => app.api.get(`journal/${encodeURIComponent(one)}`).catch((/** @type {Error} */ error) => error)));
    if (shown !== wanted) return;
    const failed = found.find((one) => one instanceof Error);
    if (failed?.message) return view.open(id, h("h2", null, id), h("p", { class: "none" }, failed.message));
    if (failed) return; // given up
    const [entry] = found;
    if (other) return view.open(shown, h("h2", null, `${id} and ${other}`), comparison(entry, found[1]));
    const why = await attempt(() => app.api.get(`why/${id}`));
    if (shown === wanted) draw(entry, why);
  }

  /**
   * @param {any} entry
   * @param {any} why
   */
  function draw(entry, why) {
    view.open(entry.request_id,
      h("h2", { class: "mono" }, status(entry.status), " ", h("b", { class: "method" }, entry.method), " ", target(entry)),
      (why?.error_code || why?.fault) && reason(why, entry.request_id),
      why?.findings && part("Lint", findings(why.findings)),
      h("div", { class: "actions", role: "group", "aria-label": "This request" },
        h("span", { class: "note" }, "This request: copy"), h("span", { class: "chips" },
          button("curl", () => exported(app, entry.request_id, "curl"), { class: "small", "aria-label": "Copy as curl", title: "Copy as curl (c)" }),
          button("Go", () => exported(app, entry.request_id, "go"), { class: "small", "aria-label": "Copy as Go", title: "Copy as a Go test (g)" }),
          button("link", () => copy(location.href, "Link"), { class: "small", "aria-label": "Copy link" })),
        sendAgain(entry),
        h("a", { class: "button small", href: app.link({ section: "requests", id: "", query: { from: entry.request_id } }) }, "Edit and send"),
        others && compareWith(entry, others)),
      facts(
        fact("Operation", entry.operation || "none"), fact("Id", entry.request_id), fact("Responded", moment(entry.at)), fact("Duration", entry.duration),
        fact("Key", entry.key ? keyLink(entry) : "none sent"),
        fact("Content type", entry.content_type)),
      entry.request_bytes > 0 && part(`Request body, ${size(entry.request_bytes)}`, body(entry.request_body, entry.request_bytes)),
      part(`Response body, ${size(entry.response_bytes)}`, body(received.get(entry.request_id) ?? entry.response_body, entry.response_bytes)));
  }

  /**
   * keyLink adds a key to the filters.
   * @param {any} entry
   */
  function keyLink(entry) {
    const filters = app.route.section === "journal" ? filterValues(app.route.query) : {};
    return [h("a", { href: app.link({ section: "journal", id: entry.request_id, q: app.route.q, query: { ...filters, key: entry.key } }), title: "Requests with this key" }, entry.key),
      h("small", null, "The digits are a fingerprint of the key, not its end.")];
  }

  /** @param {any} entry */
  function sendAgain(entry) {
    const whole = !entry.request_body || (parses(entry.request_body) && entry.request_bytes === new TextEncoder().encode(entry.request_body).length);
    return button("Send again", () => send(entry.method, target(entry), entry.request_body), {
      class: "small", disabled: !whole, title: whole ? "Sends the same request with the key of this world" : "The body was truncated",
    });
  }

  /**
   * compareWith offers the loaded requests, those of the same operation first.
   * @param {any} entry
   * @param {() => any[]} others
   */
  function compareWith(entry, others) {
    const picker = choice([["", "Compare…"]], {
      "aria-label": "Compare with", class: "small compare", onfocus: fill, onpointerdown: fill,
      onchange: () => { if (picker.value) app.go({ section: "journal", id: entry.request_id, q: app.route.q, query: { ...app.route.query, with: picker.value } }); },
    });
    function fill() {
      const all = others().filter((one) => one.request_id !== entry.request_id);
      const groups = Object.groupBy(all, (one) => (one.operation === entry.operation ? "The same operation" : "Other operations"));
      put(picker, picker.firstChild, Object.entries(groups).sort(([a], [b]) => b.localeCompare(a)).map(([label, some]) => h("optgroup", { label },
        (some ?? []).slice(0, 100).map((one) => h("option", { value: one.request_id }, `${one.request_id} · ${one.status || "dropped"} · ${one.method} ${one.path} · ${time(one.at, app.summary?.now)}`)))));
    }
    fill();
    return picker;
  }

  /**
   * send sends a request and shows its response.
   * @param {string} method
   * @param {string} address
   * @param {string} [text]
   */
  async function send(method, address, text) {
    const made = await attempt(() => app.api.send(method, address, text), (m) => m.error || `Sent: ${m.status}`);
    if (!made) return;
    // A response that was lost has no id; the journal has one.
    const id = made.request_id ?? (await attempt(() => app.api.get("journal", { last: "1", bodies: "false" })))?.[0]?.request_id;
    if (!id) return;
    if (made.body) received.set(id, made.body);
    const { with: _, ...query } = app.route.query;
    app.go({ id, q: app.route.q, query });
  }

  /**
   * @param {any} why
   * @param {string} id
   */
  function reason(why, id) {
    const nearest = why.nearest_valid;
    return h("div", { class: `reason ${why.fault ? "struck" : ""}` },
      h("p", { class: "what" }, why.fault ? `An injected fault struck: ${why.fault}.` : why.message),
      why.notes?.map((/** @type {string} */ note) => h("p", null, note)),
      h("dl", { class: "facts" },
        fact("Code", why.error_code), fact("Specification", why.specification), fact("Rule", why.rule)),
      nearest && h("div", { class: "nearest" },
        h("p", null, "The nearest request that this world accepts:"),
        h("p", { class: "mono" }, h("b", { class: "method" }, nearest.method), " ", nearest.target),
        nearest.body && body(nearest.body, 0),
        h("div", { class: "actions", role: "group", "aria-label": "The valid request" },
          h("span", null, "The valid request: copy"),
          button("curl", () => copy(nearest.curl, "curl command", needs), { class: "small", "aria-label": "Copy the valid request as curl" }),
          button("Send", () => send(nearest.method, nearest.target, nearest.body), { class: "small", "aria-label": "Send the valid request" }),
          h("a", { class: "button small", href: app.link({ section: "requests", id: "", query: { from: id, valid: "1" } }), "aria-label": "Edit and send the valid request" }, "Edit and send"))));
  }

  return { show, send };
}

/**
 * findings lists what lint found.
 * @param {any[]} all
 * @param {(one: any) => any} [more] what else there is about one
 */
export const findings = (all, more) => h("ul", { class: "plain" }, all.map((one) => h("li", null,
  badge(one.rule, "warn"), " ", h("b", null, one.detail ?? ""), more?.(one), h("small", null, one.advice))));

/** @param {string} text */
function parses(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
