// A map of dots: each country where it is, by latitude and longitude. No tiles, no borders.

import { h, put, s } from "./dom.js";

const [width, height] = [720, 340];

export function map(choose) {
  const svg = s("svg", { class: "map", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Countries by their coordinates; the table below has them all" });
  const node = h("figure", { class: "world-map" }, svg);
  const dots = new Map();

  function draw(countries, found) {
    if (dots.size === 0) {
      const lines = [-60, -30, 0, 30, 60].map((lat) => s("line", { class: lat ? "grid" : "grid equator", x1: 0, x2: width, y1: y(lat), y2: y(lat) }));
      for (const country of countries) {
        const dot = s("circle", { cx: x(country.longitude), cy: y(country.latitude), r: 3.5, onclick: () => choose(country) },
          s("title", null, `${country.name} (${country.isoCode})`));
        dots.set(country.isoCode, dot);
      }
      put(svg, lines, [...dots.values()]);
    }
    for (const [code, dot] of dots) dot.classList.toggle("apart", !found.has(code));
  }

  return {
    node,
    draw,
    mark(code) {
      for (const [other, dot] of dots) {
        dot.classList.toggle("chosen", other === code);
        dot.setAttribute("r", other === code ? 6 : 3.5);
      }
    },
  };
}

const x = (longitude) => ((Number(longitude) + 180) / 360) * width;
const y = (latitude) => ((85 - Number(latitude)) / 175) * height;
