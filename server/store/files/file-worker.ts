import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createGzip } from "node:zlib";
import { csvOf } from "#lib/contract/csv";
import type { FileType } from "#lib/contract/files";
import { klineAt } from "#lib/domain/columns";
import type { Statements } from "#lib/domain/fold";
import { toPublic } from "#lib/domain/kline";
import { toQuote } from "#lib/domain/quote";
import type { TickColumns } from "#lib/domain/tick-columns";
import { operations } from "#lib/operations/declarations";
import { type DayPart, foldDay } from "#server/store/history/ticks";
import { decodeStatements, encodeStatements, type SegmentNames } from "#server/store/segments/parquet";
import { decodeTicks, encodeTicks, type TickNames } from "#server/store/segments/tick-parquet";
import { answerOrders } from "#server/threads/thread";
import type { Made } from "./made-files";

/** The thread that makes files. Bundled as a file of its own (server/cli/bundle.ts). */

/** What is stored of a UTC day of ticks. */
export interface StoredDay {
  /** Its begin, Unix seconds. */
  readonly day: number;
  readonly parts: readonly DayPart[];
  /** The bytes of each segment among the parts, by its name. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

/** Whose rows they are, and to how many digits quotes are rounded. */
export interface CsvNames {
  readonly ticker: string;
  readonly digits: number;
}

/** Klines or ticks to be written as Parquet, or the rows of such a file as CSV, compressed with gzip. */
export type FileOrder =
  | { readonly kind: "klines"; readonly statements: Statements; readonly names: SegmentNames; readonly digits: number }
  | { readonly kind: "ticks"; readonly stored: StoredDay; readonly names: TickNames; readonly digits: number }
  | { readonly kind: "csv"; readonly type: FileType; readonly parquet: Uint8Array; readonly names: CsvNames };

/** A month of klines has 4 MB as text: gzip 4 takes 40 ms and leaves an eighth. */
const GZIP_LEVEL = 4;
/** Rows that are objects at once. */
const PART_ROWS_COUNT = 2_000;

/** The rows of a file as the API answers them. */
async function rowsOf(type: FileType, parquet: Uint8Array, { ticker, digits }: CsvNames) {
  if (type === "klines") {
    const columns = await decodeStatements(parquet);
    return { length: columns.time.length, at: (row: number) => toPublic(klineAt(columns, row, ticker, "M1")) };
  }
  const { time, bid, ask } = await decodeTicks(parquet);
  const numbers = (row: number) => ({ time_msc: time[row] as number, bid: bid[row] as number, ask: ask[row] as number });
  return { length: time.length, at: (row: number) => toQuote({ ticker, ...numbers(row) }, digits) };
}

async function csvFile(type: FileType, parquet: Uint8Array, names: CsvNames): Promise<Made> {
  const { length, at } = await rowsOf(type, parquet, names);
  const slice = (from: number, to: number) =>
    Array.from({ length: Math.min(to, length) - from }, (_, index): object => at(from + index));
  const text = csvOf(operations[type])?.parts({ length, slice }, PART_ROWS_COUNT) ?? [];
  return { rows: length, bytes: await buffer(Readable.from(text).pipe(createGzip({ level: GZIP_LEVEL }))) };
}

async function ticksFile({ day, parts, contents }: StoredDay, names: TickNames, digits: number): Promise<Made> {
  const columns = new Map<string, TickColumns>();
  for (const [id, bytes] of contents) columns.set(id, await decodeTicks(bytes));
  const ticks = foldDay(parts, columns, "taken", day);
  return { rows: ticks.time.length, bytes: encodeTicks(ticks, names, digits) };
}

answerOrders(async (order: FileOrder): Promise<Made> => {
  if (order.kind === "csv") return csvFile(order.type, order.parquet, order.names);
  if (order.kind === "ticks") return ticksFile(order.stored, order.names, order.digits);
  const { statements, names, digits } = order;
  return { rows: statements.time.length, bytes: encodeStatements(statements, names, digits) };
});
