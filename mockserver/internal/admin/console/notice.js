// Short messages at the end of the page, and the clipboard.

import { h, put } from "./dom.js";

const duration = { ok: 4000, bad: 8000 }; // milliseconds
let timer = 0;

/**
 * notice shows a message for a few seconds, instead of the one before.
 * @param {string} text
 * @param {"ok" | "bad"} kind
 */
export function notice(text, kind = "ok") {
  const place = /** @type {HTMLElement} */ (document.getElementById("notices"));
  put(place, h("p", { class: `notice ${kind}` }, text));
  clearTimeout(timer);
  timer = setTimeout(() => put(place), duration[kind]);
}

/** forget removes the message of a failure, when another section is shown. */
export function forget() {
  document.querySelector("#notices .bad")?.remove();
}

/**
 * attempt does something that can fail, and shows the message of the failure.
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

/** copy writes a text to the clipboard. what names it in the message, and needs is what the text needs. */
export async function copy(text, what, needs = "") {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    return notice("The browser does not let this page use the clipboard.", "bad");
  }
  notice(`${what} copied${needs && ": "}${needs}`);
}
