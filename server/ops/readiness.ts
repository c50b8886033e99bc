import type { Clock } from "#lib/clock";
import { VENUES, type Venue } from "#lib/contract/primitives";
import { type Database, promptQuery } from "#lib/db";
import type { Redis } from "#lib/redis";
import { startRepeating } from "#lib/repeat";
import type { Readiness } from "#lib/runtime";
import { SECOND_MS } from "#lib/units";
import { withTimeout } from "#lib/with-timeout";
import type { RunningMarket } from "#server/market";
import type { DiskWatch } from "./disk-watch";

/** Pause between two looks at the database. */
const LOOK_INTERVAL_MS = SECOND_MS;
/** A database that takes longer does not answer. */
const ANSWER_MAX_MS = 2 * SECOND_MS;

interface ReadinessOptions {
  readonly db: Pick<Database, "pool">;
  readonly redis: Redis | undefined;
  readonly markets: Readonly<Record<Venue, RunningMarket>>;
  readonly disk: Pick<DiskWatch, "problem">;
  readonly draining: () => boolean;
  /** Absent where this process serves clients itself. */
  readonly workers?: { running(): number; readonly count: number } | undefined;
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
 * if it is the only one, while a feed is down. It stays while the database or Redis does not answer or a disk is full: it still
 * answers from what it has, and the others have lost the same.
 */
export function startReadiness({ db, redis, markets, disk, draining, workers, clock }: ReadinessOptions): ReadinessWatch {
  const store = watchStore({ db, clock });
  return {
    read() {
      const { problem, atMs } = store.found();
      const feeds = VENUES.map((venue): [string, string | null] => [`feed_${venue}`, markets[venue].feedProblem()]);
      const sharing = redis && { redis: redis.connected() ? null : "Redis does not answer" };
      const leaves = draining();
      const lacking = workers === undefined ? 0 : workers.count - workers.running();
      const checks = {
        process: leaves ? "draining" : null,
        store: problem,
        disk: disk.problem(),
        ...sharing,
        ...Object.fromEntries(feeds),
        ...(workers && { workers: lacking === 0 ? null : `${lacking} of ${workers.count} are starting` }),
      };
      const fed = redis !== undefined || feeds.every(([, wrong]) => wrong === null);
      return { checks, serving: fed && !leaves && workers?.running() !== 0, ageMs: clock.now() - atMs };
    },
    stop: store.stop,
  };
}
