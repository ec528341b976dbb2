// Loads that do not overtake each other.

/**
 * series returns a function that loads one at a time. A call during a load makes one more load after it, so that what is
 * shown at the end is what was read last.
 * @param {() => Promise<void>} load
 * @returns {() => Promise<void>}
 */
export function series(load) {
  /** @type {Promise<void> | undefined} */
  let running;
  let again = false;
  const run = async () => {
    try {
      do {
        again = false;
        await load();
      } while (again);
    } finally {
      running = undefined;
    }
  };
  return () => {
    again = true;
    return (running ??= run());
  };
}
