import { KLINE_CLOSE_DELAY_MS, KLINES_AS_OF_SETTLE_S } from "#lib/contract/limits";
import { answerWindow, type resolveWindow } from "#lib/domain/window";
import { Fault } from "#lib/fault";
import { DAY_S, SECOND_MS } from "#lib/units";
import { encoded, type KlinesQuery } from "./kline-cache";
import { klinesJson } from "./kline-json";
import { revisionOf } from "./kline-revision";
import type { Call, EncodedReply } from "./question";

/** What was is not changed any more. */
const PAST_MAX_AGE_S = 365 * DAY_S;
const RETRY_AFTER_S = 60;

/**
 * Answers what klines would have been answered at an instant, Unix seconds. Not cached: such answers do not change, so that clients keep them.
 * @param expected number of intervals in which the market was open, of a window that ended with the instant
 * @throws Fault invalid_parameter for an instant in the future, or one that takes too much work to know; service_unavailable while it
 * cannot be known
 */
export async function klinesAt(
  call: Call<KlinesQuery>,
  window: ReturnType<typeof resolveWindow>,
  atS: number,
  expected: (from: number, to: number) => number | null,
): Promise<EncodedReply> {
  const { market, query, nowMs, admitDays } = call;
  const { ticker, timeframe } = query;
  const { store } = market;
  if (store.readAt === undefined)
    throw new Fault("service_unavailable", { detail: "Only klines of now can be read here.", retry_after: RETRY_AFTER_S });
  const read = window.read && { ticker, timeframe, ...window.read, prompt: true, admitDays };
  const rows = read === null ? [] : await store.readAt(read, atS);
  const { items, ...bounds } = answerWindow(window, rows, timeframe);
  const head = {
    ticker,
    timeframe,
    ...bounds,
    expected_count: expected(bounds.from, bounds.to),
    as_of: atS,
    ...(market.venue === "live" && { revision: revisionOf(items) }),
  };
  const { body, data, etag } = encoded(head, items, klinesJson(items));
  const reachedMs = Math.min(nowMs, market.now?.() ?? nowMs, market.closedUpTo?.() ?? nowMs);
  const settled = reachedMs >= (atS + KLINES_AS_OF_SETTLE_S) * SECOND_MS + KLINE_CLOSE_DELAY_MS;
  return {
    body,
    data,
    lasting: { etag: etag(), maxAgeS: settled ? PAST_MAX_AGE_S : 0 },
  };
}

/** @throws Fault invalid_parameter for an instant in the future */
export function requirePast(atS: number, nowMs: number): void {
  if (atS * SECOND_MS > nowMs)
    throw new Fault("invalid_parameter", { parameter: "as_of", detail: "`as_of` must not be in the future." });
}
