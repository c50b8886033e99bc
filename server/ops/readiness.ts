import { VENUES, type Venue } from "#lib/contract/primitives";
import { type Database, promptQuery } from "#lib/db";
import type { Redis } from "#lib/redis";
import type { Readiness } from "#lib/runtime";
import type { RunningMarket } from "#server/market";

interface ReadinessOptions {
  db: Pick<Database, "pool">;
  redis: Redis | undefined;
  markets: Readonly<Record<Venue, RunningMarket>>;
  draining: boolean;
  /** Absent where this process serves clients itself. */
  workers?: { running(): number; readonly count: number };
}

/**
 * The checks of /api/ready. A single node is not ready while its database or a feed is down. In a cluster each node keeps
 * serving what it has while a shared dependency is unavailable: taking out every node would turn a partial outage into a
 * full one. So does a node of which some edge workers are starting.
 */
export async function readiness({ db, redis, markets, draining, workers }: ReadinessOptions): Promise<Readiness> {
  const store = await db.pool.query(promptQuery({ text: "SELECT 1" })).then(
    () => null,
    () => "the database does not answer",
  );
  const feeds = VENUES.map((venue): [string, string | null] => [`feed_${venue}`, markets[venue].feedProblem()]);
  const sharing = redis && { redis: redis.connected() ? null : "Redis does not answer" };
  const needed = { process: draining ? "draining" : null, store, ...sharing, ...Object.fromEntries(feeds) };
  const healthy = Object.values(needed).every((check) => check === null);
  const serving = (healthy || (redis !== undefined && !draining)) && workers?.running() !== 0;
  if (workers === undefined) return { checks: needed, serving };
  const lacking = workers.count - workers.running();
  return { checks: { ...needed, workers: lacking === 0 ? null : `${lacking} of ${workers.count} are starting` }, serving };
}
