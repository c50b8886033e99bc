import type { Clock } from "#lib/clock";
import type { KlineColumns } from "#lib/domain/columns";
import type { PriceRange } from "#lib/domain/price-ranges";
import type { Series } from "#lib/history/layers";
import { addCounts, type BatchCounts, NO_KLINES } from "#lib/market/kline-batches";
import type { Batch } from "./batch";
import type { Source } from "./decompress";
import { contentOf } from "./detect";
import { ImportFailure } from "./failure";
import { storedTicks } from "./file-ticks";
import type { Recognition } from "./format";
import type { Intervals } from "./interval";
import type { Job, JobKey, Jobs } from "./jobs";
import { type Counts, CROSSED, type Harvest, MISALIGNED, type PartBounds } from "./ledger";
import { createMinutes } from "./minutes";
import { type Progress, startProgress, type Terminal } from "./progress";
import type { ReaderSettings, Row } from "./row";

/** How much of a file is in memory at once. */
export interface ImportBounds extends PartBounds {
  /** Klines and ticks that are kept of a file until it is judged, so that it is not read again. */
  readonly keptKlines: number;
  readonly keptTicks: number;
}

/**
 * A part of a file is stored in one transaction. A kline that is kept takes 64 bytes, a tick 32: both bounds together 576 MB. A busy
 * month of ticks is read once, a year twice.
 */
export const IMPORT_BOUNDS: ImportBounds = {
  batchKlines: 50_000,
  batchTicks: 200_000,
  keptKlines: 6_000_000,
  keptTicks: 6_000_000,
};
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

/** Klines of a part of a file with their ticks, and how far the file was read when they were complete. */
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
  /** How many of its ticks were kept, or in a trial would be. */
  readonly ticks: number;
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
  readonly bounds: PartBounds;
  /** Rows at the beginning that an earlier run stored. */
  readonly skipRows: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  /** Called with every valid row. */
  onRow?(row: Row): void;
}

/**
 * Reads a file in parts, whenever so much of it is complete. A part of klines ends with a month (of longer klines, a year) if one ends in it,
 * so that a month of more parts is not written several times; a part of ticks ends with a UTC day.
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
      if (minutes.isFull(options.bounds)) yield part("period");
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

/** Keeps the parts of a file while it is read. */
export function createKeeper({ outcome }: FileReading, { keptKlines, keptTicks }: ImportBounds) {
  let kept: FilePart[] | null = [];
  let [klines, ticks] = [0, 0];
  return {
    keep(part: FilePart): void {
      klines += part.klines.time.length;
      ticks += part.ticks.time.length;
      if (klines > keptKlines || ticks > keptTicks) kept = null;
      kept?.push(part);
    },
    /** The file as it was read, without reading it again; null when it has more than is kept. */
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
  /** The id of the format of the file. */
  readonly format: string;
  readonly job: Job;
  readonly key: JobKey;
  readonly batch: Pick<Batch, "put">;
  readonly jobs: Jobs;
  readonly clock: Clock;
  readonly progress: Progress;
  /** Called with klines before they are stored, in parts. @throws ImportFailure when they cannot be right */
  check(klines: KlineColumns): Promise<void>;
  /** Called with klines that are stored, how they compare with those before, and how many ticks are kept of them. */
  onStored(klines: KlineColumns, counts: BatchCounts, ticks: number): void;
}

/** Parts that wait to be written or are: one, while the next is read. */
const WRITING_MAX_COUNT = 2;

/**
 * Stores the klines of a file and their ticks in parts. Each saves its position, so that the next run resumes from there. What is
 * stored stays stored when it ends early.
 * @throws ImportFailure when the file cannot be read; the error of pg when the database is unavailable.
 */
export async function storeFile({ outcome, parts }: FileReading, options: StoreOptions): Promise<Loaded> {
  const { series, format, job, key, batch, jobs, clock, progress } = options;
  const writing: Promise<unknown>[] = [];
  let counts: BatchCounts = { ...NO_KLINES };
  let kept = 0;

  async function write({ klines, ticks, rows }: FilePart): Promise<void> {
    const part = { series, klines, ticks: storedTicks(ticks, format) };
    const put = await batch.put(part, (client) => jobs.save(client, [{ id: job.id, key, rows }], false));
    counts = addCounts(counts, put);
    kept += ticks.time.length;
    options.onStored(klines, put, ticks.time.length);
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
  return { ...outcome, klines: counts, ticks: kept, ms: clock.now() - outcome.startMs };
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
