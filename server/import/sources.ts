import { stat } from "node:fs/promises";
import type { Entry } from "yauzl";
import {
  ARCHIVE_ENTRIES_MAX_COUNT,
  beginningOf,
  entriesOf,
  failure,
  readEntry,
  readGzip,
  readPlain,
  type Source,
  type Stored,
} from "./decompress";
import { ImportFailure } from "./failure";
import { hstText, isHst } from "./hst";
import { isJson, jsonText } from "./json";
import { parquetText } from "./parquet";
import { createScratch, type Scratch } from "./unpack";

/** Archives in each other: a .csv.gz in a .zip is two. A gzipped tar archive is one. */
const DEPTH_MAX = 2;

/** Bytes that show what a file is: the signature of a tar archive is near their end. */
const BEGINNING_BYTES = 512;
const TAR_SIGNATURE_AT = 257;
/** Entries that only .xlsx or .ods archives have. */
const SPREADSHEET_ENTRY = /^(xl\/workbook\.(xml|bin)|content\.xml)$/;
const DATA_NAME = /\.(csv|tsv|bi5|parquet|json|jsonl|ndjson|hst|zip|gz|tgz|tar)$/i;
/** What macOS adds to archives. */
const HIDDEN = /(^|\/)(__MACOSX\/|\._|\.DS_Store$)/;

type Kind = "gzip" | "zip" | "tar" | "Parquet" | "spreadsheet" | Leaf;
/** Files that are read from their start, as text or as what can be written as text. */
type Leaf = "history file" | "JSON" | "text";

/** What a file is by its first bytes. */
function kindOf(beginning: Buffer): Kind {
  const begins = (...bytes: number[]) => bytes.every((byte, index) => beginning[index] === byte);
  if (begins(0x1f, 0x8b)) return "gzip";
  if (begins(0x50, 0x4b, 0x03, 0x04) || begins(0x50, 0x4b, 0x05, 0x06)) return "zip";
  if (begins(0x50, 0x41, 0x52, 0x31)) return "Parquet";
  // Excel workbooks before .xlsx.
  if (begins(0xd0, 0xcf)) return "spreadsheet";
  if (beginning.toString("latin1", TAR_SIGNATURE_AT, TAR_SIGNATURE_AT + 5) === "ustar") return "tar";
  if (isHst(beginning)) return "history file";
  return isJson(beginning) ? "JSON" : "text";
}

const isLeaf = (kind: Kind): kind is Leaf => kind === "history file" || kind === "JSON" || kind === "text";

/** A source that is read from its start. */
function leaf(kind: Leaf, source: Source): Source {
  if (kind === "text") return source;
  const textOf = kind === "JSON" ? jsonText : hstText;
  return { ...source, form: kind, open: (onRead) => textOf(source.open(onRead)) };
}

/** The first bytes that come out of a stream; fewer when it is damaged, which its reader will report. */
async function firstOf(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  let beginning = Buffer.alloc(0);
  try {
    for await (const chunk of bytes) {
      beginning = Buffer.concat([beginning, chunk]);
      if (beginning.length >= BEGINNING_BYTES) break;
    }
  } catch (error) {
    if (!(error instanceof ImportFailure)) throw error;
  }
  return beginning;
}

/** The sources of one file. */
interface Found {
  readonly sources: readonly Source[];
  /** Names of entries that are no data. */
  readonly skipped: readonly string[];
}

/** A file on the way to its sources: on disk, under a name of its own if it was unpacked. */
interface Opened extends Stored {
  readonly path: string;
  /** The file on the command line. */
  readonly file: string;
  readonly sizeBytes: number;
  /** Archives around it. */
  readonly depth: number;
}

function spreadsheet(name: string): ImportFailure {
  return new ImportFailure(`${name}: a spreadsheet: save its sheet as CSV and import that file`);
}

/** HistData archives contain a .txt with remarks beside the .csv; a .txt alone may be the data. */
function dataOf<T>(entries: readonly T[], pathOf: (entry: T) => string): { taken: T[]; skipped: string[] } {
  const visible = entries.filter((entry) => !HIDDEN.test(pathOf(entry)));
  const hasData = visible.some((entry) => DATA_NAME.test(pathOf(entry)));
  const taken = visible.filter((entry) => !hasData || DATA_NAME.test(pathOf(entry)));
  return { taken, skipped: entries.filter((entry) => !taken.includes(entry)).map(pathOf) };
}

/** A file inside of another one. */
function inside(outer: Opened, entry: string, unpacked: { disk: string; sizeBytes: number }): Opened {
  const path = `${outer.path.replace(/\.(zip|tar|tgz|tar\.gz)$/i, "")}/${entry}`;
  return { ...unpacked, name: `${outer.name} › ${entry}`, path, file: outer.file, depth: outer.depth + 1 };
}

async function sourcesInZip(archive: Opened, scratch: Scratch): Promise<Found> {
  const entries = await entriesOf(archive);
  if (entries.some(({ fileName }) => SPREADSHEET_ENTRY.test(fileName))) throw spreadsheet(archive.name);
  const { taken, skipped } = dataOf(entries, ({ fileName }) => fileName);
  const found: Found[] = [];
  for (const entry of taken) found.push(await sourcesInEntry(archive, entry, scratch));
  return joined(
    found,
    skipped.map((name) => `${archive.name} › ${name}`),
  );
}

async function sourcesInEntry(archive: Opened, entry: Entry, scratch: Scratch): Promise<Found> {
  const { name, path, file } = inside(archive, entry.fileName, { disk: "", sizeBytes: 0 });
  const open = (onRead?: (bytes: number) => void) => readEntry(archive, name, entry, onRead);
  const kind = kindOf(await firstOf(open()));
  if (isLeaf(kind)) return { sources: [leaf(kind, { name, path, file, sizeBytes: entry.uncompressedSize, open })], skipped: [] };
  return sourcesIn(inside(archive, entry.fileName, await scratch.write(open())), scratch);
}

async function sourcesInTar(archive: Opened, bytes: AsyncIterable<Buffer>, scratch: Scratch): Promise<Found> {
  const members = await scratch.untar(archive.name, bytes);
  // An archive has its files in any order; in that of their names, minutes follow each other.
  const sorted = members.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const { taken, skipped } = dataOf(sorted, ({ path }) => path);
  const found: Found[] = [];
  for (const member of taken) found.push(await sourcesIn(inside(archive, member.path, member), scratch));
  return joined(
    found,
    skipped.map((name) => `${archive.name} › ${name}`),
  );
}

async function sourcesInGzip(packed: Opened, scratch: Scratch): Promise<Found> {
  const kind = kindOf(await firstOf(readGzip(packed)));
  const { name, file, sizeBytes } = packed;
  const path = packed.path.replace(/\.gz$/i, "");
  if (kind === "tar") return sourcesInTar(packed, readGzip(packed), scratch);
  const open = (onRead?: (bytes: number) => void) => readGzip(packed, onRead);
  if (isLeaf(kind)) return { sources: [leaf(kind, { name, path, file, sizeBytes, open })], skipped: [] };
  return sourcesIn({ ...packed, ...(await scratch.write(readGzip(packed))), path, depth: packed.depth + 1 }, scratch);
}

function joined(found: readonly Found[], skipped: readonly string[]): Found {
  const sources = found.flatMap((each) => each.sources);
  if (sources.length > ARCHIVE_ENTRIES_MAX_COUNT)
    throw new ImportFailure(`more than ${ARCHIVE_ENTRIES_MAX_COUNT} entries: unpack it and import the files`);
  return { sources, skipped: [...skipped, ...found.flatMap((each) => each.skipped)] };
}

async function sourcesIn(opened: Opened, scratch: Scratch): Promise<Found> {
  const { name, path, file, sizeBytes, depth } = opened;
  const kind = kindOf(await beginningOf(opened.disk, BEGINNING_BYTES));
  if (kind === "spreadsheet") throw spreadsheet(name);
  if (depth >= DEPTH_MAX && (kind === "gzip" || kind === "zip" || kind === "tar"))
    throw new ImportFailure(`${name}: more than ${DEPTH_MAX} archives in each other: unpack the outer one`);
  if (kind === "gzip") return sourcesInGzip(opened, scratch);
  if (kind === "zip") return sourcesInZip(opened, scratch);
  if (kind === "tar") return sourcesInTar(opened, readPlain(opened), scratch);
  const source = { name, path, file, sizeBytes };
  if (kind === "Parquet")
    return { sources: [{ ...source, form: kind, open: (onRead) => parquetText(opened.disk, onRead) }], skipped: [] };
  return { sources: [leaf(kind, { ...source, open: (onRead) => readPlain(opened, onRead) })], skipped: [] };
}

/** Finds the sources in files. What has to be unpacked for it stays until it is closed. */
export interface SourceFinder {
  /**
   * The sources in a file: the file itself, decompressed, or the files of an archive. Their first bytes decide what they are, not
   * their names.
   * @throws ImportFailure when it cannot be read or is a damaged archive.
   */
  sourcesOf(file: string): Promise<Found>;
  close(): Promise<void>;
}

/** @param scratch where archives in archives are unpacked */
export function createSourceFinder(scratch = createScratch()): SourceFinder {
  const found = new Map<string, Promise<Found>>();

  async function find(file: string): Promise<Found> {
    const { size } = await stat(file).catch((error) => Promise.reject(failure(file, error)));
    return sourcesIn({ name: file, disk: file, path: file, file, sizeBytes: size, depth: 0 }, scratch);
  }

  return {
    sourcesOf(file) {
      // Each file is asked for by each survey and by the import.
      const known = found.get(file) ?? find(file);
      found.set(file, known);
      return known;
    },
    close: scratch.close,
  };
}
