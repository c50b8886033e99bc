import { createHash } from "node:crypto";
import { type Calendar, type CalendarRules, compileCalendar } from "#lib/domain/calendar";
import type { Listing } from "#lib/domain/instrument";
import type { Tick } from "#lib/domain/tick";
import type { Minutes } from "#lib/market/coverage";
import { DAY_S, MINUTE_MS, MINUTE_S } from "#lib/units";
import { type Columns, makeColumns } from "./columns";
import { minuteDay } from "./minutes";
import { type PricedListing, priceModel } from "./model";
import { seriesKey, textKey } from "./noise";
import { MINUTES_PER_DAY, type Paths } from "./path";
import { type Habit, habitOf, pricedMinutes, QUIET_SINCE_MS } from "./test-tickers";
import { ticksOfMinute } from "./ticks";

/** Raise it with every change of a price: days on disk that another version computed are not used. A golden test reminds. */
export const FORMULA_VERSION = 1;

const END_MS: Readonly<Record<Habit, number>> = {
  always: Number.POSITIVE_INFINITY,
  session: Number.POSITIVE_INFINITY,
  gaps: Number.POSITIVE_INFINITY,
  ended: QUIET_SINCE_MS,
  never: Number.NEGATIVE_INFINITY,
};

/** Everything the prices of a ticker depend on: plain data, to be sent to a thread and to name what was computed. */
export interface FormulaInputs {
  /** Different for different prices: a hash of the rest and of the version of the formula. */
  readonly key: string;
  readonly seed: number;
  readonly listing: PricedListing;
  /** The calendar of a test ticker that follows one, else null. */
  readonly rules: CalendarRules | null;
}

/** The prices of one ticker, computed on every call. Days are UTC days since 1970, minutes are Unix minutes. */
export interface Formula {
  /** Points per price unit: divide a price in points by it. */
  readonly scale: number;
  /** No tick at this instant or later (Unix ms); Infinity for endless prices, -Infinity without any. */
  readonly endMs: number;
  /** The 1440 minutes of a day, in memory of their own unless it is given; undefined for a day without any price. */
  minutes(day: number, memory?: Columns): Columns | undefined;
  /** The ticks of a minute of the day `rows`, ascending in distinct milliseconds; they aggregate to exactly its kline. */
  ticks(minute: number, rows: Columns): Tick[];
}

/** The inputs of the prices of a listing; `calendar` counts only for a test ticker that follows a market. */
export function formulaInputs(listing: Listing, calendar: Calendar | undefined, seed: number): FormulaInputs {
  const { ticker, assetClass, base, quote, digits } = listing;
  const priced = { ticker, assetClass, base, quote, digits };
  const rules = habitOf(listing) === "session" ? (calendar?.rules ?? null) : null;
  const text = JSON.stringify([FORMULA_VERSION, seed, priced, rules]);
  return { key: createHash("sha256").update(text).digest("base64url"), seed, listing: priced, rules };
}

/** The key of the series of random numbers of a ticker: 4 for its ticks, 5 for its gaps. */
const ownKey = (seed: number, ticker: string, series: 4 | 5) => seriesKey(seriesKey(seed, textKey(ticker)), series);

/**
 * The minutes of a span in which the prices of a listing exist, as ascending runs; computes no price.
 * @param calendar counts only for a test ticker that follows a market
 * @param span whole minutes, Unix seconds, `to` excluded
 */
export function pricedRuns(listing: PricedListing, calendar: Calendar | undefined, seed: number, span: Minutes): Minutes[] {
  const habit = habitOf(listing);
  const gapsKey = ownKey(seed, listing.ticker, 5);
  const runs: { from: number; to: number }[] = [];
  const add = (from: number, to: number) => {
    const [start, end] = [Math.max(from, span.from), Math.min(to, span.to)];
    const last = runs.at(-1);
    if (last?.to === start && start < end) last.to = end;
    else if (start < end) runs.push({ from: start, to: end });
  };
  for (let day = Math.floor(span.from / DAY_S); day * DAY_S < span.to; day += 1) {
    const priced = pricedMinutes(habit, calendar, gapsKey, day);
    if (priced === "all") add(day * DAY_S, (day + 1) * DAY_S);
    if (typeof priced === "string") continue;
    for (let minute = priced.indexOf(1); minute >= 0; ) {
      const next = priced.indexOf(0, minute);
      const end = next < 0 ? MINUTES_PER_DAY : next;
      add(day * DAY_S + minute * MINUTE_S, day * DAY_S + end * MINUTE_S);
      minute = next < 0 ? -1 : priced.indexOf(1, next);
    }
  }
  return runs;
}

/** The formula for these inputs; formulas of one seed can share their paths. */
export function createFormula({ seed, listing, rules }: FormulaInputs, paths: Paths): Formula {
  const habit = habitOf(listing);
  const calendar = rules === null ? undefined : compileCalendar(rules.definition, rules.overrides);
  const model = priceModel(listing);
  const ticksKey = ownKey(seed, listing.ticker, 4);
  const gapsKey = ownKey(seed, listing.ticker, 5);
  return {
    scale: model.scale,
    endMs: END_MS[habit],
    minutes(day, memory) {
      const priced = pricedMinutes(habit, calendar, gapsKey, day);
      if (priced === "none" || (priced !== "all" && !priced.includes(1))) return undefined;
      const minutes = minuteDay(model, paths, seed, day, memory ?? makeColumns(MINUTES_PER_DAY));
      if (priced !== "all") for (let i = 0; i < MINUTES_PER_DAY; i++) if (priced[i] === 0) minutes.count[i] = 0;
      return minutes;
    },
    ticks(minute, rows) {
      const index = minute - Math.floor(minute / MINUTES_PER_DAY) * MINUTES_PER_DAY;
      return ticksOfMinute(listing.ticker, ticksKey, rows, index, minute * MINUTE_MS, model.scale);
    },
  };
}
