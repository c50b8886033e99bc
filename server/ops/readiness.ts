import type { Clock } from "#lib/clock";
import { VENUES, type Venue } from "#lib/contract/primitives";
import { venueStates } from "#lib/market/status";
import { startRepeating } from "#lib/repeat";
import type { Readiness } from "#lib/runtime";
import { serviceState } from "#lib/service-state";
import { SECOND_MS } from "#lib/units";
import { withTimeout } from "#lib/with-timeout";
import type { RunningMarket } from "#server/market/market";
import { promptQuery } from "#server/store/database/connection";
import type { Database } from "#server/store/database/db";
import type { Redis } from "#server/store/database/redis";
import type { DiskWatch } from "./disk-watch";
import type { PlaceWatch } from "./history-watch";

/** Pause between two looks at the database. */
const LOOK_INTERVAL_MS = SECOND_MS;
/** A database that takes longer does not answer. */
const ANSWER_MAX_MS = 2 * SECOND_MS;

const feedCheck = (venue: Venue) => `feed_${venue}`;

interface ReadinessOptions {
  readonly db: Pick<Database, "pool">;
  readonly redis: Redis | undefined;
  readonly markets: Readonly<Record<Venue, RunningMarket>>;
  readonly disk: Pick<DiskWatch, "problem">;
  readonly history: Pick<PlaceWatch, "problem">;
  readonly draining: () => boolean;
  /** Undefined where this process serves clients itself, and as long as the workers have not started. */
  readonly workers?: () => { running(): number; readonly count: number } | undefined;
  readonly clock: Clock;
}

/** The checks of /api/ready, looked at in the background. */
interface ReadinessWatch {
  /** What was found last. It waits for nothing: load balancers give up on a node whose answer takes long. */
  read(): Readiness;
  stop(): Promise<void>;
}

/** Looks once a second whether the database answers. The node has just used it when this starts. */
function watchStore({ db, clock }: Pick<ReadinessOptions, "db" | "clock">) {
  let found: { readonly problem: string | null; readonly atMs: number } = { problem: null, atMs: clock.now() };
  const find = (problem: string | null) => {
    found = { problem, atMs: clock.now() };
  };
  const { stop } = startRepeating({ clock, pause: LOOK_INTERVAL_MS, atOnce: true }, async (stopping) => {
    const asked = db.pool.query(promptQuery({ text: "SELECT 1" }));
    await withTimeout(asked, ANSWER_MAX_MS, clock, stopping).then(
      () => find(null),
      () => find("the database does not answer"),
    );
    // The next look waits for this one: a database that hangs holds one connection for it, not one more each second.
    if (!stopping.aborted) await asked.catch(() => undefined);
  });
  return { found: () => found, stop };
}

/**
 * Starts the checks of /api/ready. A node leaves the load balancer while it drains, while none of its edge workers serves, and,
 * if it is the only one, while a feed of open markets is down. It stays while the database, the place of history or Redis does not answer or a disk is full: it still
 * answers from what it has, and the others have lost the same.
 */
export function startReadiness({
  db,
  redis,
  markets,
  disk,
  history,
  draining,
  workers: started,
  clock,
}: ReadinessOptions): ReadinessWatch {
  const store = watchStore({ db, clock });
  return {
    read() {
      const { problem, atMs } = store.found();
      const leaves = draining();
      const workers = started?.();
      const lacking = workers === undefined ? 0 : workers.count - workers.running();
      const nowMs = clock.now();
      const away = { live: markets.live.away(), sandbox: markets.sandbox.away() };
      const parts = {
        process: leaves ? "draining" : null,
        store: problem,
        disk: disk.problem(),
        history: history.problem(),
        ...(redis && { redis: redis.problem() }),
        // Events that do not arrive are missed at any hour.
        ...Object.fromEntries(VENUES.flatMap((venue) => (away[venue] === null ? [] : [[feedCheck(venue), away[venue]]]))),
        ...(workers && { workers: lacking === 0 ? null : `${lacking} of ${workers.count} are starting` }),
      };
      const venues = VENUES.map((venue) => ({ ...venueStates(markets[venue], nowMs), problem: markets[venue].feedProblem() }));
      const state = serviceState({ atMs: nowMs, parts, venues });
      const found = state.checks.map(({ name, impact, problems }): [string, string | null] => {
        return [name, impact === null || impact === "warning" ? null : problems.join("; ")];
      });
      const checks = Object.fromEntries(found);
      const idle = Object.fromEntries(
        state.checks.flatMap(({ name, idle: reason }) => (reason === null ? [] : [[name, reason]])),
      );
      const fed = redis !== undefined || VENUES.every((venue) => checks[feedCheck(venue)] === null);
      return { checks, idle, serving: fed && !leaves && workers?.running() !== 0, ageMs: nowMs - atMs };
    },
    stop: store.stop,
  };
}
