// The address and the key of the world, for programs. The key is fetched only to be copied or shown.

import { button, h } from "./dom.js";
import { attempt, copy } from "./notice.js";
import { fact, facts } from "./split.js";
import { panel } from "./panel.js";

/**
 * @param {import("./app.js").App} app
 * @param {ReturnType<typeof import("./api.js").api>} home
 */
export function worldAccess(app, home) {
  const name = app.route.world;
  const path = `worlds/${encodeURIComponent(name)}`;
  const hidden = "sk_test_…";
  const shown = h("code", { class: "key" }, hidden);
  const toggle = button("Show", async () => {
    const shows = shown.textContent !== hidden;
    const secret = shows ? hidden : await key();
    if (!secret) return;
    shown.textContent = secret;
    toggle.textContent = shows ? "Show" : "Hide";
  }, { class: "small", "aria-label": "Show or hide the secret key" });
  const fork = h("input", { type: "text", placeholder: "Name of the fork", required: true, "aria-label": "Name of the fork" });

  const key = async () => (await attempt(() => home.get(path)))?.secret_key;
  const copyText = async (/** @type {string} */ what, /** @type {(secret: string) => string} */ text) => {
    const secret = await key();
    if (secret) await copy(text(secret), what);
  };

  /** close closes the world; the page leaves it first. */
  async function close() {
    const left = new Promise((done) => { addEventListener("hashchange", done, { once: true }); });
    app.go({ world: "home", id: "" });
    await left;
    await attempt(() => home.remove(path, { keys: "false" }), `Closed: ${name}`);
  }

  return panel(name,
    facts(fact("Address", h("code", null, location.origin)), fact("Secret key", h("span", { class: "actions" }, shown, toggle))),
    h("div", { class: "actions" },
      button("Copy key", () => copyText("Key", (secret) => secret)),
      button("Copy env", () => copyText("Environment", (secret) => `export SHIPPING_BASE_URL='${location.origin}'\nexport SHIPPING_SECRET_KEY='${secret}'\n`), { class: "primary" }),
      button("Reset", () => attempt(() => home.post(path + "/reset", undefined, { keys: "false" }), `Reset: ${name}`)),
      name !== "home" && button("Close", close, { "aria-label": `Close ${name}` })),
    h("form", { class: "actions", onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      attempt(() => home.post(path + "/fork", { name: fork.value }, { keys: "false" }), "The fork is open").then((opened) => opened && app.go({ world: opened.name, id: "" }));
    } }, fork, h("button", { type: "submit" }, "Fork")));
}
