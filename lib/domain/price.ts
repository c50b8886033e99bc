/** 10^0 to 10^22: every one of them is exact as a double, so a division by it is rounded only once. */
const POWERS: readonly number[] = Array.from({ length: 23 }, (_, digits) => Number(`1e${digits}`));

/** Prices that belong together never differ by this factor. One that lost its decimal point does, as 1057 for 1.057. */
export const PRICES_MAX_FACTOR = 3;

/** Decimal places of a real volume: finer than any source reports, coarse enough to remove the rounding noise of a sum. */
const VOLUME_DIGITS = 6;

/**
 * The double that prints as `value` rounded to `digits` decimal places, never 1.0854300000000001 and never -0.
 * Halves go up. Exact while |value| * 10^digits stays below 2^53 (about nine thousand million million).
 */
export function roundTo(value: number, digits: number): number {
  const power = POWERS[digits] ?? 10 ** digits;
  // Adding 0 turns -0 into 0.
  return Math.round(value * power) / power + 0;
}

/** The mid of a bid and an ask that are rounded to an instrument's digits: exact, as it has one digit more. */
export const midOf = (bid: number, ask: number, digits: number): number => roundTo((bid + ask) / 2, digits + 1);

/** The sum of two real volumes without the noise of binary fractions; null stands for "the source has none". */
export function addVolumes(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  if (b === null) return a;
  const sum = a + b;
  // Whole numbers are exact already, and large ones would lose their last digits in the rounding.
  return Number.isInteger(sum) ? sum : roundTo(sum, VOLUME_DIGITS);
}

/** The smaller of two spreads; null stands for "unknown" and never wins. */
export function leastSpread(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null || a < b ? a : b;
}

/** The median, of an even number of values the middle of the two in the middle; NaN without values, which it sorts. */
export function medianOf(values: Float64Array): number {
  values.sort();
  const middle = (values.length - 1) / 2;
  const [below, above] = [values[Math.floor(middle)] ?? Number.NaN, values[Math.ceil(middle)] ?? Number.NaN];
  return below + 0.5 * (above - below);
}
