// How times, sizes and money read.

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", timeZone: "UTC" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const date = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const whole = new Intl.NumberFormat("en-GB");

/**
 * time is the time of day in UTC; with its day if that is not the day of now.
 * @param {string | Date} text
 * @param {string | Date} now
 */
export function time(text, now = new Date()) {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return "";
  const today = at.toISOString().slice(0, 10) === new Date(now).toISOString().slice(0, 10);
  return today ? clock.format(at) : `${day.format(at)} ${clock.format(at).slice(0, 5)}`;
}

/**
 * moment is date and time in UTC.
 * @param {string | Date} text
 */
export function moment(text) {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? "" : `${date.format(at)}, ${clock.format(at)} UTC`;
}

/**
 * onDay is the date alone.
 * @param {string | number | Date} text
 */
export function onDay(text) {
  return date.format(new Date(text));
}

/**
 * between is the time from one moment to another: +1.4 s, +2 min.
 * @param {string} from
 * @param {string} to
 */
export function between(from, to) {
  const ms = new Date(to).getTime() - new Date(from).getTime();
  if (ms < 1000) return `+${ms} ms`;
  if (ms < 120_000) return `+${trim(ms / 1000)} s`;
  if (ms < 7_200_000) return `+${trim(ms / 60_000)} min`;
  return `+${trim(ms / 3_600_000)} h`;
}

/** @param {number} number */
function trim(number) {
  return number.toFixed(1).replace(/\.0$/, "");
}

/**
 * count is a number with its noun.
 * @param {number} number
 * @param {string} one
 * @param {string} [many]
 */
export function count(number, one, many) {
  return `${whole.format(number)} ${number === 1 ? one : many ?? one + "s"}`;
}

/** @param {string} text */
export const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** @param {number} n */
export function number(n) {
  return whole.format(n);
}

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return `${trim(bytes / 1024)} kB`;
}

/**
 * money writes an exact decimal with groups and at least two decimals. It works on digits, so that no
 * amount passes through a number that could not hold it.
 * @param {string | number | null | undefined} amount
 * @param {string} [currency]
 */
export function money(amount, currency) {
  if (amount === null || amount === undefined || amount === "") return "–";
  const text = String(amount);
  const parts = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (!parts) return [text, currency].filter(Boolean).join(" ");
  const grouped = parts[2].replace(/\B(?=(\d{3})+$)/g, ",");
  const written = `${parts[1] && "−"}${grouped}.${(parts[3] ?? "").padEnd(2, "0")}`;
  return currency ? `${written}\u00a0${currency}` : written;
}
