import { createHash } from "node:crypto";
import type { KlineColumns } from "#lib/domain/columns";
import { plausibleRange } from "#lib/domain/price-ranges";
import { SECOND_MS } from "#lib/units";
import { countText, minuteText } from "#server/cli/words";
import {
  type CalendarHours,
  createClosedHours,
  createEnds,
  createHoursCheck,
  type Doubt,
  judgeOverlap,
  likenessOf,
  rowText,
} from "#server/import/checks/doubts";
import type { PriceCheck } from "#server/import/checks/prices";
import { createRowChecks, createStepCheck, createTickCheck } from "#server/import/checks/rows";
import { ImportFailure } from "#server/import/failure";
import { contentOf } from "#server/import/files/text";
import { type Progress, startProgress } from "#server/import/progress";
import { hasAsks, type Row } from "#server/import/rows/row";
import { clockAdvice, statedDoubt } from "#server/import/survey/advice";
import { claimsOf } from "#server/import/survey/decide";
import type { Prepared, SurveyContext } from "#server/import/survey/survey";
import { addCounts, type BatchCounts, NO_KLINES } from "#server/store/klines/kline-batches";
import type { KlineTable } from "#server/store/klines/kline-store";
import { type Counts, CROSSED, createMinutes, type KlinePart, MISALIGNED, type PartBounds, storedTicks } from "./klines";
import type { Batch, Job, Jobs } from "./store";

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
/** Klines that a trial shows of a file. */
const FIRST_KLINES_COUNT = 3;
/** Malformed rows that are listed, and klines that open at other times than ours; the rest are only counted. */
const LISTED_COUNT = 20;

/** Reasons that are counted one by one; values in them can make each different. */
const REASONS_MAX_COUNT = 100;
const OTHER_REASONS = "other reasons";

/** What files are judged and loaded with. */
interface LoadContext extends SurveyContext {
  readonly store: KlineTable;
  readonly bounds: ImportBounds;
}

/** Klines of a part of a file with their ticks, and how far the file was read when they were complete. */
interface FilePart extends KlinePart {
  readonly readRows: number;
  readonly readBytes: number;
}

/** A row that is not taken, and why. */
interface RefusedRow {
  readonly line: number;
  readonly reason: string;
}

/** What is known of the rows of a file; all of it once its parts are read. */
export interface Outcome {
  readonly counts: Counts;
  /** The first malformed rows. */
  readonly malformed: readonly RefusedRow[];
  /** The first klines that open at other times than ours. */
  readonly misaligned: readonly RefusedRow[];
  /** Malformed rows and crossed quotes by reason. */
  readonly refused: ReadonlyMap<string, number>;
  readonly startMs: number;
  /** Whether the operator stopped it before the end of the file. */
  interrupted: boolean;
  /** The SHA-256 of what was read; null until the file is read to its end. */
  digest: string | null;
  /** Why the file could not be read or stored to its end; null when it could. */
  failure: ImportFailure | null;
}

/** A file that is read in parts. */
interface FileReading {
  readonly outcome: Outcome;
  /** Can be read once. A file that cannot be read to its end ends with the klines that were complete before; the outcome says why. */
  readonly parts: AsyncIterable<FilePart>;
}

/**
 * Reads a file in parts, whenever so much of it is complete. A part of klines ends with a month (of longer klines, a year) if one ends in it,
 * so that a month of more parts is not written several times; a part of ticks ends with a UTC day.
 * @param skipRows rows at the beginning that an earlier run stored
 * @param onRow called with every valid row
 */
export function readFile(
  { source, recognition, settings, listing, intervals, sample, values }: Prepared,
  skipRows: number,
  progress: Progress,
  { options, clock, signal, bounds }: LoadContext,
  onRow?: (row: Row, line: number) => void,
): FileReading {
  const startMs = clock.now();
  const isExported = recognition.exported === true;
  const malformed: { line: number; reason: string }[] = [];
  const misaligned: { line: number; reason: string }[] = [];
  const refused = new Map<string, number>();
  const minutes = createMinutes(recognition.kind, {
    ticker: listing.ticker,
    intervals,
    hasAsks: hasAsks(recognition.layout),
    digits: listing.digits,
    range: options.force || isExported ? null : plausibleRange(listing.base, listing.quote),
    dropsFillers: values.hasVolume && !isExported,
    skipRows,
    newestFirst: sample.newestFirst,
    nowMs: startMs,
    onMalformed(line, reason) {
      if (malformed.length < LISTED_COUNT) malformed.push({ line, reason });
      const counted = refused.has(reason) || refused.size < REASONS_MAX_COUNT ? reason : OTHER_REASONS;
      refused.set(counted, (refused.get(counted) ?? 0) + 1);
    },
    onMisaligned(line, timeMs) {
      if (misaligned.length === LISTED_COUNT) return;
      const instead = minuteText(intervals.around(timeMs) * SECOND_MS);
      misaligned.push({ line, reason: `it opens at ${new Date(timeMs).toISOString()} instead of ${instead}` });
    },
  });
  const { counts, sink } = minutes;
  const watched = (row: Row, line: number) => {
    onRow?.(row, line);
    sink.row(row, line);
  };
  const reader = recognition.createReader(settings, { ...sink, row: onRow === undefined ? sink.row : watched });
  const outcome: Outcome = { counts, malformed, misaligned, refused, startMs, interrupted: false, digest: null, failure: null };

  function checkErrors(): void {
    if (counts.malformed <= options.maxErrors) return;
    const [most = ""] = [...refused].reduce((best, next) => (next[1] > best[1] ? next : best));
    throw new ImportFailure(`more than ${countText(options.maxErrors)} malformed rows (--max-errors), most of them: ${most}`);
  }

  async function* parts(): AsyncGenerator<FilePart> {
    let readBytes = 0;
    const hash = createHash("sha256");
    const part = (end: "file" | "period"): FilePart => ({ ...minutes.take(end), readRows: counts.rows, readBytes });
    const chunks = contentOf(source, (bytes) => {
      readBytes = bytes;
    });
    try {
      for await (const chunk of chunks) {
        hash.update(chunk);
        reader.push(chunk);
        checkErrors();
        outcome.interrupted = signal.aborted;
        if (outcome.interrupted) break;
        if (minutes.isFull(bounds)) yield part("period");
        progress.update(readBytes, counts.rows);
      }
      if (!outcome.interrupted) {
        reader.end();
        checkErrors();
      }
    } catch (error) {
      if (!(error instanceof ImportFailure)) throw error;
      outcome.failure = error;
      return;
    }
    if (!outcome.interrupted) {
      minutes.finish();
      outcome.digest = hash.digest("hex");
    }
    if (counts.crossed > 0) refused.set(CROSSED, counts.crossed);
    if (counts.misaligned > 0) refused.set(MISALIGNED, counts.misaligned);
    yield part("file");
  }
  return { outcome, parts: parts() };
}

/** Keeps the parts of a file while it is read. */
function createKeeper({ outcome }: FileReading, { keptKlines, keptTicks }: ImportBounds) {
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
            outcome.interrupted = true;
            return;
          }
          yield part;
        }
      }
      return { outcome, parts: parts() };
    },
  };
}

/** What is doubtful about a file, empty when nothing is, and the file as it was read; null where it has to be read again. */
interface Judged {
  readonly doubts: readonly Doubt[];
  readonly outcome: Outcome;
  readonly read: FileReading | null;
}

/**
 * Reads a file to its end before anything of it is stored, and compares it with the hours of its market and with what is stored
 * at the same times, before and after them; a file that cannot be read to its end is not compared, the outcome says why.
 * Rows that an earlier run stored are not judged again, and recorded ticks are not at all: the service judged them when they came.
 * @throws ImportFailure when its prices cannot be those of the instrument; the error of pg when the database is unavailable
 */
export async function judgeFile(
  file: Prepared,
  skipRows: number,
  calendar: CalendarHours,
  context: StoreContext,
): Promise<Judged> {
  const { options, store, terminal, clock, listings, bounds, signal } = context;
  const { listing, source, timeframe, recognition } = file;
  const isRecording = recognition.exported === true && recognition.kind === "ticks";
  const series = { ticker: listing.ticker, timeframe };
  const hours = createHoursCheck(file, calendar, options.clock !== null);
  const prices = context.prices.trial();
  const ends = createEnds(series);
  const rows = createRowChecks(claimsOf(file, file.settings, options));
  const times = createTickCheck();
  const steps = createStepCheck(timeframe);
  const watch = (row: Row, line: number) => {
    hours.row(row);
    if (recognition.kind === "ticks") times.row(row);
    else if (recognition.exported !== true) rows.row(row, line);
  };
  /** Of rows in closed hours, and of times that differ from those of the stored klines. */
  async function clockDoubts(): Promise<readonly Doubt[]> {
    const closed = await hours.doubts(() => clockAdvice(file, context));
    const isStated = options.clock !== null || ("fixed" in recognition.clock && recognition.layout !== null);
    const stated = isStated ? await statedDoubt(file, context) : null;
    return stated === null ? closed : [...closed, { reason: stated, rows: [] }];
  }
  let overlap: Doubt | null = null;
  let beginning: KlineColumns | undefined;
  const progress = startProgress(terminal, "checking the prices", source.sizeBytes, clock);
  const read = readFile(file, skipRows, progress, context, watch);
  const keeper = createKeeper(read, bounds);
  try {
    for await (const part of read.parts) {
      const { klines } = part;
      keeper.keep(part);
      if (isRecording || klines.time.length === 0) continue;
      if (!options.force) await prices.check(klines, timeframe, listing);
      hours.take(klines);
      ends.take(klines);
      // With gaps, as the operator says.
      if (options.timeframe === null) steps.take(klines);
      beginning ??= klines;
      overlap ??= await judgeOverlap({ series, klines }, listing.digits, store);
    }
  } finally {
    progress.stop();
  }
  const { outcome } = read;
  const judged = { outcome, read: keeper.again(signal) };
  if (isRecording || outcome.failure !== null) return { ...judged, doubts: [] };
  const levels = [...(overlap === null ? [] : [overlap]), ...(await ends.judge(store))];
  const like =
    levels.length > 0 && beginning !== undefined ? await likenessOf({ series, klines: beginning }, listings, store) : null;
  const named = like === null ? [] : [{ reason: `it looks like ${like}: the same prices are stored for it`, rows: [] }];
  return {
    ...judged,
    doubts: [...rows.doubts(), ...times.doubts(), ...steps.doubts(), ...(await clockDoubts()), ...levels, ...named],
  };
}

/** Parts that wait to be written or are: one, while the next is read. */
const WRITING_MAX_COUNT = 2;

/** What is stored of a file, by this run and an earlier one. */
export interface Kept {
  name: string;
  /** From its beginning. */
  rows: number;
  /** The time of the last kline that this run stored, Unix milliseconds; NaN where it stored none. */
  lastMs: number;
}

/** What files are stored with. */
export interface StoreContext extends LoadContext {
  readonly batch: Pick<Batch, "file">;
  readonly jobs: Jobs;
  /** Against the days that earlier files of this run stored: they are computed at its end. */
  readonly prices: PriceCheck;
  /** Of the file that is stored, or was last. */
  readonly kept: Kept;
}

/** How an import of one file ended. */
export type Loaded = Awaited<ReturnType<typeof storeFile>>;

/**
 * Stores the klines of a file and their ticks in parts. Each saves its position, so that the next run resumes from there. What is
 * stored stays stored when it ends early.
 * @throws the error of pg when the database is unavailable
 */
export async function storeFile(
  { source, listing, timeframe, format }: Prepared,
  { outcome, parts }: FileReading,
  job: Job,
  calendar: CalendarHours,
  progress: Progress,
  { batch, jobs, prices, kept, options, clock }: StoreContext,
) {
  const series = { ticker: listing.ticker, timeframe };
  const closedHours = createClosedHours(calendar, timeframe);
  const first: string[] = [];
  const writing: Promise<unknown>[] = [];
  const put = batch.file();
  let counts: BatchCounts = { ...NO_KLINES };
  let keptTicks = 0;
  Object.assign(kept, { name: source.name, rows: job.rows, lastMs: Number.NaN });

  async function write({ klines, ticks, rows }: FilePart): Promise<void> {
    const part = { series, klines, ticks: storedTicks(ticks, format.id) };
    const stored = await put(part, (client) => jobs.save(client, [{ ...job, rows }], false));
    counts = addCounts(counts, stored);
    keptTicks += ticks.time.length;
    kept.rows = rows;
    kept.lastMs = (klines.time.at(-1) ?? Number.NaN) * SECOND_MS;
    closedHours.add(klines);
    for (let row = 0; row < klines.time.length && first.length < FIRST_KLINES_COUNT; row += 1) first.push(rowText(klines, row));
  }

  try {
    for await (const part of parts) {
      if (writing.length === WRITING_MAX_COUNT) await writing.shift();
      if (part.klines.time.length > 0 && !options.force) await prices.check(part.klines, timeframe, listing);
      const written = write(part);
      // Awaited later; until then its failure must not count as unhandled.
      written.catch(() => undefined);
      writing.push(written);
      progress.update(part.readBytes, part.readRows);
    }
  } catch (error) {
    if (!(error instanceof ImportFailure)) throw error;
    outcome.failure = error;
  } finally {
    // Also when reading failed: no write may be in progress when this returns.
    await Promise.allSettled(writing);
  }
  await Promise.all(writing);
  return {
    ...outcome,
    /** What became of its klines; in a trial, what would. */
    klines: counts,
    /** How many of its ticks were kept, or in a trial would be. */
    ticks: keptTicks,
    closedHours,
    /** Its first klines. */
    first,
    /** Rows that an earlier run stored. */
    skippedRows: job.rows,
    ms: clock.now() - outcome.startMs,
  };
}
