import type { Clock } from "#lib/clock";
import type { Kline } from "#lib/domain/kline";
import type { PriceRange } from "#lib/domain/price-ranges";
import { addCounts, type BatchCounts, NO_KLINES } from "#lib/market/kline-batches";
import type { Batch } from "./batch";
import type { Source } from "./decompress";
import { contentOf } from "./detect";
import { ImportFailure } from "./failure";
import type { Recognition } from "./format";
import type { Intervals } from "./interval";
import type { Job, JobKey, Jobs } from "./jobs";
import { type Counts, CROSSED, type Harvest, MISALIGNED } from "./ledger";
import { createMinutes } from "./minutes";
import type { Progress } from "./progress";
import type { ReaderSettings, Row } from "./row";

/** Klines stored in one transaction. */
export const BATCH_KLINES = 50_000;
/** Malformed rows that are listed; the rest are only counted. */
const MALFORMED_LISTED_COUNT = 20;

/** Reasons that are counted one by one; values in them can make each different. */
const REASONS_MAX_COUNT = 100;
const OTHER_REASONS = "other reasons";

/** One malformed row, for the report. */
interface Malformed {
  readonly line: number;
  readonly reason: string;
}

/** How an import of one file ended. */
export interface Loaded {
  readonly counts: Counts;
  /** What became of its klines; in a trial, what would. */
  readonly klines: BatchCounts;
  /** The first malformed rows. */
  readonly malformed: readonly Malformed[];
  /** Malformed rows and crossed quotes by reason. */
  readonly refused: ReadonlyMap<string, number>;
  readonly ms: number;
  /** Why it stopped before the end of the file; null when it did not. */
  readonly stopped: "interrupted" | "too many malformed rows" | null;
}

interface LoadOptions {
  readonly source: Source;
  readonly recognition: Recognition;
  readonly settings: ReaderSettings;
  readonly ticker: string;
  readonly intervals: Intervals;
  readonly digits: number;
  readonly range: PriceRange | null;
  readonly dropsFillers: boolean;
  readonly maxErrors: number;
  readonly batchKlines: number;
  readonly job: Job;
  readonly key: JobKey;
  readonly batch: Pick<Batch, "put">;
  readonly jobs: Jobs;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  /** Called with every valid row, stored or not. */
  onRow(row: Row): void;
  /** Called with klines before they are stored, in parts. @throws ImportFailure when they cannot be right */
  check(klines: readonly Kline[]): Promise<void>;
  /** Called with klines that are stored, and how they compare with those before. */
  onStored(klines: readonly Kline[], counts: BatchCounts): void;
}

/** Batches that wait to be written or are: one, while the next is read. */
const WRITING_MAX_COUNT = 2;

/** Writes batches while the next is read, and saves how far the file is stored. */
function createWriter({ batch, jobs, job, key, check, onStored }: LoadOptions, take: () => Harvest) {
  const writing: Promise<unknown>[] = [];
  let counts: BatchCounts = { ...NO_KLINES };

  async function write({ klines, rows }: Harvest): Promise<void> {
    const put = await batch.put(klines, (client) => jobs.save(client, [{ id: job.id, key, rows }], false));
    counts = addCounts(counts, put);
    onStored(klines, put);
  }

  return {
    /** Resolves when this batch is being written, and at most one other. */
    async flush(): Promise<void> {
      if (writing.length === WRITING_MAX_COUNT) await writing.shift();
      const harvest = take();
      if (harvest.klines.length > 0) await check(harvest.klines);
      const written = write(harvest);
      // A later flush awaits it; until then its failure must not count as unhandled.
      written.catch(() => undefined);
      writing.push(written);
    },
    /** Resolves when nothing is being written. @throws what one of the batches threw */
    async settled(): Promise<void> {
      await Promise.allSettled(writing);
      await Promise.all(writing);
    },
    counts: () => counts,
  };
}

/**
 * Reads a file and stores its klines in batches. Each batch saves its position, so that the next run resumes from there.
 * Stored klines stay stored when it stops early.
 * @throws ImportFailure when the file cannot be read; the error of pg when the database is unavailable.
 */
export async function loadFile(options: LoadOptions): Promise<Loaded> {
  const { source, recognition, clock, signal, progress, maxErrors } = options;
  const startMs = clock.now();
  const malformed: Malformed[] = [];
  const refused = new Map<string, number>();
  const minutes = createMinutes(recognition.kind, {
    ticker: options.ticker,
    intervals: options.intervals,
    digits: options.digits,
    range: options.range,
    dropsFillers: options.dropsFillers,
    skipRows: options.job.rows,
    nowMs: startMs,
    onMalformed(line, reason) {
      if (malformed.length < MALFORMED_LISTED_COUNT) malformed.push({ line, reason });
      const counted = refused.has(reason) || refused.size < REASONS_MAX_COUNT ? reason : OTHER_REASONS;
      refused.set(counted, (refused.get(counted) ?? 0) + 1);
    },
  });
  const { counts, sink } = minutes;
  const reader = recognition.createReader(options.settings, {
    ...sink,
    row(row, line) {
      options.onRow(row);
      sink.row(row, line);
    },
  });
  const writer = createWriter(options, minutes.take);
  const stopped = (): Loaded["stopped"] =>
    signal.aborted ? "interrupted" : counts.malformed > maxErrors ? "too many malformed rows" : null;

  let readBytes = 0;
  const onRead = (bytes: number): void => {
    readBytes = bytes;
  };
  let early: Loaded["stopped"] = null;
  try {
    for await (const chunk of contentOf(source, onRead)) {
      reader.push(chunk);
      early = stopped();
      if (early !== null) break;
      if (minutes.pending() >= options.batchKlines) await writer.flush();
      progress.update(readBytes, counts.rows);
    }
    if (early === null) {
      reader.end();
      early = stopped();
    }
    if (early === null) minutes.finish();
    await writer.flush();
  } finally {
    // Also when reading failed: no write may be in progress when this returns.
    await writer.settled();
  }
  if (counts.crossed > 0) refused.set(CROSSED, counts.crossed);
  if (counts.misaligned > 0) refused.set(MISALIGNED, counts.misaligned);
  return { counts, klines: writer.counts(), malformed, refused, ms: clock.now() - startMs, stopped: early };
}

/** Reads only the times of a file. */
export async function scanFile(
  source: Source,
  recognition: Recognition,
  settings: ReaderSettings,
  progress: Progress,
  signal: AbortSignal,
  onRow: (row: Row) => void,
): Promise<void> {
  let rows = 0;
  let readBytes = 0;
  const ignore = () => undefined;
  const reader = recognition.createReader(settings, {
    row(row) {
      rows += 1;
      onRow(row);
    },
    malformed: ignore,
    withoutQuote: ignore,
  });
  for await (const chunk of contentOf(source, (bytes) => {
    readBytes = bytes;
  })) {
    if (signal.aborted) throw new ImportFailure("interrupted");
    reader.push(chunk);
    progress.update(readBytes, rows);
  }
  reader.end();
}
