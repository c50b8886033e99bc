import type { Timeframe } from "#lib/contract/primitives";
import { aggregate, type Kline } from "#lib/domain/kline";
import { NO_TICKS } from "#lib/domain/tick-columns";
import { createAlignment } from "#lib/domain/timeframe";
import type { KlineStore, LastQuote, StoredKlines } from "#lib/market/ports";
import type { TickChunk } from "#server/store/history/tick-tail";
import { NONE_LACKS } from "#server/store/klines/kline-store";
import type { StoredPlaces, VenueWriter } from "#server/store/klines/kline-writer";

const alignment = createAlignment();

/** A kline store in memory, with its writer, for tests that need no database. */
export interface MemoryKlines extends KlineStore {
  readonly stored: StoredKlines;
  writeBatch(klines: readonly Kline[], lastQuotes: readonly LastQuote[], ticks?: readonly TickChunk[]): Promise<void>;
  /** The ticks that were kept, in their order. */
  ticks(): readonly TickChunk[];
  /** As that of KlineTable, without a lease. */
  beginWriter(token: number | null, above: number): Promise<VenueWriter>;
  /** Makes the next writes fail, as an unavailable store does. */
  away(failing: boolean): void;
  all(): Kline[];
}

export function createMemoryKlines(rows: readonly Kline[] = []): MemoryKlines {
  const klines = new Map<string, Kline>();
  const quotes = new Map<string, LastQuote>();
  const put = (kline: Kline) => klines.set(`${kline.ticker}:${kline.timeframe}:${kline.time}`, kline);
  let failing = false;
  let writers = 0;
  let places: StoredPlaces = { stored: { journal: 0, ticks: 0 }, kept: { journal: 0, ticks: 0 } };
  for (const kline of rows) put(kline);
  const kept: TickChunk[] = [];
  async function writeBatch(
    batch: readonly Kline[],
    lastQuotes: readonly LastQuote[],
    ticks: readonly TickChunk[] = [],
  ): Promise<void> {
    if (failing) throw new Error("the store is away");
    for (const kline of batch) put(kline);
    for (const quote of lastQuotes) quotes.set(quote.ticker, quote);
    kept.push(...ticks);
  }
  return {
    away: (next) => {
      failing = next;
    },
    all: () => [...klines.values()].sort((a, b) => a.time - b.time),
    async read({ ticker, timeframe, from, to, limit, end }) {
      const rowsOf = (wanted: Timeframe) =>
        [...klines.values()]
          .filter((kline) => kline.ticker === ticker && kline.timeframe === wanted)
          .sort((a, b) => a.time - b.time);
      // Longer klines are computed from minutes, and those that were put show where there are none.
      const own = timeframe === "M1" ? rowsOf("M1") : aggregate(rowsOf("M1"), timeframe, alignment);
      const times = new Set(own.map(({ time }) => time));
      const others = timeframe === "M1" ? [] : rowsOf(timeframe).filter(({ time }) => !times.has(time));
      const found = [...own, ...others].filter(({ time }) => time >= from && time < to).sort((a, b) => a.time - b.time);
      return end === "oldest" ? found.slice(0, limit) : found.slice(-limit);
    },
    readAt: () => Promise.reject(new Error("a store in memory knows the present alone")),
    readTicks: async () => NO_TICKS,
    stored: {
      async minutesSince(tickers, from) {
        const minutes = [...klines.values()].filter(({ ticker, timeframe }) => timeframe === "M1" && tickers.includes(ticker));
        const times = minutes.map(({ time }) => time).sort((a, b) => a - b);
        return { times: [...new Set(times.filter((time) => time >= from))], earlier: times.some((time) => time < from) };
      },
      importedTimes: async () => [],
      struckBy: async () => [],
      lacking: NONE_LACKS,
      runs: () => Promise.reject(new Error("a store in memory knows no runs")),
    },
    async lastQuotes(atMs) {
      return new Map([...quotes].filter(([, quote]) => quote.time_msc <= atMs));
    },
    writeBatch,
    ticks: () => kept,
    async beginWriter(_, above) {
      writers = Math.max(writers, above) + 1;
      const number = writers;
      return {
        number,
        places,
        async write(batch, lastQuotes, ticks, reached) {
          if (number !== writers) return false;
          await writeBatch(batch, lastQuotes, ticks);
          places = reached;
          return true;
        },
      };
    },
  };
}
