// Elements, made without markup: whatever a text contains, it stays text.

/**
 * h makes an element. An attribute that is a function is a listener; null, undefined and false omit an attribute or
 * a child.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any> | null} [attributes]
 * @param {...any} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes, ...children) {
  const node = put(document.createElement(tag), children);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (!present(value)) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (name === "value") Object.assign(node, { value });
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  return node;
}

/**
 * put replaces the children of a node.
 * @template {Element} E
 * @param {E} node
 * @param {...any} children
 */
export function put(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter(present));
  return node;
}

const present = (value) => value !== null && value !== undefined && value !== false;

/** button makes a button; its name is its text unless it has an aria-label. */
export function button(text, act, attributes = {}) {
  return h("button", { type: "button", onclick: act, ...attributes }, text);
}

/** submit makes the button that submits a form. */
export const submit = (text, attributes = {}) => h("button", { type: "submit", ...attributes }, text);

/** choice makes a select of [value, text] pairs. */
export function choice(options, attributes = {}) {
  return h("select", attributes, options.map(([value, text]) => h("option", { value }, text)));
}

/** labelled puts a form field below its name. */
export function labelled(name, field) {
  return h("label", { class: "field" }, h("span", null, name), field);
}

/** form makes a form that calls submit. */
export function form(submit, ...children) {
  const submitted = (event) => {
    event.preventDefault();
    submit();
  };
  return h("form", { onsubmit: submitted }, children);
}

/** textarea makes a field for JSON. */
export const textarea = (rows) => h("textarea", { rows, class: "mono", spellcheck: "false", autocomplete: "off" });

/** actions puts buttons and short fields side by side. */
export const actions = (...children) => h("div", { class: "actions" }, children);

/** note is a text of less importance. */
export const note = (...children) => h("p", { class: "note" }, children);

/** part puts something under a heading. */
export const part = (title, ...children) => h("section", { class: "part" }, h("h3", null, title), children);

/**
 * facts makes a description list of [name, value] pairs, without those that have no value.
 * @param {[string, any][]} pairs
 */
export function facts(pairs) {
  const known = pairs.filter(([, value]) => present(value) && String(value) !== "");
  const rows = known.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)));
  return h("dl", { class: "facts" }, rows);
}

/** @type {Record<string, string>} */
const tones = {
  purchasing: "busy", processing: "busy", generating: "busy", queued: "busy", changed: "busy",
  completed: "good", generated: "good", delivered: "good", funding: "good", active: "good", valid: "good",
  awaiting_evidence: "warn", refused: "warn", reversal: "warn",
  failed: "bad", "not valid": "bad", dropped: "bad",
};

/** badge is a state as a coloured word. */
export function badge(word, tone = tones[word] ?? "calm") {
  return h("span", { class: `badge ${tone}` }, String(word).replaceAll("_", " "));
}

/** status is the status of a response; that of a dropped connection is undefined. */
export function status(code) {
  if (!code) return badge("dropped");
  return badge(code, code >= 500 ? "bad" : code >= 400 ? "warn" : code >= 300 ? "busy" : "good");
}
