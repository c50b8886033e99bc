import type { Pool } from "pg";
import type { Venue } from "#lib/contract/primitives";
import {
  HEALTH_BUCKET_S,
  HEALTH_HISTORY_S,
  type HealthBucket,
  type HealthHistory,
  type ServiceStatus,
} from "#lib/contract/service-status";
import { FEED_COUNTS, type FeedCounts, feedBucket, UNFED } from "./sample-state";

const BUCKET_MS = HEALTH_BUCKET_S * 1_000;
const BUCKETS_COUNT = HEALTH_HISTORY_S / HEALTH_BUCKET_S;
/** How long a sample counts as current: one missed sample is harmless, but after three minutes nobody is sampling. */
const CHECKED_MAX_AGE_MS = 180_000;

interface Row extends FeedCounts {
  readonly bucket: number;
  readonly venue: string;
  readonly minutes: number;
  readonly rest: number;
  readonly stream: number;
  readonly lag_ms: number | null;
}

const READ = `
  SELECT floor((extract(epoch FROM at) * 1000 - $1::float8) / $2::float8)::int AS bucket, venue, count(*)::int AS minutes,
         count(*) FILTER (WHERE rest)::int AS rest, count(*) FILTER (WHERE stream)::int AS stream,
         ${FEED_COUNTS},
         max(lag_ms) FILTER (WHERE expected > 0)::float8 AS lag_ms
    FROM health_sample WHERE at BETWEEN $3 AND $4 GROUP BY 1, 2`;
const LATEST = "SELECT at, rest, stream FROM health_sample WHERE at BETWEEN $1 AND $2 ORDER BY at DESC LIMIT 1";
const INCIDENTS = "SELECT count(*)::int AS count, max(updated_at) AS updated_at FROM incident_note";

/** Fills the gaps between rows with empty buckets. */
function spread<Bucket>(rows: readonly Row[], empty: Bucket, bucketOf: (row: Row) => Bucket): Bucket[] {
  const known = new Map(rows.map((row) => [row.bucket, bucketOf(row)]));
  return Array.from({ length: BUCKETS_COUNT }, (_, index) => known.get(index) ?? empty);
}

const UNSEEN: HealthBucket = { minutes: 0, well: 0 };

/**
 * Recorded health: the last 24 hours in buckets of 15 minutes, the latest sample, null when it is older than three minutes, and
 * whether there are other incidents than before. Ignores samples in the future, which a clock that ran ahead has written. @throws pg's error
 */
export async function readHealth(
  pool: Pick<Pool, "query">,
  nowMs: number,
): Promise<{ history: HealthHistory } & Pick<ServiceStatus, "checked" | "incidents">> {
  const fromMs = nowMs - (nowMs % BUCKET_MS) - (BUCKETS_COUNT - 1) * BUCKET_MS;
  const now = new Date(nowMs);
  const { rows } = await pool.query<Row>(READ, [fromMs, BUCKET_MS, new Date(fromMs), now]);
  const of = (venue: Venue) => rows.filter((row) => row.venue === venue);
  const feedOf = (venue: Venue) =>
    spread(of(venue), { ...UNFED, lag_ms: null }, (row) => ({ ...feedBucket(row), lag_ms: row.lag_ms }));
  // The endpoints are the same for both venues.
  const doors = of("sandbox");
  const latest = await pool.query<{ at: Date; rest: boolean; stream: boolean }>(LATEST, [
    new Date(nowMs - CHECKED_MAX_AGE_MS),
    now,
  ]);
  const [last] = latest.rows;
  const incidents = await pool.query<{ count: number; updated_at: Date | null }>(INCIDENTS);
  const { count = 0, updated_at = null } = incidents.rows[0] ?? {};
  return {
    incidents: { count, updated_at: updated_at?.toISOString() ?? null },
    checked: last === undefined ? null : { at_ms: last.at.getTime(), rest: last.rest, stream: last.stream },
    history: {
      from_ms: fromMs,
      bucket_ms: BUCKET_MS,
      rest: spread(doors, UNSEEN, ({ minutes, rest }) => ({ minutes, well: rest })),
      stream: spread(doors, UNSEEN, ({ minutes, stream }) => ({ minutes, well: stream })),
      feeds: { live: feedOf("live"), sandbox: feedOf("sandbox") },
    },
  };
}
