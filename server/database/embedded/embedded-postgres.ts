import { readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "#lib/log";
import { type Backoff, backoffMs } from "#lib/repeat";
import { MINUTE_MS } from "#lib/units";
import { Connection } from "#server/store/database/connection";
import { requireWritable } from "../unwritable";
import { findBinaries } from "./binaries";
import { clearRemains, ensureCluster, pathsOf, refuseCopy, SUPERUSER } from "./cluster";
import { inWordsOfDisk } from "./full-disk";
import { lockHolder, takeLock } from "./lock";
import { findRunner } from "./runner";
import { type Launching, type Run, StartError, startRun } from "./server";

/** Time for a starting instance of another process to publish its connection details. */
const NEIGHBOUR_MAX_MS = 60_000;
const START_ATTEMPTS_COUNT = 20;
const START_PAUSE_MS = 500;
/** Wait before another try to start a server again that ended by itself; the first try is made at once. */
const RESTART: Backoff = { firstMs: 100, longestMs: 10_000 };
/** Ends in a row after which the server is not started again: about half a minute of tries. */
const RESTARTS_MAX_COUNT = 10;
/** An end after so long a run is the first in a row. */
const WELL_AFTER_MS = MINUTE_MS;
const POLL_MS = 25;
const DATABASE = "spotwire";

/** A running embedded database. */
interface EmbeddedPostgres {
  /** Contains the password: never log it. It stays the same over restarts of the server. */
  readonly url: string;
  /** Resolves when the server has ended for good: null after `stop`, else why it could not be started again. */
  readonly ended: Promise<string | null>;
  /** Stops it cleanly and releases the directory; safe to call twice. */
  stop(): Promise<void>;
}

interface Options {
  dataDir: string;
  log: Logger;
  /** Additional PostgreSQL settings. */
  settings?: Readonly<Record<string, string>>;
  /** How often in a row a server that ended by itself is started again; RESTARTS_MAX_COUNT by default. */
  restartsMaxCount?: number;
}

/** Another process uses the data directory. */
export class DataDirInUseError extends Error {
  override readonly name = "DataDirInUseError";
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** Starts the server on a free port; retries after temporary failures. */
async function startFirst(launching: Launching, stopping: AbortSignal): Promise<{ run: Run; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    try {
      return { run: await startRun(launching, port, stopping), port };
    } catch (error) {
      if (attempt >= START_ATTEMPTS_COUNT || !(error instanceof StartError && error.passing)) throw error;
    }
    await delay(START_PAUSE_MS);
  }
}

async function ensureDatabase(url: string): Promise<void> {
  const client = new Connection({ connectionString: url.replace(/\/[^/]*$/, "/postgres") });
  await client.connect();
  try {
    const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = $1", [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  } finally {
    await client.end();
  }
}

interface Keeping {
  readonly launching: Launching;
  /** The same for every run, so that connections that are opened again find it. */
  readonly port: number;
  readonly restartsMaxCount: number;
  readonly stopping: AbortSignal;
  readonly log: Logger;
}

/**
 * Keeps the server running: one that ends by itself is started again on the same port, after what is left of it was ended. A
 * server that hangs is left alone: it may be writing, and it continues where it was when what holds it up is over.
 * @param first the run that serves now
 * @returns `ended` as in EmbeddedPostgres, and the end of the run that serves at that moment
 */
function keepRunning(first: Run, { launching, port, restartsMaxCount, stopping, log }: Keeping) {
  const { paths } = launching;
  let current = first;
  let failures = 0;

  /** Tries until the server runs; the reason when the tries are used up. */
  async function startAgain(): Promise<string | null> {
    let reason = "it ended by itself";
    for (;;) {
      failures += 1;
      if (failures > restartsMaxCount) return reason;
      if (failures > 1) await delay(backoffMs(RESTART, failures - 2), undefined, { signal: stopping }).catch(() => undefined);
      if (stopping.aborted) return null;
      try {
        await clearRemains(paths, log);
        current = await startRun(launching, port, stopping);
        return null;
      } catch (error) {
        const { message } = await inWordsOfDisk(paths.dataDir, error);
        reason = message;
        log.warn({ reason, failures }, "the embedded database does not start; trying again");
      }
    }
  }

  async function keep(): Promise<string | null> {
    for (;;) {
      const begunMs = performance.now();
      await current.ended;
      if (stopping.aborted) return null;
      const endedMs = performance.now();
      if (endedMs - begunMs >= WELL_AFTER_MS) failures = 0;
      log.error({ log: paths.log }, "the embedded database ended by itself; starting it again");
      const reason = await startAgain();
      if (reason !== null) return reason;
      if (stopping.aborted) return null;
      log.info({ after_ms: Math.round(performance.now() - endedMs) }, "the embedded database runs again");
    }
  }
  return { ended: keep(), stop: () => current.stop(log) };
}

/** The directory, held by this process, with a running server in it. */
async function startHeld(options: Options, dataDir: string, release: () => Promise<void>): Promise<EmbeddedPostgres> {
  const { log, settings = {}, restartsMaxCount = RESTARTS_MAX_COUNT } = options;
  const paths = pathsOf(dataDir);
  // A killed process leaves this file behind, with a port that is no longer valid.
  await rm(paths.connection, { force: true });
  const binaries = await findBinaries();
  const runner = await findRunner(paths.dataDir, paths.cluster, binaries);
  const password = await ensureCluster(paths, runner, binaries);
  await clearRemains(paths, log);
  const ending = new AbortController();
  const launching = { paths, runner, postgres: binaries.postgres, settings };
  const { run, port } = await startFirst(launching, ending.signal);
  const kept = keepRunning(run, { launching, port, restartsMaxCount, stopping: ending.signal, log });
  const url = `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/${DATABASE}`;
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= (async () => {
      ending.abort();
      await rm(paths.connection, { force: true });
      await kept.stop();
      await kept.ended;
      await release();
    })();
    return stopped;
  };
  try {
    await ensureDatabase(url);
    await writeFile(paths.connection, JSON.stringify({ url }), { mode: 0o600 });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, ended: kept.ended, stop };
}

/**
 * Starts PostgreSQL in `dataDir`, creating the cluster the first time. Stops a server that a killed process left running there
 * first. The server ends with this process, even if it is killed, and is started again when it ends by itself.
 * @throws DataDirInUseError when a running process uses the directory; Error for a copy of such a directory, or that says that the disk is full, or with
 * PostgreSQL's message when it does not start.
 */
export async function startEmbeddedPostgres(options: Options): Promise<EmbeddedPostgres> {
  try {
    await requireWritable(options.dataDir, "DATA_DIR");
    const dataDir = await realpath(options.dataDir);
    const taken = await takeLock(pathsOf(dataDir).lock);
    if ("holder" in taken) {
      await refuseCopy(taken.holder, pathsOf(dataDir));
      throw new DataDirInUseError(
        `The data directory ${dataDir} is in use by process ${taken.holder.pid}. Stop that process first, or set another DATA_DIR.`,
      );
    }
    try {
      return await startHeld(options, dataDir, taken.lock.release);
    } catch (error) {
      await taken.lock.release();
      throw error;
    }
  } catch (error) {
    throw await inWordsOfDisk(options.dataDir, error);
  }
}

/**
 * Address of the database that another process runs in `dataDir`; undefined when there is none. Waits for a process that
 * is still starting.
 * @throws Error for a copy of a directory whose database runs
 */
export async function findEmbeddedPostgres(dataDir: string): Promise<string | undefined> {
  const paths = pathsOf(await realpath(dataDir).catch(() => dataDir));
  for (let waited = 0; waited < NEIGHBOUR_MAX_MS; waited += POLL_MS) {
    const holder = await lockHolder(paths.lock);
    if (holder === null) return undefined;
    await refuseCopy(holder, paths);
    const text = await readFile(paths.connection, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw new Error(`The running service's ${paths.connection} cannot be read: run this command as the user of the service.`);
    });
    if (text !== undefined && text !== "") return (JSON.parse(text) as { url: string }).url;
    await delay(POLL_MS);
  }
  throw new Error(`The process that uses ${paths.dataDir} does not start its database.`);
}
