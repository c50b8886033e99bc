/**
 * The price of a pushed tick contains the time of the push: the clock shared by all processes of the machine, in tenths of a
 * millisecond, as points above 100,000. So every record has its stamp, whatever the contestant does with it.
 */
const STAMP_END = 100_000;
const NANOSECONDS_PER_UNIT = 100_000n;
const UNITS_PER_MS = 10;

/** The current time of the shared clock, tenths of a millisecond; it restarts every ten seconds. */
export function stampNow(): number {
  return Number((process.hrtime.bigint() / NANOSECONDS_PER_UNIT) % BigInt(STAMP_END));
}

/** The price with a stamp, for an instrument with `digits` digits. */
export function priceOf(stamp: number, digits: number): number {
  return (STAMP_END + stamp) / 10 ** digits;
}

/** The stamp in a price. */
export function stampOf(price: number): number {
  let points = price;
  // Between 100,000 and 199,999 points, for any number of decimals.
  while (Math.round(points) < STAMP_END) points *= 10;
  return Math.round(points) - STAMP_END;
}

/** Milliseconds from one stamp to a later one, less than ten seconds. */
export function elapsedMs(from: number, to: number): number {
  return ((to - from + STAMP_END) % STAMP_END) / UNITS_PER_MS;
}
