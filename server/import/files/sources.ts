import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import type { Entry } from "yauzl";
import { ImportFailure } from "#server/import/failure";
import {
  ARCHIVE_ENTRIES_MAX_COUNT,
  beginningOf,
  createScratch,
  entriesOf,
  failure,
  readEntry,
  readGzip,
  readPlain,
  type Scratch,
  type Source,
  type Stored,
} from "./archives";
import { hstText, isHst } from "./hst";
import { isJson, jsonText } from "./json";
import { parquetText } from "./parquet";

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

type Kind = "gzip" | "zip" | "tar" | "Parquet" | "unreadable" | Leaf;
/** Files that are read from their start, as text or as what can be written as text. */
type Leaf = "history file" | "JSON" | "text";

const SPREADSHEET = "a spreadsheet: save its sheet as CSV and import that file";
const packed = (what: string) => `${what}: unpack it and import what is in it`;
const WEB_PAGE = "a web page, perhaps of a login: log in and download the file itself";
/** Files that are not read: how each begins, in hexadecimal, what it is, and what to do. */
const UNREADABLE: readonly (readonly [begin: RegExp, reason: string])[] = [
  [/^fd377a585a00/, packed("an xz file")],
  [/^28b52ffd/, packed("a zstd file")],
  [/^425a683[1-9](?:314159265359|177245385090)/, packed("a bzip2 file")],
  [/^(?:04224d18|02214c18)/, packed("an lz4 file")],
  [/^377abcaf271c/, packed("a 7z archive")],
  [/^526172211a07/, packed("a rar archive")],
  // Excel workbooks before .xlsx.
  [/^d0cf/, SPREADSHEET],
  // %PDF-
  [/^255044462d/, "a PDF document: get the data from its source as CSV"],
];

/** Why a file with these first bytes is not read; undefined for one that is. */
function unreadableAs(beginning: Buffer): string | undefined {
  if (/^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)\b/i.test(beginning.toString("latin1"))) return WEB_PAGE;
  const bytes = beginning.toString("hex");
  return UNREADABLE.find(([begin]) => begin.test(bytes))?.[1];
}

/** What a file is by its first bytes. */
function kindOf(beginning: Buffer): Kind {
  const begins = (...bytes: number[]) => bytes.every((byte, index) => beginning[index] === byte);
  if (begins(0x1f, 0x8b)) return "gzip";
  if (begins(0x50, 0x4b, 0x03, 0x04) || begins(0x50, 0x4b, 0x05, 0x06)) return "zip";
  if (begins(0x50, 0x41, 0x52, 0x31)) return "Parquet";
  if (unreadableAs(beginning) !== undefined) return "unreadable";
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

const only = (source: Source): Found => ({ sources: [source], skipped: [] });

/** A file on the way to its sources: on disk, under a name of its own if it was unpacked. */
interface Opened extends Stored {
  readonly path: string;
  /** The file on the command line. */
  readonly file: string;
  readonly sizeBytes: number;
  /** Archives around it. */
  readonly depth: number;
}

/** A file inside of another one. */
function inside(outer: Opened, entry: string, unpacked: { disk: string; sizeBytes: number }): Opened {
  const path = `${outer.path.replace(/\.(zip|tar|tgz|tar\.gz)$/i, "")}/${entry}`;
  return { ...unpacked, name: `${outer.name} › ${entry}`, path, file: outer.file, depth: outer.depth + 1 };
}

/**
 * The sources of the data in an archive, entry by entry. HistData archives contain a .txt with remarks beside the .csv; a .txt alone
 * may be the data.
 */
async function sourcesAmong<Entry>(
  archive: Opened,
  entries: readonly Entry[],
  pathOf: (entry: Entry) => string,
  open: (entry: Entry) => Promise<Found>,
): Promise<Found> {
  const visible = entries.filter((entry) => !HIDDEN.test(pathOf(entry)));
  const data = visible.filter((entry) => DATA_NAME.test(pathOf(entry)));
  const taken = data.length > 0 ? data : visible;
  const skipped = entries.filter((entry) => !taken.includes(entry)).map((entry) => `${archive.name} › ${pathOf(entry)}`);
  const sources: Source[] = [];
  for (const entry of taken) {
    const found = await open(entry);
    sources.push(...found.sources);
    skipped.push(...found.skipped);
  }
  if (sources.length > ARCHIVE_ENTRIES_MAX_COUNT)
    throw new ImportFailure(`more than ${ARCHIVE_ENTRIES_MAX_COUNT} entries: unpack it and import the files`);
  return { sources, skipped };
}

async function sourcesInZip(archive: Opened, scratch: Scratch): Promise<Found> {
  const entries = await entriesOf(archive);
  if (entries.some(({ fileName }) => SPREADSHEET_ENTRY.test(fileName)))
    throw new ImportFailure(`${archive.name}: ${SPREADSHEET}`);
  const pathOf = ({ fileName }: Entry) => fileName;
  return sourcesAmong(archive, entries, pathOf, async (entry) => {
    const { name, path, file } = inside(archive, entry.fileName, { disk: "", sizeBytes: 0 });
    const open: Source["open"] = (onRead) => readEntry(archive, name, entry, onRead);
    const kind = kindOf(await firstOf(open()));
    if (isLeaf(kind)) return only(leaf(kind, { name, path, file, sizeBytes: entry.uncompressedSize, open }));
    return sourcesIn(inside(archive, entry.fileName, await scratch.write(open())), scratch);
  });
}

async function sourcesInTar(archive: Opened, bytes: AsyncIterable<Buffer>, scratch: Scratch): Promise<Found> {
  const members = await scratch.untar(archive.name, bytes);
  // An archive has its files in any order; in that of their names, minutes follow each other.
  const sorted = members.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const pathOf = (member: (typeof sorted)[number]) => member.path;
  return sourcesAmong(archive, sorted, pathOf, (member) => sourcesIn(inside(archive, member.path, member), scratch));
}

async function sourcesInGzip(packed: Opened, scratch: Scratch): Promise<Found> {
  const kind = kindOf(await firstOf(readGzip(packed)));
  if (kind === "tar") return sourcesInTar(packed, readGzip(packed), scratch);
  const { name, file, sizeBytes } = packed;
  const path = packed.path.replace(/\.gz$/i, "");
  if (isLeaf(kind)) return only(leaf(kind, { name, path, file, sizeBytes, open: (onRead) => readGzip(packed, onRead) }));
  return sourcesIn({ ...packed, ...(await scratch.write(readGzip(packed))), path, depth: packed.depth + 1 }, scratch);
}

async function sourcesIn(opened: Opened, scratch: Scratch): Promise<Found> {
  const { name, path, file, sizeBytes, depth } = opened;
  const beginning = await beginningOf(opened.disk, BEGINNING_BYTES);
  const kind = kindOf(beginning);
  if (kind === "unreadable") throw new ImportFailure(`${name}: ${unreadableAs(beginning)}`);
  if (depth >= DEPTH_MAX && (kind === "gzip" || kind === "zip" || kind === "tar"))
    throw new ImportFailure(`${name}: more than ${DEPTH_MAX} archives in each other: unpack the outer one`);
  if (kind === "gzip") return sourcesInGzip(opened, scratch);
  if (kind === "zip") return sourcesInZip(opened, scratch);
  if (kind === "tar") return sourcesInTar(opened, readPlain(opened), scratch);
  const source = { name, path, file, sizeBytes };
  if (kind === "Parquet") return only({ ...source, form: kind, open: (onRead) => parquetText(opened.disk, onRead) });
  return only(leaf(kind, { ...source, open: (onRead) => readPlain(opened, onRead) }));
}

/** Finds the sources in files. What has to be unpacked for it stays until it is closed. */
export type SourceFinder = ReturnType<typeof createSourceFinder>;

/** @param scratch where archives in archives are unpacked */
export function createSourceFinder(scratch = createScratch()) {
  const found = new Map<string, Promise<Found>>();

  async function find(file: string): Promise<Found> {
    const { size } = await stat(file).catch((error) => Promise.reject(failure(file, error)));
    return sourcesIn({ name: file, disk: file, path: file, file, sizeBytes: size, depth: 0 }, scratch);
  }

  return {
    /**
     * The sources in a file: the file itself, decompressed, or the files of an archive. Their first bytes decide what they are, not
     * their names.
     * @throws ImportFailure when it cannot be read or is a damaged archive.
     */
    sourcesOf(file: string): Promise<Found> {
      // Each file is asked for by each survey and by the import.
      const known = found.get(file) ?? find(file);
      found.set(file, known);
      return known;
    },
    close: scratch.close,
  };
}

/** Files of a folder that are read, or refused with what to do; other files in it are not market data. */
const DATA_FILE = /\.(csv|tsv|txt|bi5|parquet|json|jsonl|ndjson|hst|zip|gz|tgz|tar|xz|zst|bz2|lz4|7z|rar)$/i;

/** The files named on the command line. A folder means all data files in and below it, sorted by path. */
export async function filesOf(named: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const name of named) {
    const info = await stat(name).catch(() => null);
    if (info === null) throw new ImportFailure(`${name}: no such file`);
    if (!info.isDirectory()) {
      files.push(name);
      continue;
    }
    const found = await readdir(name, { recursive: true, withFileTypes: true });
    const paths = found
      .filter((entry) => entry.isFile() && DATA_FILE.test(entry.name))
      .map((entry) => path.join(entry.parentPath, entry.name));
    if (paths.length === 0)
      throw new ImportFailure(`${name}: no .csv, .tsv, .txt, .bi5, .parquet, .json, .hst, .zip, .gz or .tar file in this folder`);
    files.push(...paths.sort());
  }
  return [...new Set(files)];
}
