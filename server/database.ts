import type { Clock } from "#lib/clock";
import { type Database, openDatabase } from "#lib/db";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import { migrate } from "#prisma/migrate";
import { seed } from "#prisma/seed";
import { DataDirInUseError, findEmbeddedPostgres, startEmbeddedPostgres } from "./embedded-postgres";

type DatabaseEnv = Pick<Env, "DATABASE_URL" | "DATA_DIR" | "DATABASE_POOL_SIZE" | "DATABASE_WAIT_S">;

interface Source {
  readonly url: string;
  /** Stops what was started for it. */
  stop(): Promise<void>;
}

/** A database ready for work. */
export interface AcquiredDatabase {
  readonly db: Database;
  /** Closes the connections and stops what was started for them. */
  release(): Promise<void>;
}

const nothingToStop = async (): Promise<void> => undefined;

async function open({ url, stop }: Source, env: DatabaseEnv, log: Logger, clock: Clock): Promise<AcquiredDatabase> {
  try {
    const db = await openDatabase({
      url,
      poolSize: env.DATABASE_POOL_SIZE,
      waitS: env.DATABASE_WAIT_S,
      clock,
      log,
    });
    try {
      const applied = await migrate(url);
      if (applied.length > 0) log.info({ migrations: applied }, "database migrated");
      await seed(db);
    } catch (error) {
      await db.close();
      throw error;
    }
    return {
      db,
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
 * The service's database, migrated and seeded: DATABASE_URL, else an embedded PostgreSQL in DATA_DIR that ends with it.
 * @throws DatabaseError when DATABASE_URL cannot be reached in time; DataDirInUseError when another process has
 * DATA_DIR; Error when the embedded one does not start or a migration fails.
 */
export async function acquireDatabase(env: DatabaseEnv, log: Logger, clock: Clock): Promise<AcquiredDatabase> {
  if (env.DATABASE_URL !== undefined) return open({ url: env.DATABASE_URL, stop: nothingToStop }, env, log, clock);
  return open(await startEmbeddedPostgres({ dataDir: env.DATA_DIR, log }), env, log, clock);
}

/** The running instance of another process, or one started for the occasion. */
async function findOrStart(dataDir: string, log: Logger): Promise<Source> {
  const running = await findEmbeddedPostgres(dataDir);
  if (running !== undefined) return { url: running, stop: nothingToStop };
  try {
    return await startEmbeddedPostgres({ dataDir, log });
  } catch (error) {
    // Another process took the directory between the look and the start.
    const started = error instanceof DataDirInUseError ? await findEmbeddedPostgres(dataDir) : undefined;
    if (started === undefined) throw error;
    return { url: started, stop: nothingToStop };
  }
}

/**
 * The same for commands: beside a running service they use its embedded database, else they start it and `release`
 * stops it again. Errors as for `acquireDatabase`.
 */
export async function borrowDatabase(env: DatabaseEnv, log: Logger, clock: Clock): Promise<AcquiredDatabase> {
  if (env.DATABASE_URL !== undefined) return acquireDatabase(env, log, clock);
  return open(await findOrStart(env.DATA_DIR, log), env, log, clock);
}
