import type { Timeframe } from "#lib/contract/primitives";
import type { Quote } from "#lib/contract/quote";
import type { Snapshot } from "#lib/contract/snapshot";
import type { Kline } from "#lib/domain/kline";
import { TIMEFRAMES_ORDER } from "#lib/domain/timeframe";
import type { MarketView } from "#lib/market/ports";
import type { KlineEvent, Listener } from "#server/events/event";
import { topicName } from "#server/events/topic";

/** Klines kept per series: the open one, those about to close, and closed ones the recorder may not have written yet. */
const RECENT_KLINES_COUNT = 64;

const klineTopic = (ticker: string, timeframe: Timeframe) => topicName("kline", ticker, timeframe);

interface Series {
  rows: Kline[];
  revision: number;
}

/** The projection of a venue's events that REST and sockets read; only `apply` updates it. */
export interface View extends MarketView {
  readonly apply: Listener;
  /** Adds klines that came with no event: the last ones of a series without new ticks. */
  fill(klines: readonly Kline[]): void;
  /** Copies the state of these tickers from another view. */
  adopt(other: MarketView, tickers: readonly string[]): void;
  /** Drops the klines of a ticker that `keep` rejects: the store has newer states of them. */
  forget(ticker: string, keep: (kline: Kline) => boolean): void;
}

/** Makes an empty view; only events passed to `apply` change it. */
export function createView(): View {
  const quotes = new Map<string, Quote>();
  const snapshots = new Map<string, Snapshot>();
  /** By topic. */
  const series = new Map<string, Series>();
  const add = (kline: Kline) => applyKline(kline, klineTopic(kline.ticker, kline.timeframe));

  function applyKline(record: Kline, topic: string): void {
    let entry = series.get(topic);
    if (entry === undefined) {
      entry = { rows: [], revision: 0 };
      series.set(topic, entry);
    }
    entry.revision += 1;
    place(entry.rows, record);
  }

  /** A correction replaces the kline that is kept; older ones are read from the store. */
  function applyCorrection({ record, topic, removed }: KlineEvent): void {
    const entry = series.get(topic);
    if (entry === undefined) return;
    entry.revision += 1;
    if (removed) entry.rows = entry.rows.filter(({ time }) => time !== record.time);
    else entry.rows = entry.rows.map((row) => (row.time === record.time ? record : row));
  }

  return {
    apply(events) {
      for (const event of events) {
        if (event.type === "quote") quotes.set(event.record.ticker, event.record);
        else if (event.type === "snapshot") snapshots.set(event.record.ticker, event.record);
        else if (event.corrected) applyCorrection(event);
        else applyKline(event.record, event.topic);
      }
    },
    fill(klines) {
      for (const kline of klines) add(kline);
    },
    adopt(other, tickers) {
      for (const ticker of tickers) {
        const [quote, snapshot] = [other.quote(ticker), other.snapshot(ticker)];
        if (quote !== undefined) quotes.set(ticker, quote);
        if (snapshot !== undefined) snapshots.set(ticker, snapshot);
        for (const timeframe of TIMEFRAMES_ORDER) for (const kline of other.recentKlines(ticker, timeframe)) add(kline);
      }
    },
    forget(ticker, keep) {
      for (const timeframe of TIMEFRAMES_ORDER) {
        const entry = series.get(klineTopic(ticker, timeframe));
        if (entry === undefined) continue;
        entry.rows = entry.rows.filter(keep);
        entry.revision += 1;
      }
    },
    quote: (ticker) => quotes.get(ticker),
    snapshot: (ticker) => snapshots.get(ticker),
    recentKlines: (ticker, timeframe: Timeframe) => series.get(klineTopic(ticker, timeframe))?.rows ?? [],
    revision: (ticker, timeframe: Timeframe) => series.get(klineTopic(ticker, timeframe))?.revision ?? 0,
  };
}

/** Inserts a kline by open time; usually it replaces the last row or follows it. */
function place(rows: Kline[], record: Kline): void {
  const last = rows.length - 1;
  if (rows[last]?.time === record.time) {
    rows[last] = record;
    return;
  }
  const index = rows.findLastIndex(({ time }) => time <= record.time);
  if (rows[index]?.time === record.time) rows[index] = record;
  else rows.splice(index + 1, 0, record);
  if (rows.length > RECENT_KLINES_COUNT) rows.shift();
}
