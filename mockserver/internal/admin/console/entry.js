// One request: what was sent, what was answered, why it was refused, and how to make it again.

import { status } from "./badge.js";
import { button, h } from "./dom.js";
import { moment, size } from "./format.js";
import { body } from "./json.js";
import { attempt, copy } from "./notice.js";
import { fact, facts, part } from "./split.js";

/** exported copies a request as something that makes it again. The key is a variable in it. */
export async function exported(app, id, as) {
  const text = await attempt(() => app.api.get(`journal/${id}`, { as }));
  if (text) copy(text, as === "go" ? "Go test" : "curl command");
}

/** requestDetail returns what shows a request by its id, and nothing for none. */
export function entryDetail(app, view) {
  let shown = "";
  return async (id) => {
    shown = id;
    if (!id) return view.close();
    let call;
    try {
      call = await app.api.get(`journal/${id}`);
    } catch (error) {
      if (shown === id && error.message) view.open(id, h("h2", null, id), h("p", { class: "none" }, error.message));
      return;
    }
    const why = call.error_code || call.fault ? await attempt(() => app.api.get(`why/${id}`)) : undefined;
    if (shown === id) draw(call, why);
  };

  function draw(call, why) {
    const target = call.path + (call.query ? "?" + call.query : "");
    view.open(call.request_id,
      h("h2", { class: "mono" }, status(call.status), " ", h("b", { class: "method" }, call.method), " ", target),
      h("div", { class: "actions" },
        button("Copy as curl", () => exported(app, call.request_id, "curl"), { title: "c" }),
        button("Copy as Go", () => exported(app, call.request_id, "go"), { title: "g" }),
        sendAgain(call)),
      why && reason(why),
      facts(
        fact("Operation", call.operation || "none"), fact("Responded", moment(call.at)), fact("Id", call.request_id),
        fact("Key", call.key || "none sent"), fact("Content type", call.content_type)),
      part(`Request body, ${size(call.request_bytes)}`, body(call.request_body, call.request_bytes)),
      part(`Response body, ${size(call.response_bytes)}`, body(call.response_body, call.response_bytes)));
  }

  function sendAgain(call) {
    const whole = !call.request_body || (parses(call.request_body) && call.request_bytes === new TextEncoder().encode(call.request_body).length);
    return button("Send again", () => send(call.method, call.path + (call.query ? "?" + call.query : ""), call.request_body), {
      disabled: !whole, title: whole ? "Sends the same request with the key of this world" : "The body was truncated",
    });
  }

  async function send(method, target, text) {
    const made = await attempt(() => app.api.send(method, target, text), (m) => m.error || `Sent: ${m.status}`);
    if (made?.request_id) app.go({ id: made.request_id, q: app.route.q });
  }

  function reason(why) {
    const nearest = why.nearest_valid;
    return h("div", { class: `reason ${why.fault ? "struck" : ""}` },
      h("p", { class: "what" }, why.fault ? `An injected fault struck: ${why.fault}.` : why.message),
      h("dl", { class: "facts" },
        fact("Code", why.error_code), fact("Specification", why.specification), fact("Rule", why.rule)),
      nearest && h("div", { class: "nearest" },
        h("p", null, "The nearest request that this world accepts:"),
        h("p", { class: "mono" }, h("b", { class: "method" }, nearest.method), " ", nearest.target),
        nearest.body && body(nearest.body, 0),
        h("div", { class: "actions" },
          button("Copy it as curl", () => copy(nearest.curl, "curl command")),
          button("Send it", () => send(nearest.method, nearest.target, nearest.body)))));
  }
}

function parses(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
