import { open } from "node:fs/promises";
import { type FileMetaData, parquetMetadataAsync, parquetRead, parquetSchema, type SchemaElement } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { DAY_MS } from "#lib/units";
import { ImportFailure } from "#server/import/failure";
import { plainName, TIME_NAMES } from "#server/import/rows/row";
import { cell, linesOf } from "./text";

/** Columns that are read; a line of text has no more. */
const COLUMNS_MAX_COUNT = 64;
/** Values of a row group that are in memory at once: a million rows of 16 columns. */
const GROUP_MAX_VALUES = 16_777_216;
/** Bytes that are read at once, and the decompressed size of a row group. */
const READ_MAX_BYTES = 268_435_456;
/** Digits that a double represents exactly. */
const EXACT_DIGITS = 15;
const FLOAT_DIGITS = [6, 7, 8, 9];

type Values = ArrayLike<unknown>;

/** A column, and how its values are written. */
interface Column {
  /** In the schema. */
  readonly name: string;
  /** In the header line. */
  readonly title: string;
  write(value: unknown): string;
}

/** The shortest decimal of a single-precision number: 1.38686, not 1.3868600130081177. */
function singlePrecision(value: number): string {
  for (const digits of FLOAT_DIGITS) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(value);
}

/** The digits of a number without its floating-point noise: 1.19948, not 1.1994799999999999. */
function withoutNoise(value: number): string {
  const text = String(value);
  return text.length > EXACT_DIGITS + 1 ? String(Number(value.toPrecision(EXACT_DIGITS))) : text;
}

/** Whether times are instants, local times or days; null for other columns. Timestamps without a logical type are instants. */
function timeKind({ type, converted_type: old, logical_type: logical }: SchemaElement): "instant" | "local" | "day" | null {
  if (logical?.type === "TIMESTAMP") return logical.isAdjustedToUTC ? "instant" : "local";
  if (old === "TIMESTAMP_MILLIS" || old === "TIMESTAMP_MICROS") return "instant";
  // INT96 states no zone, and its writers differ.
  if (type === "INT96" && old === undefined) return "local";
  return old === "DATE" || logical?.type === "DATE" ? "day" : null;
}

function isoText(timeMs: number, kind: "instant" | "local" | "day"): string {
  if (!(Math.abs(timeMs) <= 8.64e15)) return "";
  const text = new Date(timeMs).toISOString();
  if (kind === "day") return text.slice(0, 10);
  return kind === "instant" ? text : text.slice(0, -1).replace("T", " ");
}

function writerOf(element: SchemaElement): Column["write"] {
  const kind = timeKind(element);
  if (kind !== null) return (value) => (typeof value === "number" ? isoText(value, kind) : "");
  if (element.type === "FLOAT") return (value) => (typeof value === "number" ? singlePrecision(value) : "");
  return (value) => {
    if (typeof value === "string") return cell(value);
    if (typeof value === "bigint") return String(value);
    return typeof value === "number" ? withoutNoise(value) : "";
  };
}

/** The columns that are not lists or structures. A table whose index is its time has a timestamp without such a name. */
function columnsOf(metadata: FileMetaData): Column[] {
  const flat = parquetSchema(metadata)
    .children.filter(({ children, element }) => children.length === 0 && element.repetition_type !== "REPEATED")
    .slice(0, COLUMNS_MAX_COUNT)
    .map(({ element }) => element);
  const isNamed = flat.some(({ name }) => TIME_NAMES.includes(plainName(name)));
  const index = isNamed ? undefined : flat.find((element) => timeKind(element) !== null);
  return flat.map((element) => ({
    name: element.name,
    title: cell(element === index ? "time" : element.name),
    write: writerOf(element),
  }));
}

/** What a file of klines of this service says of all its rows, which an export as CSV has as columns (server/store/segments/parquet.ts). */
function saidOf({ key_value_metadata: entries = [] }: FileMetaData): readonly (readonly [title: string, value: string])[] {
  const said = (key: string) => entries.find((entry) => entry.key === `spotwire.${key}`)?.value;
  const [ticker, timeframe] = [said("ticker"), said("timeframe")];
  if (ticker === undefined || timeframe === undefined) return [];
  return [
    ["ticker", cell(ticker)],
    ["timeframe", cell(timeframe)],
  ];
}

/** Times as Unix milliseconds. */
const PARSERS = {
  timestampFromMilliseconds: (value: bigint) => Number(value),
  timestampFromMicroseconds: (value: bigint) => Math.floor(Number(value) / 1e3),
  timestampFromNanoseconds: (value: bigint) => Number(value / 1_000_000n),
  dateFromDays: (days: number) => days * DAY_MS,
};

/** Reads the values of one row group, column by column. */
async function readGroup(
  { file, metadata, columns }: { file: ParquetBytes; metadata: FileMetaData; columns: readonly Column[] },
  rowStart: number,
  rowEnd: number,
): Promise<Values[]> {
  const pages = new Map<string, Values[]>();
  await parquetRead({
    file,
    metadata,
    rowStart,
    rowEnd,
    compressors,
    parsers: PARSERS,
    geoparquet: false,
    columns: columns.map(({ name }) => name),
    onChunk({ columnName, columnData }) {
      pages.set(columnName, [...(pages.get(columnName) ?? []), columnData]);
    },
  });
  return columns.map(({ name }) => {
    const parts = pages.get(name) ?? [];
    return parts.length === 1 ? (parts[0] as Values) : parts.flatMap((part) => Array.from(part));
  });
}

/** @param begin the texts of each line before those of its columns */
function* rowsOf(
  columns: readonly Column[],
  values: readonly Values[],
  count: number,
  begin: readonly string[],
): Generator<string> {
  for (let row = 0; row < count; row += 1)
    yield [...begin, ...columns.map(({ write }, index) => write(values[index]?.[row]))].join(",");
}

/** A file as hyparquet reads it. */
interface ParquetBytes {
  readonly byteLength: number;
  slice(start: number, end?: number): Promise<ArrayBuffer>;
}

function checkGroup(
  { columns, num_rows: rows }: FileMetaData["row_groups"][number],
  read: readonly Column[],
  maxValues: number,
): number {
  const names = new Set(read.map(({ name }) => name));
  const sizes = columns
    .filter(({ meta_data: data }) => names.has(data?.path_in_schema[0] ?? ""))
    .map(({ meta_data: data }) => Number(data?.total_uncompressed_size ?? 0));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (Number(rows) * read.length > maxValues || bytes > READ_MAX_BYTES)
    throw new ImportFailure(
      `it has a row group of ${rows} rows and ${read.length} columns, too large to read at once: write it with row groups of at most 1,000,000 rows`,
    );
  return Number(rows);
}

/**
 * The rows of a Parquet file as text: a header line with the names of its columns, then a line for each row. Timestamps are
 * written with a Z where the file has instants, without where it has local times. Reads one row group at a time.
 * @param onRead receives how many of the file's bytes are read
 * @param maxValues of one row group
 * @throws ImportFailure when it is not a readable Parquet file
 */
export async function* parquetText(
  file: string,
  onRead?: (bytes: number) => void,
  maxValues = GROUP_MAX_VALUES,
): AsyncGenerator<Buffer> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const bytes: ParquetBytes = {
      byteLength: size,
      async slice(start, end = size) {
        if (end - start > READ_MAX_BYTES) throw new Error(`a part of it has more than ${READ_MAX_BYTES} bytes`);
        const { buffer, bytesRead } = await handle.read(new Uint8Array(end - start), 0, end - start, start);
        if (bytesRead < end - start) throw new Error("it is cut off");
        return buffer.buffer;
      },
    };
    const metadata = await parquetMetadataAsync(bytes, { parsers: PARSERS, geoparquet: false });
    const columns = columnsOf(metadata);
    const said = saidOf(metadata);
    const begin = said.map(([, value]) => value);
    yield* linesOf([[...said.map(([title]) => title), ...columns.map(({ title }) => title)].join(",")]);
    let rowStart = 0;
    for (const group of metadata.row_groups) {
      const count = checkGroup(group, columns, maxValues);
      const values = await readGroup({ file: bytes, metadata, columns }, rowStart, rowStart + count);
      yield* linesOf(rowsOf(columns, values, count, begin));
      rowStart += count;
      onRead?.(Math.floor((size * rowStart) / Math.max(1, Number(metadata.num_rows))));
    }
  } catch (error) {
    if (error instanceof ImportFailure) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ImportFailure(`not a readable Parquet file (${reason}): copy or download it again`);
  } finally {
    await handle.close();
  }
}
