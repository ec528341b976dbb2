// The stream of the changes of a world.

/** @typedef {"live" | "waiting" | "gone"} Connection */

/**
 * live follows a world until the returned function is called. change receives the summary of the world and the names of
 * what differs from the summary before. A hidden page closes the stream, because a browser has few connections to one
 * server.
 * @param {string} address
 * @param {{change: (now: any, changed: Set<string>) => void, state: (state: Connection) => void}} receivers
 */
export function live(address, { change, state }) {
  /** @type {EventSource | undefined} */
  let source;
  /** @type {any} */
  let last;
  let stopped = false;

  function open() {
    if (source || stopped || document.hidden) return;
    source = new EventSource(address);
    source.addEventListener("change", (event) => {
      const now = JSON.parse(event.data);
      const parts = { ...now, ...now.marks, marks: 0 };
      const changed = new Set(Object.keys(parts).filter((name) => !last || last[name] !== parts[name]));
      last = parts;
      state("live");
      change(now, changed);
    });
    source.addEventListener("closed", () => {
      stop();
      state("gone");
    });
    source.addEventListener("error", () => {
      state("waiting");
      if (source?.readyState !== EventSource.CLOSED) return;
      source = undefined;
      setTimeout(open, 2000);
    });
  }

  function watch() {
    if (!document.hidden) return open();
    source?.close();
    source = undefined;
  }

  function stop() {
    stopped = true;
    source?.close();
    document.removeEventListener("visibilitychange", watch);
  }

  document.addEventListener("visibilitychange", watch);
  open();
  return stop;
}
