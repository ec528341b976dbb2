// The layout of most sections: a bar with a title and tools, a list, and beside it the open record.

import { button, h, put } from "./dom.js";
import { icon } from "./icons.js";

/**
 * split makes the frame of a section. closing leads away from what is open.
 * @param {{title: string, label: string, tools?: any, content: any, closing: () => void}} options
 */
export function split({ title, label, tools, content, closing }) {
  const heading = h("div", { class: "heading" });
  const inside = h("div", { class: "inside" });
  const close = button("", closing, { class: "quiet close", "aria-label": "Close", title: "Close (Esc)" });
  close.append(icon("close"));
  const detail = h("section", { class: "detail", "aria-label": label, hidden: true }, h("div", { class: "bar" }, heading, close), inside);
  const node = h("div", { class: "section" },
    h("div", { class: "bar" }, h("h1", null, title), tools),
    h("div", { class: "split" }, h("div", { class: "first" }, content), detail));
  let shown = "";

  return {
    node,
    /**
     * open shows something under its name. What is shown again keeps its scrolling.
     * @param {string} name
     * @param {any} head
     * @param {...any} body
     */
    open(name, head, ...body) {
      put(heading, head);
      put(inside, body);
      detail.hidden = false;
      node.classList.add("opened");
      if (name !== shown) inside.scrollTop = 0;
      shown = name;
    },
    close() {
      shown = "";
      detail.hidden = true;
      node.classList.remove("opened");
      put(inside);
    },
  };
}

/**
 * fact is a row of a description list; none without a value.
 * @param {string} name
 * @param {any} value
 */
export function fact(name, value) {
  return value === undefined || value === null || value === "" ? null : h("div", null, h("dt", null, name), h("dd", null, value));
}

/** @param {...any} rows */
export function facts(...rows) {
  return h("dl", { class: "facts" }, rows);
}

/**
 * part is something under its own heading.
 * @param {string} title
 * @param {...any} children
 */
export function part(title, ...children) {
  return h("section", { class: "part" }, h("h3", null, title), children);
}

/**
 * lesson is what an empty list shows: what it would contain, and a command that adds the first.
 * @param {string} text
 * @param {string} [command]
 * @param {string} [note]
 */
export function lesson(text, command, note) {
  return [h("p", null, text), command && h("pre", { class: "command", tabindex: "0", role: "group", "aria-label": "Command" }, command), note && h("p", { class: "note" }, note)];
}
