// Elements, made without markup: whatever a text holds, it stays a text.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {Record<string, any> | null} Attributes functions are listeners; null, undefined and false leave one out
 */

/**
 * h makes an element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {...any} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * s makes an element of SVG.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {...any} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * @template {Element} E
 * @param {E} node
 * @param {Attributes | undefined} attributes
 * @param {any[]} children
 * @returns {E}
 */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (name === "value") Object.assign(node, { value });
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...present(children));
  return node;
}

/**
 * put replaces what is in a node.
 * @template {Element} E
 * @param {E} node
 * @param {...any} children
 * @returns {E}
 */
export function put(node, ...children) {
  node.replaceChildren(...present(children));
  return node;
}

/** @param {any[]} children */
function present(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/**
 * labelled is a form field under its name.
 * @param {string} text
 * @param {...any} field
 */
export function labelled(text, ...field) {
  return h("label", { class: "field" }, h("span", null, text), field);
}

/**
 * choice is a select of values or of [value, text] pairs.
 * @param {(string | any[])[]} options
 * @param {Attributes} [attributes]
 */
export function choice(options, attributes) {
  return h("select", attributes, options.map((option) => {
    const [value, text] = Array.isArray(option) ? option : [option, option];
    return h("option", { value }, text);
  }));
}

/**
 * button is one that does something; its name is its text unless it has a label.
 * @param {string} text
 * @param {(event: MouseEvent) => any} act
 * @param {Attributes} [attributes]
 */
export function button(text, act, attributes) {
  return h("button", { type: "button", onclick: act, ...attributes }, text);
}

/**
 * turn is a switch that shows whether something is on.
 * @param {string} name
 * @param {boolean} on
 * @param {(on: boolean) => any} act
 */
export function turn(name, on, act) {
  const node = h("button", { type: "button", role: "switch", class: "switch", "aria-label": name, "aria-checked": String(on) }, h("span"));
  node.addEventListener("click", () => act(node.getAttribute("aria-checked") !== "true"));
  return node;
}
