import { createHash } from "node:crypto";
import path from "node:path";
import type { Clock } from "#lib/clock";
import type { Catalogue } from "#lib/market/ports";
import { isDatabaseAway, isHistoryAway, isHistoryDamaged } from "#lib/storage-errors";
import type { UsageError } from "#server/cli/usage-error";
import { countText } from "#server/cli/words";
import { auditOn, COMMAND_LINE } from "#server/store/access/audit";
import { type Database, reasonOf } from "#server/store/database/db";
import { type HistoryAdmin, type SwitchedSeries, undoImport } from "#server/store/klines/import-undo";
import { createKlineStore } from "#server/store/klines/kline-store";
import { createCatalogue } from "#server/store/market/catalogue";
import { type Doubt, refusalOf } from "./checks/doubts";
import { createPriceCheck } from "./checks/prices";
import { FileChanged, ImportFailure, outcomeOf } from "./failure";
import type { Source } from "./files/archives";
import { createSourceFinder, filesOf, type SourceFinder } from "./files/sources";
import { IMPORT_BOUNDS, type ImportBounds, judgeFile, type Outcome, readFile, type StoreContext, storeFile } from "./load/load";
import { type Batch, createJobs, type Job, type JobKey, jobId, NO_JOBS, openBatch, otherFile } from "./load/store";
import type { Options } from "./options";
import { startProgress, type Terminal } from "./progress";
import { type BackfillReporter, IMPORTING, NO_REPORT, reportBackfill } from "./report/backfill";
import {
  createReport,
  createSummary,
  describe,
  doubtLines,
  figuresOf,
  keptText,
  malformedLines,
  odditiesOf,
  type Report,
  type Summary,
} from "./report/report";
import { hasAsks } from "./rows/row";
import { surveyMonths } from "./survey/months";
import { type Prepared, prepare, type Survey, surveyFiles } from "./survey/survey";

interface ImportContext {
  readonly options: Options;
  readonly database: Database;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Tests set fewer, to get several parts of a file. */
  readonly bounds?: ImportBounds;
}

/** What one run of the import imports its files with. */
interface Run extends StoreContext {
  readonly database: Database;
  readonly catalogue: Pick<Catalogue, "calendar">;
  readonly finder: SourceFinder;
  readonly batch: Batch;
  readonly backfill: BackfillReporter;
  readonly report: Report;
  readonly summary: Summary;
  /** Files whose rows are all stored. */
  readonly finished: Job[];
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
  const { pointDigits, spreadDigits, volumeIs, lateMs } = settings;
  const reading = JSON.stringify([
    format.id,
    recognition.kind,
    clock.clock.name,
    pointDigits,
    spreadDigits,
    volumeIs,
    lateMs,
    ...form,
    ...klines,
    // An earlier release left them out: what it read of a file is not what is read now.
    ...(hasAsks(recognition.layout) ? ["asks"] : []),
  ]);
  return { venue, ticker: listing.ticker, file: source.name, part, reading };
}

/** Reports what is doubtful about a file. @throws Unsure unless the operator accepts it */
function settle(doubts: readonly Doubt[], { name }: Source, { options, report, backfill }: Run): void {
  if (doubts.length === 0) return;
  for (const { reason } of doubts) backfill.doubt(`${name}${options.acceptDoubts ? "" : ", not stored"}: ${reason}`);
  report.result([], doubtLines(doubts, options.acceptDoubts));
  if (!options.acceptDoubts) throw refusalOf(doubts);
}

/**
 * Reports a file that is not imported, or not to its end.
 * @param kept what is stored of it
 * @returns what went wrong
 */
function refuse(name: string, error: ImportFailure | UsageError, kept: string, { report, summary }: Run): string {
  summary.refuse(name, error);
  report.result([`  NOT IMPORTED${kept === "" ? "" : ` to its end, ${kept}`}: ${error.message}`], []);
  return `${name}: ${error.message}`;
}

/** Whether a file that was read, or could not be read to its end, is another than the one with this digest. */
const isOther = ({ interrupted, digest }: Pick<Outcome, "interrupted" | "digest">, before: string | null) =>
  !interrupted && digest !== before;

/** @returns what went wrong, null when nothing did */
async function importPrepared(file: Prepared, run: Run): Promise<string | null> {
  const { options, jobs, report, summary, finished, terminal, clock } = run;
  const { source, listing, format } = file;
  report.detected(describe(file));
  const key = keyOf(file, options);
  const id = await jobId(key, source.file);
  const found = await jobs.find(id, key);
  if (found.done && !options.force) {
    summary.known();
    report.result([`  already imported (${countText(found.rows)} rows); --force imports it again`], []);
    return null;
  }
  const rows = found.done ? 0 : found.rows;
  if (rows > 0) report.result([], [`  resumed: an earlier run stored the first ${countText(rows)} rows`]);
  await run.batch.claim(listing.ticker);
  const calendar = run.catalogue.calendar(listing.ticker) ?? MISSING_CALENDAR;
  const { doubts, outcome, read } = await judgeFile(file, rows, calendar, run);
  if (rows > 0 && found.digest !== null && isOther(outcome, found.digest)) throw otherFile(source.name, rows);
  const job = { id, key, rows, digest: outcome.digest };
  const kept = () => (options.dryRun ? "" : keptText(run.kept));
  if (outcome.failure !== null) {
    report.result([], malformedLines(source, outcome));
    return refuse(source.name, outcome.failure, keptText({ name: source.name, rows, lastMs: Number.NaN }), run);
  }
  settle(doubts, source, run);
  await run.backfill.format(format.title);
  const progress = startProgress(terminal, IMPORTING, source.sizeBytes, clock);
  const reading = read ?? readFile(file, rows, progress, run);
  const loaded = await storeFile(file, reading, job, calendar, progress, run).finally(progress.stop);
  if (read === null && isOther(loaded, outcome.digest))
    throw new FileChanged(`${source.name} changed while it was imported: what was read to be stored is not what was checked`);
  summary.add(file.timeframe, loaded);
  const { interrupted, counts, failure } = loaded;
  if (failure !== null) return refuse(source.name, failure, kept(), run);
  report.result(figuresOf(file, loaded, options.dryRun), odditiesOf(file, loaded));
  if (!interrupted) {
    finished.push({ ...job, rows: counts.rows });
    return null;
  }
  summary.interrupt();
  report.result([], [`  INTERRUPTED: ${kept() || "nothing of it is stored"}; run the same command again to resume`]);
  return `${source.name}: interrupted`;
}

/** Imports one file or entry of an archive. @returns what went wrong, null when nothing did */
async function importSource(source: Source, survey: Survey, run: Run): Promise<string | null> {
  const { report, summary } = run;
  report.file(source.name);
  summary.file();
  const prepared = await outcomeOf(prepare(source, survey, run));
  if (prepared === null) {
    report.result(["  empty: an hour or day without quotes"], []);
    return null;
  }
  const outcome = prepared instanceof Error ? prepared : await outcomeOf(importPrepared(prepared, run));
  return outcome instanceof Error ? refuse(source.name, outcome, "", run) : outcome;
}

/**
 * Imports all sources of a file in sequence.
 * @returns the last problem, null when there was none
 * @throws ImportFailure when it is interrupted between two of them
 */
async function importFile(file: string, survey: Survey, run: Run): Promise<string | null> {
  const { report, signal, summary, backfill } = run;
  const found = await outcomeOf(run.finder.sourcesOf(file));
  if (found instanceof Error) {
    summary.file();
    report.file(file);
    refuse(file, found, "", run);
    return found.message;
  }
  for (const name of found.skipped) {
    report.file(name);
    report.result(["  skipped: not data"], []);
  }
  let problem: string | null = null;
  for (const [index, source] of found.sources.entries()) {
    if (signal.aborted) throw new ImportFailure("interrupted: run the same command again to resume");
    backfill.source(source.name, index, found.sources.length);
    problem = (await importSource(source, survey, run)) ?? problem;
  }
  return problem;
}

/** Imports all files, and shows what they said. @returns what that changed, null where it was interrupted before */
async function importAll(files: readonly string[], begun: Run): Promise<readonly SwitchedSeries[] | null> {
  const { backfill, signal, finder } = begun;
  const options = { ...begun.options, months: await surveyMonths(files, finder, begun.options, signal) };
  const run = { ...begun, options };
  const survey = await surveyFiles(files, finder, run);
  for (const file of files) {
    const problem = await importFile(file, survey, run);
    // An interrupted file is neither done nor failed.
    if (!signal.aborted) backfill.fileDone(problem);
  }
  if (signal.aborted) return null;
  // Until here no file counts as imported: the next run looks again at each one whose result was not printed.
  return run.batch.show((client) => run.jobs.save(client, run.finished, true));
}

const NOT_SHOWN = "Nothing of this import shows until it is complete: run the same command again to resume it.";

/** Waits before an import whose database went away tries again to say that it was interrupted. */
const AWAY_WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000];

/** Reports an end, which fails while the database is away: the first error of the import matters more. */
async function endLate(end: () => Promise<void>, waitsMs: readonly number[], clock: Clock): Promise<void> {
  for (const waitMs of [...waitsMs, 0])
    try {
      await end();
      return;
    } catch {
      await clock.wait(waitMs);
    }
}

/** Runs an import and reports how it ended to the operators' page. */
async function importAndReport(files: readonly string[], run: Run): Promise<number> {
  const { backfill, signal, summary, terminal, options, clock } = run;
  let shown: readonly SwitchedSeries[] | null = null;
  try {
    shown = await importAll(files, run);
  } catch (error) {
    const isAway = isDatabaseAway(error);
    const problem = signal.aborted ? {} : { problem: reasonOf(error) };
    const state = isAway || signal.aborted ? "interrupted" : "failed";
    const end = () => backfill.end({ state, tickers: [], through: false, ...problem });
    await endLate(end, isAway ? AWAY_WAITS_MS : [], clock);
    if (isHistoryDamaged(error))
      throw new ImportFailure(
        `a file of stored history is damaged or missing: ${reasonOf(error)}. Nothing of the import shows; npm run history -- check says how to restore it`,
      );
    if (!isAway) throw error;
    const kept = keptText(run.kept);
    const of = kept === "" || options.dryRun ? "" : ` yet, of ${run.kept.name} ${kept}`;
    throw new ImportFailure(
      `${isHistoryAway(error) ? "history could not be stored" : "the database went away"}: ${reasonOf(error).replace(/\.$/, "")}. Nothing of the import shows${of}; run the same command again to resume when it is back`,
    );
  }
  for (const line of summary.lines()) terminal.line(line);
  if (options.dryRun) return summary.exitCode();
  if (shown === null) terminal.line(NOT_SHOWN);
  else if (shown.some(({ added, removed, changed }) => added + removed + changed > 0))
    terminal.line(`This is import ${backfill.number}. To undo it: npm run import -- undo ${backfill.number}`);
  else terminal.line(`This was import ${backfill.number}: it changes no kline.`);
  try {
    const state = shown === null ? "interrupted" : summary.failed() ? "failed" : "done";
    const tickers = [...new Set(shown?.map(({ ticker }) => ticker))];
    await backfill.end({ state, tickers, through: shown !== null });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    terminal.line(`WARNING: the operators' page and the audit log do not show how this import ended: ${reason}`);
  }
  return summary.exitCode();
}

/** Writes the audit entry of a change that a command makes. */
export const recordOnCommandLine: HistoryAdmin["record"] = (client, entry) =>
  auditOn(client, { ...COMMAND_LINE, accountId: null, ...entry });

/** A hash of what a command imports and how, which is the same for the same command in the same place. */
function commandOf({ files, ...options }: Options): string {
  const places = files.map((file) => path.resolve(file));
  return createHash("sha256")
    .update(JSON.stringify([places, options]))
    .digest("hex");
}

/**
 * Imports files in sequence as one batch and notifies running servers. The operators' page
 * shows the progress. A file that cannot be imported does not stop the others. If the end cannot be stored for the operators'
 * page, the terminal prints a warning and the exit code stays the same. A trial stores nothing. Where a file changes while it is imported,
 * or before an import of it is continued, all that the import has stored is deleted.
 * @returns the exit code
 * @throws UsageError for wrong usage; ImportFailure for a file that changed; the error of pg when the database is unavailable.
 */
export async function runImport(context: ImportContext): Promise<number> {
  const { options, database, terminal, clock, signal, bounds = IMPORT_BOUNDS } = context;
  const { venue, dryRun } = options;
  const catalogue = await createCatalogue(database, venue);
  const files = await filesOf(options.files);
  const command = commandOf(options);
  const backfill = dryRun ? NO_REPORT : await reportBackfill({ database, clock, venue, files: files.length, command });
  // Files are compared with those before them.
  const store = createKlineStore(database, dryRun ? null : backfill.number);
  const batch = await openBatch({ database, clock, number: dryRun ? null : backfill.number });
  const run: Run = {
    options,
    database,
    catalogue,
    clock,
    signal,
    store,
    batch,
    bounds,
    backfill,
    listings: catalogue.list(),
    terminal: { ...terminal, onProgress: backfill.step },
    jobs: dryRun ? NO_JOBS : createJobs(database, backfill.number),
    finder: createSourceFinder(),
    report: createReport(terminal),
    summary: createSummary(dryRun, options.acceptDoubts),
    finished: [],
    prices: createPriceCheck(store),
    kept: { name: "", rows: 0, lastMs: Number.NaN },
  };
  let changed: FileChanged;
  try {
    return await importAndReport(files, run);
  } catch (error) {
    if (!(error instanceof FileChanged)) throw error;
    changed = error;
  } finally {
    await run.finder.close();
    await batch.close();
  }
  // Only now: until its connection is closed, the import counts as running.
  if (!dryRun) await undoImport({ db: database, clock, record: recordOnCommandLine }, backfill.number);
  throw new ImportFailure(
    `${changed.message}. Nothing of the import shows, and nothing of it is kept: run the same command again to import the file as it is now`,
  );
}
