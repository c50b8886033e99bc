import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { ImportFailure } from "./failure";
import { parquetText } from "./parquet";

const READ_BYTES = 262_144;
/** Market data compresses to about a tenth. A file that expands by more than this, past the first bytes, counts as an attack. */
const EXPANSION_MAX_RATIO = 250;
const EXPANSION_UNCHECKED_BYTES = 16_777_216;
const ARCHIVE_ENTRIES_MAX_COUNT = 10_000;

/** The longest beginning that shows what a file is. */
const MAGIC_BYTES = 4;
const GZIP = [0x1f, 0x8b];
const ZIP = [0x50, 0x4b];
/** "PAR1". */
const PARQUET = [0x50, 0x41, 0x52, 0x31];
/** Excel workbooks before .xlsx. */
const XLS = [0xd0, 0xcf];
/** Entries that only .xlsx or .ods archives have. */
const SPREADSHEET_ENTRY = /^(xl\/workbook\.(xml|bin)|content\.xml)$/;

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
  readonly form?: "Parquet";
  /** The decompressed bytes from the start. `onRead` receives how many compressed bytes were read. Callable repeatedly. */
  open(onRead?: (bytes: number) => void): AsyncIterable<Buffer>;
}

async function magicOf(file: string): Promise<number[]> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAGIC_BYTES), 0, MAGIC_BYTES, 0);
    return [...buffer.subarray(0, bytesRead)];
  } finally {
    await handle.close();
  }
}

const begins = (magic: readonly number[], with_: readonly number[]) => with_.every((byte, index) => magic[index] === byte);

/** What errors of zlib mean for the file. */
const ZLIB_ERRORS: Readonly<Record<string, string>> = {
  Z_BUF_ERROR: "its compressed data is cut off: copy or download the file again",
  Z_DATA_ERROR: "its compressed data is damaged: copy or download the file again",
};

/** Adds the file name to an error of zlib or the file system. */
function failure(name: string, error: unknown): ImportFailure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return new ImportFailure(`${name}: ${ZLIB_ERRORS[code] ?? (error instanceof Error ? error.message : String(error))}`);
}

function spreadsheet(file: string): ImportFailure {
  return new ImportFailure(`${file}: a spreadsheet: save its sheet as CSV and import that file`);
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

function plainSource(file: string, sizeBytes: number): Source {
  return {
    name: file,
    path: file,
    file,
    sizeBytes,
    open(onRead) {
      let read = 0;
      return readAll(file, createReadStream(file, { highWaterMark: READ_BYTES }), (chunk) => {
        read += chunk.length;
        onRead?.(read);
      });
    },
  };
}

function gzipSource(file: string, sizeBytes: number): Source {
  return {
    name: file,
    path: file.replace(/\.gz$/i, ""),
    file,
    sizeBytes,
    open(onRead) {
      let read = 0;
      const packed = createReadStream(file, { highWaterMark: READ_BYTES });
      packed.on("data", (chunk) => {
        read += chunk.length;
        onRead?.(read);
      });
      // An error in either stream reaches the reader of the second.
      const unpacked = pipeline(packed, createGunzip({ chunkSize: READ_BYTES }), () => undefined);
      return readAll(
        file,
        unpacked,
        expansionGuard(file, () => read),
      );
    },
  };
}

async function* readEntry(file: string, name: string, entry: Entry, onRead?: (bytes: number) => void): AsyncGenerator<Buffer> {
  const zip = await openPromise(file, { lazyEntries: true, autoClose: false }).catch((error) =>
    Promise.reject(failure(file, error)),
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

async function entriesOf(file: string): Promise<Entry[]> {
  let zip: ZipFile | undefined;
  try {
    zip = await openPromise(file, { lazyEntries: true, autoClose: false });
    if (zip.entryCount > ARCHIVE_ENTRIES_MAX_COUNT) throw new Error(`more than ${ARCHIVE_ENTRIES_MAX_COUNT} entries`);
    const entries: Entry[] = [];
    for await (const entry of zip.eachEntry()) if (!entry.fileName.endsWith("/")) entries.push(entry);
    return entries;
  } catch (error) {
    throw failure(file, error);
  } finally {
    zip?.close();
  }
}

/** HistData archives contain a .txt with remarks beside the .csv; a .txt alone may be the data. */
function isRemark(entry: Entry, entries: readonly Entry[]): boolean {
  const isData = ({ fileName }: Entry) => /\.(csv|tsv|bi5)$/i.test(fileName);
  return !isData(entry) && entries.some(isData);
}

/**
 * The sources in a file: the file itself, decompressed if it is gzipped, or the entries of a zip archive. Its first bytes
 * decide what it is, not its name.
 * @param onSkip called with each skipped entry
 * @throws ImportFailure when it cannot be read or is a damaged archive.
 */
export async function sourcesOf(file: string, onSkip: (name: string) => void): Promise<Source[]> {
  const info = await stat(file).catch((error) => Promise.reject(failure(file, error)));
  const magic = await magicOf(file).catch((error) => Promise.reject(failure(file, error)));
  if (begins(magic, GZIP)) return [gzipSource(file, info.size)];
  if (begins(magic, PARQUET))
    return [
      { ...{ name: file, path: file, file, sizeBytes: info.size, form: "Parquet" }, open: (onRead) => parquetText(file, onRead) },
    ];
  if (begins(magic, XLS)) throw spreadsheet(file);
  if (!begins(magic, ZIP)) return [plainSource(file, info.size)];
  const entries = await entriesOf(file);
  if (entries.some(({ fileName }) => SPREADSHEET_ENTRY.test(fileName))) throw spreadsheet(file);
  const [taken, skipped] = [
    entries.filter((entry) => !isRemark(entry, entries)),
    entries.filter((entry) => isRemark(entry, entries)),
  ];
  for (const { fileName } of skipped) onSkip(`${file} › ${fileName}`);
  return taken.map((entry) => {
    const name = `${file} › ${entry.fileName}`;
    const path = `${file.replace(/\.zip$/i, "")}/${entry.fileName}`;
    return { name, path, file, sizeBytes: entry.uncompressedSize, open: (onRead) => readEntry(file, name, entry, onRead) };
  });
}
