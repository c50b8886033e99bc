import type { IngestState, TickerIngestState } from "#lib/contract/ingest-klines";
import { INGEST_KLINES_MAX_AGE_S, INGEST_STATE_RANGES_MAX_COUNT, KLINE_CLOSE_DELAY_MS } from "#lib/contract/limits";
import type { Calendar } from "#lib/domain/calendar";
import { Fault } from "#lib/fault";
import { MINUTE_MS, MINUTE_S, SECOND_MS } from "#lib/units";
import { coverageOf, type Minutes } from "./coverage";
import type { Call, DataReply } from "./question";
import { requireListings } from "./tickers";

const RETRY_AFTER_S = 60;

interface StateQuery {
  readonly tickers: readonly string[];
  readonly before: number | undefined;
}

/** The closed minutes that may be pushed at an instant (Unix ms). */
export function pushableMinutes(nowMs: number): Minutes {
  const to = Math.floor((nowMs - KLINE_CLOSE_DELAY_MS) / MINUTE_MS) * MINUTE_S;
  return { from: Math.ceil((nowMs / SECOND_MS - INGEST_KLINES_MAX_AGE_S) / MINUTE_S) * MINUTE_S, to };
}

function missingOf(span: Minutes, stored: readonly Minutes[], calendar: Calendar | undefined) {
  const sessions = calendar?.sessionsBetween(span.from * SECOND_MS, span.to * SECOND_MS);
  if (!sessions) return { missing: null, missing_before: null };
  const { gaps } = coverageOf(span, stored, sessions);
  const missing = gaps.slice(-INGEST_STATE_RANGES_MAX_COUNT).map(({ from, to, minutes }) => ({ from, to, minutes }));
  return { missing, missing_before: gaps.length > missing.length ? (missing[0]?.from ?? null) : null };
}

/**
 * What a feeder needs to continue after an outage: the newest records of each ticker, and the minutes that are missing.
 * @throws Fault unknown_ticker; service_unavailable for a venue that computes its klines, and when too many such reads wait
 */
export async function ingestState(call: Call<StateQuery>): Promise<DataReply> {
  const { market, query, nowMs } = call;
  const listings = requireListings(call, query.tickers, "tickers");
  const { storedRuns } = market.store;
  if (storedRuns === undefined)
    throw new Fault("service_unavailable", {
      detail: `The ${market.venue} venue computes its klines, so none can be missing.`,
      retry_after: RETRY_AFTER_S,
    });
  const pushable = pushableMinutes(market.now?.() ?? nowMs);
  const to = Math.min(pushable.to, Math.floor((query.before ?? pushable.to) / MINUTE_S) * MINUTE_S);
  const span = { from: Math.min(pushable.from, to), to };
  const items: TickerIngestState[] = [];
  // One after the other: each covers weeks of minutes.
  for (const { ticker } of listings) {
    const { newest, runs } = await storedRuns(ticker, span.from, span.to);
    const newest_tick = market.view.quote(ticker)?.time_msc ?? null;
    items.push({ ticker, newest_kline: newest, newest_tick, ...missingOf(span, runs, market.catalogue.calendar(ticker)) });
  }
  return { data: { server_time_msc: nowMs, items } satisfies IngestState };
}
