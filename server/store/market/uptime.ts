import type { Pool } from "pg";
import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import { UPTIME_DAYS, type UptimeDays, type UptimeReport } from "#lib/contract/uptime";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import type { Database } from "#server/store/database/db";
import { listNotes } from "./incident-notes";
import { FEED_COUNTS, type FeedCounts, feedBucket, UNFED } from "./sample-state";

/** Samples of ninety days are read for it: everybody within this time shares one reading. */
const DAYS_FRESH_MS = 5 * MINUTE_MS;
/** A note that was just written shows at once. */
const NOTES_FRESH_MS = 2 * SECOND_MS;

interface DayRow extends FeedCounts {
  readonly day: number;
  readonly venue: string;
  readonly minutes: number;
  readonly rest: number;
  readonly stream: number;
}

const DAYS = `
  SELECT floor((extract(epoch FROM at) * 1000 - $1::float8) / ${DAY_MS})::int AS day, venue, count(*)::int AS minutes,
         count(*) FILTER (WHERE rest)::int AS rest, count(*) FILTER (WHERE stream)::int AS stream,
         ${FEED_COUNTS}
    FROM health_sample WHERE at BETWEEN $2 AND $3 GROUP BY 1, 2`;

/** Uptime of the last ninety days. @throws pg's error */
async function readDays(pool: Pick<Pool, "query">, nowMs: number): Promise<UptimeDays> {
  const fromMs = nowMs - (nowMs % DAY_MS) - (UPTIME_DAYS - 1) * DAY_MS;
  const { rows } = await pool.query<DayRow>(DAYS, [fromMs, new Date(fromMs), new Date(nowMs)]);
  const of = <Bucket>(venue: Venue, empty: Bucket, bucketOf: (row: DayRow) => Bucket) => {
    const known = new Map(rows.filter((row) => row.venue === venue).map((row) => [row.day, bucketOf(row)]));
    return Array.from({ length: UPTIME_DAYS }, (_, day) => known.get(day) ?? empty);
  };
  const unseen = { minutes: 0, well: 0 };
  const feed = (venue: Venue) => of(venue, UNFED, feedBucket);
  // The endpoints are the same for both venues.
  return {
    from_ms: fromMs,
    rest: of("sandbox", unseen, ({ minutes, rest }) => ({ minutes, well: rest })),
    stream: of("sandbox", unseen, ({ minutes, stream }) => ({ minutes, well: stream })),
    feeds: { live: feed("live"), sandbox: feed("sandbox") },
  };
}

interface UptimeSources {
  readonly db: Pick<Database, "pool" | "prisma">;
  readonly clock: Clock;
}

/** Shares what `read` gives for a time; a failure is not kept. */
function kept<Value>(clock: Clock, freshMs: number, read: (nowMs: number) => Promise<Value>): () => Promise<Value> {
  let last: { readonly atMs: number; readonly value: Promise<Value> } | undefined;
  return () => {
    const nowMs = clock.now();
    if (last === undefined || nowMs - last.atMs >= freshMs || nowMs < last.atMs) {
      const made = { atMs: nowMs, value: read(nowMs) };
      last = made;
      made.value.catch(() => {
        if (last === made) last = undefined;
      });
    }
    return last.value;
  };
}

/** Makes the history of the status page. It is public, so its cost does not grow with the number of requests. */
export function createUptime({ db, clock }: UptimeSources): () => Promise<UptimeReport> {
  const days = kept(clock, DAYS_FRESH_MS, (nowMs) => readDays(db.pool, nowMs));
  const notes = kept(clock, NOTES_FRESH_MS, () => listNotes(db));
  return async () => {
    const [known, said] = await Promise.all([days(), notes()]);
    return { days: known, notes: said };
  };
}
