import type { TickRejection } from "#lib/contract/ingest";
import { KLINE_CLOSE_DELAY_MS } from "#lib/contract/limits";
import type { Timeframe } from "#lib/contract/primitives";
import type { Quote } from "#lib/contract/quote";
import type { Listing } from "#lib/domain/instrument";
import { foldQuote, type Kline } from "#lib/domain/kline";
import { roundTo } from "#lib/domain/price";
import { toQuote } from "#lib/domain/quote";
import { type DayState, foldDay, toSnapshot } from "#lib/domain/snapshot";
import { createRecentTicks, judgeTick, type RecentTicks, type Tick } from "#lib/domain/tick";
import type { TradingAlignment } from "#lib/domain/timeframe";
import type { Catalogue, LastQuote } from "#lib/market/ports";
import type { MarketEvent } from "#server/events/event";
import { topicName } from "#server/events/topic";
import type { Correction } from "./corrections";

/** The state from which a ticker continues after a restart. */
export interface RestoredTicker {
  readonly ticker: string;
  /** Undefined where only klines are known (imported history). */
  readonly lastQuote: LastQuote | undefined;
  /** Klines that the clock has not closed yet, ascending: one per timeframe, two while the previous one waits for its close. */
  readonly openKlines: readonly Kline[];
  readonly day: DayState | undefined;
  /** The last ticks that were taken, where they are known; they may be sent again. */
  readonly recent?: readonly Tick[] | undefined;
}

/**
 * The only part that decides a venue's market state. Synchronous and deterministic: the same ticks and instants give the same
 * events. Instants are Unix milliseconds.
 */
interface Engine {
  /** Why a tick is rejected, null when it is valid. */
  judge(tick: Tick, nowMs: number): TickRejection | null;
  /** Applies a valid tick; returns `events` with its quote, its snapshot and the klines it changed added. */
  ingest(tick: Tick, events?: MarketEvent[]): MarketEvent[];
  /** Closes the klines that are due, each once. */
  advance(nowMs: number): MarketEvent[];
  /** Shows the new state of closed klines whose stored minutes changed. */
  correct(corrections: readonly Correction[]): MarketEvent[];
  /** Continues a ticker from its stored state, which has all klines that are open; returns the events that show it. */
  restore(restored: RestoredTicker): MarketEvent[];
}

/** The open kline of a timeframe, and the end of its interval in Unix seconds. */
interface Series {
  readonly timeframe: Kline["timeframe"];
  kline: Kline | undefined;
  endS: number;
  readonly topic: string;
  /** Sequence of its last record. */
  seq: number;
}

/** A kline that was followed by a newer one before it was due to close. */
interface WaitingKline {
  readonly series: Series;
  readonly kline: Kline;
  readonly closesAtMs: number;
}

interface TickerState {
  readonly listing: Listing;
  readonly recent: RecentTicks;
  readonly series: readonly Series[];
  waiting: WaitingKline[];
  /** No kline of the ticker closes before this instant. */
  nextCloseMs: number;
  day: DayState | undefined;
  /** The newest quote. */
  quote: Quote | undefined;
  /** Sequences of the last quote and the last snapshot. */
  quoteSeq: number;
  snapshotSeq: number;
  readonly quoteTopic: string;
  readonly snapshotTopic: string;
}

interface EngineOptions {
  /** Returns the listing of a ticker, undefined when unknown or retired. */
  listingOf: (ticker: string) => Listing | undefined;
  /** Returns the calendar of a ticker, undefined when unknown. */
  calendarOf: Catalogue["calendar"];
  alignment: TradingAlignment;
  /** The epoch of its sequences; different for each engine. */
  epoch: string;
}

function newSeries(ticker: string, timeframe: Timeframe): Series {
  return { timeframe, kline: undefined, endS: 0, topic: topicName("kline", ticker, timeframe), seq: 0 };
}

/**
 * The day according to the klines; keeps the ask range known from ticks while the bids of the day are unchanged. A later day
 * that is known stays only if the newest quote is from it: otherwise its klines were imported, and the import was undone.
 */
function restoreDay(known: DayState | undefined, day: DayState | undefined, quote: Quote | undefined): DayState | undefined {
  if (known === undefined) return day;
  if (day === undefined || day.dayOpenS < known.dayOpenS)
    return quote !== undefined && quote.time_msc >= known.dayOpenS * 1000 ? known : day;
  const same = day.dayOpenS === known.dayOpenS && day.bidHigh === known.bidHigh && day.bidLow === known.bidLow;
  return same ? { ...day, askHigh: known.askHigh, askLow: known.askLow } : day;
}

function closesAtMs(series: Series): number {
  return series.endS * 1000 + KLINE_CLOSE_DELAY_MS;
}

/** Makes an engine without state; call `restore` before the first tick. */
export function createEngine({ listingOf, calendarOf, alignment, epoch }: EngineOptions): Engine {
  const states = new Map<string, TickerState>();

  /** The state of a listed ticker; an edited listing restarts its series with the same klines. */
  function stateOf(ticker: string): TickerState | undefined {
    const listing = listingOf(ticker);
    const known = states.get(ticker);
    if (listing === undefined || known?.listing === listing) return listing && known;
    const klines = new Map(known?.series.map((series) => [series.timeframe, series]));
    const state: TickerState = {
      listing,
      recent: known?.recent ?? createRecentTicks(),
      series: listing.timeframes.map((timeframe) => klines.get(timeframe) ?? newSeries(ticker, timeframe)),
      waiting: known?.waiting ?? [],
      nextCloseMs: known?.nextCloseMs ?? Number.POSITIVE_INFINITY,
      day: known?.day,
      quote: known?.quote,
      quoteSeq: known?.quoteSeq ?? 0,
      snapshotSeq: known?.snapshotSeq ?? 0,
      quoteTopic: topicName("quote", ticker),
      snapshotTopic: topicName("snapshot", ticker),
    };
    states.set(ticker, state);
    return state;
  }

  function quoteEvent(state: TickerState, record: Quote): MarketEvent {
    state.quoteSeq += 1;
    return { type: "quote", topic: state.quoteTopic, record, epoch, seq: state.quoteSeq };
  }

  function snapshotEvent(state: TickerState, quote: Quote): MarketEvent {
    state.snapshotSeq += 1;
    const record = toSnapshot(quote, state.day, state.listing.digits);
    return { type: "snapshot", topic: state.snapshotTopic, record, epoch, seq: state.snapshotSeq };
  }

  function klineEvent(series: Series, record: Kline, closed: boolean): MarketEvent {
    series.seq += 1;
    return { type: "kline", topic: series.topic, record, closed, epoch, seq: series.seq };
  }

  function foldSeries(state: TickerState, series: Series, quote: Quote, volume: number | undefined): MarketEvent {
    const atS = Math.floor(quote.time_msc / 1000);
    let time = series.kline?.time ?? 0;
    if (atS >= series.endS) {
      if (series.kline !== undefined) awaitClose(state, series, series.kline);
      time = alignment.openTime(series.timeframe, atS);
      series.endS = alignment.nextOpenTime(series.timeframe, atS);
      state.nextCloseMs = Math.min(state.nextCloseMs, closesAtMs(series));
    }
    series.kline = foldQuote(series.kline, quote, volume, series.timeframe, time);
    return klineEvent(series, series.kline, false);
  }

  /** Queues the running kline of a series, which a newer one follows, until it is due to close. */
  function awaitClose(state: TickerState, series: Series, kline: Kline): void {
    state.waiting.push({ series, kline, closesAtMs: closesAtMs(series) });
  }

  /** Restores a kline, those of a timeframe ascending: the last one is continued, the others wait for their close. */
  function restoreKline(state: TickerState, kline: Kline): MarketEvent[] {
    const series = state.series.find(({ timeframe }) => timeframe === kline.timeframe);
    if (series === undefined) return [];
    if (series.kline !== undefined) awaitClose(state, series, series.kline);
    series.kline = kline;
    series.endS = alignment.nextOpenTime(kline.timeframe, kline.time);
    state.nextCloseMs = Math.min(state.nextCloseMs, closesAtMs(series));
    return [klineEvent(series, kline, false)];
  }

  /** Drops the klines that are open: the stored state has all that are left, and those of an import that was undone are gone. */
  function dropKlines(state: TickerState): void {
    state.waiting = [];
    state.nextCloseMs = Number.POSITIVE_INFINITY;
    for (const series of state.series) {
      series.kline = undefined;
      series.endS = 0;
    }
  }

  function closeDue(state: TickerState, nowMs: number): MarketEvent[] {
    const events: MarketEvent[] = [];
    for (const { series, kline, closesAtMs: due } of state.waiting)
      if (due <= nowMs) events.push(klineEvent(series, kline, true));
    state.waiting = state.waiting.filter(({ closesAtMs: due }) => due > nowMs);
    for (const series of state.series) {
      if (series.kline === undefined || closesAtMs(series) > nowMs) continue;
      events.push(klineEvent(series, series.kline, true));
      series.kline = undefined;
      series.endS = 0;
    }
    state.nextCloseMs = Math.min(
      ...state.waiting.map((entry) => entry.closesAtMs),
      ...state.series.filter((series) => series.kline !== undefined).map(closesAtMs),
    );
    return events;
  }

  return {
    judge(tick, nowMs) {
      const state = stateOf(tick.ticker);
      if (state === undefined) return "unknown_ticker";
      // A price below half a point would be rounded to nothing.
      if (roundTo(tick.bid, state.listing.digits) === 0) return "bad_price";
      return judgeTick(state.recent, tick, nowMs);
    },

    ingest(tick, events = []) {
      const state = stateOf(tick.ticker);
      if (state === undefined) return events;
      const quote = toQuote(tick, state.listing.digits);
      state.recent.add(tick);
      state.quote = quote;
      state.day = foldDay(state.day, quote, alignment, calendarOf(tick.ticker));
      events.push(quoteEvent(state, quote), snapshotEvent(state, quote));
      for (const series of state.series) events.push(foldSeries(state, series, quote, tick.volume));
      return events;
    },

    advance(nowMs) {
      const events: MarketEvent[] = [];
      for (const state of states.values()) if (state.nextCloseMs <= nowMs) events.push(...closeDue(state, nowMs));
      return events;
    },

    correct: (corrections) =>
      corrections.flatMap(({ kline, ...removed }) => {
        const series = stateOf(kline.ticker)?.series.find(({ timeframe }) => timeframe === kline.timeframe);
        return series === undefined ? [] : [{ ...klineEvent(series, kline, true), corrected: true, ...removed } as MarketEvent];
      }),

    restore({ ticker, lastQuote, openKlines, day, recent = [] }) {
      const state = stateOf(ticker);
      if (state === undefined) return [];
      const known = state.day;
      state.day = restoreDay(known, day, state.quote);
      dropKlines(state);
      const events = openKlines.flatMap((kline) => restoreKline(state, kline));
      if (lastQuote === undefined) {
        // The quote stays; its day may have changed.
        if (state.quote !== undefined && state.day !== known) events.push(snapshotEvent(state, state.quote));
        return events;
      }
      const quote = toQuote(lastQuote, state.listing.digits);
      for (const tick of recent) if (tick.time_msc <= lastQuote.time_msc) state.recent.add(tick);
      state.recent.add(lastQuote);
      state.quote = quote;
      events.push(quoteEvent(state, quote), snapshotEvent(state, quote));
      return events;
    },
  };
}
