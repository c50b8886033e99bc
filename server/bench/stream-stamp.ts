/**
 * The price of a pushed tick says when it was pushed: the clock that all processes of a machine share, in tenths of a
 * millisecond, counted in points above 100,000. So every record carries its stamp, whatever the contestant does with it.
 */
const STAMP_END = 100_000;
const NANOSECONDS_PER_UNIT = 100_000n;
const UNITS_PER_MS = 10;

/** The shared clock now, tenths of a millisecond; it starts again every ten seconds. */
export function stampNow(): number {
  return Number((process.hrtime.bigint() / NANOSECONDS_PER_UNIT) % BigInt(STAMP_END));
}

/** The price that carries a stamp, for an instrument with so many digits. */
export function priceOf(stamp: number, digits: number): number {
  return (STAMP_END + stamp) / 10 ** digits;
}

/** The stamp that a price carries. */
export function stampOf(price: number): number {
  let points = price;
  // Between 100,000 and 199,999 points, however many of them are decimals.
  while (Math.round(points) < STAMP_END) points *= 10;
  return Math.round(points) - STAMP_END;
}

/** Milliseconds from one stamp to a later one, less than ten seconds. */
export function elapsedMs(from: number, to: number): number {
  return ((to - from + STAMP_END) % STAMP_END) / UNITS_PER_MS;
}
