import { STREAM_CORRECTIONS_MAX_RECORDS } from "#lib/contract/limits";
import type { Listing } from "#lib/domain/instrument";
import type { Kline } from "#lib/domain/kline";
import type { TradingAlignment } from "#lib/domain/timeframe";
import type { ChangedMinutes, KlineStore } from "#lib/market/ports";

/**
 * The stored klines of a ticker that touch changed minutes, and are closed: what subscribers have to learn. Of each timeframe the
 * newest STREAM_CORRECTIONS_MAX_RECORDS, ascending.
 */
export async function readCorrections(
  store: Pick<KlineStore, "read">,
  { ticker, timeframes }: Listing,
  { first, last }: ChangedMinutes,
  isClosed: (kline: Kline) => boolean,
  alignment: TradingAlignment,
): Promise<Kline[]> {
  const read = async (timeframe: Kline["timeframe"]) => {
    const range = { from: alignment.openTime(timeframe, first), to: last + 1 };
    return store.read({ ticker, timeframe, ...range, limit: STREAM_CORRECTIONS_MAX_RECORDS, end: "newest" });
  };
  return (await Promise.all(timeframes.map(read))).flat().filter(isClosed);
}
