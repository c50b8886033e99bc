import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat, unlink } from "node:fs/promises";
import path from "node:path";
import type { Clock } from "#lib/clock";
import { placeUrl } from "#lib/env-history";
import { SegmentMissing, SegmentStoreAway } from "#lib/storage-errors";
import { withTimeout } from "#lib/with-timeout";
import { forEachSegment, objectName, segmentOf } from "./object-name";
import { MARK_NAME, markBytes, markIn, type SegmentStore } from "./segment-store";

/** The longest that one file may take: a network disk that lost its server answers never. */
const FILE_MAX_MS = 10_000;
/** Where files are written before they get their names, on the same disk. */
const UNFINISHED = "unfinished";

interface Options {
  readonly folder: string;
  readonly clock: Clock;
  readonly fileMaxMs?: number;
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

/** The result, or undefined where there is no such file. */
async function ifThere<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Makes the names in a directory survive a power failure. */
async function keepNames(folder: string): Promise<void> {
  const handle = await open(folder);
  await handle.sync().finally(() => handle.close());
}

/** Makes a directory, but not those above it: a disk that is not mounted must not be replaced by an empty directory. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return;
    throw error;
  }
  await keepNames(path.dirname(folder));
}

async function writeWhole(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, "wx", 0o640);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function readPart(handle: FileHandle, from: number, to: number): Promise<Uint8Array> {
  const length = Math.max(0, Math.min(to, (await handle.stat()).size) - from);
  const part = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(part, filled, length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return part.subarray(0, filled);
}

/** Segments as files of a directory, which every node of an installation has to see. They stay when a transaction is rolled back. */
export function createDirectoryStore({ folder, clock, fileMaxMs = FILE_MAX_MS }: Options): SegmentStore {
  const pathOf = (id: string) => path.join(folder, objectName(id));
  const missing = (id: string) => new SegmentMissing(`segment ${id} is not in ${folder}`);
  const markFile = path.join(folder, MARK_NAME);
  /** The directory had a mark: without it, another one is in its place. */
  let isMarked = false;

  /** @throws SegmentStoreAway for every failure that is not SegmentMissing */
  async function within<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await withTimeout(work, fileMaxMs, clock);
    } catch (error) {
      if (error instanceof SegmentMissing) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new SegmentStoreAway(`The directory of stored klines ${folder} cannot be used: ${reason}.`, { cause: error });
    }
  }

  /** @throws Error where the directory is gone, or an empty one is there in its place because its disk is not mounted */
  async function requireFolder(): Promise<void> {
    await stat(folder);
    if (isMarked && (await ifThere(stat(markFile))) === undefined)
      throw new Error(`its file ${MARK_NAME} is gone, as when its disk is not mounted`);
  }

  /** What a file has. Where the directory itself is gone, nothing can be said of one. */
  async function found<Result>(id: string, work: Promise<Result>): Promise<Result> {
    const result = await ifThere(work);
    if (result !== undefined) return result;
    await requireFolder();
    throw missing(id);
  }

  async function write(file: string, bytes: Uint8Array): Promise<void> {
    await requireFolder();
    const unfinished = path.join(folder, UNFINISHED, `${path.basename(file, ".parquet")}.${randomUUID()}`);
    // Not with its parents: a disk that is not mounted must not be replaced by an empty directory.
    await makeFolder(path.dirname(unfinished));
    await makeFolder(path.dirname(file));
    try {
      await writeWhole(unfinished, bytes);
      await rename(unfinished, file);
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => undefined);
      throw error;
    }
    await keepNames(path.dirname(file));
  }

  async function readMark(): Promise<string | null> {
    await stat(folder);
    const bytes = await ifThere(readFile(markFile));
    if (bytes === undefined) return null;
    isMarked = true;
    return markIn(bytes);
  }

  const isOld = async (file: string, beforeMs: number) => ((await ifThere(stat(file)))?.mtimeMs ?? beforeMs) < beforeMs;

  /** Deletes what killed processes did not finish: it is no segment. */
  async function removeUnfinished(beforeMs: number): Promise<void> {
    const unfinished = path.join(folder, UNFINISHED);
    for (const name of (await ifThere(readdir(unfinished))) ?? []) {
      const file = path.join(unfinished, name);
      if (await isOld(file, beforeMs)) await rm(file, { force: true });
    }
  }

  return {
    marked: {
      url: placeUrl({ kind: "directory", folder }),
      readMark: () => within(readMark()),
      async writeMark(mark) {
        await within(write(markFile, markBytes(mark)));
        isMarked = true;
      },
    },
    put: (_client, id, bytes) => within(write(pathOf(id), bytes)),
    async get(_client, ids) {
      const contents = new Map<string, Uint8Array>();
      await forEachSegment(ids, async (id) => {
        contents.set(id, await within(found(id, readFile(pathOf(id)))));
      });
      return contents;
    },
    async sizes(_client, ids) {
      const sizes = new Map<string, number>();
      await forEachSegment(ids, async (id) => {
        sizes.set(id, (await within(found(id, stat(pathOf(id))))).size);
      });
      return sizes;
    },
    range: (_client, id, from, to) =>
      within(
        found(
          id,
          open(pathOf(id)).then((handle) => readPart(handle, from, to).finally(() => handle.close())),
        ),
      ),
    async list(_client, { beforeMs, after, limit }) {
      if (after === "") await within(removeUnfinished(beforeMs));
      const listed: string[] = [];
      for (const part of (await within(readdir(folder))).sort()) {
        if (!/^[0-9a-f]{2}$/.test(part) || part < after.slice(0, 2)) continue;
        for (const name of (await within(readdir(path.join(folder, part)))).sort()) {
          const id = segmentOf(`${part}/${name}`);
          if (id === undefined || id <= after || !(await within(isOld(pathOf(id), beforeMs)))) continue;
          if (listed.push(id) === limit) return listed;
        }
      }
      return listed;
    },
    async drop(_client, ids, beforeMs) {
      await forEachSegment(ids, async (id) => {
        if (await within(isOld(pathOf(id), beforeMs))) await within(ifThere(unlink(pathOf(id))));
      });
    },
  };
}
