import type { Env } from "#lib/env";

/** Fewer than this, and a transaction that needs a second connection would wait for itself. */
const SHARE_MIN_COUNT = 2;
const PORTAL_SHARE = 0.3;

/** Divides DATABASE_POOL_SIZE between the two processes of a node; each has at least two connections. */
export function poolShares(env: Pick<Env, "DATABASE_POOL_SIZE" | "PORTAL" | "ROLE">): { market: number; portal: number } {
  const all = env.DATABASE_POOL_SIZE;
  if (!hasPortal(env)) return { market: all, portal: 0 };
  const portal = Math.max(SHARE_MIN_COUNT, Math.floor(all * PORTAL_SHARE));
  return { market: Math.max(SHARE_MIN_COUNT, all - portal), portal };
}

/** True for a node that serves pages. */
export function hasPortal({ PORTAL, ROLE }: Pick<Env, "PORTAL" | "ROLE">): boolean {
  return PORTAL === "on" && ROLE !== "ingest";
}
