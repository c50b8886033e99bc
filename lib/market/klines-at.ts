import { KLINE_CLOSE_DELAY_MS, KLINES_AS_OF_SETTLE_S, KLINES_SIDES_SETTLE_S } from "#lib/contract/limits";
import { answerWindow, type resolveWindow } from "#lib/domain/window";
import { Fault } from "#lib/fault";
import { DAY_S, SECOND_MS } from "#lib/units";
import { encoded, type KlinesQuery } from "./kline-cache";
import { klinesJson } from "./kline-json";
import { revisionOf } from "./kline-revision";
import type { Call, EncodedReply } from "./question";

/** What was is not changed any more. */
const PAST_MAX_AGE_S = 365 * DAY_S;

/**
 * Answers klines as they were at an instant, Unix seconds, or of another price than the bid; null for those of now. Not cached: answers
 * about an instant do not change, so that clients keep them, and other prices are asked for more rarely.
 * @param expected number of intervals in which the market was open, of a window that ended with the instant
 * @throws Fault invalid_parameter for an instant in the future, or for klines that take too much work to know; service_unavailable
 * while they cannot be known
 */
export async function klinesAt(
  call: Call<KlinesQuery>,
  window: ReturnType<typeof resolveWindow>,
  atS: number | null,
  expected: (from: number, to: number) => number | null,
): Promise<EncodedReply> {
  const { market, query, nowMs, admitDays } = call;
  const { ticker, timeframe, price } = query;
  const side = price === "bid" ? undefined : price;
  const { store } = market;
  const read = window.read && {
    ticker,
    timeframe,
    ...window.read,
    prompt: true,
    admitDays,
    ...(side && { price: side, endedBy: Math.floor(nowMs / SECOND_MS) - KLINES_SIDES_SETTLE_S }),
  };
  const rows = read === null ? [] : await (atS === null ? store.read(read) : store.readAt(read, atS));
  const { items, ...bounds } = answerWindow(window, rows, timeframe);
  const head = {
    ticker,
    timeframe,
    ...bounds,
    expected_count: expected(bounds.from, bounds.to),
    ...(price !== undefined && { price }),
    ...(atS !== null && { as_of: atS }),
    ...(market.venue === "live" && { revision: revisionOf(items) }),
  };
  const { body, data, etag } = encoded(head, items, klinesJson(items));
  if (atS === null) return { body, data };
  return {
    body,
    data,
    lasting: { etag: etag(), maxAgeS: maxAgeOf(call, atS) },
  };
}

/** How long clients may keep an answer about an instant, in seconds: for good once it can no longer change. */
export function maxAgeOf({ market, nowMs }: Pick<Call<unknown>, "market" | "nowMs">, atS: number): number {
  const reachedMs = Math.min(nowMs, market.closedUpTo(nowMs));
  return reachedMs >= (atS + KLINES_AS_OF_SETTLE_S) * SECOND_MS + KLINE_CLOSE_DELAY_MS ? PAST_MAX_AGE_S : 0;
}

/** @throws Fault invalid_parameter for an instant in the future */
export function requirePast(atS: number, nowMs: number): void {
  if (atS * SECOND_MS > nowMs)
    throw new Fault("invalid_parameter", { parameter: "as_of", detail: "`as_of` must not be in the future." });
}
