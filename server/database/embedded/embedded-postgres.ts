import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import type { Logger } from "#lib/log";
import { requireWritable } from "../unwritable";
import { findBinaries } from "./binaries";
import { clearRemains, ensureCluster, type Paths, pathsOf, readPostmaster, SUPERUSER } from "./cluster";
import { lockHolder, refuseCopy, takeLock } from "./lock";
import { findRunner, type Runner } from "./runner";

/** Recovery after a crash replays at most max_wal_size, which takes minutes on a slow disk. */
const START_MAX_MS = 300_000;
/** After this time a fast shutdown becomes an immediate one; the next start recovers. */
const STOP_MAX_MS = 8_000;
/** Time for a starting instance of another process to publish its connection details. */
const NEIGHBOUR_MAX_MS = 60_000;
const START_ATTEMPTS_COUNT = 20;
const POLL_MS = 25;
const LOG_MAX_BYTES = 10_000_000;
const LOG_TAIL_CHARACTERS = 1_500;
const DATABASE = "spotwire";

/** Messages in PostgreSQL's log that justify another try: the port is taken, or a killed server has not released it yet. */
const PASSING = /could not bind|could not create any TCP\/IP sockets|is still in use/;

/** Settings for a small shared machine; commits are durable. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  shared_buffers: "256MB",
  effective_cache_size: "1GB",
  work_mem: "16MB",
  maintenance_work_mem: "64MB",
  max_wal_size: "2GB",
  wal_level: "minimal",
  max_wal_senders: "0",
  random_page_cost: "1.1",
  max_parallel_workers_per_gather: "0",
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  log_line_prefix: "%m [%p] ",
};

/** A running embedded database. */
interface EmbeddedPostgres {
  /** Contains the password: never log it. */
  readonly url: string;
  /** Resolves when the server has ended, requested or not. */
  readonly ended: Promise<void>;
  /** Stops it cleanly and releases the directory; safe to call twice. */
  stop(): Promise<void>;
}

interface Options {
  dataDir: string;
  log: Logger;
  /** Additional PostgreSQL settings. */
  settings?: Readonly<Record<string, string>>;
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

async function logTail(paths: Paths, from: number): Promise<string> {
  const text = await readFile(paths.log).catch(() => Buffer.alloc(0));
  return text.subarray(from).toString("utf8").slice(-LOG_TAIL_CHARACTERS).trim();
}

/**
 * Starts the server in a separate session: Ctrl-C in a terminal signals the whole process group, and the database must
 * outlive the drain of this process. It logs to a file, because a pipe would break if this process is killed.
 */
function launch(paths: Paths, runner: Runner, postgres: string, settings: Readonly<Record<string, string>>) {
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const { file, args, options } = runner.command(postgres, ["-D", paths.cluster, ...flags]);
  const log = openSync(paths.log, "a", 0o600);
  try {
    const child = spawn(file, args, { ...options, detached: true, stdio: ["ignore", log, log] });
    const ended = new Promise<void>((resolve) => {
      child.once("error", () => resolve());
      child.once("exit", () => resolve());
    });
    return { child, ended };
  } finally {
    closeSync(log);
  }
}

/** Waits until the server accepts connections; false when it ended instead. */
async function becomesReady(paths: Paths, child: ChildProcess): Promise<boolean> {
  for (let waited = 0; waited < START_MAX_MS; waited += POLL_MS) {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return false;
    const postmaster = await readPostmaster(paths);
    if (postmaster?.pid === child.pid && postmaster.ready) return true;
    await delay(POLL_MS);
  }
  child.kill("SIGQUIT");
  return false;
}

/** Starts the server on a free port; retries after temporary failures. */
async function startServer(paths: Paths, runner: Runner, postgres: string, settings: Readonly<Record<string, string>>) {
  const size = (await stat(paths.log).catch(() => undefined))?.size ?? 0;
  if (size > LOG_MAX_BYTES) await rename(paths.log, `${paths.log}.1`);
  for (let attempt = 1; ; attempt += 1) {
    const from = (await stat(paths.log).catch(() => undefined))?.size ?? 0;
    const port = await freePort();
    const { child, ended } = launch(paths, runner, postgres, { ...SETTINGS, ...settings, port: String(port) });
    if (await becomesReady(paths, child)) return { child, ended, port };
    await ended;
    const words = await logTail(paths, from);
    if (attempt >= START_ATTEMPTS_COUNT || !PASSING.test(words))
      throw new Error(`The embedded PostgreSQL did not start (its log is ${paths.log}): ${words || "the log is empty"}`);
    await delay(500);
  }
}

/**
 * Shuts the server down when this process dies without doing so: a shell that waits for the end of a pipe that only this
 * process holds open. It runs as the server's user, who may signal the server.
 */
function watch(runner: Runner, pid: number): () => void {
  const { file, args, options } = runner.command("/bin/sh", ["-c", 'read -r _; kill -INT "$1"', "watchdog", String(pid)]);
  const watchdog = spawn(file, args, { ...options, detached: true, stdio: ["pipe", "ignore", "ignore"] });
  watchdog.on("error", () => undefined);
  watchdog.unref();
  (watchdog.stdin as unknown as { unref?: () => void })?.unref?.();
  return () => watchdog.kill("SIGKILL");
}

async function ensureDatabase(url: string): Promise<void> {
  const client = new Client({ connectionString: url.replace(/\/[^/]*$/, "/postgres") });
  await client.connect();
  try {
    const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = $1", [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  } finally {
    await client.end();
  }
}

async function stopServer(child: ChildProcess, ended: Promise<void>, log: Logger): Promise<void> {
  child.ref();
  child.kill("SIGINT");
  const timer = setTimeout(() => {
    log.warn("the embedded database is slow to stop; it will recover at its next start");
    child.kill("SIGQUIT");
  }, STOP_MAX_MS);
  await ended;
  clearTimeout(timer);
}

/**
 * Starts PostgreSQL in `dataDir`, creating the cluster the first time. Stops a server that a killed process left running there
 * first. The server ends with this process, even if it is killed.
 * @throws DataDirInUseError when a running process uses the directory; Error for a copy of such a directory; Error with PostgreSQL's message when it does not start.
 */
export async function startEmbeddedPostgres({ dataDir, log, settings = {} }: Options): Promise<EmbeddedPostgres> {
  await requireWritable(dataDir, "DATA_DIR");
  const paths = pathsOf(await realpath(dataDir));
  const taken = await takeLock(paths.lock);
  if ("holder" in taken) {
    await refuseCopy(taken.holder, paths.lock);
    throw new DataDirInUseError(
      `The data directory ${paths.dataDir} is in use by process ${taken.holder.pid}. Stop that process first, or set another DATA_DIR.`,
    );
  }
  try {
    // A killed process leaves this file behind, with a port that is no longer valid.
    await rm(paths.connection, { force: true });
    const binaries = await findBinaries();
    const runner = await findRunner(paths.dataDir, paths.cluster, binaries);
    const password = await ensureCluster(paths, runner, binaries);
    await clearRemains(paths, log);
    const { child, ended, port } = await startServer(paths, runner, binaries.postgres, settings);
    const release = watch(runner, child.pid ?? 0);
    child.unref();
    const url = `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/${DATABASE}`;
    let stopping: Promise<void> | undefined;
    const stop = () => {
      stopping ??= (async () => {
        await rm(paths.connection, { force: true });
        await stopServer(child, ended, log);
        release();
        await taken.lock.release();
      })();
      return stopping;
    };
    void ended.then(() => {
      release();
      if (stopping === undefined) log.error({ log: paths.log }, "the embedded database stopped unexpectedly");
    });
    try {
      await ensureDatabase(url);
      await writeFile(paths.connection, JSON.stringify({ url }), { mode: 0o600 });
    } catch (error) {
      await stop();
      throw error;
    }
    return { url, ended, stop };
  } catch (error) {
    await taken.lock.release();
    throw error;
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
    await refuseCopy(holder, paths.lock);
    const text = await readFile(paths.connection, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw new Error(`The running service's ${paths.connection} cannot be read: run this command as the user of the service.`);
    });
    if (text !== undefined && text !== "") return (JSON.parse(text) as { url: string }).url;
    await delay(POLL_MS);
  }
  throw new Error(`The process that uses ${paths.dataDir} does not start its database.`);
}
