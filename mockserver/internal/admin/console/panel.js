// A part of a page, under its heading.

import { h } from "./dom.js";

/**
 * @param {string} title
 * @param {...any} content
 */
export const panel = (title, ...content) => h("section", { class: "part" }, h("h2", null, title), content);
