import { STREAM_CORRECTIONS_MAX_RECORDS } from "#lib/contract/limits";
import type { Listing } from "#lib/domain/instrument";
import { aggregate, type Kline } from "#lib/domain/kline";
import type { TradingAlignment } from "#lib/domain/timeframe";
import type { ChangedMinutes, KlineStore } from "#lib/market/ports";
import { MINUTE_S } from "#lib/units";

/** A closed kline whose stored minutes changed; `removed`: it no longer exists, and this is what it was. */
export interface Correction {
  readonly kline: Kline;
  readonly removed?: true;
}

type Store = Pick<KlineStore, "read" | "stored">;

/** The klines that a correction took away, as they were: struck minutes, and longer klines that had no other minutes. */
async function readRemoved(
  store: Store,
  { ticker, timeframes }: Listing,
  { struck, first, last }: ChangedMinutes,
  alignment: TradingAlignment,
): Promise<Kline[]> {
  if (struck === undefined) return [];
  const minutes = (await store.stored?.struckBy(struck, ticker)) ?? [];
  const left = async (timeframe: Kline["timeframe"]) => {
    const asked = timeframe === "M1" ? minutes : aggregate(minutes, timeframe, alignment);
    if (asked.length === 0) return [];
    const range = { from: alignment.openTime(timeframe, first), to: last + 1 };
    const stored = await store.read({
      ticker,
      timeframe,
      ...range,
      limit: (range.to - range.from) / MINUTE_S + 1,
      end: "newest",
    });
    return asked.filter(({ time }) => stored.every((kline) => kline.time !== time));
  };
  return (await Promise.all(timeframes.map(left))).flat();
}

/**
 * What subscribers have to learn when minutes of a ticker changed: the stored klines that touch them, and those that a
 * correction took away, as they were. Of each timeframe the newest STREAM_CORRECTIONS_MAX_RECORDS, ascending, only closed ones.
 */
export async function readCorrections(
  store: Store,
  listing: Listing,
  minutes: ChangedMinutes,
  isClosed: (kline: Kline) => boolean,
  alignment: TradingAlignment,
): Promise<Correction[]> {
  const { ticker, timeframes } = listing;
  const { first, last } = minutes;
  const read = async (timeframe: Kline["timeframe"]) => {
    const range = { from: alignment.openTime(timeframe, first), to: last + 1 };
    return store.read({ ticker, timeframe, ...range, limit: STREAM_CORRECTIONS_MAX_RECORDS, end: "newest" });
  };
  const corrected = (await Promise.all(timeframes.map(read))).flat();
  const removed = await readRemoved(store, listing, minutes, alignment);
  return [
    ...corrected.filter(isClosed).map((kline) => ({ kline })),
    ...removed.filter(isClosed).map((kline) => ({ kline, removed: true as const })),
  ];
}
