import type { KlineColumns } from "#lib/domain/columns";
import { plausibleRange } from "#lib/domain/price-ranges";
import { addCounts, NO_KLINES } from "#lib/market/kline-batches";
import type { KlineTable } from "#lib/market/kline-store";
import type { Catalogue } from "#lib/market/ports";
import { countText } from "#server/cli/words";
import { IMPORTING } from "./backfill";
import type { Batch } from "./batch";
import { createClosedHours } from "./closed-hours";
import type { Source } from "./decompress";
import { type Doubt, doubtLines, refusalOf } from "./doubt";
import { ImportFailure, isFileError } from "./failure";
import { createIntervals } from "./interval";
import { type Job, type JobKey, type JobState, type Jobs, jobId } from "./jobs";
import { judgeFile, type Reading } from "./judge";
import { type FileReading, type ImportBounds, type Loaded, readFile, storeFile } from "./load";
import type { Options } from "./options";
import { type PrepareContext, type Prepared, prepare } from "./prepare";
import type { PriceCheck } from "./price-check";
import { startProgress } from "./progress";
import { createSamples, describe, notable, type Report, summarise } from "./report";
import type { Tally, TallyPart } from "./tally";

/** What one run of the import imports its files with. */
export interface Session extends PrepareContext {
  readonly catalogue: Pick<Catalogue, "calendar">;
  readonly batch: Batch;
  readonly bounds: ImportBounds;
  readonly store: KlineTable;
  readonly jobs: Jobs;
  readonly report: Report;
  readonly tally: Tally;
  /** Files whose rows are all stored. */
  readonly finished: JobState[];
  readonly prices: PriceCheck;
  /** Tickers of which klines were imported; none in a trial. */
  readonly changed: Set<string>;
  /** Keeps what was doubtful about a file with the import. */
  doubt(text: string): void;
  /** Keeps the format of a file that is imported. */
  format(title: string): Promise<void>;
}

/** Whether rows of a file were stored before it failed. */
interface Begun {
  stored: boolean;
}

const MISSING_CALENDAR = { sessionAt: () => ({ state: "unknown" as const, nextOpen: null, nextClose: null }) };

function keyOf({ source, format, listing, clock, settings, recognition, timeframe }: Prepared, options: Options): JobKey {
  const { venue, columns, dateOrder, months, dateMs } = options;
  // The path of a .bi5 file and of some others has the day of their times.
  const isDated = recognition.layout === null || recognition.layout.startMs !== undefined;
  const part = isDated || source.name !== source.file ? source.path.split("/").slice(-5).join("/") : "";
  const isBi5 = recognition.layout === null;
  const said = isBi5 ? { ...(months === 1 && { months }), ...(dateMs !== null && { dateMs }) } : { columns, dateOrder };
  const form = isBi5 || columns !== null || dateOrder !== null ? Object.values(said) : [];
  const klines = timeframe === "M1" ? [] : [timeframe];
  const reading = JSON.stringify([format.id, clock.clock.name, settings.pointDigits, settings.spreadDigits, ...form, ...klines]);
  return { venue, ticker: listing.ticker, file: source.name, part, reading };
}

const calendarOf = ({ catalogue }: Session, ticker: string) => catalogue.calendar(ticker) ?? MISSING_CALENDAR;

/** What is known of a file while it is read, also when reading fails. */
function startPart(session: Session, { listing, timeframe }: Prepared) {
  const closedHours = createClosedHours(calendarOf(session, listing.ticker), timeframe);
  const samples = createSamples(timeframe);
  let [klines, ticks] = [{ ...NO_KLINES }, 0];
  return {
    samples,
    closedHours,
    part: (rows: number): TallyPart => ({
      timeframe,
      rows,
      refused: new Map(),
      klines,
      ticks,
      closedHours: closedHours.count,
    }),
    hooks: {
      /** Against the days that earlier files of this run stored: they are computed at its end. */
      async check(klines: KlineColumns) {
        if (!session.options.force) await session.prices.check(klines, timeframe, listing);
      },
      onStored(stored: KlineColumns, counts: TallyPart["klines"], kept: number) {
        closedHours.add(stored);
        samples.add(stored);
        klines = addCounts(klines, counts);
        ticks += kept;
      },
    },
  };
}

function readingOf(prepared: Prepared, job: Job, { options, clock, signal, bounds }: Session): Reading {
  const { listing, timeframe, recognition, sample, source, settings } = prepared;
  return {
    source,
    recognition,
    settings,
    clock,
    signal,
    bounds,
    skipRows: job.rows,
    ticker: listing.ticker,
    intervals: createIntervals(timeframe, listing.assetClass),
    digits: listing.digits,
    range: options.force || recognition.exported === true ? null : plausibleRange(listing.base, listing.quote),
    dropsFillers: sample.hasVolume && recognition.exported !== true,
    maxErrors: options.maxErrors,
  };
}

/** @param read the file as it was judged; null where it has to be read again */
async function load(
  prepared: Prepared,
  reading: Reading,
  read: FileReading | null,
  session: Session,
  { job, key, begun }: { job: Job; key: JobKey; begun: Begun },
): Promise<Loaded> {
  const { options, terminal, clock, jobs, batch, tally, report } = session;
  const { source, format, listing, timeframe } = prepared;
  const { maxErrors } = options;
  const trial = options.dryRun;
  if (!trial) session.changed.add(listing.ticker);
  await session.format(prepared.format.title);
  const { hooks, samples, closedHours, part } = startPart(session, prepared);
  const progress = startProgress(terminal, IMPORTING, source.sizeBytes, clock);
  const file = read ?? readFile({ ...reading, progress });
  const { counts } = file.outcome;
  const series = { ticker: listing.ticker, timeframe };
  let loaded: Loaded;
  try {
    loaded = await storeFile(file, { ...hooks, series, format: format.id, job, key, batch, jobs, clock, progress });
  } catch (error) {
    tally.add(part(counts.rows));
    begun.stored = part(counts.rows).klines.stored > 0;
    throw error;
  } finally {
    progress.stop();
  }
  tally.add({ ...part(counts.rows), refused: loaded.refused });
  const countsRows = source.form !== undefined;
  const circumstances = { timeframe, skippedRows: job.rows, maxErrors, closedHours, trial, countsRows };
  const usual = [...summarise(loaded, circumstances), ...(trial ? samples.lines() : [])];
  report.result(usual, notable(loaded, circumstances));
  return loaded;
}

/** Reports what is doubtful about a file. @throws Unsure unless the operator accepts it */
function settle(doubts: readonly Doubt[], { name }: Source, { options, report, doubt }: Session): void {
  if (doubts.length === 0) return;
  for (const { reason } of doubts) doubt(`${name}${options.acceptDoubts ? "" : ", not stored"}: ${reason}`);
  report.result([], doubtLines(doubts, options.acceptDoubts));
  if (!options.acceptDoubts) throw refusalOf(doubts);
}

/** @returns what stopped the file before its end; null when nothing did */
async function importPrepared(prepared: Prepared, session: Session, begun: Begun): Promise<string | null> {
  const { options, jobs, report, tally, finished } = session;
  const { source } = prepared;
  report.detected(describe(prepared));
  const key = keyOf(prepared, options);
  const id = await jobId({ ...key, file: source.file });
  const found = await jobs.find(id);
  if (found.done && !options.force) {
    tally.known();
    report.result([`  already imported (${countText(found.rows)} rows); --force imports it again`], []);
    return null;
  }
  const job = options.force ? { ...found, rows: 0 } : found;
  if (job.rows > 0) report.result([], [`  resumed: an earlier run stored the first ${countText(job.rows)} rows`]);
  const reading = readingOf(prepared, job, session);
  await session.batch.claim(prepared.listing.ticker);
  // The service judged recorded ticks when they came.
  const isRecording = prepared.recognition.exported === true && prepared.recognition.kind === "ticks";
  const calendar = calendarOf(session, prepared.listing.ticker);
  const judged = isRecording ? null : await judgeFile(prepared, reading, calendar, session);
  settle(judged?.doubts ?? [], source, session);
  const { stopped, counts } = await load(prepared, reading, judged?.read ?? null, session, { job, key, begun });
  if (stopped === null) finished.push({ id, key, rows: counts.rows });
  else if (stopped === "interrupted") tally.interrupt();
  else tally.refuse(source.name, new ImportFailure(`${stopped} (--max-errors)`));
  return stopped;
}

/**
 * Imports one file or entry of an archive. A file that cannot be imported is reported and counted.
 * @returns what went wrong, null when nothing did
 * @throws the error of pg when the database is unavailable
 */
export async function importSource(source: Source, session: Session): Promise<string | null> {
  const { report, tally } = session;
  report.file(source.name);
  tally.file();
  const begun: Begun = { stored: false };
  try {
    const prepared = await prepare(source, session);
    if (prepared === null) {
      report.result(["  empty: an hour or day without quotes"], []);
      return null;
    }
    const stopped = await importPrepared(prepared, session, begun);
    return stopped === null ? null : `${source.name}: ${stopped}`;
  } catch (error) {
    if (!isFileError(error)) throw error;
    tally.refuse(source.name, error);
    report.result([`  NOT IMPORTED${begun.stored ? " to its end, earlier rows are stored" : ""}: ${error.message}`], []);
    return `${source.name}: ${error.message}`;
  }
}
