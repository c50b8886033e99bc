import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { borrowDatabase } from "#server/database/database";
import { readEnv } from "#server/env";
import type { Database } from "#server/store/database/db";
import { type Contestant, startChild } from "./child";
import { type BenchKeys, benchKeys } from "./keys";

/** What `npm start` runs; the command `npm run bench` builds it first. */
export const BUILT_SERVER = ".next/spotwire/main.mjs";

/** The running product, and keys without effective limits. */
export interface Spotwire extends Contestant, BenchKeys {
  /** Works on its database. */
  withDatabase<Result>(work: (db: Database) => Promise<Result>): Promise<Result>;
}

/**
 * Starts the product as `npm start` does, with its own database unless `env` names one, and without pages unless it asks for them.
 * @param prepare fills the database before the first request
 */
export async function startSpotwire(
  env: Readonly<Record<string, string>> = {},
  prepare?: (db: Database) => Promise<void>,
): Promise<Spotwire> {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const settings = { PORT: "0", HOST: "127.0.0.1", DATA_DIR: path.join(folder, "data"), PORTAL: "off", ...env };
  const child = await startChild(BUILT_SERVER, settings);
  const stop = async () => {
    await child.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  const withDatabase: Spotwire["withDatabase"] = async (work) => {
    const { db, release } = await borrowDatabase(readEnv({ ...settings, LOG_LEVEL: "error" }), createLog("error"), systemClock);
    return work(db).finally(release);
  };
  try {
    const keys = await withDatabase(async (db) => {
      await prepare?.(db);
      return benchKeys(db);
    });
    return { ...child, ...keys, stop, withDatabase };
  } catch (error) {
    await stop();
    throw error;
  }
}
