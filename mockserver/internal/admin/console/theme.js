// Light, dark, or as the system has it. The choice is the only thing that the page remembers.

const name = "shipping-console-theme";
const themes = ["system", "light", "dark"];

export function theme() {
  try {
    const kept = localStorage.getItem(name);
    return themes.includes(kept) ? kept : "system";
  } catch {
    return "system";
  }
}

export function wear(which) {
  if (which === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = which;
}

/** change goes to the next theme and returns its name. */
export function change() {
  const next = themes[(themes.indexOf(theme()) + 1) % themes.length];
  try {
    localStorage.setItem(name, next);
  } catch {
    // A browser that remembers nothing wears it until the page is closed.
  }
  wear(next);
  return next;
}

wear(theme());
