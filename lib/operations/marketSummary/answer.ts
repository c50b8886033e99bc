import { setImmediate as nextTurn } from "node:timers/promises";
import { tagOf } from "#lib/content-encoding";
import { KLINE_CLOSE_DELAY_MS, SUMMARY_MAX_ROWS } from "#lib/contract/limits";
import type { QueryOf } from "#lib/contract/operation";
import type { Listing } from "#lib/domain/instrument";
import { createSummary } from "#lib/domain/summary";
import { type SummaryPlan, sessionsIn, summaryLanes } from "#lib/domain/summary-periods";
import { createAlignment, TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import { expectedCount, expectedSpan } from "#lib/domain/window";
import { type Zone, zone } from "#lib/domain/zone";
import { Fault } from "#lib/fault";
import { successBody } from "#lib/http/respond";
import { route } from "#lib/http/route";
import { mergeRows } from "#lib/market/kline-merge";
import { requireHistory } from "#lib/market/oldest";
import type { Call, Question, Reply } from "#lib/market/question";
import { requireListings } from "#lib/market/tickers";
import { createQueue } from "#lib/queue";
import { DAY_MS, HOUR_MS, SECOND_MS } from "#lib/units";
import { marketSummary, type Summary, summaryTimeframe } from "./declaration";

type SummaryQuery = QueryOf<typeof marketSummary.query>;

/** Klines that are read at once: some ten milliseconds of work, and two megabytes. */
const READ_KLINES_COUNT = 10_000;
/** Summaries that may wait for their turn. */
const WAITING_MAX_COUNT = 64;
const BUSY_RETRY_AFTER_S = 1;
/** How long clients may keep the summary of a range that has ended; corrected history shows after this time at the latest. */
const LASTING_MAX_AGE_S = 3_600;

const alignment = createAlignment();
const UTC = zone("UTC");

/** The zone of the hours. @throws Fault invalid_parameter for one whose hours begin between those of UTC */
function hoursZone(name: string | undefined, fromMs: number, toMs: number): Zone {
  if (name === undefined) return UTC;
  const found = zone(name);
  if (found.offsetAt(fromMs) % HOUR_MS === 0 && found.offsetAt(toMs) % HOUR_MS === 0) return found;
  throw new Fault("invalid_parameter", {
    parameter: "zone",
    detail: "`zone` must be a time zone whose offset from UTC is in whole hours.",
  });
}

/** @throws Fault invalid_range where a summary would have too many rows */
function requireFewRows(plan: SummaryPlan, fromMs: number, toMs: number): void {
  const names = new Set<string>();
  for (const lane of summaryLanes(plan, fromMs, toMs))
    for (const { groups } of lane) {
      for (const { name } of groups) names.add(name);
      if (names.size <= SUMMARY_MAX_ROWS) continue;
      const detail = `A summary has at most ${SUMMARY_MAX_ROWS} rows, and this range has more with \`by=${plan.by}\`. Ask for a shorter range, for longer periods such as \`by=month\`, or for \`by=weekday\` or \`by=all\`, whose \`max_range_on\` names the widest day. Each day or week by itself is a kline: read klines in D1 or W1.`;
      throw new Fault("invalid_range", { parameter: "by", detail, max: SUMMARY_MAX_ROWS });
    }
}

async function summaryOf(call: Call<SummaryQuery>, listing: Listing): Promise<Reply> {
  const { market, query, nowMs, admitDays } = call;
  const { by, session, part, from, to } = query;
  const { ticker, digits } = listing;
  const timeframe = summaryTimeframe(from, to);
  const fromMs = Date.parse(from);
  const toMs = Math.min(Date.parse(to), nowMs + DAY_MS);
  const calendar = market.catalogue.calendar(ticker);
  const hours = hoursZone(query.zone, fromMs, toMs);
  const plan = { by, session, part, zone: hours, calendar, alignment, nowS: Math.floor(nowMs / SECOND_MS) };

  /** Klines of a period while the market was open, up to now. */
  function expected(fromS: number, untilS: number): number | null {
    const span = expectedSpan(timeframe, fromS, untilS, Math.floor(nowMs / SECOND_MS + 1) * SECOND_MS, alignment);
    if (span === null) return 0;
    const sessions = sessionsIn(calendar, { fromS: span.fromMs / SECOND_MS, toS: span.toMs / SECOND_MS });
    return expectedCount(timeframe, fromS, untilS, sessions, alignment);
  }

  const lanes = summaryLanes(plan, fromMs, toMs);
  const summary = createSummary(lanes, digits, expected);
  const firstS = summary.nextS();
  if (firstS !== undefined) requireHistory(call, firstS * SECOND_MS, "from");
  if (by === "day" || by === "week" || by === "month") requireFewRows(plan, fromMs, toMs);
  let untilS = 0;
  for (let atS = firstS; atS !== undefined; atS = summary.nextS()) {
    untilS = atS + READ_KLINES_COUNT * TIMEFRAME_SECONDS[timeframe];
    const read = { from: Math.max(0, atS), to: untilS, limit: READ_KLINES_COUNT, end: "oldest" } as const;
    const stored = await market.store.read({ ticker, timeframe, ...read, prompt: true, admitDays });
    summary.add(mergeRows(stored, market.view.recentKlines(ticker, timeframe), read), untilS);
    // Other requests are answered in between.
    await nextTurn();
  }
  const data = {
    ticker,
    from,
    to,
    by,
    ...(session !== undefined && { session }),
    ...(part !== undefined && { part }),
    ...(by === "hour_of_day" && { zone: hours.name }),
    timeframe,
    items: summary.rows(),
  } satisfies Summary;
  const reachedMs = Math.min(nowMs, market.closedUpTo(nowMs));
  // Every trading day and session has ended when its date does in UTC.
  if (reachedMs < Date.parse(to) + KLINE_CLOSE_DELAY_MS) return { data };
  const body = successBody(data);
  return { body, data: () => data, lasting: { etag: tagOf(body), maxAgeS: LASTING_MAX_AGE_S } };
}

/**
 * Makes the question for summaries. They are made one after the other, because one takes tens of milliseconds.
 * The question throws Fault unknown_ticker, not_in_plan, invalid_range for too many rows, invalid_parameter, service_unavailable when too
 * many wait, and what the store throws.
 */
function createSummaries(): Question<SummaryQuery> {
  const queued = createQueue({
    runningMaxCount: 1,
    waitingMaxCount: WAITING_MAX_COUNT,
    refusal: () =>
      new Fault("service_unavailable", { detail: "Too many summaries are waiting.", retry_after: BUSY_RETRY_AFTER_S }),
  });
  return async (call) => {
    const [listing] = requireListings(call, [call.query.ticker], "ticker");
    return queued(() => summaryOf(call, listing as Listing));
  };
}

export const handler = route(marketSummary, createSummaries());
