// Light, dark, or as the system has it. The choice is the only thing that the page stores.

const name = "shipping-console-theme";
const themes = ["system", "light", "dark"];

export function theme() {
  try {
    const kept = localStorage.getItem(name) ?? "";
    return themes.includes(kept) ? kept : "system";
  } catch {
    return "system";
  }
}

/** @param {string} which */
export function use(which) {
  if (which === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = which;
}

/** change goes to the next theme and returns its name. */
export function change() {
  const next = themes[(themes.indexOf(theme()) + 1) % themes.length];
  try {
    localStorage.setItem(name, next);
  } catch {
    // Without storage it lasts until the page is closed.
  }
  use(next);
  return next;
}

use(theme());
