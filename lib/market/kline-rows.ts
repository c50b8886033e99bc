import type { CustomTypesConfig } from "pg";
import type { Timeframe } from "#lib/contract/primitives";
import type { Kline } from "#lib/domain/kline";

/** Bytes handed to the database connection at once. */
const COPY_CHUNK_BYTES = 65_536;
/** Largest size of a row without its texts: field count, twelve lengths, eight numbers and the batch. */
const COPY_ROW_FIXED_BYTES = 2 + 12 * 4 + 8 * 8 + 4;
const COPY_FIELDS_COUNT = 12;
/** Before the fields of a row: their count. */
const COPY_COUNT_BYTES = 2;
/** A number with its length. */
const COPY_FIELD_BYTES = 4 + 8;
/** The columns of copyChunks, in its order. */
export const COPY_COLUMNS = "venue, ticker, timeframe, batch, time, open, high, low, close, tick_volume, real_volume, spread";
/** "PGCOPY\n\377\r\n\0", no flags, no extension (PostgreSQL manual, COPY, "Binary Format"). */
const COPY_HEADER = Buffer.from("5047434f50590aff0d0a000000000000000000", "hex");
const COPY_TRAILER = Buffer.from([0xff, 0xff]);

/** Every column that is read becomes a number, including int8, which pg would return as text. */
export const NUMBERS: CustomTypesConfig = { getTypeParser: () => Number as (text: string) => number };

/** A stored row: time, open, high, low, close, tick_volume, real_volume, spread. */
export type KlineRow = [number, number, number, number, number, number, number | null, number | null];

const ROW_FIELDS_COUNT = 8;

/** The wire record of a stored row. */
export function toKline(ticker: string, timeframe: Timeframe, row: KlineRow): Kline {
  const [time, open, high, low, close, tick_volume, real_volume, spread] = row;
  return { type: "kline", ticker, timeframe, time, open, high, low, close, tick_volume, real_volume, spread };
}

/** The range of a series that a batch covers. */
export interface RowRange {
  readonly ticker: string;
  readonly timeframe: Timeframe;
  /** Unix seconds, both included. */
  first: number;
  last: number;
  /** False when the rows do not strictly ascend, so that there may be duplicates. */
  ascending: boolean;
}

/** The series of a batch, each with the range it covers. */
export function rangesOf(klines: readonly Kline[]): RowRange[] {
  const stretches = new Map<string, RowRange>();
  let current: RowRange | undefined;
  let previous = 0;
  for (const { ticker, timeframe, time } of klines) {
    if (current?.ticker === ticker && current.timeframe === timeframe) {
      if (time <= previous) current.ascending = false;
      if (time < current.first) current.first = time;
      else if (time > current.last) current.last = time;
    } else {
      const key = `${timeframe}:${ticker}`;
      const known = stretches.get(key);
      current = known ?? { ticker, timeframe, first: time, last: time, ascending: true };
      // A series that comes back after another one may hold duplicates; its order is not checked any further.
      current.ascending &&= known === undefined;
      current.first = Math.min(current.first, time);
      current.last = Math.max(current.last, time);
      stretches.set(key, current);
    }
    previous = time;
  }
  return [...stretches.values()];
}

/**
 * A batch without duplicates (the last row of a key wins), ordered by key: concurrent writers lock rows in the same order and
 * cannot deadlock.
 */
export function distinct(klines: readonly Kline[]): Kline[] {
  const byKey = new Map<string, Kline>();
  for (const kline of klines) byKey.set(`${kline.ticker}:${kline.timeframe}:${kline.time}`, kline);
  return [...byKey.values()].sort((a, b) => compare(a.ticker, b.ticker) || compare(a.timeframe, b.timeframe) || a.time - b.time);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Turns rows into columns for unnest. */
export function columnsOf(klines: readonly Kline[]): unknown[][] {
  return [
    klines.map((kline) => kline.ticker),
    klines.map((kline) => kline.timeframe),
    klines.map((kline) => kline.time),
    klines.map((kline) => kline.open),
    klines.map((kline) => kline.high),
    klines.map((kline) => kline.low),
    klines.map((kline) => kline.close),
    klines.map((kline) => kline.tick_volume),
    klines.map((kline) => kline.real_volume),
    klines.map((kline) => kline.spread),
  ];
}

function batchField(batch: number | null): Buffer {
  const field = Buffer.alloc(batch === null ? 4 : 8);
  field.writeInt32BE(batch === null ? -1 : 4);
  if (batch !== null) field.writeInt32BE(batch, 4);
  return field;
}

/** The bytes that every row of a series starts with: the field count, the three texts of the key and the batch. */
function copyPrefix(texts: readonly string[], batch: number | null): Buffer {
  const count = Buffer.alloc(2);
  count.writeInt16BE(COPY_FIELDS_COUNT);
  return Buffer.concat([
    count,
    ...texts.flatMap((text) => {
      const length = Buffer.alloc(4);
      length.writeInt32BE(Buffer.byteLength(text));
      return [length, Buffer.from(text)];
    }),
    batchField(batch),
  ]);
}

/** One chunk of rows. A DataView writes numbers several times faster than a Buffer. */
function createChunk() {
  const bytes = Buffer.alloc(COPY_CHUNK_BYTES);
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}

type Chunk = ReturnType<typeof createChunk>;

/** Writes a number, or null, as a field of a row; returns where the next field starts. */
function writeDouble({ view }: Chunk, end: number, value: number | null, { ticker, timeframe, time }: Kline): number {
  if (value === null) {
    view.setInt32(end, -1);
    return end + 4;
  }
  if (!Number.isFinite(value)) throw new RangeError(`kline ${ticker} ${timeframe} ${time} holds ${value}`);
  view.setInt32(end, 8);
  view.setFloat64(end + 4, value);
  return end + 12;
}

function writeRow(chunk: Chunk, at: number, prefix: Buffer, kline: Kline): number {
  const { bytes, view } = chunk;
  bytes.set(prefix, at);
  let end = at + prefix.length;
  view.setInt32(end, 8);
  // A 64-bit integer, without the cost of a BigInt.
  view.setInt32(end + 4, Math.floor(kline.time / 4_294_967_296));
  view.setUint32(end + 8, kline.time % 4_294_967_296);
  end = writeDouble(chunk, end + 12, kline.open, kline);
  end = writeDouble(chunk, end, kline.high, kline);
  end = writeDouble(chunk, end, kline.low, kline);
  end = writeDouble(chunk, end, kline.close, kline);
  end = writeDouble(chunk, end, kline.tick_volume, kline);
  end = writeDouble(chunk, end, kline.real_volume, kline);
  return writeDouble(chunk, end, kline.spread, kline);
}

/**
 * Klines in PostgreSQL's binary COPY format, chunk by chunk; binary, because neither side then prints or parses numbers.
 * @param batch the import that writes them, null for any other writer
 */
export function* copyChunks(venue: string, klines: readonly Kline[], batch: number | null): Generator<Buffer> {
  let chunk = createChunk();
  let end = COPY_HEADER.copy(chunk.bytes);
  let prefix = copyPrefix([], null);
  let ticker: string | undefined;
  let timeframe: string | undefined;
  for (const kline of klines) {
    if (kline.ticker !== ticker || kline.timeframe !== timeframe) {
      ({ ticker, timeframe } = kline);
      prefix = copyPrefix([venue, ticker, timeframe], batch);
    }
    if (end + prefix.length + COPY_ROW_FIXED_BYTES > COPY_CHUNK_BYTES) {
      yield chunk.bytes.subarray(0, end);
      chunk = createChunk();
      end = 0;
    }
    end = writeRow(chunk, end, prefix, kline);
  }
  yield chunk.bytes.subarray(0, end);
  yield COPY_TRAILER;
}

/** The nullable number in a field of 8 bytes or none. */
function readDouble(view: DataView, at: number): number | null {
  return view.getInt32(at) === -1 ? null : view.getFloat64(at + 4);
}

/** The row that starts here; only its last two columns can be null, so that all before have their place. */
function readRow(ticker: string, timeframe: Timeframe, view: DataView, start: number): Kline {
  const first = start + COPY_COUNT_BYTES + 4;
  const real = start + COPY_COUNT_BYTES + 6 * COPY_FIELD_BYTES;
  const real_volume = readDouble(view, real);
  return {
    type: "kline",
    ticker,
    timeframe,
    time: view.getInt32(first) * 4_294_967_296 + view.getUint32(first + 4),
    open: view.getFloat64(first + COPY_FIELD_BYTES),
    high: view.getFloat64(first + 2 * COPY_FIELD_BYTES),
    low: view.getFloat64(first + 3 * COPY_FIELD_BYTES),
    close: view.getFloat64(first + 4 * COPY_FIELD_BYTES),
    tick_volume: view.getFloat64(first + 5 * COPY_FIELD_BYTES),
    real_volume,
    spread: readDouble(view, real + (real_volume === null ? 4 : COPY_FIELD_BYTES)),
  };
}

/**
 * Reads the rows (see KlineRow) of a series that PostgreSQL sends in its binary COPY format. Each message has one row, the first
 * one the header before it ("Frontend/Backend Protocol", COPY Operations).
 */
export function createRowReader(ticker: string, timeframe: Timeframe) {
  const rows: Kline[] = [];
  let start = COPY_HEADER.length;
  return {
    rows,
    read({ buffer, byteOffset, byteLength }: Uint8Array): void {
      const view = new DataView(buffer, byteOffset, byteLength);
      if (start < byteLength && view.getInt16(start) === ROW_FIELDS_COUNT) rows.push(readRow(ticker, timeframe, view, start));
      start = 0;
    },
  };
}
