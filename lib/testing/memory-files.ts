import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { FileSource, OpenFile } from "#lib/market/file-source";

const START_S = Date.UTC(2026, 9, 1) / 1_000;
const END_S = Date.UTC(2026, 10, 1) / 1_000;

/** Files in memory: one of October 2026 for each ticker, with rows that every byte stands for a share of. */
export function createMemoryFiles(bytes: Uint8Array = Buffer.from("0123456789".repeat(20_000)), rows = 250_000): FileSource {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const csv = gzipSync("type,ticker\r\n");
  const readable = (content: Uint8Array) => ({
    size: content.length,
    read: async (from: number, to: number) => content.subarray(from, to),
  });
  const opened: OpenFile = { rows, sha256, parquet: readable(bytes), csv: async () => readable(csv) };
  return {
    rowsName: "M1",
    period: "month",
    list: async (_listing, { from, to }) =>
      from < END_S && to > START_S
        ? [{ from: START_S, to: END_S, complete: true, made: { rows, bytes: bytes.length, sha256 } }]
        : [],
    open: async (_listing, { start, revision }) => (start === START_S && sha256.startsWith(revision ?? "") ? opened : undefined),
  };
}

/** The files of a venue that has none. */
export const memoryFiles = () => ({
  klines: createMemoryFiles(),
  ticks: { ...createMemoryFiles(), rowsName: "ticks", period: "day" as const },
});
