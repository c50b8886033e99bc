import type { Clock } from "#lib/clock";
import type { ControlChannel, ControlMessage } from "#lib/control/control";
import { createRedisChannel } from "#lib/control/redis-channel";
import type { Database, StartUp } from "#lib/db";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import { createCatalogue } from "#lib/market/catalogue";
import { type ChangeTargets, createChangeFollower } from "./change-follower";
import { openSharedRedis } from "./shared-redis";

/** A database, open for work. */
interface OpenedDatabase {
  readonly db: Database;
  /** Contains the password: never log it. */
  readonly url: string;
  readonly startUp: StartUp;
  release(): Promise<void>;
}

interface StoresOptions {
  readonly env: Env;
  readonly log: Logger;
  readonly clock: Clock;
  /** Opens the database; control messages go through the channel, where there is one. */
  readonly open: (channel: ControlChannel | undefined) => Promise<OpenedDatabase>;
  /** Registers what must be stopped. */
  readonly onStop: (name: string, stop: () => Promise<void> | void) => void;
}

/** Connects Redis and the database, loads the catalogues, and follows changes that other processes make. */
export async function openStores({ env, log, clock, open, onStop }: StoresOptions) {
  const redis = await openSharedRedis(env, log);
  if (redis) onStop("redis", redis.close);
  const { db, url, startUp, release } = await open(redis && createRedisChannel({ redis, prefix: env.REDIS_PREFIX }));
  onStop("database", release);
  // Subscribes before the first read, so that no change in between is lost.
  const beforeLoad: ControlMessage[] = [];
  let onMessage = (message: ControlMessage): unknown => beforeLoad.push(message);
  const control = await db.control.listen((message) => void onMessage(message));
  onStop("control", control.stop);
  const load = () => Promise.all([createCatalogue(db, "live"), createCatalogue(db, "sandbox")]);
  const [live, sandbox] = await startUp.run(load);
  const catalogues = { live, sandbox };
  const changeTargets: ChangeTargets = { catalogues };
  const changes = createChangeFollower(changeTargets, clock, log);
  onStop("changes", changes.stop);
  onMessage = changes.follow;
  for (const message of beforeLoad) await changes.follow(message);
  return { redis, db, url, startUp, catalogues, changeTargets, controlConnected: control.connected };
}
