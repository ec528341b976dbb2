// Bodies, indented and coloured, also truncated ones.

import { h } from "./dom.js";

const token = /("(?:[^"\\]|\\.)*"?)(\s*:)?|(-?\d[\d.eE+-]*)|(true|false|null)|([{}[\],])|(\s+)|([^\s{}[\],"]+)/g;

/**
 * body shows a text, as JSON if it begins like JSON. whole is the length of a text that may have been truncated.
 * @param {string | undefined} text
 * @param {number} whole
 */
export function body(text, whole) {
  if (!text) return h("p", { class: "none" }, "No body.");
  const node = h("pre", { class: "body", tabindex: "0", role: "group", "aria-label": "Body" });
  if (/^\s*[{[]/.test(text)) paint(node, text);
  else node.textContent = text;
  const kept = new TextEncoder().encode(text).length;
  if (whole > kept) {
    return h("div", null, node, h("p", { class: "note" }, `The journal keeps the first ${kept} of ${whole} bytes.`));
  }
  return node;
}

/**
 * json shows a value.
 * @param {any} value
 */
export function json(value) {
  return body(JSON.stringify(value), 0);
}

/**
 * @param {HTMLElement} node
 * @param {string} text
 */
function paint(node, text) {
  let depth = 0;
  const line = () => "\n" + "  ".repeat(depth);
  const write = (/** @type {string} */ kind, /** @type {string} */ piece) => node.append(kind ? h("span", { class: kind }, piece) : piece);
  const tokens = [...text.matchAll(token)].filter((found) => found[6] === undefined);
  tokens.forEach((found, i) => {
    const [all, string, colon, digits, word, mark] = found;
    const next = tokens[i + 1]?.[5];
    if (string !== undefined && colon) {
      write("j-key", string);
      write("", ": ");
    } else if (string !== undefined) write("j-string", string);
    else if (digits !== undefined) write("j-number", digits);
    else if (word !== undefined) write("j-word", word);
    else if (mark === "{" || mark === "[") {
      const empty = next === (mark === "{" ? "}" : "]");
      depth++;
      write("", mark + (empty ? "" : line()));
    } else if (mark === "}" || mark === "]") {
      depth = Math.max(0, depth - 1);
      const before = tokens[i - 1]?.[5];
      write("", (before === "{" || before === "[" ? "" : line()) + mark);
    } else if (mark === ",") write("", "," + line());
    else write("", all);
  });
}
