import type { IngestState, TickerIngestState } from "#lib/contract/ingest-klines";
import { INGEST_STATE_RANGES_MAX_COUNT } from "#lib/contract/limits";
import type { QueryOf } from "#lib/contract/operation";
import type { Calendar } from "#lib/domain/calendar";
import { Fault } from "#lib/fault";
import { route } from "#lib/http/route";
import { coverageOf, type Minutes } from "#lib/market/coverage";
import { pushableMinutes } from "#lib/market/ingest-klines";
import type { Call, DataReply } from "#lib/market/question";
import { requireListings } from "#lib/market/tickers";
import { MINUTE_S, SECOND_MS } from "#lib/units";
import { ingestState } from "./declaration";

const RETRY_AFTER_S = 60;

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
export async function stateOf(call: Call<QueryOf<typeof ingestState.query>>): Promise<DataReply> {
  const { market, query, nowMs } = call;
  const listings = requireListings(call, query.tickers, "tickers");
  const { stored } = market.store;
  if (stored === null)
    throw new Fault("service_unavailable", {
      detail: `The ${market.venue} venue computes its klines, so none can be missing.`,
      retry_after: RETRY_AFTER_S,
    });
  const pushable = pushableMinutes(market.timeAt(nowMs));
  const to = Math.min(pushable.to, Math.floor((query.before ?? pushable.to) / MINUTE_S) * MINUTE_S);
  const span = { from: Math.min(pushable.from, to), to };
  const items: TickerIngestState[] = [];
  // One after the other: each covers weeks of minutes.
  for (const { ticker } of listings) {
    const { newest, runs } = await stored.runs(ticker, span.from, span.to);
    const newest_tick = market.view.quote(ticker)?.time_msc ?? null;
    items.push({ ticker, newest_kline: newest, newest_tick, ...missingOf(span, runs, market.catalogue.calendar(ticker)) });
  }
  return { data: { server_time_msc: nowMs, items } satisfies IngestState };
}

export const handler = route(ingestState, stateOf);
