// States and statuses as coloured words.

import { h } from "./dom.js";

/** @type {Record<string, string>} */
const tones = {
  draft: "calm", purchasing: "busy", processing: "busy", completed: "good", failed: "bad",
  generating: "busy", awaiting_evidence: "warn", generated: "good",
  queued: "busy", delivered: "good", refused: "warn",
  funding: "good", debit: "calm", reversal: "warn",
};

/** @param {any} word */
export function badge(word, tone = tones[word] ?? "calm") {
  return h("span", { class: `badge ${tone}` }, String(word).replaceAll("_", " "));
}

/**
 * status is that of a response; undefined is a connection that was dropped.
 * @param {number | undefined} code
 */
export function status(code) {
  const tone = !code || code >= 500 ? "bad" : code >= 400 ? "warn" : code >= 300 ? "busy" : "good";
  return badge(code || "dropped", tone);
}
