import { LRUCache } from "lru-cache";
import type { Calendar } from "#lib/domain/calendar";
import type { Listing } from "#lib/domain/instrument";
import type { Tick } from "#lib/domain/tick";
import type { Catalogue } from "#lib/market/ports";
import { DAY_MS, MINUTE_MS } from "#lib/units";
import { type Columns, condense } from "./columns";
import { minuteDay } from "./minutes";
import { priceModel } from "./model";
import { seriesKey, textKey } from "./noise";
import { createPaths, MINUTES_PER_DAY } from "./path";
import { type Habit, habitOf, pricedMinutes, QUIET_SINCE_MS } from "./test-tickers";
import { ticksOfMinute } from "./ticks";

/** Cached days of minutes, 70 KiB each: the current day of every ticker and what a few readers use. */
const MINUTE_DAYS_KEPT_COUNT = 192;
/** Cached days of hours, about 2 KiB each: ninety days of every ticker, or a few years of some. */
const HOUR_DAYS_KEPT_COUNT = 8_192;
/** How far back a last tick is searched: longer than any holiday. */
const LAST_TICK_MAX_DAYS = 14;

/** The synthetic prices of one ticker. Days are UTC days since 1970, minutes are Unix minutes. */
export interface PriceSeries {
  readonly ticker: string;
  /** Points per price unit: divide a price in points by it. */
  readonly scale: number;
  /** No tick at this instant or later (Unix ms); Infinity for endless prices, -Infinity without any. */
  readonly endMs: number;
  /** The 1440 minutes of a day; undefined for a day without any price. */
  minutes(day: number): Columns | undefined;
  /** The same day as 24 hours. */
  hours(day: number): Columns | undefined;
  /** The ticks of a minute, ascending in distinct milliseconds; they aggregate to exactly its kline. */
  ticks(minute: number): Tick[];
  /** The last tick at `atMs` or before; undefined without one in the two weeks before. */
  lastTick(atMs: number): Tick | undefined;
}

/**
 * All prices of the sandbox: a pure function of (seed, ticker, instant), the same on every node and after every restart.
 * Nothing is stored; days are computed on request and cached up to a limit.
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

interface Kept {
  readonly minutes: LRUCache<string, Columns | typeof EMPTY>;
  readonly hours: LRUCache<string, Columns | typeof EMPTY>;
}

const EMPTY = Symbol("day without any price");

const END_MS: Readonly<Record<Habit, number>> = {
  always: Number.POSITIVE_INFINITY,
  session: Number.POSITIVE_INFINITY,
  gaps: Number.POSITIVE_INFINITY,
  ended: QUIET_SINCE_MS,
  never: Number.NEGATIVE_INFINITY,
};

/** The value of `name`, computed and cached if missing. */
function remember(cache: Kept["minutes"], name: string, make: () => Columns | undefined): Columns | undefined {
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
  const kept: Kept = {
    minutes: new LRUCache({ max: MINUTE_DAYS_KEPT_COUNT }),
    hours: new LRUCache({ max: HOUR_DAYS_KEPT_COUNT }),
  };
  const known = new Map<string, { listing: Listing; calendar: Calendar | undefined; series: PriceSeries }>();
  let made = 0;

  function makeSeries(listing: Listing, habit: Habit, calendar: Calendar | undefined): PriceSeries {
    const { ticker } = listing;
    // A new number for each series, so that cached days of an edited listing or calendar are never used again.
    const id = `${made++}`;
    const model = priceModel(listing);
    const key = seriesKey(seed, textKey(ticker));
    const ticksKey = seriesKey(key, 4);
    const gapsKey = seriesKey(key, 5);

    function makeMinutes(day: number): Columns | undefined {
      const priced = pricedMinutes(habit, calendar, gapsKey, day);
      if (priced === "none" || (priced !== "all" && !priced.includes(1))) return undefined;
      const minutes = minuteDay(model, paths, seed, day);
      if (priced !== "all") for (let i = 0; i < MINUTES_PER_DAY; i++) if (priced[i] === 0) minutes.count[i] = 0;
      return minutes;
    }

    const minutes = (day: number) => remember(kept.minutes, `${id}:${day}`, () => makeMinutes(day));

    function hours(day: number): Columns | undefined {
      return remember(kept.hours, `${id}:${day}`, () => {
        const rows = minutes(day);
        return rows && condense(rows, 60);
      });
    }

    function ticks(minute: number): Tick[] {
      const day = Math.floor(minute / MINUTES_PER_DAY);
      const rows = minutes(day);
      if (rows === undefined) return [];
      return ticksOfMinute(ticker, ticksKey, rows, minute - day * MINUTES_PER_DAY, minute * MINUTE_MS, model.scale);
    }

    const endMs = END_MS[habit];
    return {
      ticker,
      scale: model.scale,
      endMs,
      minutes,
      hours,
      ticks,
      lastTick: (atMs) => lastTick({ minutes, ticks, endMs }, atMs),
    };
  }

  return {
    tickers: () => catalogue.list().map(({ ticker }) => ticker),
    series(ticker) {
      const listing = catalogue.find(ticker);
      if (listing === undefined) return undefined;
      const habit = habitOf(listing);
      const calendar = habit === "session" ? catalogue.calendar(ticker) : undefined;
      const entry = known.get(ticker);
      if (entry !== undefined && entry.listing === listing && entry.calendar === calendar) return entry.series;
      const series = makeSeries(listing, habit, calendar);
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
