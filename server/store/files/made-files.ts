import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { LRUCache } from "lru-cache";
import type { Clock } from "#lib/clock";
import { Fault } from "#lib/fault";
import type { Logger } from "#lib/log";
import type { ReadableBytes } from "#lib/market/file-source";
import { createQueue } from "#lib/queue";
import { HOUR_MS, MIB_BYTES, SECOND_MS } from "#lib/units";

/** All that is kept: three months of minutes and a week of ticks of the sandbox take 420 MB, as Parquet and as CSV. */
const KEPT_MAX_BYTES = 512 * MIB_BYTES;
/** What is known of files without asking the disk. */
const KNOWN_MAX_COUNT = 10_000;
/** Files that may wait while another is made. Whoever waits for the same file waits once. */
const WAITING_MAX_COUNT = 32;
const BUSY_RETRY_AFTER_S = 2;
const LOST_RETRY_AFTER_S = 1;
const UNUSABLE_RETRY_AFTER_S = 60;
/** What a killed process did not finish. */
const UNFINISHED_MAX_MS = HOUR_MS;
const UNFINISHED = ".part";
const NAME = /^(?<key>[\w-]+)\.(?<rows>\d+)\.(?<sha256>[0-9a-f]{64})$/;

/** A file that was made. */
export interface MadeFile extends ReadableBytes {
  readonly rows: number;
  readonly sha256: string;
}

/** What making a file results in. */
export interface Made {
  readonly rows: number;
  readonly bytes: Uint8Array;
}

/** Files that are made when they are asked for, kept on disk within a bound: those that were not asked for the longest go first. */
export interface MadeFiles {
  /**
   * The file of a key, made unless it is kept. One is made at a time, and each once, however many ask for it.
   * @param key letters, digits, _ and -: everything that the bytes depend on
   * @throws what `make` throws; Fault service_unavailable when too many wait, or when nothing can be kept
   */
  find(key: string, make: () => Promise<Made>): Promise<MadeFile>;
}

interface Options {
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly keptMaxBytes?: number;
}

const sha256Of = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const isAbsent = (error: unknown) => (error as NodeJS.ErrnoException).code === "ENOENT";

/** Keeps made files in a folder, which several processes may share. */
export function createMadeFiles({ folder, clock, log, keptMaxBytes = KEPT_MAX_BYTES }: Options): MadeFiles {
  /** By key; what is known here was found undamaged by this process. */
  const known = new LRUCache<string, MadeFile & { readonly place: string }>({ max: KNOWN_MAX_COUNT });
  const making = new Map<string, Promise<MadeFile>>();
  const queued = createQueue({
    runningMaxCount: 1,
    waitingMaxCount: WAITING_MAX_COUNT,
    refusal: () =>
      new Fault("service_unavailable", { detail: "Too many files are being made.", retry_after: BUSY_RETRY_AFTER_S }),
  });

  function note(key: string, rows: number, sha256: string, size: number): MadeFile {
    const place = path.join(folder, `${key}.${rows}.${sha256}`);
    async function read(from: number, to: number): Promise<Uint8Array> {
      try {
        const handle = await open(place);
        const { buffer, bytesRead } = await handle
          .read(Buffer.allocUnsafe(to - from), 0, to - from, from)
          .finally(() => handle.close());
        return buffer.subarray(0, bytesRead);
      } catch (error) {
        if (!isAbsent(error)) throw error;
        // Others were asked for since, and took its place.
        throw new Fault("service_unavailable", { detail: "The file has to be made again.", retry_after: LOST_RETRY_AFTER_S });
      }
    }
    const file = { rows, sha256, size, read, place };
    known.set(key, file);
    return file;
  }

  /** A file that this process made before, if it is still kept. */
  async function recall(key: string): Promise<MadeFile | undefined> {
    const file = known.get(key);
    if (file === undefined) return undefined;
    const nowS = clock.now() / SECOND_MS;
    try {
      await utimes(file.place, nowS, nowS);
      return file;
    } catch (error) {
      if (!isAbsent(error)) throw error;
      known.delete(key);
      return undefined;
    }
  }

  /** A file that another process left, if it is undamaged. */
  async function inherit(key: string): Promise<MadeFile | undefined> {
    for (const name of await readdir(folder)) {
      const groups = NAME.exec(name)?.groups;
      if (groups?.key !== key) continue;
      const { rows, sha256 = "" } = groups;
      const bytes = await readFile(path.join(folder, name));
      if (sha256Of(bytes) === sha256) return note(key, Number(rows), sha256, bytes.length);
      log.warn({ file: name }, "a made file was damaged and is made again");
      await rm(path.join(folder, name), { force: true });
    }
    return undefined;
  }

  /** Deletes what was not asked for the longest, until the rest is within the bound. */
  async function sweep(): Promise<void> {
    const found: { readonly place: string; readonly usedMs: number; readonly size: number; readonly isOver: boolean }[] = [];
    for (const name of await readdir(folder)) {
      const place = path.join(folder, name);
      const facts = await stat(place).catch(() => undefined);
      if (facts === undefined) continue;
      const { mtimeMs: usedMs, size } = facts;
      found.push({ place, usedMs, size, isOver: name.endsWith(UNFINISHED) && usedMs < clock.now() - UNFINISHED_MAX_MS });
    }
    let kept = 0;
    for (const { place, size, isOver } of found.sort((a, b) => b.usedMs - a.usedMs)) {
      kept += size;
      if (isOver || kept > keptMaxBytes) await rm(place, { force: true });
    }
  }

  async function keep(key: string, { rows, bytes }: Made): Promise<MadeFile> {
    const sha256 = sha256Of(bytes);
    const unfinished = path.join(folder, `${randomUUID()}${UNFINISHED}`);
    try {
      await writeFile(unfinished, bytes);
      const place = path.join(folder, `${key}.${rows}.${sha256}`);
      await rename(unfinished, place);
      const nowS = clock.now() / SECOND_MS;
      await utimes(place, nowS, nowS);
    } finally {
      await rm(unfinished, { force: true });
    }
    await sweep();
    return note(key, rows, sha256, bytes.length);
  }

  /** @throws Fault service_unavailable where the folder cannot be used */
  async function onDisk<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      await mkdir(folder, { recursive: true });
      return await work();
    } catch (error) {
      log.error({ err: error, folder }, "made files cannot be kept");
      const detail = "Files cannot be made on this node at the moment.";
      throw new Fault("service_unavailable", { detail, retry_after: UNUSABLE_RETRY_AFTER_S });
    }
  }

  async function findOrMake(key: string, make: () => Promise<Made>): Promise<MadeFile> {
    const left = await onDisk(() => inherit(key));
    if (left !== undefined) return left;
    const made = await make();
    return onDisk(() => keep(key, made));
  }

  return {
    async find(key, make) {
      const file = (await making.get(key)) ?? (await recall(key));
      if (file !== undefined) return file;
      const running = making.get(key) ?? queued(() => findOrMake(key, make)).finally(() => making.delete(key));
      making.set(key, running);
      return running;
    },
  };
}
