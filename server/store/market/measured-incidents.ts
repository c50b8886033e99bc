import type { Pool } from "pg";
import type { Venue } from "#lib/contract/primitives";
import {
  INCIDENT_JOIN_MINUTES,
  INCIDENT_MIN_MINUTES,
  INCIDENT_TITLES,
  INCIDENTS_MAX_COUNT,
  type IncidentImpact,
  type IncidentPart,
  UPTIME_DAYS,
} from "#lib/contract/uptime";
import { DAY_MS, MINUTE_MS } from "#lib/units";
import { stateIn } from "./sample-state";

/** Minutes of failures that follow each other. */
interface Run {
  readonly part: IncidentPart;
  readonly since: Date;
  readonly until: Date;
  /** The connection to the provider was lost in one of them. */
  readonly away: boolean;
  /** The database did not answer in one of them. */
  readonly unstored: boolean;
  /** Of a feed: instruments without prices in the worst of them, and those whose market was open. */
  readonly lacking: number | null;
  readonly expected: number | null;
  /** A later minute is known, in which the part did not fail. */
  readonly over: boolean;
}

const WORST = "ORDER BY lacking::float / nullif(expected, 0) DESC NULLS LAST, expected DESC";
// A service that does not run records nothing, so a hole between two samples is an incident as well.
const RUNS = `
  WITH sample AS (
    SELECT at, venue, rest, stream, stored IS FALSE AS unstored, away IS TRUE AS away, expected, fresh, ${stateIn("health_sample")} AS state,
           lag(at) OVER (PARTITION BY venue ORDER BY at) AS before
      FROM health_sample WHERE at BETWEEN $1 AND $2),
  bad AS (
    SELECT 'rest' AS part, at, unstored, false AS away, NULL::int AS lacking, NULL::int AS expected FROM sample WHERE venue = 'sandbox' AND NOT rest
    UNION ALL SELECT 'stream', at, unstored, false, NULL, NULL FROM sample WHERE venue = 'sandbox' AND NOT stream
    UNION ALL SELECT venue, at, false, away, expected - fresh, expected FROM sample WHERE state = 'down'),
  marked AS (
    SELECT *, (at - lag(at) OVER (PARTITION BY part ORDER BY at) > $3::interval)::int AS first FROM bad),
  numbered AS (SELECT *, sum(first) OVER (PARTITION BY part ORDER BY at) AS number FROM marked)
  SELECT part, min(at) AS since, max(at) + interval '1 minute' AS until, bool_or(unstored) AS unstored, bool_or(away) AS away,
         (array_agg(lacking ${WORST}))[1] AS lacking, (array_agg(expected ${WORST}))[1] AS expected,
         max(at) < (SELECT max(at) FROM sample) AS over
    FROM numbered GROUP BY part, coalesce(number, 0) HAVING count(*) >= $4
  UNION ALL
  SELECT 'service', before + interval '1 minute', at, false, false, NULL, NULL, true FROM sample WHERE venue = 'sandbox' AND at - before > $3::interval
   ORDER BY since DESC, part LIMIT $5`;

// A run that was noticed before has grown, perhaps out of the samples that were read: it is known by any minute that both have. What an
// operator wrote stays as it is, and until it ends, what is measured of its part belongs to it.
const SAME = `
  n.part = r.part AND n.measured_from <= r.until AND (n.measured_until >= r.since OR NOT n.automatic AND n.ends_at IS NULL)`;
const NOTE = `
  WITH r AS (
    SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[], $6::text[], $7::text[],
                         $8::text[]) AS r (part, since, until, starts_at, ends_at, title, text, impact)),
  grown AS (
    UPDATE incident_note AS n SET measured_until = greatest(n.measured_until, r.until),
           ends_at = CASE WHEN n.automatic THEN r.ends_at ELSE n.ends_at END,
           text = CASE WHEN n.automatic THEN r.text ELSE n.text END,
           updated_at = CASE WHEN n.automatic AND (n.ends_at, n.text) IS DISTINCT FROM (r.ends_at, r.text) THEN $9 ELSE n.updated_at END
      FROM r WHERE ${SAME} AND (n.measured_until < r.until OR n.automatic AND (n.ends_at, n.text) IS DISTINCT FROM (r.ends_at, r.text)))
  INSERT INTO incident_note (id, title, text, impact, starts_at, ends_at, updated_at, part, measured_from, measured_until, automatic)
  SELECT gen_random_uuid(), r.title, r.text, r.impact, r.starts_at, r.ends_at, $9, r.part, r.since, r.until, true
    FROM r WHERE NOT EXISTS (SELECT FROM incident_note n WHERE ${SAME})
  ON CONFLICT (part, measured_from) DO NOTHING`;
const FORGET = "DELETE FROM incident_note WHERE automatic AND ends_at < $1";

/** Why a part failed, for everybody: what a provider or the database said is for operators. */
function causeOf({ part, away, unstored, lacking, expected }: Run): string {
  switch (part) {
    case "service":
      return "Nothing was recorded: the service did not run, or could not store anything.";
    case "rest":
    case "stream":
      return unstored ? "The database did not respond." : "The service's own calls got no valid response.";
    case "live":
    case "sandbox":
      if (away) return "No connection to the provider while a market was open.";
      return `${lacking === expected && lacking !== 1 ? "All" : `${lacking} of`} ${expected} instruments were without prices while their market was open.`;
  }
}

const impactOf = (part: IncidentPart): IncidentImpact => (part === "live" || part === "sandbox" ? "degraded" : "down");

/**
 * Notes the times in which a part failed as incidents: opens those that are new, and closes those that are over. Every node may do it,
 * and each incident is noted once. @param sinceMs the oldest sample that is read, Unix milliseconds @param quiet since when each venue has
 * had no fresh price, null while it has one: what goes on began then, and not with the first minute that was measured @throws pg's error
 */
export async function noteMeasured(
  pool: Pick<Pool, "query">,
  nowMs: number,
  sinceMs: number,
  quiet: Readonly<Record<Venue, number | null>>,
): Promise<void> {
  const bounds = [new Date(sinceMs), new Date(nowMs), `${INCIDENT_JOIN_MINUTES} minutes`];
  const { rows } = await pool.query<Run>(RUNS, [...bounds, INCIDENT_MIN_MINUTES, INCIDENTS_MAX_COUNT]);
  // A part that failed in the latest minute that is known still does, unless nothing was recorded for longer.
  const endOf = ({ over, until }: Run) => (over || nowMs - until.getTime() >= 2 * MINUTE_MS ? until : null);
  const startOf = (run: Run) => {
    const quietMs = run.part === "live" || run.part === "sandbox" ? quiet[run.part] : null;
    return quietMs === null || endOf(run) !== null ? run.since : new Date(Math.min(quietMs, run.since.getTime()));
  };
  if (rows.length > 0)
    await pool.query(NOTE, [
      rows.map(({ part }) => part),
      rows.map(({ since }) => since),
      rows.map(({ until }) => until),
      rows.map(startOf),
      rows.map(endOf),
      rows.map(({ part }) => INCIDENT_TITLES[part]),
      rows.map(causeOf),
      rows.map(({ part }) => impactOf(part)),
      new Date(nowMs),
    ]);
  await pool.query(FORGET, [new Date(nowMs - UPTIME_DAYS * DAY_MS)]);
}
