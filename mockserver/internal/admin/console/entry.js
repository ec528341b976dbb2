// A journal entry: the request, the response, why it was refused, and ways to send the request again.

import { actions, badge, button, facts, h, note, part, status } from "./dom.js";
import { attempt, copy } from "./notice.js";
import { sent } from "./send.js";
import { body, linked, moment } from "./text.js";

const needs = "it needs the environment variable SHIPPING_SECRET_KEY; Worlds has “Copy env”";

/**
 * entryDetail returns a function that shows an entry by its request id, and nothing without one.
 * @param {import("./app.js").App} app
 * @param {ReturnType<import("./list.js").split>} view
 * @param {Map<string, string>} received bodies of responses by request id, longer than the journal has them
 */
export function entryDetail(app, view, received) {
  return async function show(id) {
    if (!id) return view.close();
    if (view.shows(id)) return; // an entry does not change
    const entry = await app.api.get(`journal/${encodeURIComponent(id)}`).catch((error) => error);
    if (app.route.id !== id) return;
    if (entry instanceof Error) view.open(id, h("h2", null, id), note(entry.message));
    else draw(entry);
  };

  function draw(entry) {
    const { request_id: id, why } = entry;
    const target = entry.path + (entry.query ? "?" + entry.query : "");
    const again = () => sent(app, received, entry.method, target, entry.request_body);
    view.open(id,
      h("h2", { class: "mono" }, status(entry.status), " ", h("b", null, entry.method), " ", target),
      (why?.error_code || why?.fault) && reason(why, id),
      why?.findings && part("Findings", why.findings.map(finding)),
      actions(
        button("Copy as curl", () => exported(id)),
        button("Send again", again, { disabled: isTruncated(entry) }),
        h("a", { class: "button", href: app.link({ id: `send/${id}` }) }, "Edit and send")),
      facts([
        ["Operation", entry.operation || "none"],
        ["Shipment", linked(entry.shipment_id)],
        ["Regulatory request", linked(entry.regulatory_request_id)],
        ["Charged", entry.charged],
        ["Id", id],
        ["Responded", moment(entry.at)],
        ["Duration", entry.duration],
        ["Sent by", entry.console && "this console: it is not a finding"],
        ["Key", entry.key ? `${entry.key} (the digits are a fingerprint)` : "none sent"],
        ["Content type", entry.content_type],
      ]),
      part("Request body", body(entry.request_body, entry.request_bytes)),
      part("Response body",
        received.has(id) ? body(received.get(id)) : body(entry.response_body, entry.response_bytes)));
  }

  /** exported copies a command that sends the request again. */
  async function exported(id) {
    const text = await attempt(() => app.api.get(`journal/${id}`, { as: "curl" }));
    if (text) copy(text, "curl command", needs);
  }

  /** reason shows why a request was refused, and the nearest request that the world accepts. */
  function reason(why, id) {
    const valid = why.nearest_valid;
    return h("div", { class: why.fault ? "reason fault" : "reason" },
      h("p", null, h("b", null, why.fault ? `An injected fault struck: ${why.fault}.` : why.message)),
      facts([["Code", why.error_code], ["Specification", why.specification], ["Rule", why.rule]]),
      valid && nearest(valid, id));
  }

  function nearest(valid, id) {
    const send = () => sent(app, received, valid.method, valid.target, valid.body);
    const edit = { class: "button", href: app.link({ id: `send/${id}/valid` }) };
    return h("div", { class: "nearest", role: "group", "aria-label": "The valid request" },
      h("p", null, "The nearest request that this world accepts:"),
      h("p", { class: "mono" }, h("b", null, valid.method), " ", valid.target),
      valid.body && body(valid.body),
      actions(
        button("Copy as curl", () => copy(valid.curl, "curl command", needs),
          { "aria-label": "Copy as curl: the valid request" }),
        button("Send", send, { "aria-label": "Send the valid request" }),
        h("a", { ...edit, "aria-label": "Edit and send the valid request" }, "Edit and send")));
  }
}

/** finding shows a finding of lint. */
const finding = (one) => h("p", null, badge(one.rule, "warn"), " ", one.detail, h("small", null, one.advice));

/** isTruncated reports whether the journal has only the beginning of the body of a request. */
function isTruncated({ request_body: text = "", request_bytes: bytes = 0 }) {
  return new TextEncoder().encode(text).length !== bytes;
}
