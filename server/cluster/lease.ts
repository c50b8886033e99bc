import type { Pool } from "pg";
import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { Logger } from "#lib/log";
import { repeat } from "#lib/repeat";

/** How often the holder renews the lease. */
const BEAT_INTERVAL_MS = 1_000;
/** How often other nodes read the lease; a released lease is taken this soon. */
const LOOK_INTERVAL_MS = 100;
/** A lease whose beat has not changed for this long is free, if the reader could read it the whole time. */
const FREE_AFTER_MS = 3_000;
/** A holder cut off from the other nodes for this long releases the lease if another node reports that it can reach them. */
const UNABLE_MAX_MS = 5_000;
/** A read that took longer proves nothing about the time before it. */
const LOOK_MAX_MS = 1_000;
/** A recording restarts when nobody held the lease for this long. */
const ORIGIN_KEPT_S = 60;

/** The right to produce a venue's events. */
export interface Lease {
  /** Higher than the token of every earlier holder; stores reject writes with a lower token than they know. */
  readonly token: number;
  /** Start of the current series of holders without a pause between them (Unix ms). */
  readonly originMs: number;
  /** Aborts when another node holds the lease. */
  readonly lost: AbortSignal;
  /** Gives it up at once: a store reported that another node holds it. */
  readonly giveUp: () => void;
}

interface LeaseOptions {
  pool: Pick<Pool, "query">;
  venue: Venue;
  /** Shown to operators. */
  holder: string;
  /** False while this node cannot reach the others; then they get the lease first. */
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
/** The same, and records that a node stands by that can reach the others. */
const STAND_BY = "UPDATE venue_lease SET standby_at = clock_timestamp() WHERE venue = $1 RETURNING token, beat, holder";
const MAKE = "INSERT INTO venue_lease (venue, token, beat) VALUES ($1, 0, 0) ON CONFLICT DO NOTHING";
/** Compare and set: of two nodes that saw the lease free, one gets it. Clears the standby mark. */
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
 * Competes for a venue's lease until the signal aborts, and calls `hold` whenever it has the lease. `hold` runs until `lost` or
 * the signal aborts and cleans up; then the lease is released, so that another node can take it at once.
 *
 * A holder that alone is cut off from the other nodes releases the lease to one that is not.
 *
 * Clocks are never compared: a lease is free when the same beat was read for three seconds. While the database is unavailable
 * nobody can take the lease and its holder continues: its events are still ordered by its token.
 */
export async function competeForLease(
  { pool, venue, holder, able = () => true, clock, log, elapsed = () => performance.now() }: LeaseOptions,
  signal: AbortSignal,
  hold: (lease: Lease) => Promise<void>,
): Promise<void> {
  let seen: { key: string; sinceMs: number } | undefined;

  /** Reads the lease; returns it when it is free. */
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
    // While reads fail, nothing is known about the beat.
    seen = undefined;
    if (failures === 1) log.warn({ err: error, venue }, "cannot read or take the lease; trying again");
  };
  await repeat({ clock, signal, pause: LOOK_INTERVAL_MS, atOnce: true, onError }, async (healthy) => {
    const free = await lookForFree();
    healthy();
    if (free !== undefined && !signal.aborted) await holdOnce(free);
  });
}
