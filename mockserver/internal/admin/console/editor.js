// The body of a request to a control route, as JSON that begins with an example.

import { actions, form, labelled, submit, textarea } from "./dom.js";
import { attempt } from "./notice.js";

/**
 * editor makes a form that sends a body as it is written, so that decimals stay exact.
 * @param {import("./app.js").App} app
 * @param {object} options
 * @param {string} options.method
 * @param {string} options.path below /_mock/
 * @param {any} options.value the example
 * @param {string} options.action the text of the button
 * @param {(result: any) => string} options.done is called after a success, and returns a message
 */
export function editor(app, { method, path, value, action, done }) {
  const text = textarea(12);
  const set = (example) => { text.value = JSON.stringify(example, null, 2); };
  set(value);
  const node = form(() => attempt(() => app.api.send(method, path, text.value), done),
    labelled(`Body of ${method} /_mock/${path}, JSON`, text),
    actions(submit(action, { class: "primary" })));
  return { node, set, value: () => JSON.parse(text.value) };
}
