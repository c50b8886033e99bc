import { TICKS_DEFAULT_LIMIT_ROWS } from "#lib/contract/limits";
import { cursorOf, placeOf, type TickWindow } from "#lib/contract/ticks";
import { toQuote } from "#lib/domain/quote";
import type { Call, DataReply } from "./question";
import { requireListings } from "./tickers";

interface TicksQuery {
  readonly ticker: string;
  /** Unix milliseconds. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
}

/** The place after the last of some ticks; ticks of the time at which they begin are counted from `skipped` on. */
function placeAfter(time: Float64Array, begin: ReturnType<typeof placeOf> | undefined) {
  const last = time.at(-1) as number;
  const same = time.length - time.findLastIndex((at) => at !== last) - 1;
  return { time: last, skip: same + (begin?.time === last ? begin.skip : 0) };
}

/**
 * Answers quotes of the past.
 * @throws Fault unknown_ticker; what the store throws
 */
export async function ticks(call: Call<TicksQuery>): Promise<DataReply> {
  const { market, query, nowMs, admitDays } = call;
  const { ticker, limit = TICKS_DEFAULT_LIMIT_ROWS } = query;
  const cursor = query.cursor === undefined ? undefined : placeOf(query.cursor);
  const [listing] = requireListings(call, [ticker], "ticker");
  const from = cursor?.time ?? query.from ?? null;
  const to = Math.min(query.to ?? nowMs, nowMs);
  const skip = cursor?.skip ?? 0;
  // One more shows whether there is another page.
  const asked = { ticker, from: from ?? 0, to, limit: limit + skip + 1, end: from === null ? "newest" : "oldest" } as const;
  const found = asked.from < to ? await market.store.readTicks?.({ ...asked, admitDays }) : undefined;
  const count = found?.time.length ?? 0;
  const first = from === null ? Math.max(0, count - limit) : Math.min(skip, count);
  const last = Math.min(count, first + limit);
  const items = Array.from({ length: last - first }, (_, index) => {
    const row = first + index;
    const [time_msc, bid, ask] = [found?.time[row], found?.bid[row], found?.ask[row]] as [number, number, number];
    return toQuote({ ticker, time_msc, bid, ask }, listing?.digits ?? 0);
  });
  const hasMore = from !== null && last < count;
  const data: TickWindow = {
    ticker,
    from,
    to,
    count: items.length,
    limit,
    next_cursor: hasMore && found ? cursorOf(placeAfter(found.time.subarray(first, last), cursor)) : null,
    items,
  };
  return { data };
}
