// The changes of a world.

/** @typedef {"live" | "waiting" | "gone"} Connection */

const interval = 500; // milliseconds

/**
 * live reads the summary of a world again and again, as long as the page is visible, until the returned function is
 * called or the world is closed. change receives each summary, and the names of what differs from the one before.
 * @param {() => Promise<any>} read
 * @param {{change: (now: any, changed: Set<string>) => void, state: (state: Connection) => void}} receivers
 */
export function live(read, { change, state }) {
  /** @type {any} */
  let last;
  let timer = 0;
  let stopped = false;

  function compare(now) {
    const parts = { ...now, ...now.marks, marks: 0, now: now.clock === "virtual" && now.now };
    const changed = new Set(Object.keys(parts).filter((name) => !last || last[name] !== parts[name]));
    last = parts;
    state("live");
    change(now, changed);
  }

  async function look() {
    const now = document.hidden ? undefined : await read().catch((problem) => problem);
    if (stopped) return;
    if (now?.status === 404) return state("gone");
    if (now instanceof Error) {
      last = undefined; // another server may run there next
      state("waiting");
    } else if (now) compare(now);
    timer = setTimeout(look, interval);
  }

  look();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
