// The findings of lint, and how much of the contract was used.

import { badge } from "./badge.js";
import { h, put } from "./dom.js";
import { findings } from "./entry.js";
import { capital, count, number } from "./format.js";
import { attempt } from "./notice.js";
import { panel } from "./panel.js";
import { series } from "./series.js";

/** @param {import("./app.js").App} app */
export function coverage(app) {
  const found = h("div");
  const seen = h("div", { class: "coverage" });

  const load = series(async () => {
    const all = await attempt(() => app.api.get("lint")) ?? [];
    put(found, all.length ? findings(all, (one) => [` by ${one.operation}, ${count(one.times, "time")}, last as `, h("a", { href: app.link({ section: "journal", id: one.request_id }) }, one.request_id)])
      : h("p", { class: "none" }, "No findings. Lint reports requests that a careful client does not send, such as one with an unknown field."));
    const rows = await attempt(() => app.api.get("coverage")) ?? [];
    /** @type {Map<string, any[]>} */
    const sections = new Map();
    for (const row of rows) sections.set(row.section, [...(sections.get(row.section) ?? []), row]);
    put(seen, [...sections].map(([section, items]) => h("div", null,
      h("h3", null, `${capital(section)}: ${items.filter((item) => item.seen).length} of ${items.length}`),
      h("p", null, items.map((item) => [badge(`${item.item}${item.seen ? " " + number(item.seen) : ""}`, item.seen ? "good" : "calm"), " "])))));
  });

  load();
  return { node: [panel("Lint", found), panel("Coverage of all worlds", seen)], load };
}
