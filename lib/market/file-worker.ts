import { gzipSync } from "node:zlib";
import { csvOf } from "#lib/contract/csv";
import { operations } from "#lib/contract/operations";
import { klineAt } from "#lib/domain/columns";
import type { Statements } from "#lib/domain/fold";
import { toPublic } from "#lib/domain/kline";
import { decodeStatements, encodeStatements, type SegmentNames } from "#lib/segments/parquet";
import { answerOrders } from "#lib/thread";

/** The thread that makes files. Bundled as a file of its own (server/cli/bundle.ts). */

/** Klines to be written as Parquet, or a file of them as CSV, compressed with gzip. */
export type FileOrder =
  | { readonly kind: "parquet"; readonly statements: Statements; readonly names: SegmentNames; readonly digits: number }
  | { readonly kind: "csv"; readonly parquet: Uint8Array; readonly ticker: string };

/** A month has 4 MB as text: gzip 4 takes 40 ms and leaves an eighth. */
const GZIP_LEVEL = 4;
/** Rows that are objects at once. */
const PART_ROWS_COUNT = 2_000;

async function csvOfKlines(parquet: Uint8Array, ticker: string): Promise<Uint8Array> {
  const columns = await decodeStatements(parquet);
  const rowAt = (row: number) => toPublic(klineAt(columns, row, ticker, "M1"));
  const rows = {
    length: columns.time.length,
    slice: (from: number, to: number) =>
      Array.from({ length: Math.min(to, columns.time.length) - from }, (_, index) => rowAt(from + index)),
  };
  const text = csvOf(operations.klines)?.parts(rows, PART_ROWS_COUNT) ?? [];
  return gzipSync([...text].join(""), { level: GZIP_LEVEL });
}

answerOrders(async (order: FileOrder): Promise<Uint8Array> => {
  if (order.kind === "csv") return csvOfKlines(order.parquet, order.ticker);
  return encodeStatements(order.statements, order.names, order.digits);
});
