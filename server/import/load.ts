import type { Clock } from "#lib/clock";
import type { KlineColumns } from "#lib/domain/columns";
import type { PriceRange } from "#lib/domain/price-ranges";
import type { Series } from "#lib/history/layers";
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
import { type Progress, startProgress, type Terminal } from "./progress";
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

/** Klines of a part of a file, and how far the file was read when they were complete. */
interface FilePart extends Harvest {
  readonly readRows: number;
  readonly readBytes: number;
}

/** What is known of the rows of a file; all of it once its parts are read. */
interface Outcome {
  readonly counts: Counts;
  /** The first malformed rows. */
  readonly malformed: readonly Malformed[];
  /** Malformed rows and crossed quotes by reason. */
  readonly refused: ReadonlyMap<string, number>;
  readonly startMs: number;
  /** Why reading stopped before the end of the file; null when it did not. */
  stopped: "interrupted" | "too many malformed rows" | null;
  /** Why the file could not be read to its end; null when it could. */
  failure: ImportFailure | null;
}

/** A file that is read in parts. */
export interface FileReading {
  readonly outcome: Outcome;
  /** Can be read once. A file that cannot be read to its end ends with the klines that were complete before; the outcome says why. */
  readonly parts: AsyncIterable<FilePart>;
}

/** How an import of one file ended. */
export interface Loaded extends Outcome {
  /** What became of its klines; in a trial, what would. */
  readonly klines: BatchCounts;
  readonly ms: number;
}

interface ReadOptions {
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
  /** Rows at the beginning that an earlier run stored. */
  readonly skipRows: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  /** Called with every valid row. */
  onRow?(row: Row): void;
}

/**
 * Reads a file in parts, each when `batchKlines` klines are complete. A part ends with a month (of longer klines, a year) if one ends in
 * it, so that a month of more parts is not written several times.
 */
export function readFile(options: ReadOptions): FileReading {
  const { source, recognition, clock, signal, progress, maxErrors, onRow } = options;
  const startMs = clock.now();
  const malformed: Malformed[] = [];
  const refused = new Map<string, number>();
  const minutes = createMinutes(recognition.kind, {
    ...options,
    nowMs: startMs,
    onMalformed(line, reason) {
      if (malformed.length < MALFORMED_LISTED_COUNT) malformed.push({ line, reason });
      const counted = refused.has(reason) || refused.size < REASONS_MAX_COUNT ? reason : OTHER_REASONS;
      refused.set(counted, (refused.get(counted) ?? 0) + 1);
    },
  });
  const { counts, sink } = minutes;
  const watched = (row: Row, line: number) => {
    onRow?.(row);
    sink.row(row, line);
  };
  const reader = recognition.createReader(options.settings, { ...sink, row: onRow === undefined ? sink.row : watched });
  const outcome: Outcome = { counts, malformed, refused, startMs, stopped: null, failure: null };
  const stopped = (): Outcome["stopped"] =>
    signal.aborted ? "interrupted" : counts.malformed > maxErrors ? "too many malformed rows" : null;

  async function* readParts(): AsyncGenerator<FilePart> {
    let readBytes = 0;
    const onRead = (bytes: number): void => {
      readBytes = bytes;
    };
    const part = (end: "file" | "period"): FilePart => ({ ...minutes.take(end), readRows: counts.rows, readBytes });
    for await (const chunk of contentOf(source, onRead)) {
      reader.push(chunk);
      outcome.stopped = stopped();
      if (outcome.stopped !== null) break;
      if (minutes.pending() >= options.batchKlines) yield part("period");
      progress.update(readBytes, counts.rows);
    }
    if (outcome.stopped === null) {
      reader.end();
      outcome.stopped = stopped();
    }
    if (outcome.stopped === null) minutes.finish();
    if (counts.crossed > 0) refused.set(CROSSED, counts.crossed);
    if (counts.misaligned > 0) refused.set(MISALIGNED, counts.misaligned);
    yield part("file");
  }

  async function* parts(): AsyncGenerator<FilePart> {
    try {
      yield* readParts();
    } catch (error) {
      if (!(error instanceof ImportFailure)) throw error;
      outcome.failure = error;
    }
  }
  return { outcome, parts: parts() };
}

/** Klines that are kept of a file until it is judged, so that it is not read again: 64 bytes each. */
export const KEPT_MAX_KLINES = 6_000_000;

/** Keeps the parts of a file while it is read. */
export function createKeeper({ outcome }: FileReading, maxKlines: number) {
  let kept: FilePart[] | null = [];
  let count = 0;
  return {
    keep(part: FilePart): void {
      count += part.klines.time.length;
      if (count > maxKlines) kept = null;
      kept?.push(part);
    },
    /** The file as it was read, without reading it again; null when it has more klines than are kept. */
    again(signal: AbortSignal): FileReading | null {
      const rest = kept;
      if (rest === null) return null;
      async function* parts(): AsyncGenerator<FilePart> {
        for (let part = rest?.shift(); part !== undefined; part = rest?.shift()) {
          if (signal.aborted) {
            outcome.stopped = "interrupted";
            return;
          }
          yield part;
        }
      }
      return { outcome, parts: parts() };
    },
  };
}

interface StoreOptions {
  readonly series: Series;
  readonly job: Job;
  readonly key: JobKey;
  readonly batch: Pick<Batch, "put">;
  readonly jobs: Jobs;
  readonly clock: Clock;
  readonly progress: Progress;
  /** Called with klines before they are stored, in parts. @throws ImportFailure when they cannot be right */
  check(klines: KlineColumns): Promise<void>;
  /** Called with klines that are stored, and how they compare with those before. */
  onStored(klines: KlineColumns, counts: BatchCounts): void;
}

/** Parts that wait to be written or are: one, while the next is read. */
const WRITING_MAX_COUNT = 2;

/**
 * Stores the klines of a file in parts. Each saves its position, so that the next run resumes from there. What is stored stays stored
 * when it ends early.
 * @throws ImportFailure when the file cannot be read; the error of pg when the database is unavailable.
 */
export async function storeFile({ outcome, parts }: FileReading, options: StoreOptions): Promise<Loaded> {
  const { series, job, key, batch, jobs, clock, progress } = options;
  const writing: Promise<unknown>[] = [];
  let counts: BatchCounts = { ...NO_KLINES };

  async function write({ klines, rows }: FilePart): Promise<void> {
    const put = await batch.put({ series, klines }, (client) => jobs.save(client, [{ id: job.id, key, rows }], false));
    counts = addCounts(counts, put);
    options.onStored(klines, put);
  }

  try {
    for await (const part of parts) {
      if (writing.length === WRITING_MAX_COUNT) await writing.shift();
      if (part.klines.time.length > 0) await options.check(part.klines);
      const written = write(part);
      // Awaited later; until then its failure must not count as unhandled.
      written.catch(() => undefined);
      writing.push(written);
      progress.update(part.readBytes, part.readRows);
    }
  } finally {
    // Also when reading failed: no write may be in progress when this returns.
    await Promise.allSettled(writing);
  }
  await Promise.all(writing);
  if (outcome.failure !== null) throw outcome.failure;
  return { ...outcome, klines: counts, ms: clock.now() - outcome.startMs };
}

/** What a file is read with before it is judged. */
export interface ScanContext {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Reads the rows of a file, and shows the progress of it under a title. */
export async function scanFile(
  title: string,
  source: Source,
  recognition: Recognition,
  settings: ReaderSettings,
  { terminal, clock, signal }: ScanContext,
  onRow: (row: Row) => void,
): Promise<void> {
  const progress = startProgress(terminal, title, source.sizeBytes, clock);
  let rows = 0;
  let readBytes = 0;
  const reader = recognition.createReader(settings, {
    row(row) {
      rows += 1;
      onRow(row);
    },
  });
  const chunks = contentOf(source, (bytes) => {
    readBytes = bytes;
  });
  try {
    for await (const chunk of chunks) {
      if (signal.aborted) throw new ImportFailure("interrupted");
      reader.push(chunk);
      progress.update(readBytes, rows);
    }
    reader.end();
  } finally {
    progress.stop();
  }
}
