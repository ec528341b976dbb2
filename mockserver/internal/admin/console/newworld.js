// The form of a new world: its scenario, made of terms with their numbers, its assumptions and its name.

import { choice, h, labelled, put } from "./dom.js";
import { number } from "./format.js";
import { attempt } from "./notice.js";
import { panel } from "./panel.js";

/**
 * @param {import("./app.js").App} app
 * @param {ReturnType<typeof import("./api.js").api>} home
 */
export function newWorld(app, home) {
  const name = h("input", { type: "text", placeholder: "ci42", required: true, pattern: "[A-Za-z0-9._\\-]+", oninput: () => preview() });
  const preset = choice([["", "as the server"], ["contrary", "contrary: every other choice"]]);
  const terms = h("ul", { class: "terms" });
  const key = h("code");
  /** @type {{word: string, box: HTMLInputElement, figure: HTMLInputElement | undefined}[]} */
  let boxes = [];

  const scenario = () => boxes.filter(({ box }) => box.checked).map(({ word, figure }) => (figure ? word.replace(/N$/, figure.value) : word)).join("-") || "default";
  const preview = () => { key.textContent = `${scenario()}_${name.value || "…"}`; };

  async function open() {
    const order = { scenario: scenario(), name: name.value, ...(preset.value && { preset: preset.value }) };
    const opened = await attempt(() => home.post("worlds", order, { keys: "false" }), "The world is open");
    if (opened) app.go({ world: opened.name, id: "" });
  }

  /** @param {any} term */
  function row(term) {
    const box = h("input", { type: "checkbox", onchange: preview, "aria-label": term.word });
    const figure = term.max ? h("input", {
      type: "number", min: "1", max: term.max, step: "1", value: Math.min(7, term.max), "aria-label": `Number of ${term.word}, up to ${number(term.max)}`,
      oninput: () => { box.checked = true; preview(); },
    }) : undefined;
    boxes.push({ word: term.word, box, figure });
    return h("li", null, h("label", { class: "tick" }, box, h("code", null, term.word)), figure, h("small", null, term.summary, term.max ? `; N is at most ${number(term.max)}` : ""));
  }

  home.get("scenarios").then((all) => {
    boxes = [];
    put(terms, all.filter((/** @type {any} */ term) => term.word !== "default").map(row));
    preview();
  }, () => {});
  preview();
  return panel("New world", h("form", { class: "editor", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); open(); } },
    h("fieldset", null, h("legend", null, "Scenario"), terms),
    h("div", { class: "fields" }, labelled("Name", name), labelled("Assumptions", preset)),
    h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Open a world"), h("span", { class: "note" }, "It opens as ", key))));
}
