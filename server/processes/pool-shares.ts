import { type Env, POOL_COUNT, POOL_SHARE_MIN_COUNT } from "#lib/env";

const PORTAL_SHARE = 0.3;
/** Of all edge workers together. */
const WORKERS_SHARE = 0.5;

type PoolEnv = Pick<Env, "PORTAL" | "ROLE" | "DATABASE_POOL_SIZE">;

/** The connections of each process of a node. */
interface PoolShares {
  readonly market: number;
  readonly portal: number;
  /** Of each edge worker; 0 without any. */
  readonly worker: number;
}

/**
 * Divides DATABASE_POOL_SIZE between the processes of a node; each has at least two connections.
 * @param workers edge workers; 1 where the market process serves clients itself
 */
export function poolShares(env: PoolEnv, workers = 1): PoolShares {
  const count = workers > 1 ? workers : 0;
  const all = env.DATABASE_POOL_SIZE ?? POOL_COUNT + POOL_SHARE_MIN_COUNT * count;
  const worker = count === 0 ? 0 : Math.max(POOL_SHARE_MIN_COUNT, Math.floor((all * WORKERS_SHARE) / count) - 1);
  const left = all - count * worker;
  if (!hasPortal(env)) return { market: left, portal: 0, worker };
  const portal = Math.max(POOL_SHARE_MIN_COUNT, Math.floor(left * PORTAL_SHARE));
  return { market: Math.max(POOL_SHARE_MIN_COUNT, left - portal), portal, worker };
}

/** True for a node that serves pages. */
export function hasPortal({ PORTAL, ROLE }: Pick<Env, "PORTAL" | "ROLE">): boolean {
  return PORTAL === "on" && ROLE !== "ingest";
}
