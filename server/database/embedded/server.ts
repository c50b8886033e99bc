import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile, rename, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "#lib/log";
import { memoryShares } from "#lib/memory-shares";
import { memoryBytes } from "#server/env";
import { type Paths, readPostmaster } from "./cluster";
import type { Runner } from "./runner";

/** Recovery after a crash replays at most max_wal_size, which takes minutes on a slow disk. */
const START_MAX_MS = 300_000;
/** After this time a fast shutdown becomes an immediate one; the next start recovers. */
const STOP_MAX_MS = 8_000;
const POLL_MS = 25;
const LOG_MAX_BYTES = 10_000_000;
const LOG_TAIL_CHARACTERS = 1_500;

/** Messages in PostgreSQL's log that justify another try: the port is taken, or a killed server has not released it yet. */
const PASSING = /could not bind|could not create any TCP\/IP sockets|is still in use/;

/** Settings for a small shared machine, beside what it keeps in memory; commits are durable. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
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

/** What a server is started from. */
export interface Launching {
  readonly paths: Paths;
  readonly runner: Runner;
  /** Path of the program `postgres`. */
  readonly postgres: string;
  /** PostgreSQL settings on top of those of every embedded server. */
  readonly settings: Readonly<Record<string, string>>;
}

/** One run of the server. */
export interface Run {
  /** Resolves when it has ended, requested or not. */
  readonly ended: Promise<void>;
  /** Shuts it down; resolves when it has ended. */
  stop(log: Logger): Promise<void>;
}

/** A start failed. */
export class StartError extends Error {
  override readonly name = "StartError";
  constructor(
    message: string,
    /** True where another try may succeed at once. */
    readonly passing: boolean,
  ) {
    super(message);
  }
}

async function logTail(paths: Paths, from: number): Promise<string> {
  const text = await readFile(paths.log).catch(() => Buffer.alloc(0));
  return text.subarray(from).toString("utf8").slice(-LOG_TAIL_CHARACTERS).trim();
}

/**
 * Starts the server in a separate session: Ctrl-C in a terminal signals the whole process group, and the database must
 * outlive the drain of this process. It logs to a file, because a pipe would break if this process is killed.
 */
function launch({ paths, runner, postgres, settings }: Launching, port: number) {
  const shared_buffers = `${memoryShares(memoryBytes()).databaseMiB}MB`;
  const flags = Object.entries({ ...SETTINGS, shared_buffers, ...settings, port: String(port) }).flatMap(([name, value]) => [
    "-c",
    `${name}=${value}`,
  ]);
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
async function becomesReady(paths: Paths, child: ChildProcess, stopping: AbortSignal): Promise<boolean> {
  for (let waited = 0; waited < START_MAX_MS && !stopping.aborted; waited += POLL_MS) {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return false;
    const postmaster = await readPostmaster(paths);
    if (postmaster?.pid === child.pid && postmaster.ready) return true;
    await delay(POLL_MS);
  }
  child.kill("SIGQUIT");
  return false;
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
 * Tries once to start the server on this port; resolves when it accepts connections. The server ends with this process, even
 * if it is killed.
 * @param stopping gives the try up when it aborts
 * @throws StartError with the end of PostgreSQL's log
 */
export async function startRun(launching: Launching, port: number, stopping: AbortSignal): Promise<Run> {
  const { paths, runner } = launching;
  const sizeOf = async () => (await stat(paths.log).catch(() => undefined))?.size ?? 0;
  if ((await sizeOf()) > LOG_MAX_BYTES) await rename(paths.log, `${paths.log}.1`);
  const from = await sizeOf();
  const { child, ended } = launch(launching, port);
  if (!(await becomesReady(paths, child, stopping))) {
    await ended;
    const words = await logTail(paths, from);
    throw new StartError(
      `The embedded PostgreSQL did not start (its log is ${paths.log}): ${words || "the log is empty"}`,
      PASSING.test(words),
    );
  }
  const release = watch(runner, child.pid ?? 0);
  // Otherwise the watchdog would later signal a process that has been given the same id.
  void ended.then(release);
  child.unref();
  return { ended, stop: (log) => stopServer(child, ended, log) };
}
