import type { Pool } from "pg";
import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { Logger } from "#lib/log";
import { repeat } from "#lib/repeat";

/** How often the holder says that it is there. */
const BEAT_INTERVAL_MS = 1_000;
/** How often others look; a lease that was given back is taken this soon. */
const LOOK_INTERVAL_MS = 100;
/** A lease whose beat stood still for this long, seen by one who could read it all the while, is free. */
const FREE_AFTER_MS = 3_000;
/** A holder that reaches nobody for this long gives the lease back when another node says that it would. */
const UNABLE_MAX_MS = 5_000;
/** A look that took longer proves nothing about the time before it. */
const LOOK_MAX_MS = 1_000;
/** A recording begins anew when nobody held the lease for this long. */
const ORIGIN_KEPT_S = 60;

/** The right to make a venue's events. */
export interface Lease {
  /** Higher than that of every holder before; stores refuse what comes with a lower one than they know. */
  readonly token: number;
  /** When the holders of this lease began, one after the other without a pause (Unix ms). */
  readonly originMs: number;
  /** Aborts when another holds it. */
  readonly lost: AbortSignal;
  /** Gives it up at once: somebody was told that another holds it. */
  readonly giveUp: () => void;
}

interface LeaseOptions {
  pool: Pick<Pool, "query">;
  venue: Venue;
  /** Shown to operators. */
  holder: string;
  /** False while what this node would publish reaches nobody; others go first then. */
  able?: () => boolean;
  clock: Clock;
  log: Logger;
  /** Milliseconds that never jump, whatever the wall clock does. */
  elapsed?: () => number;
}

interface LeaseRow {
  token: string;
  beat: string;
  holder: string | null;
}

const LOOK = "SELECT token, beat, holder FROM venue_lease WHERE venue = $1";
/** The same, saying that a node stands by that would reach the others. */
const STAND_BY = "UPDATE venue_lease SET standby_at = clock_timestamp() WHERE venue = $1 RETURNING token, beat, holder";
const MAKE = "INSERT INTO venue_lease (venue, token, beat) VALUES ($1, 0, 0) ON CONFLICT DO NOTHING";
/** Compare and set: of two that saw the lease free, one gets it. What it said as a candidate counts no more. */
const TAKE = `
  UPDATE venue_lease
     SET token = token + 1, holder = $4, beat = beat + 1,
         origin = CASE WHEN beaten_at > clock_timestamp() - interval '${ORIGIN_KEPT_S} seconds' THEN origin ELSE $5 END,
         beaten_at = clock_timestamp(),
         standby_at = '-infinity'
   WHERE venue = $1 AND token = $2 AND beat = $3
  RETURNING token, origin`;
const BEAT = `
  UPDATE venue_lease SET beat = beat + 1, beaten_at = clock_timestamp() WHERE venue = $1 AND token = $2
  RETURNING standby_at > clock_timestamp() - interval '2 seconds' AS relieved`;
const GIVE_BACK = "UPDATE venue_lease SET holder = NULL, beat = beat + 1 WHERE venue = $1 AND token = $2";

/**
 * Competes for a venue's lease until the signal aborts, and calls `hold` whenever it has it: `hold` runs until `lost` or the
 * signal aborts and ends what it began; then the lease is given back, so that another takes it at once.
 *
 * A holder that is cut off from the others alone gives the lease back to one that is not.
 *
 * No clock is compared with another: a lease is free when one and the same beat was read for three seconds. While the database
 * is away nobody can take it, and its holder goes on: what it publishes is still ordered by its token.
 */
export async function competeForLease(
  { pool, venue, holder, able = () => true, clock, log, elapsed = () => performance.now() }: LeaseOptions,
  signal: AbortSignal,
  hold: (lease: Lease) => Promise<void>,
): Promise<void> {
  let seen: { key: string; sinceMs: number } | undefined;

  /** The lease as it is read, when it may be taken. */
  async function lookForFree(): Promise<LeaseRow | undefined> {
    const askedMs = elapsed();
    const mayLead = able();
    const { rows } = await pool.query<LeaseRow>(mayLead ? STAND_BY : LOOK, [venue]);
    const [row] = rows;
    if (row === undefined) {
      await pool.query(MAKE, [venue]);
      return undefined;
    }
    const nowMs = elapsed();
    const key = `${row.token} ${row.beat}`;
    if (seen?.key !== key || nowMs - askedMs > LOOK_MAX_MS) seen = { key, sinceMs: nowMs };
    return (mayLead && row.holder === null) || nowMs - seen.sinceMs >= FREE_AFTER_MS ? row : undefined;
  }

  async function beat(token: number, lost: AbortController, over: AbortSignal): Promise<void> {
    let ableMs = elapsed();
    const onError = (error: unknown, failures: number) => {
      if (failures === 1) log.warn({ err: error, venue }, "cannot renew the lease; keeping it until another node takes it");
    };
    await repeat({ clock, signal: over, pause: BEAT_INTERVAL_MS, onError }, async () => {
      if (able()) ableMs = elapsed();
      const { rows } = await pool.query<{ relieved: boolean }>(BEAT, [venue, token]);
      const [held] = rows;
      if (held === undefined || (held.relieved && elapsed() - ableMs >= UNABLE_MAX_MS)) lost.abort();
    });
  }

  async function holdOnce({ token: before, beat: beatBefore }: LeaseRow): Promise<void> {
    const { rows } = await pool.query<{ token: string; origin: string }>(TAKE, [venue, before, beatBefore, holder, clock.now()]);
    const [taken] = rows;
    if (taken === undefined) return;
    const token = Number(taken.token);
    const lost = new AbortController();
    const ended = new AbortController();
    const beating = beat(token, lost, AbortSignal.any([lost.signal, ended.signal]));
    log.info({ venue, token }, "this node holds the lease and produces the venue's events");
    try {
      await hold({ token, originMs: Number(taken.origin), lost: lost.signal, giveUp: () => lost.abort() });
    } finally {
      ended.abort();
      await beating;
      await pool.query(GIVE_BACK, [venue, token]).catch(() => undefined);
      log.info({ venue, token, lost: lost.signal.aborted }, "this node no longer holds the lease");
    }
  }

  const onError = (error: unknown, failures: number) => {
    // What was not read for a while says nothing about that while.
    seen = undefined;
    if (failures === 1) log.warn({ err: error, venue }, "cannot read or take the lease; trying again");
  };
  await repeat({ clock, signal, pause: LOOK_INTERVAL_MS, atOnce: true, onError }, async (healthy) => {
    const free = await lookForFree();
    healthy();
    if (free !== undefined && !signal.aborted) await holdOnce(free);
  });
}
