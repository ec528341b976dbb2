// Exact decimals. Amounts are texts or numbers whose text is exact, and are never added as numbers.

/** @param {string | number} amount */
function parse(amount) {
  const [whole, fraction = ""] = String(amount).split(".");
  return { units: BigInt(whole + fraction), places: fraction.length };
}

/**
 * sum adds decimals.
 * @param {(string | number)[]} amounts
 */
export function sum(amounts) {
  const all = amounts.map(parse);
  const places = Math.max(0, ...all.map((one) => one.places));
  const units = all.reduce((total, one) => total + one.units * 10n ** BigInt(places - one.places), 0n);
  const digits = String(units < 0n ? -units : units).padStart(places + 1, "0");
  const cut = digits.length - places;
  return (units < 0n ? "-" : "") + digits.slice(0, cut) + (places ? "." + digits.slice(cut) : "");
}

/**
 * minus subtracts the second decimal.
 * @param {string | number} from
 * @param {string | number} amount
 */
export function minus(from, amount) {
  const text = String(amount);
  return sum([from, text.startsWith("-") ? text.slice(1) : "-" + text]);
}

/** @param {string | number} amount */
export const isNegative = (amount) => String(amount).startsWith("-");
