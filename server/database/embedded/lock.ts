import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { link, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Attempts to clear the lock of a dead process; more failures mean that several processes compete for it. */
const TAKEOVER_ATTEMPTS_COUNT = 5;

/** The process that holds a directory. */
export interface Holder {
  readonly pid: number;
  /** Distinguishes it from a later process with the same id. */
  readonly startedAt: string;
  /** Distinguishes the directory from a copy, which has the same files. */
  readonly directory: string;
}

/** A held lock. */
interface Lock {
  /** Releases the directory; safe to call twice. */
  release(): Promise<void>;
}

/** Start time of a process, in the operating system's format; null when there is no such process. */
export async function processStart(pid: number): Promise<string | null> {
  if (existsSync("/proc/self/stat")) {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
    if (stat === null) return null;
    // The name in parentheses may contain spaces, so count the fields after it. State is the 3rd, the start time the 22nd.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? null : (fields[19] ?? null);
  }
  const { stdout } = await run("ps", ["-o", "lstart=", "-p", String(pid)]).catch(() => ({ stdout: "" }));
  return stdout.trim() === "" ? null : stdout.trim();
}

async function readHolder(file: string): Promise<Holder | null> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Holder;
  } catch {
    return null;
  }
}

/** The running holder of a lock file, or null when it is free or its holder is dead. */
export async function lockHolder(file: string): Promise<Holder | null> {
  const holder = await readHolder(file);
  return holder !== null && (await processStart(holder.pid)) === holder.startedAt ? holder : null;
}

/** Device and inode of the directory of a lock file: a copy has others, one that was moved has the same. */
export async function directoryOf(file: string): Promise<string> {
  const { dev, ino } = await stat(path.dirname(file), { bigint: true });
  return `${dev}:${ino}`;
}

/** Removes a dead process's lock; puts it back when a running process took it between the check and the move. */
async function clearDead(file: string, own: string): Promise<void> {
  const aside = `${own}.dead`;
  await rename(file, aside).catch(() => undefined);
  if ((await lockHolder(aside)) !== null) await link(aside, file).catch(() => undefined);
  await rm(aside, { force: true });
}

/**
 * Takes the lock file for this process, or returns its holder. The file appears complete or not at all (a hard link), and the
 * lock of a dead process counts as free.
 */
export async function takeLock(file: string): Promise<{ lock: Lock } | { holder: Holder }> {
  const startedAt = (await processStart(process.pid)) ?? "";
  const own = `${file}.${process.pid}`;
  const holder: Holder = { pid: process.pid, startedAt, directory: await directoryOf(file) };
  await writeFile(own, JSON.stringify(holder), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < TAKEOVER_ATTEMPTS_COUNT; attempt += 1) {
      try {
        await link(own, file);
        return { lock: { release: () => rm(file, { force: true }) } };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      }
      const other = await lockHolder(file);
      if (other !== null) return { holder: other };
      await clearDead(file, own);
    }
    throw new Error(`The lock ${file} could not be taken: several processes are competing for it. Start only one.`);
  } finally {
    await rm(own, { force: true });
  }
}
