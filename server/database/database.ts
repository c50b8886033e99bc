import type { Clock } from "#lib/clock";
import type { ControlChannel } from "#lib/control";
import { type Env, POOL_COUNT } from "#lib/env";
import type { HistoryEnv } from "#lib/env-history";
import type { Logger } from "#lib/log";
import { migrate } from "#prisma/migrate";
import { seed } from "#prisma/seed";
import { createStartUp, type Database, openDatabase, type StartUp } from "#server/store/database/db";
import { createRedisChannel } from "#server/store/database/redis-channel";
import { settleHistoryPlace } from "#server/store/history/place";
import { historyOptions } from "#server/store/segments/open-store";
import { DataDirInUseError, findEmbeddedPostgres, startEmbeddedPostgres } from "./embedded/embedded-postgres";

type DatabaseEnv = Pick<Env, "DATABASE_URL" | "DATA_DIR" | "DATABASE_WAIT_S"> &
  Partial<Pick<Env, "DATABASE_DIRECT_URL" | "DATABASE_POOL_SIZE">> &
  HistoryEnv;
type CommandEnv = DatabaseEnv & Pick<Env, "REDIS_URL" | "REDIS_PREFIX"> & Partial<Pick<Env, "REDIS_CA_FILE">>;

/** A command continues without Redis after this time. */
const REDIS_WAIT_MS = 2_000;
const notNotified = (problem: string) =>
  `WARNING: the change is stored, but running nodes were not notified. ${problem}. Nodes that hear nothing reload keys and ` +
  "accounts within a second, and everything else when they hear again. Other nodes reload keys and accounts within a minute, " +
  "and everything else at the next change.\n";

/** A database server without migrations applied. */
export interface Source {
  /** Contains the password: never log it. */
  readonly url: string;
  /** Resolves when the server of this process has ended for good: null after `stop`, else why. Never for a server of others. */
  readonly ended: Promise<string | null>;
  /** Stops the server if it was started for this process. */
  stop(): Promise<void>;
}

/** A database ready for work. */
interface AcquiredDatabase {
  readonly db: Database;
  /** Contains the password: never log it. */
  readonly url: string;
  readonly ended: Source["ended"];
  /** The rest of DATABASE_WAIT_S, for the other queries of this start. */
  readonly startUp: StartUp;
  /** Closes the connections and stops the server if it was started for this process. */
  release(): Promise<void>;
}

/** A server that other processes run. */
const ofOthers = (url: string): Source => ({ url, ended: new Promise(() => undefined), stop: async () => undefined });

interface Opening {
  readonly env: DatabaseEnv;
  readonly log: Logger;
  readonly clock: Clock;
  readonly channel?: ControlChannel | undefined;
}

async function open({ url, ended, stop }: Source, { env, channel, ...rest }: Opening): Promise<AcquiredDatabase> {
  const { log } = rest;
  try {
    const wait = { url, waitS: env.DATABASE_WAIT_S, ...rest };
    const startUp = createStartUp(wait);
    const directUrl = env.DATABASE_DIRECT_URL ?? url;
    const db = await openDatabase({
      ...wait,
      directUrl,
      startUp,
      poolSize: env.DATABASE_POOL_SIZE ?? POOL_COUNT,
      ...historyOptions(env, rest.clock),
      ...(channel && { channel }),
    });
    try {
      const applied = await startUp.run(() => migrate(directUrl));
      if (applied.length > 0) log.info({ migrations: applied }, "database migrated");
      await startUp.run(() => seed(db));
      await startUp.run(() => settleHistoryPlace(db));
    } catch (error) {
      await db.close();
      throw error;
    }
    return {
      db,
      url,
      ended,
      startUp,
      async release() {
        await db.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * The configured database: DATABASE_URL, else an embedded PostgreSQL in DATA_DIR, which belongs to this process and ends with
 * it.
 * @throws DataDirInUseError when another process uses DATA_DIR; Error when the embedded database does not start.
 */
export async function acquireSource(env: DatabaseEnv, log: Logger): Promise<Source> {
  if (env.DATABASE_URL !== undefined) return ofOthers(env.DATABASE_URL);
  return startEmbeddedPostgres({ dataDir: env.DATA_DIR, log });
}

/**
 * The same for commands that may run beside a service: they use its embedded database, or start it.
 */
export async function borrowSource(env: DatabaseEnv, log: Logger): Promise<Source> {
  if (env.DATABASE_URL !== undefined) return acquireSource(env, log);
  return findOrStart(env.DATA_DIR, log);
}

/**
 * The service's database, migrated and seeded: DATABASE_URL, else an embedded PostgreSQL in DATA_DIR that ends with it.
 * @param channel carries control messages that no transaction sends; the database by default
 * @throws DatabaseError when DATABASE_URL cannot be reached in time; DataDirInUseError when another process uses
 * DATA_DIR; Error when the embedded database does not start or a migration fails.
 */
export async function acquireDatabase(
  env: DatabaseEnv,
  log: Logger,
  clock: Clock,
  channel?: ControlChannel,
): Promise<AcquiredDatabase> {
  return open(await acquireSource(env, log), { env, log, clock, channel });
}

/** The running instance of another process, or one started for this command. */
async function findOrStart(dataDir: string, log: Logger): Promise<Source> {
  const running = await findEmbeddedPostgres(dataDir);
  if (running !== undefined) return ofOthers(running);
  try {
    return await startEmbeddedPostgres({ dataDir, log });
  } catch (error) {
    // Another process took the directory between the check and the start.
    const started = error instanceof DataDirInUseError ? await findEmbeddedPostgres(dataDir) : undefined;
    if (started === undefined) throw error;
    return ofOthers(started);
  }
}

/** The control channel of the running nodes, for a command: Redis if they share one. Redis may be unavailable. */
async function borrowChannel({ REDIS_URL, REDIS_CA_FILE: caFile, REDIS_PREFIX: prefix }: CommandEnv, log: Logger, clock: Clock) {
  if (REDIS_URL === undefined) return { channel: undefined, problem: () => null, close: () => undefined };
  const { openRedis } = await import("#server/store/database/redis");
  const redis = openRedis({ url: REDIS_URL, caFile, prefix, log });
  const tried = new AbortController();
  redis.client.once("error", () => tried.abort());
  redis.onReady(() => tried.abort());
  await clock.wait(REDIS_WAIT_MS, tried.signal);
  return { channel: createRedisChannel(redis), problem: redis.problem, close: redis.close };
}

/**
 * The same for commands: they use the embedded database of a running service, or start it until `release`. Changes are
 * published in Redis if REDIS_URL is set; `release` prints a warning if that failed. Throws the errors of `acquireDatabase`.
 */
export async function borrowDatabase(
  env: CommandEnv,
  log: Logger,
  clock: Clock,
  warn: (line: string) => void = (line) => void process.stderr.write(line),
): Promise<Pick<AcquiredDatabase, "db" | "release">> {
  const source = await borrowSource(env, log);
  const { channel, problem, close } = await borrowChannel(env, log, clock);
  try {
    const { db, release } = await open(source, { env, log, clock, channel });
    return {
      db,
      async release() {
        if (db.control.pending() > 0) warn(notNotified(problem() ?? "Their message could not be sent"));
        await release().finally(close);
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}
