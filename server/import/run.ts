import type { Clock } from "#lib/clock";
import type { Database } from "#lib/db";
import { createKlineStore, type KlineTable } from "#lib/market/kline-store";
import { printableName } from "#lib/printable";
import { EXIT_DONE, EXIT_FAILED } from "#server/cli/usage-error";
import { type BackfillReporter, IMPORTING, reportBackfill } from "./backfill";
import { doubtClock } from "./clock-detect";
import { knownClock } from "./clock-zone";
import { type Source, sourcesOf } from "./decompress";
import { exitCodeOf, ImportFailure, isFileError } from "./failure";
import { filesOf } from "./files";
import { createJobs, type JobKey, type Jobs, jobId } from "./jobs";
import { BATCH_KLINES, type Loaded, loadFile } from "./load";
import type { Options } from "./options";
import {
  evidenceFor,
  type ImportListing,
  livelinessOf,
  type PrepareContext,
  type Prepared,
  prepare,
  sundayOpenMs,
} from "./prepare";
import { startProgress, type Terminal } from "./progress";
import { createRebuilder, type Rebuilder, type Touched } from "./rebuild";
import { describe, summarise } from "./report";

interface ImportContext {
  readonly options: Options;
  readonly database: Database;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Klines stored in one transaction; tests set fewer to get several batches. */
  readonly batchKlines?: number;
}

/** A file whose rows are all stored, but not necessarily its longer timeframes. */
interface Finished {
  readonly id: string;
  readonly key: JobKey;
  readonly rows: number;
}

interface Session extends PrepareContext {
  readonly database: Database;
  readonly batchKlines: number;
  readonly store: KlineTable;
  readonly jobs: Jobs;
  readonly report: BackfillReporter;
  readonly finished: Finished[];
  /** One for each imported ticker. */
  readonly rebuilders: Map<string, Rebuilder>;
}

async function listingsOf({ prisma }: Database, venue: string): Promise<ImportListing[]> {
  const rows = await prisma.listing.findMany({ where: { venue, retiredAt: null } });
  return rows.map(({ ticker, base, quote, digits, assetClass }) => ({
    ticker,
    base,
    quote,
    digits,
    assetClass: assetClass as ImportListing["assetClass"],
  }));
}

function keyOf({ source, format, listing, clock, settings, recognition }: Prepared, venue: string): JobKey {
  // The date of a .bi5 file is in its path.
  const part = recognition.layout === null || source.name !== source.file ? source.path.split("/").slice(-5).join("/") : "";
  const reading = JSON.stringify([format.id, clock.clock.name, settings.pointDigits, settings.spreadDigits]);
  return { venue, ticker: listing.ticker, file: source.name, part, reading };
}

function touchedBy({ counts }: Loaded): Touched | null {
  if (Number.isNaN(counts.firstMs)) return null;
  const minute = (ms: number) => Math.floor(ms / 60_000) * 60;
  return { first: minute(counts.firstMs), last: minute(counts.lastMs) };
}

/** How the import of one source ended; `problem` is null when it completed. */
interface Outcome {
  readonly exitCode: number;
  readonly problem: string | null;
}
const WELL: Outcome = { exitCode: EXIT_DONE, problem: null };

/** @returns why it stopped before the end of the file; null when it did not */
async function load(prepared: Prepared, key: JobKey, id: string, session: Session): Promise<Loaded["stopped"]> {
  const { options, terminal, clock, signal, store, jobs } = session;
  const { source, recognition, listing } = prepared;
  const found = await jobs.find(id);
  if (found.done && !options.force) {
    terminal.line(`  already imported (${found.rows.toLocaleString("en-US")} rows); --force imports it again`);
    return null;
  }
  const job = options.force ? { ...found, rows: 0 } : found;
  if (job.rows > 0) terminal.line(`  resumed: an earlier run stored the first ${job.rows.toLocaleString("en-US")} rows`);
  const rebuilder = session.rebuilders.get(listing.ticker) ?? createRebuilder(store, listing.ticker, clock);
  session.rebuilders.set(listing.ticker, rebuilder);
  const evidence = evidenceFor(recognition.kind);
  const liveliness = livelinessOf(recognition.kind);
  const progress = startProgress(terminal, IMPORTING, source.sizeBytes, clock);
  const loaded = await loadFile({
    ...prepared,
    ticker: listing.ticker,
    digits: listing.digits,
    dropsFillers: prepared.sample.hasVolume,
    maxErrors: options.maxErrors,
    batchKlines: session.batchKlines,
    job,
    key,
    store,
    rebuilder,
    jobs,
    clock,
    signal,
    progress,
    onRow: (row) => evidence.row(row.timeMs, liveliness(row)),
  }).finally(() => progress.stop());
  for (const line of summarise(loaded, job.rows, options.maxErrors)) terminal.line(line);
  const doubt =
    "fixed" in recognition.clock && options.clock === null
      ? doubtClock(evidence.evidence(), knownClock("UTC"), sundayOpenMs(listing))
      : null;
  if (doubt !== null) terminal.line(`  DOUBTFUL: ${doubt}`);
  const touched = job.rows > 0 ? touchedBy(loaded) : null;
  if (touched !== null) rebuilder.include(touched);
  if (loaded.stopped === null) session.finished.push({ id, key, rows: loaded.counts.rows });
  return loaded.stopped;
}

async function importSource(source: Source, session: Session): Promise<Outcome> {
  const { terminal, options } = session;
  terminal.line(printableName(source.name));
  let began = false;
  try {
    const prepared = await prepare(source, session);
    if (prepared === null) {
      terminal.line("  empty: an hour or day without quotes");
      return WELL;
    }
    for (const line of describe(prepared)) terminal.line(line);
    const key = keyOf(prepared, options.venue);
    began = true;
    const stopped = await load(prepared, key, await jobId({ ...key, file: source.file }), session);
    return stopped === null ? WELL : { exitCode: EXIT_FAILED, problem: `${source.name}: ${stopped}` };
  } catch (error) {
    if (!isFileError(error)) throw error;
    terminal.line(`  NOT IMPORTED${began ? " to its end, earlier rows are stored" : ""}: ${error.message}`);
    return { exitCode: exitCodeOf(error), problem: `${source.name}: ${error.message}` };
  }
}

/** Imports all sources of a file in sequence. @throws ImportFailure when it is interrupted between two of them */
async function importFile(file: string, session: Session): Promise<Outcome> {
  const { terminal, signal, report } = session;
  let sources: Source[];
  try {
    sources = await sourcesOf(file, (name) => terminal.line(`${printableName(name)}\n  skipped: not data`));
  } catch (error) {
    if (!isFileError(error)) throw error;
    terminal.line(`${printableName(file)}\n  NOT IMPORTED: ${error.message}`);
    return { exitCode: EXIT_FAILED, problem: error.message };
  }
  let worst = WELL;
  for (const [index, source] of sources.entries()) {
    if (signal.aborted) throw new ImportFailure("interrupted: run the same command again to resume");
    report.source(source.name, index, sources.length);
    const outcome = await importSource(source, session);
    worst = { exitCode: Math.max(worst.exitCode, outcome.exitCode), problem: outcome.problem ?? worst.problem };
  }
  return worst;
}

/** Rebuilds the longer timeframes of everything that was imported. */
async function rebuild({ finished, rebuilders, jobs, terminal, clock }: Session): Promise<void> {
  for (const [ticker, rebuilder] of rebuilders) {
    const progress = startProgress(terminal, `${ticker} M5 to MN1`, 1, clock);
    const written = await rebuilder.finish(progress.update).finally(() => progress.stop());
    terminal.line(`${ticker}: ${written.toLocaleString("en-US")} klines of M5 to MN1 rebuilt`);
  }
  // Saved only now, so that the next run repeats a rebuild that was interrupted.
  for (const { id, key, rows } of finished) await jobs.save(id, key, rows, true);
}

/** @returns the exit code */
async function importAll(files: readonly string[], session: Session): Promise<number> {
  const { options, report, rebuilders } = session;
  let exitCode: number = EXIT_DONE;
  for (const file of files) {
    const outcome = await importFile(file, session);
    // An interrupted file is neither done nor failed.
    if (!session.signal.aborted) report.fileDone(outcome.problem);
    exitCode = Math.max(exitCode, outcome.exitCode);
  }
  await rebuild(session);
  for (const ticker of rebuilders.keys())
    await session.database.control.publish({ kind: "klines", venue: options.venue, ticker });
  return exitCode;
}

/**
 * Imports files in sequence, rebuilds the longer timeframes and notifies running servers. The operators' page shows the
 * progress. A file that cannot be imported does not stop the others. If the end cannot be stored for the operators' page, the
 * terminal prints a warning and the exit code stays the same.
 * @returns the exit code
 * @throws UsageError for wrong usage; the error of pg when the database is unavailable.
 */
export async function runImport(context: ImportContext): Promise<number> {
  const { options, database, terminal, clock, signal, batchKlines = BATCH_KLINES } = context;
  const listings = await listingsOf(database, options.venue);
  const files = await filesOf(options.files);
  const report = await reportBackfill({ database, clock, venue: options.venue, files: files.length });
  const rebuilders: Session["rebuilders"] = new Map();
  const session: Session = {
    options,
    database,
    listings,
    terminal: { ...terminal, onProgress: report.step },
    clock,
    signal,
    store: createKlineStore(database.pool, options.venue),
    jobs: createJobs(database),
    report,
    finished: [],
    batchKlines,
    rebuilders,
  };
  const ended = (well: boolean) => (signal.aborted ? "interrupted" : well ? "done" : "failed");
  let exitCode: number;
  try {
    exitCode = await importAll(files, session);
  } catch (error) {
    const problem = signal.aborted ? {} : { problem: error instanceof Error ? error.message : String(error) };
    // Fails too when the database is unavailable; the first error matters more.
    await report.end({ state: ended(false), tickers: [...rebuilders.keys()], through: false, ...problem }).catch(() => undefined);
    throw error;
  }
  try {
    await report.end({ state: ended(exitCode === EXIT_DONE), tickers: [...rebuilders.keys()], through: !signal.aborted });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    terminal.line(`WARNING: the operators' page and the audit log do not show how this import ended: ${reason}`);
  }
  return exitCode;
}
