// The findings of lint.

import { h, put } from "./dom.js";
import { findings } from "./entry.js";
import { count } from "./format.js";
import { attempt } from "./notice.js";
import { panel } from "./panel.js";
import { series } from "./series.js";

/** @param {import("./app.js").App} app */
export function lint(app) {
  const found = h("div", { class: "findings" });

  const load = series(async () => {
    const all = await attempt(() => app.api.get("lint")) ?? [];
    put(found, all.length ? findings(all, (one) => [` by ${one.operation}, ${count(one.times, "time")}, last as `, h("a", { href: app.link({ section: "journal", id: one.request_id }) }, one.request_id)])
      : h("p", { class: "none" }, "No findings. Lint reports requests that a careful client does not send, such as one with an unknown field."));
  });

  load();
  return { node: panel("Lint", found), load };
}
