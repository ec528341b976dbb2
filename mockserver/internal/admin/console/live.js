// The stream that says which thing of a world has changed.

/**
 * live follows a world until it is told to stop. It calls pulse with what the world looks like now and the
 * set of things that differ from the pulse before, and state with live, waiting or gone. A page that
 * nobody sees lets go of the stream, for a browser has few connections to one server.
 */
export function live(address, { pulse, state }) {
  let source;
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
      pulse(now, changed);
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
