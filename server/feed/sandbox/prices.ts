import { LRUCache } from "lru-cache";
import type { Calendar } from "#lib/domain/calendar";
import type { Listing } from "#lib/domain/instrument";
import type { Tick } from "#lib/domain/tick";
import type { Catalogue } from "#lib/market/ports";
import { DAY_MS, MINUTE_MS } from "#lib/units";
import type { Columns } from "./columns";
import { createFormula, type FormulaInputs, formulaInputs } from "./formula";
import { createPaths, MINUTES_PER_DAY } from "./path";

/** Cached days of minutes, 70 KiB each: the current day and the one before of every ticker. */
const MINUTE_DAYS_KEPT_COUNT = 192;
/** How far back a last tick is searched: longer than any holiday. */
const LAST_TICK_MAX_DAYS = 14;

/** The synthetic prices of one ticker. Days are UTC days since 1970, minutes are Unix minutes. */
export interface PriceSeries {
  readonly ticker: string;
  /** What the prices depend on. */
  readonly inputs: FormulaInputs;
  /** Points per price unit: divide a price in points by it. */
  readonly scale: number;
  /** No tick at this instant or later (Unix ms); Infinity for endless prices, -Infinity without any. */
  readonly endMs: number;
  /** The 1440 minutes of a day; undefined for a day without any price. */
  minutes(day: number): Columns | undefined;
  /** The ticks of a minute, ascending in distinct milliseconds; they aggregate to exactly its kline. */
  ticks(minute: number): Tick[];
  /** The last tick at `atMs` or before; undefined without one in the two weeks before. */
  lastTick(atMs: number): Tick | undefined;
}

/**
 * All prices of the sandbox: a pure function of (seed, ticker, instant), the same on every node and after every restart.
 * Days of minutes are computed on request and cached up to a limit.
 */
export interface SandboxPrices {
  /** The currently listed tickers. */
  tickers(): readonly string[];
  /** The prices of a listed ticker; do not keep the object: it changes with its listing and calendar. */
  series(ticker: string): PriceSeries | undefined;
}

interface Options {
  /** The listings of the sandbox venue and, for test tickers that follow a market, their calendars. */
  catalogue: Pick<Catalogue, "list" | "find" | "calendar">;
  /** 32-bit whole number; a different seed gives different prices. */
  seed: number;
}

const EMPTY = Symbol("day without any price");
type MinuteDays = LRUCache<string, Columns | typeof EMPTY>;

/** The value of `name`, computed and cached if missing. */
function remember(cache: MinuteDays, name: string, make: () => Columns | undefined): Columns | undefined {
  let value = cache.get(name);
  if (value === undefined) {
    value = make() ?? EMPTY;
    cache.set(name, value);
  }
  return value === EMPTY ? undefined : value;
}

/** Prices for a catalogue, which may change while they are used. */
export function createSandboxPrices({ catalogue, seed }: Options): SandboxPrices {
  const paths = createPaths(seed);
  const kept: MinuteDays = new LRUCache({ max: MINUTE_DAYS_KEPT_COUNT });
  const known = new Map<string, { listing: Listing; calendar: Calendar | undefined; series: PriceSeries }>();

  function makeSeries(listing: Listing, calendar: Calendar | undefined): PriceSeries {
    const { ticker } = listing;
    const inputs = formulaInputs(listing, calendar, seed);
    const formula = createFormula(inputs, paths);
    const { scale, endMs } = formula;
    // Named by the inputs, so that days of a listing or calendar before its edit are never used again.
    const minutes = (day: number) => remember(kept, `${inputs.key} ${day}`, () => formula.minutes(day));

    function ticks(minute: number): Tick[] {
      const rows = minutes(Math.floor(minute / MINUTES_PER_DAY));
      return rows === undefined ? [] : formula.ticks(minute, rows);
    }

    return { ticker, inputs, scale, endMs, minutes, ticks, lastTick: (atMs) => lastTick({ minutes, ticks, endMs }, atMs) };
  }

  return {
    tickers: () => catalogue.list().map(({ ticker }) => ticker),
    series(ticker) {
      const listing = catalogue.find(ticker);
      if (listing === undefined) return undefined;
      const calendar = catalogue.calendar(ticker);
      const entry = known.get(ticker);
      if (entry !== undefined && entry.listing === listing && entry.calendar === calendar) return entry.series;
      const series = makeSeries(listing, calendar);
      known.set(ticker, { listing, calendar, series });
      return series;
    },
  };
}

/** Checks the minute of the instant first, then goes back minute by minute. */
function lastTick({ minutes, ticks, endMs }: Pick<PriceSeries, "minutes" | "ticks" | "endMs">, atMs: number): Tick | undefined {
  const untilMs = Math.min(atMs, endMs - 1);
  if (untilMs < 0) return undefined;
  const minute = Math.floor(untilMs / MINUTE_MS);
  const running = ticks(minute).findLast((tick) => tick.time_msc <= untilMs);
  if (running !== undefined) return running;
  const lastDay = Math.floor(((minute - 1) * MINUTE_MS) / DAY_MS);
  for (let day = lastDay; day > lastDay - LAST_TICK_MAX_DAYS; day--) {
    const rows = minutes(day);
    if (rows === undefined) continue;
    const before = Math.min(MINUTES_PER_DAY, minute - day * MINUTES_PER_DAY);
    const index = rows.count.subarray(0, before).findLastIndex((count) => count > 0);
    if (index >= 0) return ticks(day * MINUTES_PER_DAY + index).at(-1);
  }
  return undefined;
}
