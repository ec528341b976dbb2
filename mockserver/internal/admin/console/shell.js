// The frame of every section: the sections, the world, its time and the connection.

import { api } from "./api.js";
import { button, h, put } from "./dom.js";
import { moment, number, time } from "./format.js";
import { icon } from "./icons.js";
import { attempt, notice } from "./notice.js";
import { sections } from "./sections.js";
import { change } from "./theme.js";

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const states = { live: "Live", waiting: "Reconnecting", gone: "Closed" };

/** @param {import("./app.js").App} app */
export function shell(app) {
  const links = new Map();
  const counts = new Map();
  const nav = h("nav", { "aria-label": "Sections" }, sections.map((section, i) => {
    const counted = h("span", { class: "count" });
    const link = h("a", { title: `${section.title} (${i + 1})` }, icon(section.icon), h("span", { class: "name" }, section.title), section.short && h("span", { class: "name short" }, section.short), counted);
    links.set(section.id, link);
    counts.set(section.id, counted);
    return link;
  }));

  const chooser = h("select", { id: "world", "aria-label": "World", onchange: () => app.go({ world: chooser.value, id: "" }) });
  const now = h("time", { class: "now" });
  const ahead = h("span", { class: "ahead" });
  const state = h("span", { class: "live", "data-state": "waiting" }, "Connecting");
  const help = button("", () => frame.help(), { class: "quiet", "aria-label": "Keys", title: "Keys (?)" });
  help.append(icon("help"));
  const shade = button("", () => notice(`Theme: ${change()}`), { class: "quiet", "aria-label": "Theme", title: "Light, dark or as the system (t)" });
  shade.append(icon("light"));

  const header = h("header", null,
    h("a", { class: "brand", href: "#/journal", "aria-label": "Shipping console" }, icon("ship"), h("span", null, "Shipping console")),
    h("label", { class: "world" }, h("span", null, "World"), chooser),
    h("div", { class: "clock" }, now, ahead),
    state, shade, help);
  const main = h("main", { id: "main", tabindex: "-1" });
  put(byId("app"), header, nav, main, byId("notices"));

  let offset = 0; // of a real clock's time from this machine's
  let real = false;
  setInterval(() => real && tick(new Date(Date.now() + offset)), 1000);

  /** @param {Date} at */
  function tick(at) {
    now.dateTime = at.toISOString();
    now.textContent = `${time(at, at)} UTC`;
    now.title = moment(at);
  }

  /** @param {string} duration */
  async function advance(duration) {
    await attempt(() => app.api.post("clock/advance", { duration }),
      ({ fired }) => `${duration} later; ${fired.length ? `${fired.length} fired: ${fired[0].label}` : "nothing fired"}`);
  }

  async function choose() {
    const worlds = await attempt(() => api("home").get("worlds", { keys: "false", perPage: "1000" })) ?? [];
    const names = worlds.map((/** @type {any} */ world) => world.name);
    if (!names.includes(app.route.world)) names.push(app.route.world);
    put(chooser, names.map((/** @type {string} */ name) => h("option", { value: name }, name)));
    chooser.value = app.route.world;
  }

  const frame = {
    main,
    shade,
    help: () => {},
    /** @param {{id: string}} section */
    show(section) {
      for (const [id, link] of links) {
        link.href = app.link({ section: id });
        if (id === section.id) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
      if (chooser.value !== app.route.world) choose();
    },
    /** @param {import("./live.js").Connection} name */
    state(name) {
      state.dataset.state = name;
      state.textContent = states[name];
    },
    /**
     * @param {any} summary
     * @param {Set<string>} changed
     */
    update(summary, changed) {
      real = summary.clock === "real";
      offset = new Date(summary.now).getTime() - Date.now();
      tick(new Date(summary.now));
      for (const section of sections) {
        if (section.counted) counts.get(section.id).textContent = summary[section.counted] ? number(summary[section.counted]) : "";
      }
      if (changed.has("worlds")) choose();
      if (changed.has("clock")) {
        put(ahead, real ? h("span", { class: "tag" }, "real clock") : [
          button("+1 min", () => advance("1m"), { class: "small" }), button("+1 h", () => advance("1h"), { class: "small" }),
        ]);
      }
    },
  };
  return frame;
}
