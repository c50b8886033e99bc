import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, readlink, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "#lib/log";
import type { Binaries } from "./binaries";
import { directoryOf, type Holder, processStart } from "./lock";
import type { Runner } from "./runner";

/** An orphan that its watchdog is stopping gets this long before it is signalled again. */
const ORPHAN_LEAVES_MS = 3_000;
/** A fast shutdown writes a checkpoint, which takes a while on a slow disk. */
const ORPHAN_STOPS_MS = 60_000;
/** Processes of a killed server that are busy with a query get this long before they are killed, and then as long again. */
const LEFT_ENDS_MS = 500;
const POLL_MS = 50;

export const SUPERUSER = "spotwire";

/** Files of one data directory. */
export interface Paths {
  readonly dataDir: string;
  /** PostgreSQL's own directory. */
  readonly cluster: string;
  readonly password: string;
  readonly lock: string;
  /** Connection details of the running database, for other processes of the same owner. */
  readonly connection: string;
  readonly log: string;
}

export function pathsOf(dataDir: string): Paths {
  const at = (name: string) => path.join(dataDir, name);
  return {
    dataDir,
    cluster: at("postgres"),
    password: at("postgres.password"),
    lock: at("postgres.lock"),
    connection: at("postgres.json"),
    log: at("postgres.log"),
  };
}

async function runInitdb(paths: Paths, runner: Runner, initdb: string, fresh: string, password: string): Promise<void> {
  const passwordFile = `${fresh}.password`;
  await writeFile(passwordFile, password, { mode: 0o600 });
  await runner.own(passwordFile);
  const { file, args, options } = runner.command(initdb, [
    `--pgdata=${fresh}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
  ]);
  try {
    await new Promise<void>((resolve, reject) => {
      const child = spawn(file, args, { ...options, stdio: ["ignore", "ignore", "pipe"] });
      let words = "";
      child.stderr?.on("data", (chunk) => {
        words += chunk;
      });
      child.on("error", reject);
      child.on("close", (code) =>
        code === 0
          ? resolve()
          : reject(
              new Error(
                `The embedded PostgreSQL could not be set up in ${paths.dataDir}: ${words.trim() || `initdb ended with ${code}`}`,
              ),
            ),
      );
    });
  } finally {
    await rm(passwordFile, { force: true });
  }
}

/**
 * Creates the cluster if it does not exist, and returns its password. It is created under another name and renamed when it is
 * complete, so that an interrupted first start leaves no incomplete cluster.
 * @throws Error when another major version created the cluster, or its password file is missing.
 */
export async function ensureCluster(paths: Paths, runner: Runner, binaries: Binaries): Promise<string> {
  const made = await readFile(path.join(paths.cluster, "PG_VERSION"), "utf8").catch(() => undefined);
  const kept = await readFile(paths.password, "utf8").catch(() => undefined);
  if (made !== undefined) {
    const major = runner.version.split(".")[0];
    if (made.trim() !== major)
      throw new Error(
        `The data in ${paths.cluster} was created by PostgreSQL ${made.trim()}, but this release contains ${major}. Dump it with the release that created it and restore it into an empty DATA_DIR.`,
      );
    if (kept === undefined)
      throw new Error(`The password file of the embedded PostgreSQL is missing or unreadable: ${paths.password}.`);
    return kept;
  }
  const password = randomBytes(24).toString("base64url");
  const fresh = `${paths.cluster}.new`;
  await rm(fresh, { recursive: true, force: true });
  await mkdir(fresh, { mode: 0o700 });
  await runner.own(fresh);
  await runInitdb(paths, runner, binaries.initdb, fresh, password);
  await writeFile(paths.password, password, { mode: 0o600 });
  await rename(fresh, paths.cluster);
  return password;
}

/** The contents of PostgreSQL's postmaster.pid. */
export async function readPostmaster(paths: Paths): Promise<{ pid: number; ready: boolean } | undefined> {
  const text = await readFile(path.join(paths.cluster, "postmaster.pid"), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const lines = text.split("\n");
  return { pid: Number(lines[0]), ready: lines[7]?.trim() === "ready" };
}

/** True when the process is a PostgreSQL running in this directory, not another process with a reused id. */
async function worksIn(pid: number, cluster: string): Promise<boolean> {
  if ((await processStart(pid)) === null) return false;
  if (!existsSync("/proc/self/cwd")) return true;
  return (await readlink(`/proc/${pid}/cwd`).catch(() => "")) === cluster;
}

/**
 * Refuses a directory that was copied while its holder runs: the holder's database is that of the original, and files that
 * were copied while a database wrote to them do not fit together.
 * @throws Error that says what to do
 */
export async function refuseCopy(holder: Holder, paths: Paths): Promise<void> {
  if (holder.directory === (await directoryOf(paths.lock))) return;
  const server = (await readPostmaster(paths))?.pid;
  const running = await readlink(`/proc/${server}/cwd`).catch(() => "");
  const original = path.basename(running) === path.basename(paths.cluster) ? path.dirname(running) : "another";
  throw new Error(
    `The data directory ${paths.dataDir} is a copy of ${original}, which process ${holder.pid} is using, and was made while the database was running. Nothing was changed, here or there. To begin without these data, delete ${paths.dataDir}. For a copy that can be used, stop that process and copy the directory again, or restore a backup (npm run backup there, npm run restore here) into an empty DATA_DIR.`,
  );
}

async function gone(pid: number, cluster: string, withinMs: number): Promise<boolean> {
  const attempts = Math.ceil(withinMs / POLL_MS);
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (!(await worksIn(pid, cluster))) return true;
    await delay(POLL_MS);
  }
  return false;
}

/** The processes of PostgreSQL that work in this directory. Empty where the operating system does not tell. */
async function workersIn(cluster: string): Promise<number[]> {
  const names = await readdir("/proc").catch(() => []);
  const pids = names.map(Number).filter((pid) => Number.isInteger(pid) && pid > 0);
  const found = await Promise.all(
    pids.map(async (pid) => {
      if ((await readlink(`/proc/${pid}/cwd`).catch(() => "")) !== cluster) return false;
      // Not the shell of an operator who looks into the directory.
      return path.basename(await readlink(`/proc/${pid}/exe`).catch(() => "")) === "postgres";
    }),
  );
  return pids.filter((_, index) => found[index]);
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
}

/**
 * Ends the processes that a killed server left. Most end by themselves; one that is busy with a query does not, and the next
 * server would not start, because both would write to the same files.
 */
async function endLeft(cluster: string): Promise<void> {
  for (const name of ["SIGQUIT", "SIGKILL"] as const) {
    signal(await workersIn(cluster), name);
    for (let waited = 0; waited < LEFT_ENDS_MS; waited += POLL_MS) {
      if ((await workersIn(cluster)).length === 0) return;
      await delay(POLL_MS);
    }
  }
  const left = await workersIn(cluster);
  if (left.length > 0) throw new Error(`Processes of a killed PostgreSQL in ${cluster} do not end: ${left.join(", ")}.`);
}

/**
 * Stops a PostgreSQL that was left running in this directory, or what is left of a killed one; call it only with the lock held.
 * After a crash of the machine another process can have the id in postmaster.pid. The file is removed then, because PostgreSQL
 * would mistake that process for a running server.
 */
export async function clearRemains(paths: Paths, log: Logger): Promise<void> {
  const left = await readPostmaster(paths);
  if (left === undefined || !Number.isInteger(left.pid)) return;
  if (!(await worksIn(left.pid, paths.cluster))) {
    await endLeft(paths.cluster);
    await rm(path.join(paths.cluster, "postmaster.pid"), { force: true });
    return;
  }
  log.info({ pid: left.pid }, "stopping the database that an earlier process left running");
  if (await gone(left.pid, paths.cluster, ORPHAN_LEAVES_MS)) return;
  process.kill(left.pid, "SIGINT");
  if (await gone(left.pid, paths.cluster, ORPHAN_STOPS_MS)) return;
  throw new Error(`The PostgreSQL that an earlier process left running in ${paths.cluster} (process ${left.pid}) does not stop.`);
}
