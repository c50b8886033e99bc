import { closeSync, openSync, writeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Parser, type ReadEntry } from "tar";
import { ARCHIVE_ENTRIES_MAX_COUNT } from "./decompress";
import { ImportFailure } from "./failure";

/** Bytes that archives inside archives, and files that are read out of order, may take on disk. */
const UNPACKED_MAX_BYTES = 17_179_869_184;
const FILE_TYPES: ReadonlySet<string> = new Set(["File", "OldFile", "ContiguousFile"]);

/** A file that was unpacked. */
interface Unpacked {
  readonly disk: string;
  readonly sizeBytes: number;
}

/** A file of a tar archive. */
interface Member extends Unpacked {
  /** Its path in the archive. */
  readonly path: string;
}

/** A folder for what has to be unpacked, removed at the end. */
export interface Scratch {
  /** Writes the bytes to a file. */
  write(bytes: AsyncIterable<Buffer>): Promise<Unpacked>;
  /** Writes the files of a tar archive, each to a file of its own. @throws ImportFailure when it cannot be read */
  untar(name: string, bytes: AsyncIterable<Buffer>): Promise<Member[]>;
  close(): Promise<void>;
}

/** @throws ImportFailure for an entry that is not a file of the archive */
function checkEntry(name: string, { path: entry, type }: ReadEntry, before: number): void {
  if (path.posix.isAbsolute(entry) || entry.split(/[\\/]/).includes(".."))
    throw new ImportFailure(`${name}: it has a file outside of its own folder: ${entry}`);
  if (type !== "Directory" && !FILE_TYPES.has(type)) throw new ImportFailure(`${name}: ${entry} is a ${type}, not a file`);
  if (before >= ARCHIVE_ENTRIES_MAX_COUNT) throw new ImportFailure(`${name}: more than ${ARCHIVE_ENTRIES_MAX_COUNT} entries`);
}

/** @param maxBytes that all files together may have */
export function createScratch(maxBytes = UNPACKED_MAX_BYTES, place = tmpdir()): Scratch {
  let folder: Promise<string> | undefined;
  let files = 0;
  let written = 0;

  async function create(): Promise<string> {
    folder ??= mkdtemp(path.join(place, "spotwire-import-"));
    return path.join(await folder, String(files++));
  }

  function put(file: number, chunk: Buffer): void {
    written += chunk.length;
    if (written > maxBytes) throw new ImportFailure(`unpacks to more than ${maxBytes} bytes: unpack it and import the files`);
    writeSync(file, chunk);
  }

  async function write(bytes: AsyncIterable<Buffer>): Promise<Unpacked> {
    const disk = await create();
    const file = openSync(disk, "w");
    let sizeBytes = 0;
    try {
      for await (const chunk of bytes) {
        put(file, chunk);
        sizeBytes += chunk.length;
      }
    } finally {
      closeSync(file);
    }
    return { disk, sizeBytes };
  }

  async function untar(name: string, bytes: AsyncIterable<Buffer>): Promise<Member[]> {
    const base = await create();
    const members: Member[] = [];
    const opened = new Set<number>();
    let problem: Error | undefined;

    /** Runs a step of an event: the parser would go on after an error in it. */
    function guarded(step: () => void): void {
      if (problem !== undefined) return;
      try {
        step();
      } catch (error) {
        problem = error as Error;
      }
    }

    function take(entry: ReadEntry): void {
      checkEntry(name, entry, members.length);
      if (entry.type === "Directory") return;
      const disk = `${base}-${members.length}`;
      members.push({ path: entry.path, disk, sizeBytes: entry.size });
      const file = openSync(disk, "w");
      opened.add(file);
      entry.on("data", (chunk: Buffer) => guarded(() => put(file, chunk)));
      entry.on("end", () => {
        if (opened.delete(file)) closeSync(file);
      });
    }

    const parser = new Parser({
      strict: true,
      onReadEntry(entry) {
        guarded(() => take(entry));
        entry.resume();
      },
    });
    parser.on("error", (error: Error) => {
      const reason = error.message.replace(/^TAR_\w+: /, "");
      problem ??= new ImportFailure(`${name}: a damaged tar archive: ${reason}`);
    });
    try {
      for await (const chunk of bytes) {
        parser.write(chunk);
        if (problem !== undefined) break;
      }
      if (problem === undefined) parser.end();
    } finally {
      for (const file of opened) closeSync(file);
      opened.clear();
    }
    if (problem !== undefined) throw problem;
    return members;
  }

  return {
    write,
    untar,
    async close() {
      if (folder !== undefined) await rm(await folder, { recursive: true, force: true });
      folder = undefined;
    },
  };
}
