// The named snapshots of a world.

import { button, h, put } from "./dom.js";
import { attempt } from "./notice.js";
import { panel } from "./panel.js";

/**
 * @param {import("./app.js").App} app
 * @param {ReturnType<typeof import("./api.js").api>} home
 */
export function snapshots(app, home) {
  const path = `worlds/${encodeURIComponent(app.route.world)}`;
  const name = h("input", { type: "text", placeholder: "Name of the snapshot", required: true, "aria-label": "Name of the snapshot" });
  const all = h("ul", { class: "plain", "aria-label": "Snapshots" });
  const act = (/** @type {string} */ what, /** @type {any} */ data, /** @type {string} */ done) => attempt(() => home.post(`${path}/${what}`, data, { keys: "false" }), done);
  const note = h("p", { class: "note" }, "A snapshot keeps the data, the money, the regulatory requests and the deliveries. Restoring it leaves the clock, the faults and the journal as they are.");
  const node = panel("Snapshots", all,
    h("form", { class: "actions", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); take(); } }, name, h("button", { type: "submit" }, "Take a snapshot")), note);

  async function take() {
    const taken = await act("snapshot", { snapshot: name.value }, `Snapshot taken: ${name.value}`);
    if (!taken) return;
    name.value = "";
    draw(taken);
  }

  /** @param {string} snapshot */
  async function fork(snapshot) {
    const fork = `${snapshot.replace(/[^A-Za-z0-9.-]/g, "-")}-${Date.now() % 100000}`;
    const opened = await act("fork", { name: fork, snapshot }, "The fork is open");
    if (opened) app.go({ world: opened.name, id: "" });
  }

  /** @param {any} world */
  function draw(world) {
    all.hidden = !world?.snapshots.length;
    put(all, (world?.snapshots ?? []).map((/** @type {string} */ snapshot) => h("li", { class: "document" }, h("b", null, snapshot),
      h("span", { class: "actions" },
        button("Restore", () => act("restore", { snapshot }, `Restored: ${snapshot}`), { class: "small", "aria-label": `Restore ${snapshot}` }),
        button("Fork", () => fork(snapshot), { class: "small", "aria-label": `Fork from ${snapshot}` }),
        button("Remove", () => attempt(() => home.remove(path + "/snapshot", { snapshot, keys: "false" }), `Removed: ${snapshot}`).then((world) => world && draw(world)), { class: "small", "aria-label": `Remove ${snapshot}` })))));
  }

  return { node, draw };
}
