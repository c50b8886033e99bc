import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "#lib/clock";
import type { Kline } from "#lib/contract/kline";
import type { Timeframe } from "#lib/contract/primitives";
import { TIMEFRAME_SECONDS, type TradingAlignment } from "#lib/domain/timeframe";
import type { KlineStore, LastQuote } from "#lib/market/ports";
import { DAY_S, HOUR_S, MINUTE_S } from "#lib/units";
import { askRange } from "./ask-range";
import { addRows, emptySum, type Sum } from "./columns";
import type { PriceSeries, SandboxPrices } from "./prices";
/** Oldest minute that is served, Unix seconds: the open of the trading month of January 2020 (17:00 in New York). */
export const HISTORY_START_S = Date.UTC(2019, 11, 31, 22) / 1000;
/** A reader that covers more days than this yields to other work: computing a day takes about a tenth of a millisecond. */
const DAYS_PER_TURN_COUNT = 24;
const TICKERS_PER_TURN_COUNT = 8;

interface Options {
  prices: SandboxPrices;
  clock: Clock;
  alignment: TradingAlignment;
}

/** Open times to return, [first, to), and the end (excluded) of the minutes that count. Unix seconds. */
interface Span {
  readonly first: number;
  readonly to: number;
  readonly endS: number;
}

/** Adds the minutes of [fromS, toS) to the sum, full hours at once. */
function addMinutes(sum: Sum, series: PriceSeries, fromS: number, toS: number): void {
  for (let atS = fromS; atS < toS; ) {
    const day = Math.floor(atS / DAY_S);
    const dayS = day * DAY_S;
    const untilS = Math.min(toS, dayS + DAY_S);
    const wholeHours = atS % HOUR_S === 0 ? Math.floor((untilS - atS) / HOUR_S) : 0;
    if (wholeHours > 0) {
      const rows = series.hours(day);
      const hour = (atS - dayS) / HOUR_S;
      if (rows !== undefined) addRows(sum, rows, hour, hour + wholeHours);
      atS += wholeHours * HOUR_S;
      continue;
    }
    const stopS = Math.min(untilS, Math.floor(atS / HOUR_S) * HOUR_S + HOUR_S);
    const rows = series.minutes(day);
    if (rows !== undefined) addRows(sum, rows, (atS - dayS) / MINUTE_S, (stopS - dayS) / MINUTE_S);
    atS = stopS;
  }
}

function toKline(series: PriceSeries, timeframe: Timeframe, time: number, sum: Sum): Kline {
  const { ticker, scale } = series;
  return {
    type: "kline",
    ticker,
    timeframe,
    time,
    open: sum.open / scale,
    high: sum.high / scale,
    low: sum.low / scale,
    close: sum.close / scale,
    tick_volume: sum.count,
    real_volume: null,
    spread: sum.spread / scale,
  };
}

/**
 * The klines of a span, ascending, at most `limit` from its start. A short interval on a day without prices skips the whole
 * day.
 */
async function collect(series: PriceSeries, timeframe: Timeframe, span: Span, limit: number, alignment: TradingAlignment) {
  const klines: Kline[] = [];
  let turnS = span.first;
  for (let time = span.first; time < span.to && klines.length < limit; ) {
    const dayEndS = Math.floor(time / DAY_S) * DAY_S + DAY_S;
    let next = alignment.nextOpenTime(timeframe, time);
    if (next < dayEndS && series.minutes(dayEndS / DAY_S - 1) === undefined) next = alignment.openTime(timeframe, dayEndS - 1);
    else {
      const sum = emptySum();
      addMinutes(sum, series, Math.max(time, HISTORY_START_S), Math.min(next, span.endS));
      if (sum.count > 0) klines.push(toKline(series, timeframe, time, sum));
    }
    time = next;
    if (time - turnS > DAYS_PER_TURN_COUNT * DAY_S) {
      await nextTurn();
      turnS = time;
    }
  }
  return klines;
}

/** The newest `limit` klines of a span: searches back from its end in growing steps, because there may be gaps. */
async function collectNewest(series: PriceSeries, timeframe: Timeframe, span: Span, limit: number, alignment: TradingAlignment) {
  let klines: Kline[] = [];
  let reachS = limit * TIMEFRAME_SECONDS[timeframe];
  for (let { to } = span; to > span.first && klines.length < limit; reachS *= 2) {
    const first = Math.max(span.first, alignment.openTime(timeframe, to - 1 - reachS));
    const earlier = await collect(series, timeframe, { ...span, first, to }, Number.POSITIVE_INFINITY, alignment);
    klines = [...earlier, ...klines].slice(-limit);
    to = first;
  }
  return klines;
}

/**
 * The sandbox's kline store: a formula instead of a table. It covers HISTORY_START_S to the clock and contains only completed
 * minutes: an M1 kline once it has ended, and a longer one as the aggregate of its completed minutes, so the row of the current
 * hour or day grows by one minute at a time. Ticks since then are in the view.
 */
export function createSandboxKlines({ prices, clock, alignment }: Options): KlineStore {
  function spanOf(series: PriceSeries, timeframe: Timeframe, from: number, to: number): Span {
    const passedS = Math.floor(clock.now() / 1000 / MINUTE_S) * MINUTE_S;
    const endS = Math.min(passedS, series.endMs / 1000);
    const fromS = Math.max(from, alignment.openTime(timeframe, HISTORY_START_S));
    const open = alignment.openTime(timeframe, fromS);
    return { first: open === fromS ? open : alignment.nextOpenTime(timeframe, fromS), to: Math.min(to, endS), endS };
  }

  return {
    async read({ ticker, timeframe, from, to, limit, end }) {
      const series = prices.series(ticker);
      if (series === undefined) return [];
      const span = spanOf(series, timeframe, from, to);
      const read = end === "oldest" ? collect : collectNewest;
      return read(series, timeframe, span, limit, alignment);
    },

    async lastQuotes(atMs) {
      const untilMs = Math.min(atMs, clock.now());
      const quotes = new Map<string, LastQuote>();
      for (const [index, ticker] of prices.tickers().entries()) {
        const series = prices.series(ticker);
        const tick = series?.lastTick(untilMs);
        if (series !== undefined && tick !== undefined) {
          const dayOpenMs = alignment.tradingDayOpen(Math.floor(tick.time_msc / 1000)) * 1000;
          quotes.set(ticker, { ...tick, ...askRange(series, dayOpenMs, tick.time_msc) });
        }
        if (index % TICKERS_PER_TURN_COUNT === TICKERS_PER_TURN_COUNT - 1) await nextTurn();
      }
      return quotes;
    },
  };
}
