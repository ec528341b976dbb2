// A wallet's balance over time, drawn from its ledger entries: a step at each.

import { h, put, s } from "./dom.js";
import { moment, money, onDay } from "./format.js";

const height = 150;
const edge = { top: 12, right: 12, bottom: 24, left: 52 };

/**
 * chart draws entries. choose is called with the one that is clicked.
 * @param {(entry: any) => void} choose
 */
export function chart(choose) {
  /** @type {any[]} */
  let entries = []; // oldest first
  let currency = "";
  let at = -1;
  /** @type {{x: number, y: number}[]} */
  let places = [];
  const reading = h("figcaption", { "aria-live": "polite" });
  const svg = s("svg", { class: "chart", role: "img", tabindex: "0", "aria-label": "Balance over time" });
  const node = h("figure", { class: "balance" }, reading, svg);
  new ResizeObserver(() => render()).observe(node);

  svg.addEventListener("pointermove", (event) => {
    const x = event.clientX - svg.getBoundingClientRect().left;
    let best = 0;
    places.forEach((place, i) => { if (Math.abs(place.x - x) < Math.abs(places[best].x - x)) best = i; });
    read(best);
  });
  svg.addEventListener("pointerleave", () => read(entries.length - 1));
  svg.addEventListener("click", () => entries[at] && choose(entries[at]));
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) read(Math.max(0, Math.min(entries.length - 1, at + step)));
    else if (event.key === "Enter" && entries[at]) choose(entries[at]);
    else return;
    event.preventDefault();
  });

  /** @param {number} i */
  function read(i) {
    at = i;
    const entry = entries[i];
    const place = places[i];
    if (!entry || !place) return put(reading);
    put(reading, h("b", null, money(entry.balance, currency)), ` after ${entry.memo} on ${moment(entry.at)}`);
    dot.setAttribute("cx", String(place.x));
    dot.setAttribute("cy", String(place.y));
  }
  const dot = s("circle", { class: "dot", r: 4 });

  function render() {
    const width = node.clientWidth;
    if (!width || entries.length === 0) return put(svg);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const times = entries.map((entry) => new Date(entry.at).getTime());
    const values = entries.map((entry) => Number(entry.balance)); // for drawing only
    const [from, to] = [times[0], times[times.length - 1]];
    const top = Math.max(...values, 1);
    const x = (/** @type {number} */ time) => edge.left + (to === from ? 1 : (time - from) / (to - from)) * (width - edge.left - edge.right);
    const y = (/** @type {number} */ value) => height - edge.bottom - (value / top) * (height - edge.top - edge.bottom);
    places = values.map((value, i) => ({ x: x(times[i]), y: y(value) }));
    const line = places.map((place, i) => (i ? `H${place.x.toFixed(1)}V${place.y.toFixed(1)}` : `M${place.x.toFixed(1)} ${place.y.toFixed(1)}`)).join("");
    const floor = y(0);
    const marks = [0, 0.5, 1].map((part) => top * part);
    put(svg,
      marks.map((value) => [
        s("line", { class: "grid", x1: edge.left, x2: width - edge.right, y1: y(value), y2: y(value) }),
        s("text", { x: edge.left - 8, y: y(value) + 4, "text-anchor": "end" }, short(value)),
      ]),
      s("text", { x: edge.left, y: height - 6 }, onDay(from)),
      s("text", { x: width - edge.right, y: height - 6, "text-anchor": "end" }, onDay(to)),
      s("path", { class: "area", d: `${line}V${floor}H${places[0].x}Z` }),
      s("path", { class: "line", d: line }),
      dot);
    read(at >= 0 && at < entries.length ? at : entries.length - 1);
  }

  return {
    node,
    /**
     * @param {any[]} newest entries, newest first
     * @param {string} unit
     */
    draw(newest, unit) {
      entries = [...newest].reverse();
      currency = unit;
      at = entries.length - 1;
      svg.setAttribute("aria-label", `Balance over time, ${entries.length} entries; arrow keys go through them`);
      node.hidden = entries.length === 0;
      render();
    },
    /** @param {any} entry */
    point(entry) {
      read(entries.findIndex((one) => one.id === entry.id));
    },
    resize: () => render(),
  };
}

const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });
const short = (/** @type {number} */ value) => compact.format(value);
