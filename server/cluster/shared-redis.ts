import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import type { Redis } from "#lib/redis";

/** Connects Redis where it is configured; only then is its client loaded. */
export async function openSharedRedis({ REDIS_URL, REDIS_CA_FILE, REDIS_PREFIX }: Env, log: Logger): Promise<Redis | undefined> {
  if (REDIS_URL === undefined) return undefined;
  const { openRedis } = await import("#lib/redis");
  return openRedis({ url: REDIS_URL, caFile: REDIS_CA_FILE, prefix: REDIS_PREFIX, log });
}
