import type { Pool } from "pg";
import { z } from "zod";
import { LATENCY_BANDS_COUNT, latencyQuantile } from "#lib/access/usage/latency-bands";
import type { Clock } from "#lib/clock";
import type { UsageGrain, UsagePoint, UsageReport, UsageShare } from "#lib/contract/portal";
import { Fault } from "#lib/fault";
import { DAY_MS } from "#lib/units";
import { GRAIN_MS } from "./store";

/** Maximum number of points of a response: more than a chart shows, few enough to aggregate in one query. */
const POINTS_MAX_COUNT: Readonly<Record<UsageGrain, number>> = { minute: 360, hour: 200, day: 750 };
const FILTER_MAX_CHARACTERS = 60;
const SPAN_DEFAULT_MS = DAY_MS;

const Instant = z.iso.datetime({ offset: true });
const Filter = z.string().max(FILTER_MAX_CHARACTERS);

/** Parameters of a usage query; by default the last day by the hour. */
export const UsageQuery = z.strictObject({
  from: Instant.optional(),
  to: Instant.optional(),
  grain: z.enum(["minute", "hour", "day"]).default("hour"),
  key_id: Filter.optional(),
  operation: Filter.optional(),
});
export type UsageQuery = z.infer<typeof UsageQuery>;

/** A period in whole buckets, Unix milliseconds, `fromMs <= at < toMs`. */
export interface UsageSpan {
  readonly grain: UsageGrain;
  readonly fromMs: number;
  readonly toMs: number;
  readonly keyId: string | null;
  readonly operation: string | null;
}

/**
 * The period of a query, widened to whole buckets.
 * @throws Fault invalid_parameter for an empty period, or one with too many points for its grain
 */
export function usageSpan({ from, to, grain, key_id, operation }: UsageQuery, clock: Clock): UsageSpan {
  const toMs = to === undefined ? clock.now() : Date.parse(to);
  const wantedMs = from === undefined ? toMs - SPAN_DEFAULT_MS : Date.parse(from);
  if (wantedMs >= toMs) throw new Fault("invalid_parameter", { parameter: "from", detail: "`from` must be before `to`." });
  const fromMs = wantedMs - (wantedMs % GRAIN_MS[grain]);
  const max = POINTS_MAX_COUNT[grain];
  if ((toMs - fromMs) / GRAIN_MS[grain] > max + 1)
    throw new Fault("invalid_parameter", {
      parameter: "grain",
      detail: `At most ${max} points are shown: choose a coarser grain or a shorter period.`,
      max,
    });
  return { grain, fromMs, toMs, keyId: key_id || null, operation: operation || null };
}

/** $1 to $6 of every statement: the account and the period. */
export function spanValues(accountId: string, { grain, fromMs, toMs, keyId, operation }: UsageSpan): unknown[] {
  return [accountId, grain, new Date(fromMs), new Date(toMs), keyId, operation];
}

/** Rows of the account in the period, found by the primary key. */
export const CALLS_OF_SPAN = `
  account_id = $1 AND grain = $2 AND at >= $3 AND at < $4
  AND ($5::text IS NULL OR key_id = $5) AND ($6::text IS NULL OR operation = $6)`;
/** The same for streams. They have no operation, so a filter by operation excludes them. */
export const STREAMS_OF_SPAN = `
  account_id = $1 AND grain = $2 AND at >= $3 AND at < $4
  AND ($5::text IS NULL OR key_id = $5) AND $6::text IS NULL`;

// Sums each band separately, because unnesting and grouping the arrays takes several times as long.
const BANDS = Array.from({ length: LATENCY_BANDS_COUNT }, (_, band) => `sum(latency[${band + 1}])`).join(", ");
const POINTS = `
  SELECT at, sum(calls)::float8 AS calls, sum(units)::float8 AS units, coalesce(sum(calls) FILTER (WHERE code <> 0), 0)::float8 AS errors,
         ARRAY[${BANDS}]::float8[] AS latency
    FROM usage_bucket WHERE ${CALLS_OF_SPAN} GROUP BY at`;
const SHARES = `
  SELECT key_id, operation, code, sum(calls)::float8 AS calls, sum(units)::float8 AS units,
         coalesce(sum(calls) FILTER (WHERE code <> 0), 0)::float8 AS errors
    FROM usage_bucket WHERE ${CALLS_OF_SPAN}
   GROUP BY GROUPING SETS ((key_id), (operation), (code)) ORDER BY CASE WHEN code IS NULL THEN sum(units) END DESC, calls DESC`;
const STREAMS = `
  SELECT at, sum(connections)::float8 AS connections, sum(subscriptions)::float8 AS subscriptions,
         sum(messages)::float8 AS messages, sum(merged)::float8 AS merged
    FROM stream_usage_bucket WHERE ${STREAMS_OF_SPAN} GROUP BY at`;

interface PointRow extends UsageShare {
  at: Date;
  latency: number[];
}
interface ShareRow extends UsageShare {
  key_id: string | null;
  operation: string | null;
  code: number | null;
}
type StreamRow = { at: Date } & Pick<UsagePoint, "connections" | "subscriptions" | "messages" | "merged">;

const NO_CALLS = { calls: 0, units: 0, errors: 0, latency: [] };
const NO_STREAMS = { connections: 0, subscriptions: 0, messages: 0, merged: 0 };

/** One point per bucket of the period, oldest first. */
export async function usagePoints(pool: Pick<Pool, "query">, accountId: string, span: UsageSpan): Promise<UsagePoint[]> {
  const values = spanValues(accountId, span);
  const [calls, streams] = await Promise.all([pool.query<PointRow>(POINTS, values), pool.query<StreamRow>(STREAMS, values)]);
  const callsAt = new Map(calls.rows.map((row) => [row.at.getTime(), row]));
  const streamsAt = new Map(streams.rows.map(({ at, ...counts }) => [at.getTime(), counts]));
  const points: UsagePoint[] = [];
  for (let atMs = span.fromMs; atMs < span.toMs; atMs += GRAIN_MS[span.grain]) {
    const { calls, units, errors, latency } = callsAt.get(atMs) ?? NO_CALLS;
    const quantiles = { p50_ms: latencyQuantile(latency, 0.5), p95_ms: latencyQuantile(latency, 0.95) };
    points.push({ at: new Date(atMs).toISOString(), calls, units, errors, ...quantiles, ...(streamsAt.get(atMs) ?? NO_STREAMS) });
  }
  return points;
}

/** The usage of an account's keys in a period. */
export async function usageReport(pool: Pick<Pool, "query">, accountId: string, span: UsageSpan): Promise<UsageReport> {
  const [items, { rows }] = await Promise.all([
    usagePoints(pool, accountId, span),
    pool.query<ShareRow>(SHARES, spanValues(accountId, span)),
  ]);
  const keys = rows.flatMap(({ key_id, calls, units, errors }) => (key_id === null ? [] : { key_id, calls, units, errors }));
  const operations = rows.flatMap(({ operation, calls, units, errors }) =>
    operation === null ? [] : { operation, calls, units, errors },
  );
  const codes = rows.flatMap(({ code, calls, units, errors }) => (code === null ? [] : { code, calls, units, errors }));
  return { grain: span.grain, items, by: { keys, operations, codes } };
}
