// Small drawings, 20 by 20, in the colour of the text.

import { s } from "./dom.js";

/** @type {Record<string, string>} */
const paths = {
  journal: "M3 6h11M11 3l3 3-3 3M17 14H6M9 11l-3 3 3 3",
  send: "M3 10l14-6.5-5 13-3-5.5zM9 11l8-7.5",
  ledger: "M3 16l4-5 4 3 6-8M3 3v14h14",
  documents: "M5 2.5h7l3 3v12H5zM12 2.5v3h3M7.5 10h5M7.5 13h5",
  webhooks: "M3 10h4l2-5 3 10 2-5h3",
  countries: "M10 2.5a7.5 7.5 0 100 15 7.5 7.5 0 000-15zM2.5 10h15M10 2.5c5 5 5 10 0 15c-5-5-5-10 0-15",
  faults: "M10 3l7.5 13.5h-15zM10 8v4M10 14v.5",
  worlds: "M3 6l7-3.5L17 6l-7 3.5zM3 10l7 3.5L17 10M3 14l7 3.5 7-3.5",
  light: "M10 6.5a3.5 3.5 0 100 7 3.5 3.5 0 000-7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1",
  help: "M7.5 7.5a2.5 2.5 0 113.6 2.2c-.8.4-1.1.9-1.1 1.8M10 14v.5",
  close: "M5 5l10 10M15 5L5 15",
  ship: "M2.5 12h15l-2.2 4.5H4.7zM5 12V8.5h4V12m1.5 0V5.5h4V12",
};

/** @param {string} name */
export function icon(name) {
  return s("svg", { class: "icon", viewBox: "0 0 20 20", "aria-hidden": "true" }, s("path", { d: paths[name] }));
}
