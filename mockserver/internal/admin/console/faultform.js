// The form for a fault rule. What can be chosen and what a kind needs, the server says.

import { choice, h, labelled, put } from "./dom.js";

const numbers = ["status", "bytes", "per_page", "rows"];
const examples = { status: "503", bytes: "100", per_page: "10", rows: "3", duration: "2s", content_type: "text/plain", location: "/elsewhere", retry_after: "seconds" };

export function faultForm(add) {
  const operation = choice([["", "every operation"]]);
  const kind = choice([]);
  const needs = h("div", { class: "needs" });
  const nth = number("1");
  const first = number("1");
  const chance = h("input", { type: "number", min: "0", max: "1", step: "any", placeholder: "always" });
  const committed = h("input", { type: "checkbox" });
  const effect = h("p", { class: "note" });
  let known;

  const node = h("form", { class: "fault", onsubmit: (event) => { event.preventDefault(); add(rule()); } },
    labelled("Operation", operation), labelled("Fault", kind), needs,
    labelled("Only request number", nth), labelled("Only the first", first), labelled("Chance, 0 to 1", chance),
    h("label", { class: "tick" }, committed, " after the change is made"), effect,
    h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Add the rule")));
  kind.addEventListener("change", ask);

  function ask() {
    const chosen = known.kinds.find((one) => one.kind === kind.value);
    effect.textContent = `It ${chosen.effect}.`;
    put(needs, chosen.needs.filter((name) => name !== "header").map((name) => labelled(name.replaceAll("_", " "),
      h("input", { name, type: numbers.includes(name) ? "number" : "text", value: examples[name] ?? "" }))));
  }

  function rule() {
    const fault = { kind: kind.value };
    for (const input of needs.querySelectorAll("input")) {
      if (input.value) fault[input.name] = numbers.includes(input.name) ? Number(input.value) : input.value;
    }
    const made = { fault };
    if (operation.value) made.operation = operation.value;
    if (nth.value) made.nth = Number(nth.value);
    if (first.value) made.first = Number(first.value);
    if (chance.value) made.probability = Number(chance.value);
    if (committed.checked) made.committed = true;
    return made;
  }

  return {
    node,
    know(all) {
      if (known) return;
      known = all;
      operation.append(...all.operations.map((name) => h("option", { value: name }, name)));
      kind.append(...all.kinds.map((one) => h("option", { value: one.kind }, one.kind)));
      ask();
    },
  };
}

function number(min) {
  return h("input", { type: "number", min, placeholder: "any" });
}
