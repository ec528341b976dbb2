// Short messages, and the clipboard.

import { h } from "./dom.js";

const shown = 4000;

/** notice says something for a few seconds; kind is ok or bad. */
export function notice(text, kind = "ok") {
  const node = h("p", { class: `notice ${kind}` }, text);
  const all = document.getElementById("notices");
  while (all.children.length > 2) all.firstChild.remove();
  all.append(node);
  setTimeout(() => node.remove(), kind === "bad" ? 2 * shown : shown);
}

/** attempt does something that the server may refuse, and says so then. */
export async function attempt(act, done) {
  try {
    const result = await act();
    if (done) notice(typeof done === "function" ? done(result) : done);
    return result;
  } catch (error) {
    if (error.message) notice(error.message, "bad");
    return undefined;
  }
}

/** copy puts a text on the clipboard. */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    notice("The browser does not let this page use the clipboard.", "bad");
    return;
  }
  notice(`${what} copied`);
}
