import { closeSync, createReadStream, openSync, writeSync } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { Parser, type ReadEntry } from "tar";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { ImportFailure } from "#server/import/failure";

const READ_BYTES = 262_144;
/** Market data compresses to about a tenth. A file that expands by more than this, past the first bytes, counts as an attack. */
const EXPANSION_MAX_RATIO = 250;
const EXPANSION_UNCHECKED_BYTES = 16_777_216;
export const ARCHIVE_ENTRIES_MAX_COUNT = 10_000;

/** An importable source: a file, or one entry of an archive, already decompressed. */
export interface Source {
  /** The name shown to the operator: the path, or the path and entry. */
  readonly name: string;
  /** The path that ticker and date are parsed from, `/` between folders. */
  readonly path: string;
  /** The file on disk, which identifies the import. */
  readonly file: string;
  /** The total that progress is measured against. */
  readonly sizeBytes: number;
  /** What its rows are stored as, where that is not text: `open` gives them as text, row n on line n + 1. */
  readonly form?: "Parquet" | "JSON" | "history file";
  /** The decompressed bytes from the start. `onRead` receives how many compressed bytes were read. Callable repeatedly. */
  open(onRead?: (bytes: number) => void): AsyncIterable<Buffer>;
}

/** The first bytes of a file. */
export async function beginningOf(file: string, bytes: number): Promise<Buffer> {
  const handle = await open(file).catch((error) => Promise.reject(failure(file, error)));
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    throw failure(file, error);
  } finally {
    await handle.close();
  }
}

/** What errors of zlib mean for the file. */
const ZLIB_ERRORS: Readonly<Record<string, string>> = {
  Z_BUF_ERROR: "its compressed data is cut off: copy or download the file again",
  Z_DATA_ERROR: "its compressed data is damaged: copy or download the file again",
};

/** Adds the file name to an error of zlib or the file system. */
export function failure(name: string, error: unknown): ImportFailure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return new ImportFailure(`${name}: ${ZLIB_ERRORS[code] ?? (error instanceof Error ? error.message : String(error))}`);
}

async function* readAll(name: string, stream: Readable, onChunk: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      onChunk(chunk);
      yield chunk;
    }
  } catch (error) {
    throw failure(name, error);
  } finally {
    stream.destroy();
  }
}

/** Compares the bytes that come out with the bytes that went in. */
function expansionGuard(name: string, packedBytes: () => number): (chunk: Buffer) => void {
  let unpacked = 0;
  return (chunk) => {
    unpacked += chunk.length;
    if (unpacked > EXPANSION_UNCHECKED_BYTES && unpacked > packedBytes() * EXPANSION_MAX_RATIO)
      throw new ImportFailure(`${name}: decompresses to more than ${EXPANSION_MAX_RATIO} times its size; rejected`);
  };
}

/** Where the bytes of a file are, and the name that messages give it: files of archives are unpacked under another. */
export interface Stored {
  readonly name: string;
  readonly disk: string;
}

/** Reads a file. `onRead` receives how many of its bytes were read. */
export function readPlain({ name, disk }: Stored, onRead?: (bytes: number) => void): AsyncGenerator<Buffer> {
  let read = 0;
  return readAll(name, createReadStream(disk, { highWaterMark: READ_BYTES }), (chunk) => {
    read += chunk.length;
    onRead?.(read);
  });
}

/** Reads a gzipped file, decompressed. `onRead` receives how many of its compressed bytes were read. */
export function readGzip({ name, disk }: Stored, onRead?: (bytes: number) => void): AsyncGenerator<Buffer> {
  let read = 0;
  const packed = createReadStream(disk, { highWaterMark: READ_BYTES });
  packed.on("data", (chunk) => {
    read += chunk.length;
    onRead?.(read);
  });
  // An error in either stream reaches the reader of the second.
  const unpacked = pipeline(packed, createGunzip({ chunkSize: READ_BYTES }), () => undefined);
  return readAll(
    name,
    unpacked,
    expansionGuard(name, () => read),
  );
}

/** How entries of zip archives are packed: not at all, or with deflate. */
const ZIP_METHODS: readonly number[] = [0, 8];
const ENCRYPTED = "it is encrypted: unpack it with its password and import what is in it";

/** @throws ImportFailure for an entry that cannot be unpacked here */
function checkReadable(name: string, entry: Entry): void {
  if (entry.isEncrypted()) throw new ImportFailure(`${name}: ${ENCRYPTED}`);
  if (!ZIP_METHODS.includes(entry.compressionMethod))
    throw new ImportFailure(
      `${name}: it is packed with another method than deflate (${entry.compressionMethod}): unpack it and import what is in it`,
    );
}

/** Reads an entry of a zip archive, decompressed. `onRead` receives how many of the bytes that come out were read. */
export async function* readEntry(
  archive: Stored,
  name: string,
  entry: Entry,
  onRead?: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  checkReadable(name, entry);
  const zip = await openPromise(archive.disk, { lazyEntries: true, autoClose: false }).catch((error) =>
    Promise.reject(failure(archive.name, error)),
  );
  try {
    const stream = await zip.openReadStreamPromise(entry).catch((error) => Promise.reject(failure(name, error)));
    const guard = expansionGuard(name, () => entry.compressedSize);
    let read = 0;
    yield* readAll(name, stream, (chunk) => {
      guard(chunk);
      read += chunk.length;
      onRead?.(read);
    });
  } finally {
    zip.close();
  }
}

/** The files in a zip archive. */
export async function entriesOf({ name, disk }: Stored): Promise<Entry[]> {
  let zip: ZipFile | undefined;
  try {
    zip = await openPromise(disk, { lazyEntries: true, autoClose: false });
    if (zip.entryCount > ARCHIVE_ENTRIES_MAX_COUNT) throw new Error(`more than ${ARCHIVE_ENTRIES_MAX_COUNT} entries`);
    const entries: Entry[] = [];
    for await (const entry of zip.eachEntry()) if (!entry.fileName.endsWith("/")) entries.push(entry);
    return entries;
  } catch (error) {
    // Strong encryption, at which the reader of its list stops.
    if (/encrypt/.test(String(error))) throw new ImportFailure(`${name}: ${ENCRYPTED}`);
    throw failure(name, error);
  } finally {
    zip?.close();
  }
}

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

/** @throws ImportFailure for an entry that is not a file of the archive */
function checkEntry(name: string, { path: entry, type }: ReadEntry, before: number): void {
  if (path.posix.isAbsolute(entry) || entry.split(/[\\/]/).includes(".."))
    throw new ImportFailure(`${name}: it has a file outside of its own folder: ${entry}`);
  if (type !== "Directory" && !FILE_TYPES.has(type)) throw new ImportFailure(`${name}: ${entry} is a ${type}, not a file`);
  if (before >= ARCHIVE_ENTRIES_MAX_COUNT) throw new ImportFailure(`${name}: more than ${ARCHIVE_ENTRIES_MAX_COUNT} entries`);
}

/** A folder for what has to be unpacked, removed at the end. */
export type Scratch = ReturnType<typeof createScratch>;

/** @param maxBytes that all files together may have */
export function createScratch(maxBytes = UNPACKED_MAX_BYTES, place = tmpdir()) {
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

  /** Writes the bytes to a file. */
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

  /** Writes the files of a tar archive, each to a file of its own. @throws ImportFailure when it cannot be read */
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
    async close(): Promise<void> {
      if (folder !== undefined) await rm(await folder, { recursive: true, force: true });
      folder = undefined;
    },
  };
}
