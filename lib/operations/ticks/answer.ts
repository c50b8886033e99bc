import { setImmediate as nextTurn } from "node:timers/promises";
import { TICKS_DEFAULT_LIMIT_ROWS } from "#lib/contract/limits";
import type { Quote } from "#lib/contract/quote";
import type { Listing } from "#lib/domain/instrument";
import { toQuote } from "#lib/domain/quote";
import { NO_TICKS, type TickColumns } from "#lib/domain/tick-columns";
import { Fault } from "#lib/fault";
import { route } from "#lib/http/route";
import { requireHistory } from "#lib/market/oldest";
import { type Call, type EncodedReply, type Question, SUCCESS_HEAD, SUCCESS_TAIL } from "#lib/market/question";
import { requireListings } from "#lib/market/tickers";
import { createQueue } from "#lib/queue";
import { cursorOf, placeOf, type TickWindow, ticks } from "./declaration";

/** Quotes that are made at once: half a millisecond. */
const PART_ROWS_COUNT = 500;
/** Requests that may wait for their turn. */
const WAITING_MAX_COUNT = 64;
const BUSY_RETRY_AFTER_S = 1;

type Ticks = Pick<TickColumns, "time" | "bid" | "ask">;

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

/** The rows [first, last) of ticks as quotes. */
function quotesOf({ time, bid, ask }: Ticks, first: number, last: number, { ticker, digits }: Listing): Quote[] {
  const quote = (_: unknown, index: number) => {
    const [time_msc, bidAt, askAt] = [time[first + index], bid[first + index], ask[first + index]] as [number, number, number];
    return toQuote({ ticker, time_msc, bid: bidAt, ask: askAt }, digits);
  };
  return Array.from({ length: last - first }, quote);
}

/** Prints quotes, in parts, so that other requests are answered in between. */
async function printed(ticks: Ticks, first: number, last: number, listing: Listing): Promise<string> {
  const parts: string[] = [];
  for (let from = first; from < last; from += PART_ROWS_COUNT) {
    const items = quotesOf(ticks, from, Math.min(last, from + PART_ROWS_COUNT), listing);
    parts.push(JSON.stringify(items).slice(1, -1));
    await nextTurn();
  }
  return `[${parts.join()}]`;
}

async function answer(call: Call<TicksQuery>, listing: Listing): Promise<EncodedReply> {
  const { market, query, nowMs, oldestMs, admitDays } = call;
  const { limit = TICKS_DEFAULT_LIMIT_ROWS } = query;
  const { ticker } = listing;
  const cursor = query.cursor === undefined ? undefined : placeOf(query.cursor);
  const from = cursor?.time ?? query.from ?? null;
  const to = Math.min(query.to ?? nowMs, nowMs);
  requireHistory(call, from ?? to, from === null ? "to" : cursor === undefined ? "from" : "cursor");
  const skip = cursor?.skip ?? 0;
  // One more shows whether there is another page.
  const asked = {
    ticker,
    from: from ?? oldestMs,
    to,
    limit: limit + skip + 1,
    end: from === null ? "newest" : "oldest",
  } as const;
  const found = asked.from < to ? await market.store.readTicks({ ...asked, admitDays }) : NO_TICKS;
  const count = found.time.length;
  const first = from === null ? Math.max(0, count - limit) : Math.min(skip, count);
  const last = Math.min(count, first + limit);
  const hasMore = from !== null && last < count;
  const head = {
    ticker,
    from,
    to,
    count: last - first,
    limit,
    next_cursor: hasMore ? cursorOf(placeAfter(found.time.subarray(first, last), cursor)) : null,
  } satisfies Omit<TickWindow, "items">;
  const items = await printed(found, first, last, listing);
  return {
    body: `${SUCCESS_HEAD}${JSON.stringify(head).slice(0, -1)},"items":${items}}${SUCCESS_TAIL}`,
    data: () => ({ ...head, items: quotesOf(found, first, last, listing) }),
  };
}

/**
 * Makes the question for quotes of the past. Its answers are made one after the other, because one takes tens of milliseconds.
 * The question throws Fault unknown_ticker, not_in_plan, service_unavailable when too many wait, and what the store throws.
 */
function createTicks(): Question<TicksQuery> {
  const queued = createQueue({
    runningMaxCount: 1,
    waitingMaxCount: WAITING_MAX_COUNT,
    refusal: () =>
      new Fault("service_unavailable", { detail: "Too many reads of ticks are waiting.", retry_after: BUSY_RETRY_AFTER_S }),
  });
  return async (call) => {
    const [listing] = requireListings(call, [call.query.ticker], "ticker");
    return queued(() => answer(call, listing as Listing));
  };
}

export const handler = route(ticks, createTicks());
