import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import type { Listing } from "#lib/domain/instrument";
import type { Tick } from "#lib/domain/tick";

const SPREAD_POINTS = 12;

let step = 0;

/** Ticks of now, one after the other for each of the instruments; each price differs from the one before. */
export function ticksOf(count: number, listings: readonly Listing[] = LIVE_LISTINGS): Tick[] {
  const time_msc = Date.now();
  return Array.from({ length: count }, () => {
    step += 1;
    const { ticker, digits } = listings[step % listings.length] ?? { ticker: "EURUSD", digits: 5 };
    const points = 100_000 + (step % 977) * 3;
    return { ticker, time_msc, bid: points / 10 ** digits, ask: (points + SPREAD_POINTS) / 10 ** digits };
  });
}
