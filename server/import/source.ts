import type { Kline } from "#lib/domain/kline";
import { addCounts, NO_KLINES } from "#lib/market/kline-batches";
import type { KlineTable } from "#lib/market/kline-store";
import type { Catalogue } from "#lib/market/ports";
import { MINUTE_MS, MINUTE_S } from "#lib/units";
import { countText } from "#server/cli/words";
import { IMPORTING } from "./backfill";
import type { Batch } from "./batch";
import { doubtClock } from "./clock-detect";
import { weeklyHours } from "./clock-judge";
import { evidenceOf } from "./clock-survey";
import { knownClock } from "./clock-zone";
import { createClosedHours, createHoursCheck } from "./closed-hours";
import type { Source } from "./decompress";
import { ImportFailure, isFileError } from "./failure";
import { createIntervals } from "./interval";
import { type Job, type JobKey, type JobState, type Jobs, jobId } from "./jobs";
import { type Loaded, loadFile } from "./load";
import type { Options } from "./options";
import { type PrepareContext, type Prepared, prepare } from "./prepare";
import type { PriceCheck } from "./price-check";
import { plausibleRange } from "./price-ranges";
import { startProgress } from "./progress";
import { createRebuilder, type Rebuilder, type Touched } from "./rebuild";
import { createSamples, describe, notable, type Report, summarise } from "./report";
import type { Row } from "./row";
import type { Tally, TallyPart } from "./tally";

/** What one run of the import imports its files with. */
export interface Session extends PrepareContext {
  readonly catalogue: Pick<Catalogue, "calendar">;
  readonly batch: Batch;
  readonly batchKlines: number;
  readonly store: KlineTable;
  readonly jobs: Jobs;
  readonly report: Report;
  readonly tally: Tally;
  /** Files whose rows are all stored, but not necessarily their longer timeframes. */
  readonly finished: JobState[];
  readonly prices: PriceCheck;
  /** One for each ticker of which minutes were imported; none in a trial. */
  readonly rebuilders: Map<string, Rebuilder>;
  /** Tickers of which klines were imported; none in a trial. */
  readonly changed: Set<string>;
}

/** Whether rows of a file were stored before it failed. */
interface Begun {
  stored: boolean;
}

/** A trial has nothing to rebuild, nor have klines longer than a minute. */
const NO_REBUILDER = { follow: async () => undefined, writeSome: async () => undefined };
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

function touchedBy({ counts }: Loaded): Touched | null {
  if (Number.isNaN(counts.firstMs)) return null;
  const minute = (ms: number) => Math.floor(ms / MINUTE_MS) * MINUTE_S;
  return { first: minute(counts.firstMs), last: minute(counts.lastMs) };
}

/** What is known of a file while it is read, also when reading fails. */
function startPart(session: Session, prepared: Prepared) {
  const { listing, timeframe } = prepared;
  const calendar = session.catalogue.calendar(listing.ticker) ?? MISSING_CALENDAR;
  const closedHours = createClosedHours(calendar);
  const checkHours = createHoursCheck(calendar, listing.ticker);
  const evidence = evidenceOf(prepared);
  const samples = createSamples(timeframe);
  let rows = 0;
  let klines: TallyPart["klines"] = { ...NO_KLINES };
  return {
    samples,
    closedHours,
    evidence,
    part: (): TallyPart => ({ timeframe, rows, refused: new Map(), klines, closedHours: closedHours.count }),
    hooks: {
      async check(klines: readonly Kline[]) {
        if (session.options.force) return;
        checkHours(klines);
        await session.prices.check(klines, listing);
      },
      onRow(row: Row) {
        rows += 1;
        evidence.row(row);
      },
      onStored(stored: Parameters<typeof samples.add>[0], counts: TallyPart["klines"]) {
        closedHours.add(stored);
        samples.add(stored);
        klines = addCounts(klines, counts);
      },
    },
  };
}

function rebuilderOf({ rebuilders, store, clock }: Session, ticker: string): Rebuilder {
  const rebuilder = rebuilders.get(ticker) ?? createRebuilder(store, ticker, clock);
  rebuilders.set(ticker, rebuilder);
  return rebuilder;
}

async function load(prepared: Prepared, job: Job, key: JobKey, session: Session, begun: Begun): Promise<Loaded> {
  const { options, terminal, clock, signal, jobs, batch, tally, report } = session;
  const { source, recognition, listing, timeframe } = prepared;
  const trial = options.dryRun;
  await batch.claim(listing.ticker);
  const rebuilder = trial || timeframe !== "M1" ? undefined : rebuilderOf(session, listing.ticker);
  if (!trial) session.changed.add(listing.ticker);
  const { hooks, samples, closedHours, evidence, part } = startPart(session, prepared);
  const progress = startProgress(terminal, IMPORTING, source.sizeBytes, clock);
  let loaded: Loaded;
  try {
    loaded = await loadFile({
      ...{ ...prepared, ...hooks, job, key, batch, jobs, clock, signal, progress },
      ticker: listing.ticker,
      intervals: createIntervals(timeframe, listing.assetClass),
      digits: listing.digits,
      range: options.force || prepared.recognition.exported === true ? null : plausibleRange(listing.base, listing.quote),
      dropsFillers: prepared.sample.hasVolume && prepared.recognition.exported !== true,
      maxErrors: options.maxErrors,
      batchKlines: session.batchKlines,
      rebuilder: rebuilder ?? NO_REBUILDER,
    });
  } catch (error) {
    tally.add(part());
    begun.stored = part().klines.stored > 0;
    throw error;
  } finally {
    progress.stop();
  }
  tally.add({ ...part(), rows: loaded.counts.rows, refused: loaded.refused });
  const circumstances = {
    timeframe,
    skippedRows: job.rows,
    maxErrors: options.maxErrors,
    closedHours,
    trial,
    countsRows: source.form !== undefined,
  };
  const usual = [...summarise(loaded, circumstances), ...(trial ? samples.lines() : [])];
  const doubt =
    "fixed" in recognition.clock && options.clock === null
      ? doubtClock(knownClock("UTC"), { evidence: evidence.evidence(), hours: weeklyHours(listing.assetClass) })
      : null;
  report.result(usual, [...notable(loaded, circumstances), ...(doubt === null ? [] : [`  DOUBTFUL: ${doubt}`])]);
  const touched = job.rows > 0 ? touchedBy(loaded) : null;
  if (touched !== null) rebuilder?.include(touched);
  return loaded;
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
  const { stopped, counts } = await load(prepared, job, key, session, begun);
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
