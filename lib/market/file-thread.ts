import type { Clock } from "#lib/clock";
import type { Statements } from "#lib/domain/fold";
import { Fault } from "#lib/fault";
import type { SegmentNames } from "#lib/segments/parquet";
import { createThread } from "#lib/thread";
import { MINUTE_MS } from "#lib/units";
import type { FileOrder } from "./file-worker";

/** Files that may wait for the thread, which takes a tenth of a second for the largest. Each of them holds its klines, 4 MB. */
const WAITING_MAX_COUNT = 16;
const RETRY_AFTER_S = 2;
const IDLE_MS = 5 * MINUTE_MS;

/** Makes files in a thread of its own, one after another, so that requests are answered meanwhile. */
export interface FileThread {
  /** @throws Fault service_unavailable when too many files wait */
  parquet(statements: Statements, names: SegmentNames, digits: number): Promise<Uint8Array>;
  /** The klines of a Parquet file as CSV, compressed with gzip. @throws Fault service_unavailable, SegmentDamaged */
  csv(parquet: Uint8Array, ticker: string): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** The thread starts with the first file and ends when there were none for five minutes. */
export function createFileThread(clock: Clock): FileThread {
  const thread = createThread<FileOrder, Uint8Array>({
    name: "the thread that makes files",
    file: new URL("./file-worker.ts", import.meta.url),
    waitingMaxCount: WAITING_MAX_COUNT,
    busy: () => new Fault("service_unavailable", { detail: "Too many files are being made.", retry_after: RETRY_AFTER_S }),
    idle: { clock, ms: IDLE_MS },
  });
  return {
    parquet: (statements, names, digits) => thread.ask({ kind: "parquet", statements, names, digits }),
    csv: (parquet, ticker) => thread.ask({ kind: "csv", parquet, ticker }),
    close: thread.close,
  };
}
