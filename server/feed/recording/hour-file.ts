import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { createGzipMember, type GzipMember } from "./gzip-member";
import { HEADER_LINE, isIntact, rewrite } from "./salvage";

/** The end of the name of a file whose hour is not over. */
export const UNFINISHED = ".part";

/** Stores bytes at the end of a file. Tests replace it with a slow or full one. */
export interface Disk {
  /**
   * Stores all of the bytes or none, where that is possible.
   * @throws FileChanged when the file has not the expected size; the error of the file system
   */
  append(file: string, bytes: Buffer, expectedBytes: number): Promise<void>;
}

/** Somebody else wrote to a file, or removed it. */
class FileChanged extends Error {
  override readonly name = "FileChanged";
}

/** Whether the file is no longer the one that was written. */
function isGone(error: unknown): boolean {
  return error instanceof FileChanged || (error as NodeJS.ErrnoException).code === "ENOENT";
}

/** The disk of this machine. */
export const localDisk: Disk = {
  async append(file, bytes, expectedBytes) {
    const handle = await open(file, "a");
    try {
      const { size } = await handle.stat();
      if (size !== expectedBytes) throw new FileChanged(`${file} has ${size} bytes instead of ${expectedBytes}`);
      try {
        await handle.appendFile(bytes);
      } catch (error) {
        // Half a block would make everything after it unreadable. If this fails, too, the next append finds another size.
        await handle.truncate(expectedBytes).catch(() => undefined);
        throw error;
      }
    } finally {
      await handle.close();
    }
  },
};

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
    throw error;
  }
}

/** The recording of one hour of one ticker. Each call returns by how many bytes the disk is fuller. */
export interface HourFile {
  /** Stores rows, also at the end of a file that an earlier process left. */
  append(rows: string): Promise<number>;
  /** Ends what is stored, so that every program can read it; more can be appended later. */
  end(): Promise<number>;
  /** Ends it and gives the file its final name. */
  finish(): Promise<number>;
}

interface Opened {
  size: number;
  member: GzipMember;
}

/** @param file its path without .part */
export function createHourFile(file: string, disk: Disk): HourFile {
  const part = `${file}${UNFINISHED}`;
  let opened: Opened | undefined;
  let grown = 0;

  /** Continues the file that is there. One that a killed process left is cut after its last whole row. */
  async function adopt(): Promise<Opened> {
    await mkdir(path.dirname(file), { recursive: true });
    const [finished, begun] = [await sizeOf(file), await sizeOf(part)];
    let size = finished + begun;
    if (begun === 0 && finished > 0) await rename(file, part);
    else if (begun > 0 && (finished > 0 || !(await isIntact(part)))) {
      await rewrite(finished > 0 ? [file, part] : [part], part);
      await rm(file, { force: true });
      size = await sizeOf(part);
    }
    grown += size - finished - begun;
    return { size, member: createGzipMember() };
  }

  async function store(rows: string): Promise<void> {
    opened ??= await adopt();
    const { member, size } = opened;
    const block = await member.block(Buffer.from(size === 0 ? HEADER_LINE + rows : rows));
    await disk.append(part, block.bytes, size);
    block.stored();
    opened.size += block.bytes.length;
    grown += block.bytes.length;
  }

  async function end(): Promise<void> {
    if (opened === undefined) return;
    const bytes = opened.member.end();
    try {
      if (bytes.length > 0) await disk.append(part, bytes, opened.size);
    } catch (error) {
      if (isGone(error)) opened = undefined;
      throw error;
    }
    opened = { size: opened.size + bytes.length, member: createGzipMember() };
    grown += bytes.length;
  }

  async function measured(work: () => Promise<void>): Promise<number> {
    grown = 0;
    await work();
    return grown;
  }

  return {
    append: (rows) =>
      measured(async () => {
        try {
          await store(rows);
        } catch (error) {
          if (!isGone(error)) throw error;
          opened = undefined;
          await store(rows);
        }
      }),
    end: () => measured(end),
    finish: () =>
      measured(async () => {
        opened ??= await adopt();
        await end();
        if (opened.size > 0) await rename(part, file);
        opened = undefined;
      }),
  };
}
