import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "#lib/clock";
import type { Kline } from "#lib/contract/kline";
import type { Timeframe } from "#lib/contract/primitives";
import { TIMEFRAME_SECONDS, type TradingAlignment } from "#lib/domain/timeframe";
import type { KlineQuery, KlineStore, LastQuote } from "#lib/market/ports";
import { MINUTE_S } from "#lib/units";
import type { BlockStore, Rows } from "./block-store";
import { addMinutes, grainOf, openOf, rowAt } from "./blocks";
import { emptySum, type Sum } from "./columns";
import { createPastTicks } from "./past-ticks";
import type { PriceSeries, SandboxPrices } from "./prices";
import { sideKlines, sideRange } from "./sides";
/** Oldest minute that is served, Unix seconds: the open of the trading month of January 2020 (17:00 in New York). */
export const HISTORY_START_S = Date.UTC(2019, 11, 31, 22) / 1000;
/** A search for klines over gaps covers at most this many intervals at a time, about a megabyte of rows. */
const REACH_MAX_COUNT = 20_000;
const TICKERS_PER_TURN_COUNT = 8;

interface Options {
  prices: SandboxPrices;
  clock: Clock;
  alignment: TradingAlignment;
  blocks: BlockStore;
}

/** What is read of a series. */
interface Reading extends Pick<KlineQuery, "timeframe" | "limit" | "end" | "admitDays"> {
  readonly series: PriceSeries;
}

/** Open times to return, [first, to), and the ends (excluded) of the minutes that count, and of those that are over. Unix seconds. */
interface Span {
  readonly first: number;
  readonly to: number;
  readonly endS: number;
  readonly passedS: number;
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

/** Where no kept rows are needed. */
const NO_ROWS: Rows = { add: () => undefined, skipEmpty: (row) => row };

/**
 * All klines of a span, ascending. Whole trading days that are over come from the kept rows, the running one from its minutes,
 * which the feed needs anyway.
 */
async function collect({ series, timeframe, admitDays }: Reading, span: Span, { blocks, alignment }: Options): Promise<Kline[]> {
  const grain = grainOf(timeframe);
  const runningS = alignment.tradingDayOpen(span.passedS);
  const keptFromS = Math.max(span.first, HISTORY_START_S);
  const keptToS = Math.min(alignment.nextOpenTime(timeframe, span.to - 1), runningS);
  const rows =
    keptFromS < keptToS
      ? await blocks.open(series.inputs, grain, rowAt(grain, keptFromS), rowAt(grain, keptToS), admitDays)
      : NO_ROWS;
  const klines: Kline[] = [];
  for (let time = span.first; time < span.to; ) {
    const next = alignment.nextOpenTime(timeframe, time);
    const fromS = Math.max(time, HISTORY_START_S);
    const toS = Math.min(next, span.endS);
    const sum = emptySum();
    if (fromS < runningS) rows.add(sum, rowAt(grain, fromS), rowAt(grain, Math.min(toS, runningS)));
    if (toS > runningS) addMinutes(sum, series.minutes, Math.max(fromS, runningS), toS);
    if (sum.count > 0) klines.push(toKline(series, timeframe, time, sum));
    time = timeframe === grain && grain !== "D1" ? openOf(grain, rows.skipEmpty(rowAt(grain, next))) : next;
  }
  return klines;
}

/** The kline of an interval in which the minutes of a span end, from whole trading days and minutes. */
async function openKline(
  { series, timeframe, admitDays }: Reading,
  openS: number,
  { endS, passedS }: Span,
  { blocks, alignment }: Options,
): Promise<Kline | undefined> {
  const sum = emptySum();
  const firstS = Math.max(openS, HISTORY_START_S);
  const dayS = Math.max(firstS, alignment.tradingDayOpen(endS));
  async function addKept(grain: "D1" | "M1", fromS: number, toS: number): Promise<void> {
    if (fromS >= toS) return;
    const [from, to] = [rowAt(grain, fromS), rowAt(grain, toS)];
    (await blocks.open(series.inputs, grain, from, to, admitDays)).add(sum, from, to);
  }
  await addKept("D1", firstS, dayS);
  const runningS = alignment.tradingDayOpen(passedS);
  if (dayS < runningS) await addKept("M1", dayS, endS);
  else addMinutes(sum, series.minutes, dayS, endS);
  return sum.count > 0 ? toKline(series, timeframe, openS, sum) : undefined;
}

/** The klines of a span, ascending, at most `limit` from one of its ends: searched in steps, because there may be gaps. */
async function search(reading: Reading, span: Span, options: Options): Promise<Kline[]> {
  const { timeframe, limit, end } = reading;
  const { alignment } = options;
  const stepS = TIMEFRAME_SECONDS[timeframe];
  let reachS = limit * stepS;
  let { first, to } = span;
  let klines: Kline[] = [];
  for (; first < to && klines.length < limit; reachS = Math.min(2 * reachS, REACH_MAX_COUNT * stepS)) {
    if (end === "oldest") {
      const until = to - first <= reachS ? to : alignment.nextOpenTime(timeframe, first + reachS - 1);
      klines = [...klines, ...(await collect(reading, { ...span, first, to: until }, options))].slice(0, limit);
      first = until;
    } else {
      const from = to - first <= reachS ? first : alignment.openTime(timeframe, to - 1 - reachS);
      klines = [...(await collect(reading, { ...span, first: from, to }, options)), ...klines].slice(-limit);
      to = from;
    }
  }
  return klines;
}

/**
 * The sandbox's kline store: a formula instead of a table. It covers HISTORY_START_S to the clock and contains only completed
 * minutes: an M1 kline once it has ended, and a longer one as the aggregate of its completed minutes, so the row of the current
 * hour or day grows by one minute at a time. Ticks since then are in the view.
 */
export function createSandboxKlines(options: Options): KlineStore {
  const { prices, clock, alignment } = options;

  /** @param untilS end (excluded) of the minutes that count, Unix seconds */
  function spanOf(series: PriceSeries, { timeframe, from, to }: KlineQuery, untilS: number): Span {
    const passedS = Math.min(Math.floor(clock.now() / 1000 / MINUTE_S) * MINUTE_S, series.endMs / 1000);
    const endS = Math.min(passedS, untilS);
    const fromS = Math.max(from, alignment.openTime(timeframe, HISTORY_START_S));
    const open = alignment.openTime(timeframe, fromS);
    return { first: open === fromS ? open : alignment.nextOpenTime(timeframe, fromS), to: Math.min(to, endS), endS, passedS };
  }

  /** Klines of bids as those of the price that is asked for. */
  async function ofPrice(series: PriceSeries, query: KlineQuery, span: Span, klines: Kline[]): Promise<Kline[]> {
    const { price, timeframe, admitDays } = query;
    if (price === undefined) return klines;
    return sideKlines(series, klines, price, (time) => Math.min(alignment.nextOpenTime(timeframe, time), span.endS), admitDays);
  }

  return {
    stored: null,
    readTicks: createPastTicks(options, HISTORY_START_S * 1_000),

    async read(query) {
      const series = prices.series(query.ticker);
      if (series === undefined) return [];
      const span = spanOf(series, query, Number.POSITIVE_INFINITY);
      return ofPrice(series, query, span, await search({ series, ...query }, span, options));
    },

    async readAt(query, atS) {
      const { timeframe, limit, end } = query;
      const series = prices.series(query.ticker);
      if (series === undefined) return [];
      const reading = { series, ...query };
      const span = spanOf(series, query, Math.floor(atS / MINUTE_S) * MINUTE_S);
      // The kept rows of an interval hold all its minutes, so the one that was open then is made of its own.
      const openS = alignment.openTime(timeframe, span.endS);
      const klines = await search(reading, { ...span, to: Math.min(span.to, openS) }, options);
      const open = openS >= span.first && openS < span.to ? await openKline(reading, openS, span, options) : undefined;
      const all = open === undefined ? klines : [...klines, open];
      return ofPrice(series, query, span, end === "newest" ? all.slice(-limit) : all.slice(0, limit));
    },

    async lastQuotes(atMs) {
      const untilMs = Math.min(atMs, clock.now());
      const quotes = new Map<string, LastQuote>();
      for (const [index, ticker] of prices.tickers().entries()) {
        const series = prices.series(ticker);
        const tick = series?.lastTick(untilMs);
        if (series !== undefined && tick !== undefined) {
          const dayOpenMs = alignment.tradingDayOpen(Math.floor(tick.time_msc / 1000)) * 1000;
          const range = sideRange(series, dayOpenMs, tick.time_msc, "ask");
          quotes.set(ticker, { ...tick, ask_high: range?.high ?? null, ask_low: range?.low ?? null });
        }
        if (index % TICKERS_PER_TURN_COUNT === TICKERS_PER_TURN_COUNT - 1) await nextTurn();
      }
      return quotes;
    },
  };
}
