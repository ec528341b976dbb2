// Short messages, and the clipboard.

import { h } from "./dom.js";

const shown = 4000;

/**
 * notice shows a message for a few seconds.
 * @param {string} text
 * @param {"ok" | "bad"} kind
 */
export function notice(text, kind = "ok") {
  const node = h("p", { class: `notice ${kind}` }, text);
  const all = /** @type {HTMLElement} */ (document.getElementById("notices"));
  if (all.children.length > 1) all.children[0].remove();
  all.append(node);
  setTimeout(() => node.remove(), kind === "bad" ? 2 * shown : shown);
}

/**
 * attempt does something that the server may refuse, and shows the message then.
 * @template T
 * @param {() => Promise<T>} act
 * @param {string | ((result: T) => string)} [done] is shown after a success
 * @returns {Promise<T | undefined>}
 */
export async function attempt(act, done) {
  try {
    const result = await act();
    if (done) notice(typeof done === "function" ? done(result) : done);
    return result;
  } catch (error) {
    if (error instanceof Error && error.message) notice(error.message, "bad");
    return undefined;
  }
}

/**
 * copy puts a text on the clipboard.
 * @param {string} text
 * @param {string} what
 * @param {string} [note] what the text needs
 */
export async function copy(text, what, note) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    notice("The browser does not let this page use the clipboard.", "bad");
    return;
  }
  notice(`${what} copied` + (note ? `: ${note}` : ""));
}
