import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import { type Listing, toInstrument } from "#lib/domain/instrument";
import type { Tick } from "#lib/domain/tick";
import type { Catalogue, KlineStore } from "#lib/market/ports";

/** Length of a step; the events of a step travel as one batch, as they do under load. */
export const STEP_MS = 5;
/** A Monday noon: no session opens or closes within a run of an hour. */
export const START_MS = Date.UTC(2026, 0, 5, 12);
const SPREAD_POINTS = 12;
const PRICE_BASE_POINTS = 100_000;
const PRICE_STEPS_COUNT = 977;
const PRICE_STEP_POINTS = 3;

/** The first `count` live instruments, followed by invented ones. */
export function listingsOf(count: number): readonly Listing[] {
  const [pattern] = LIVE_LISTINGS;
  if (pattern === undefined) throw new Error("the catalogue is empty");
  return Array.from(
    { length: count },
    (_, index) => LIVE_LISTINGS[index] ?? { ...pattern, ticker: `SIM${`${index}`.padStart(5, "0")}` },
  );
}

/** A catalogue of these listings, all without a calendar. */
export function catalogueOf(listings: readonly Listing[]): Catalogue {
  const byTicker = new Map(listings.map((listing) => [listing.ticker, listing]));
  const find = (ticker: string) => byTicker.get(ticker);
  const instrument = (ticker: string) => {
    const listing = find(ticker);
    return listing && toInstrument(listing);
  };
  return { list: () => listings, find, instrument, calendar: () => undefined };
}

/** A simulated market has no past. */
export const NO_HISTORY: KlineStore = { read: async () => [], lastQuotes: async () => new Map() };

/** Makes the ticks of the step that ends at an instant (Unix ms); the tickers are spread over time, never all at once. */
export function createTicks(listings: readonly Listing[], ticksPerSecond: number): (nowMs: number) => Tick[] {
  const everyMs = 1000 / ticksPerSecond;
  const counts = listings.map(() => 0);

  return (nowMs) => {
    const ticks: Tick[] = [];
    for (const [index, { ticker, digits }] of listings.entries()) {
      const phaseMs = (everyMs * index) / listings.length;
      const count = counts[index] ?? 0;
      if (nowMs - START_MS <= phaseMs + count * everyMs) continue;
      counts[index] = count + 1;
      const points = PRICE_BASE_POINTS + ((count + index * 37) % PRICE_STEPS_COUNT) * PRICE_STEP_POINTS;
      ticks.push({ ticker, time_msc: nowMs, bid: points / 10 ** digits, ask: (points + SPREAD_POINTS) / 10 ** digits });
    }
    return ticks;
  };
}
