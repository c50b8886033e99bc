import type { Timeframe } from "#lib/contract/primitives";
import type { Snapshot } from "#lib/contract/snapshot";
import type { Calendar } from "#lib/domain/calendar";
import type { Listing } from "#lib/domain/instrument";
import { aggregate, isClosed, type Kline } from "#lib/domain/kline";
import { hydrateDay } from "#lib/domain/snapshot";
import { TIMEFRAMES_ORDER, type TradingAlignment } from "#lib/domain/timeframe";
import { previousTradingDay } from "#lib/domain/trading-day";
import { mergeRows } from "#lib/market/kline-merge";
import type { KlineStore, LastQuote, MarketView } from "#lib/market/ports";
import type { RestoredTicker } from "./engine";

/** Tickers that are read from the store in parallel. */
const PARALLEL_READS_COUNT = 8;
/** More rows than two trading days of minutes, or two months and a week of days, can hold. */
const READ_MAX_ROWS = 5_000;
/** Klines of a timeframe whose close may not be published yet: the running one, and those of the minute before a takeover. */
const UNPUBLISHED_MAX_ROWS = 3;

/** Without bounds of its own: the reads before it were bounded. */
const EVERYTHING = { from: 0, to: Number.POSITIVE_INFINITY, limit: Number.POSITIVE_INFINITY, end: "newest" } as const;

interface HydrateOptions {
  store: KlineStore;
  view: MarketView;
  calendarOf: (ticker: string) => Calendar | undefined;
  alignment: TradingAlignment;
  /** End of the history to read, Unix milliseconds. What is stored may be ahead of the clock, as ticks may. */
  nowMs: number;
  /**
   * Klines have been closed up to here, Unix milliseconds; those that ended later are restored as open and closed again. Asked
   * after the reads: what is closed during them must not be closed twice.
   */
  closedMs: () => number;
  /**
   * Called synchronously after the view was read, so that no tick can come in between.
   * @param latestClosed the newest closed kline of each timeframe that has none open
   */
  restore: (restored: RestoredTicker, latestClosed: readonly Kline[]) => void;
}

/**
 * Restores every listing of a venue, several at a time; skips tickers without history.
 * Resolves to the minutes of the view that are not stored.
 */
export async function hydrateAll(listings: readonly Listing[], options: HydrateOptions): Promise<Kline[]> {
  const stored = await options.store.lastQuotes(options.nowMs);
  const queue = [...listings];
  const missed: Kline[] = [];
  async function work(): Promise<void> {
    for (let listing = queue.shift(); listing !== undefined; listing = queue.shift()) {
      const { ticker } = listing;
      missed.push(...(await hydrateTicker(listing, newer(stored.get(ticker), options.view.snapshot(ticker)), options)));
    }
  }
  await Promise.all(Array.from({ length: PARALLEL_READS_COUNT }, work));
  return missed;
}

/** The newer of the stored and the seen state: the recorder writes with a short delay. */
function newer(stored: LastQuote | undefined, seen: Snapshot | undefined): LastQuote | undefined {
  return seen !== undefined && seen.time_msc >= (stored?.time_msc ?? 0) ? seen : stored;
}

/** Klines of the view that differ from the stored ones, or are not stored. */
function unstored(rows: readonly Kline[], stored: readonly Kline[]): Kline[] {
  const text = ({ time, open, high, low, close, tick_volume, real_volume, spread }: Kline) =>
    [time, open, high, low, close, tick_volume, real_volume, spread].join();
  const known = new Set(stored.map(text));
  return rows.filter((row) => !known.has(text(row)));
}

/**
 * The open klines of a ticker, recomputed from its M1 rows: up to D1 from the minutes, W1 and MN1 from the days. Rows of the
 * view win over stored ones and are read last, so that ticks which arrive during the reads are not lost.
 * @returns the minutes of the view that are not stored
 */
export async function hydrateTicker(
  listing: Listing,
  lastQuote: LastQuote | undefined,
  { store, view, calendarOf, alignment, nowMs, closedMs, restore }: HydrateOptions,
): Promise<Kline[]> {
  const { ticker } = listing;
  const to = Math.floor(nowMs / 1000) + 1;
  const read = (timeframe: Timeframe, from: number, limit = READ_MAX_ROWS, until = to) =>
    store.read({ ticker, timeframe, from, to: until, limit, end: "newest" });
  const newest = (await read("M1", 0, 1)).at(0) ?? view.recentKlines(ticker, "M1").at(-1);
  if (newest === undefined && lastQuote === undefined) {
    // All minutes of a running ticker are gone when the only import of its history is undone.
    const shown = TIMEFRAMES_ORDER.some((timeframe) => view.recentKlines(ticker, timeframe).length > 0);
    if (shown) restore({ ticker, lastQuote, openKlines: [], day: undefined }, []);
    return [];
  }
  const anchor = newest?.time ?? Math.floor((lastQuote?.time_msc ?? nowMs) / 1000);
  // The interval before the newest minute's may still be open, until the closing delay has passed.
  const before = (timeframe: Timeframe) => alignment.openTime(timeframe, alignment.openTime(timeframe, anchor) - 1);
  const calendar = calendarOf(ticker);
  const dayOpenS = alignment.openTime("D1", anchor);
  // Also as far back as the view goes, so that a minute of it that is stored is not taken for a missing one.
  const minutesFrom = Math.min(before("D1"), view.recentKlines(ticker, "M1")[0]?.time ?? anchor);
  // A week may have begun in the month before, and the trading day before this one in both the week and the month before.
  const daysFrom = Math.min(before("W1"), before("MN1"), previousTradingDay(dayOpenS, calendar, alignment) ?? dayOpenS);
  // Imported days can go on long after the last minute.
  const daysTo: number = Math.min(to, alignment.nextOpenTime("MN1", anchor));
  const [minutes, days, imported] = await Promise.all([
    read("M1", minutesFrom),
    read("D1", daysFrom, READ_MAX_ROWS, daysTo),
    store.stored?.importedTimes(ticker, "D1", daysFrom, daysTo) ?? ([] as readonly number[]),
  ]);

  const rows: Partial<Record<Timeframe, Kline[]>> = { M1: mergeRows(minutes, view.recentKlines(ticker, "M1"), EVERYTHING) };
  for (const timeframe of TIMEFRAMES_ORDER.slice(1, -2)) rows[timeframe] = aggregate(rows.M1 ?? [], timeframe, alignment);
  // Days that were imported as such have no minutes: they are the close of a day, but no part of a computed week or month.
  const isImported = ({ time }: Kline) => imported.includes(time);
  const computed = days.filter((day) => !isImported(day));
  const ownDays = mergeRows(computed, rows.D1 ?? [], EVERYTHING);
  rows.W1 = aggregate(ownDays, "W1", alignment);
  rows.MN1 = aggregate(ownDays, "MN1", alignment);
  const lastDayS = ownDays.at(-1)?.time ?? dayOpenS;
  const earlier = days.filter((day) => isImported(day) && day.time <= lastDayS && !ownDays.some(({ time }) => time === day.time));
  const allDays = [...earlier, ...ownDays].sort((a, b) => a.time - b.time);

  const closedUpToMs = closedMs();
  const closed = (kline: Kline) => isClosed(kline, closedUpToMs, alignment);
  // Several per timeframe when earlier ones have ended without a published close: their closing delay has not passed, or
  // another producer stopped in the last minute.
  const open = listing.timeframes
    .flatMap((timeframe) => (rows[timeframe] ?? []).slice(-UNPUBLISHED_MAX_ROWS))
    .filter((kline) => !closed(kline));
  const latestClosed = listing.timeframes.flatMap((timeframe) => (rows[timeframe] ?? []).slice(-1)).filter(closed);
  restore({ ticker, lastQuote, openKlines: open, day: hydrateDay(allDays, lastQuote, alignment, calendar) }, latestClosed);
  return unstored(view.recentKlines(ticker, "M1"), minutes);
}
