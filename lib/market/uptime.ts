import type { Pool } from "pg";
import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import {
  INCIDENT_JOIN_MINUTES,
  INCIDENT_MIN_MINUTES,
  INCIDENTS_MAX_COUNT,
  type Incident,
  type IncidentPart,
  UPTIME_DAYS,
  type UptimeDays,
  type UptimeReport,
} from "#lib/contract/uptime";
import type { Database } from "#lib/db";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { listNotes } from "./incident-notes";

/** Samples of ninety days are read for it: everybody within this time shares one reading. */
const DAYS_FRESH_MS = 5 * MINUTE_MS;
const INCIDENTS_FRESH_MS = MINUTE_MS;
/** A note that was just written shows at once. */
const NOTES_FRESH_MS = 2 * SECOND_MS;

interface DayRow {
  readonly day: number;
  readonly venue: string;
  readonly minutes: number;
  readonly rest: number;
  readonly stream: number;
  readonly fed: number;
  readonly idle: number;
}

const DAYS = `
  SELECT floor((extract(epoch FROM at) * 1000 - $1::float8) / ${DAY_MS})::int AS day, venue, count(*)::int AS minutes,
         count(*) FILTER (WHERE rest)::int AS rest, count(*) FILTER (WHERE stream)::int AS stream,
         count(*) FILTER (WHERE fresh = expected AND expected > 0)::int AS fed,
         count(*) FILTER (WHERE expected = 0)::int AS idle
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
  const feed = (venue: Venue) => of(venue, { ...unseen, idle: 0 }, ({ minutes, fed, idle }) => ({ minutes, well: fed, idle }));
  // The endpoints are the same for both venues.
  return {
    from_ms: fromMs,
    rest: of("sandbox", unseen, ({ minutes, rest }) => ({ minutes, well: rest })),
    stream: of("sandbox", unseen, ({ minutes, stream }) => ({ minutes, well: stream })),
    feeds: { live: feed("live"), sandbox: feed("sandbox") },
  };
}

// A feed fails when fewer than half of the instruments it should deliver are fresh: a single quiet one is no incident. A service
// that does not run records nothing, so a hole between two samples is one as well.
const INCIDENTS = `
  WITH sample AS (
    SELECT at, venue, rest, stream, expected > 0 AND fresh * 2 < expected AS behind,
           lag(at) OVER (PARTITION BY venue ORDER BY at) AS before
      FROM health_sample WHERE at BETWEEN $1 AND $2),
  bad AS (
    SELECT 'rest' AS part, at FROM sample WHERE venue = 'sandbox' AND NOT rest
    UNION ALL SELECT 'stream', at FROM sample WHERE venue = 'sandbox' AND NOT stream
    UNION ALL SELECT venue, at FROM sample WHERE behind),
  marked AS (
    SELECT part, at, (at - lag(at) OVER (PARTITION BY part ORDER BY at) > $3::interval)::int AS first FROM bad),
  numbered AS (SELECT part, at, sum(first) OVER (PARTITION BY part ORDER BY at) AS number FROM marked)
  SELECT part, min(at) AS since, max(at) + interval '1 minute' AS until
    FROM numbered GROUP BY part, coalesce(number, 0) HAVING count(*) >= $4
  UNION ALL
  SELECT 'service', before + interval '1 minute', at FROM sample WHERE venue = 'sandbox' AND at - before > $3::interval
   ORDER BY since DESC, part LIMIT $5`;

/** Times in which a part failed. @throws pg's error */
async function readIncidents(pool: Pick<Pool, "query">, nowMs: number): Promise<Incident[]> {
  const from = new Date(nowMs - UPTIME_DAYS * DAY_MS);
  const join = `${INCIDENT_JOIN_MINUTES} minutes`;
  const values = [from, new Date(nowMs), join, INCIDENT_MIN_MINUTES, INCIDENTS_MAX_COUNT];
  const { rows } = await pool.query<{ part: IncidentPart; since: Date; until: Date }>(INCIDENTS, values);
  return rows.map(({ part, since, until }) => {
    // A part that failed in the latest minutes still does, as far as anybody knows.
    const lasts = part !== "service" && nowMs - until.getTime() < 2 * MINUTE_MS;
    return { part, from_ms: since.getTime(), until_ms: lasts ? null : until.getTime() };
  });
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
  const incidents = kept(clock, INCIDENTS_FRESH_MS, (nowMs) => readIncidents(db.pool, nowMs));
  const notes = kept(clock, NOTES_FRESH_MS, () => listNotes(db));
  return async () => {
    const [known, failed, said] = await Promise.all([days(), incidents(), notes()]);
    return { days: known, incidents: failed, notes: said };
  };
}
