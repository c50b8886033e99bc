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
}

/**
 * The checks of /api/ready. A single node is not ready while its database or a feed is down. In a cluster each node keeps
 * serving what it has while a shared dependency is unavailable: taking out every node would turn a partial outage into a
 * full one.
 */
export async function readiness({ db, redis, markets, draining }: ReadinessOptions): Promise<Readiness> {
  const store = await db.pool.query(promptQuery({ text: "SELECT 1" })).then(
    () => null,
    () => "the database does not answer",
  );
  const feeds = VENUES.map((venue): [string, string | null] => [`feed_${venue}`, markets[venue].feedProblem()]);
  const sharing = redis && { redis: redis.connected() ? null : "Redis does not answer" };
  const checks = { process: draining ? "draining" : null, store, ...sharing, ...Object.fromEntries(feeds) };
  const healthy = Object.values(checks).every((check) => check === null);
  return { checks, serving: healthy || (redis !== undefined && !draining) };
}
