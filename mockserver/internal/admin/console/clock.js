// The clock of a world, and what is pending on it.

import { button, h, put } from "./dom.js";
import { between, moment, time } from "./format.js";
import { attempt } from "./notice.js";
import { panel } from "./panel.js";
import { series } from "./series.js";

/** @param {import("./app.js").App} app */
export function clockPanel(app) {
  const now = h("div", { class: "part" });
  const fired = h("ul", { class: "plain", "aria-label": "Fired" });
  const custom = h("input", { type: "text", value: "90s", "aria-label": "Duration to advance by" });

  /** @param {string} duration */
  async function advance(duration) {
    const moved = await attempt(() => app.api.post("clock/advance", { duration }), `The clock was advanced by ${duration}`);
    if (!moved) return;
    put(fired, h("li", null, h("h3", null, "Fired")), moved.fired.length
      ? moved.fired.map((/** @type {any} */ one) => h("li", null, h("time", null, time(one.due, moved.now)), " ", one.label)) : h("li", null, "Nothing fired."));
  }

  const load = series(async () => {
    const clock = await attempt(() => app.api.get("clock"));
    if (!clock) return;
    const typing = document.activeElement === custom;
    put(now, h("p", { class: "big" }, h("time", { datetime: clock.now }, moment(clock.now))),
      clock.clock === "virtual"
        ? h("form", { class: "actions", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); advance(custom.value); } },
          button("+1 min", () => advance("1m")), button("+1 h", () => advance("1h")), custom, h("button", { type: "submit", class: "primary" }, "Advance"))
        : h("p", { class: "note" }, "This world follows the real time. A virtual clock advances only on request: start the server with ", h("code", null, "serve -clock virtual"), " or open a world of the scenario ", h("code", null, "virtual"), "."),
      h("h3", null, clock.pending.length ? "Pending" : "Nothing is pending"),
      h("ul", { class: "plain" }, clock.pending.map((/** @type {any} */ one) => h("li", null, h("time", null, between(clock.now, one.due)), " ", one.label))));
    if (typing) custom.focus();
  });

  return { node: panel("Clock", now, fired), load };
}
