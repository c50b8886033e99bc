import { TIMEFRAMES_ORDER } from "#lib/domain/timeframe";
import type { MarketView } from "#lib/market/ports";
import type { MarketEvent } from "#server/events/event";
import { topicName } from "#server/events/topic";
import type { Ring } from "./ring";

/** Klines of a series: the open one, and the last closed ones, which the store may not have yet. */
const KLINES_COUNT = 9;

interface NewestOptions {
  readonly view: MarketView;
  readonly recent: Pick<Ring, "seq">;
  readonly epoch: string;
  readonly tickers: readonly string[];
}

/** The newest records of these tickers as events; each carries the last sequence of its topic, whichever record that was of. */
export function newestRecords({ view, recent, epoch, tickers }: NewestOptions): MarketEvent[] {
  const found: MarketEvent[] = [];
  for (const ticker of tickers) {
    const [quote, snapshot] = [view.quote(ticker), view.snapshot(ticker)];
    const placeOf = (topic: string) => ({ topic, epoch, seq: recent.seq(topic) });
    if (quote !== undefined) found.push({ type: "quote", record: quote, ...placeOf(topicName("quote", ticker)) });
    if (snapshot !== undefined) found.push({ type: "snapshot", record: snapshot, ...placeOf(topicName("snapshot", ticker)) });
    for (const timeframe of TIMEFRAMES_ORDER) {
      const place = placeOf(topicName("kline", ticker, timeframe));
      for (const record of view.recentKlines(ticker, timeframe).slice(-KLINES_COUNT))
        found.push({ type: "kline", record, closed: false, ...place });
    }
  }
  return found;
}
