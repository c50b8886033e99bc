import type { Clock } from "#lib/clock";
import type { FileType } from "#lib/contract/files";
import type { Statements } from "#lib/domain/fold";
import { Fault } from "#lib/fault";
import { MINUTE_MS } from "#lib/units";
import type { SegmentNames } from "#server/store/segments/parquet";
import type { TickNames } from "#server/store/segments/tick-parquet";
import { createThread } from "#server/threads/thread";
import type { CsvNames, FileOrder, StoredDay } from "./file-worker";
import type { Made } from "./made-files";

/** Files that may wait for the thread, which takes some tenths of a second for the largest. Each of them holds its rows, some MB. */
const WAITING_MAX_COUNT = 16;
const RETRY_AFTER_S = 2;
const IDLE_MS = 5 * MINUTE_MS;

/** Makes files in a thread of its own, one after another, so that requests are answered meanwhile. */
export interface FileThread {
  /** @throws Fault service_unavailable when too many files wait */
  klines(statements: Statements, names: SegmentNames, digits: number): Promise<Made>;
  /** The ticks of a day that were taken. @throws Fault service_unavailable, SegmentDamaged */
  ticks(stored: StoredDay, names: TickNames, digits: number): Promise<Made>;
  /** The rows of a Parquet file as CSV, compressed with gzip. @throws Fault service_unavailable, SegmentDamaged */
  csv(type: FileType, parquet: Uint8Array, names: CsvNames): Promise<Made>;
  close(): Promise<void>;
}

/** The thread starts with the first file and ends when there were none for five minutes. */
export function createFileThread(clock: Clock): FileThread {
  const thread = createThread<FileOrder, Made>({
    name: "the thread that makes files",
    file: new URL("./file-worker.ts", import.meta.url),
    waitingMaxCount: WAITING_MAX_COUNT,
    busy: () => new Fault("service_unavailable", { detail: "Too many files are being made.", retry_after: RETRY_AFTER_S }),
    idle: { clock, ms: IDLE_MS },
  });
  return {
    klines: (statements, names, digits) => thread.ask({ kind: "klines", statements, names, digits }),
    ticks: (stored, names, digits) => thread.ask({ kind: "ticks", stored, names, digits }),
    csv: (type, parquet, names) => thread.ask({ kind: "csv", type, parquet, names }),
    close: thread.close,
  };
}
