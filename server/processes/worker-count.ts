import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { type Env, POOL_SHARE_MIN_COUNT, poolMinCount, WORKERS_MAX_COUNT } from "#lib/env";
import { hasPortal } from "./pool-shares";

/** The processor time that a container may use, as "200000 100000" for two cores or "max 100000"; cgroup v2. */
const QUOTA_FILE = "/sys/fs/cgroup/cpu.max";

/** The cores of a quota; infinite without one. */
export function coresOfQuota(text: string): number {
  const [quota, period] = text.trim().split(" ").map(Number);
  return quota !== undefined && period !== undefined && quota > 0 && period > 0 ? quota / period : Number.POSITIVE_INFINITY;
}

/** The cores that this process may use, whole ones at least. */
export function availableCores(quotaFile = QUOTA_FILE): number {
  let quota = Number.POSITIVE_INFINITY;
  try {
    quota = coresOfQuota(readFileSync(quotaFile, "utf8"));
  } catch {
    // No container, or another kind of system.
  }
  return Math.max(1, Math.min(availableParallelism(), Math.floor(quota)));
}

type WorkersEnv = Pick<Env, "WORKERS" | "REDIS_URL" | "NODE_ENV" | "PORTAL" | "ROLE" | "DATABASE_POOL_SIZE">;

/**
 * How many edge workers a node starts; 1 stands for none: the market process serves clients itself. `auto` keeps to that on one
 * or two cores, in development, where pages are compiled, and in an installation of several nodes.
 */
export function workerCount(env: WorkersEnv, cores: number): number {
  if (env.WORKERS !== "auto") return env.WORKERS;
  if (env.REDIS_URL !== undefined || env.NODE_ENV === "development") return 1;
  const left = cores - 1 - (hasPortal(env) ? 1 : 0);
  const pool = env.DATABASE_POOL_SIZE ?? Number.POSITIVE_INFINITY;
  const connected = Math.floor((pool - poolMinCount(env, 0)) / POOL_SHARE_MIN_COUNT);
  return cores <= 2 ? 1 : Math.max(1, Math.min(left, connected, WORKERS_MAX_COUNT));
}
