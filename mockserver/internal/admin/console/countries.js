// The countries that the service ships to.

import { h, put } from "./dom.js";
import { count } from "./format.js";
import { list } from "./list.js";
import { attempt } from "./notice.js";
import { fact, facts, part, split } from "./split.js";

/** @param {import("./app.js").App} app */
export function countries(app) {
  /** @type {any[]} */
  let all = [];
  const search = h("input", { type: "search", placeholder: "Name, code or currency", "aria-label": "Search countries", oninput: () => draw() });
  const summary = h("span", { class: "note" });
  const rows = list({
    label: "Countries", kind: "countries",
    heads: ["", "Code", "Country", "Currency", "Dialling code", "Time zones"],
    key: (country) => country.isoCode,
    href: (country) => app.link({ id: country.isoCode }),
    row: (country) => [country.flag, country.isoCode, country.name, country.currency, "+" + country.phonecode, String(country.timezones.length)],
  });
  const view = split({
    title: "Countries", label: "The country", tools: [h("div", { class: "tools" }, search), summary],
    content: rows.node, closing: () => app.go({ id: "" }),
  });

  function draw() {
    const words = search.value.trim().toLowerCase();
    const found = all.filter((country) => [country.name, country.isoCode, country.currency, country.phonecode, "+" + country.phonecode]
      .some((/** @type {string} */ text) => text.toLowerCase().includes(words)));
    rows.set(found, () => h("p", null, "No country matches."));
    summary.textContent = count(found.length, "country", "countries");
    open(app.route.section === "countries" ? app.route.id : "");
  }

  /** @param {string} id */
  function open(id) {
    rows.mark(id);
    const country = all.find((one) => one.isoCode === id);
    if (!country) return view.close();
    view.open(id, h("h2", null, `${country.flag} ${country.name}`),
      facts(fact("Code", country.isoCode), fact("Currency", country.currency), fact("Dialling code", "+" + country.phonecode),
        fact("Coordinates", `${country.latitude}, ${country.longitude}`)),
      part(count(country.timezones.length, "time zone"), h("ul", { class: "plain" }, country.timezones.map((/** @type {any} */ zone) => h("li", null,
        h("b", null, zone.zoneName), h("small", null, `${zone.gmtOffsetName} · ${zone.abbreviation} · ${zone.tzName} · ${zone.gmtOffset} s`))))));
  }

  async function load() {
    put(summary, "…");
    all = await attempt(() => app.api.get("countries")) ?? [];
    draw();
  }

  load();
  return {
    node: view.node,
    search,
    move: rows.move,
    /** @param {import("./route.js").Route} route */
    show: (route) => { rows.relink(); open(route.id); },
    refresh: () => {},
  };
}
