import type { Clock } from "#lib/clock";
import { type Database, isDatabaseAway, reasonOf } from "#lib/db";
import { inTransaction } from "#lib/history/transaction";
import { createCatalogue } from "#lib/market/catalogue";
import { announceChanges } from "#lib/market/import-undo";
import { createKlineStore } from "#lib/market/kline-store";
import { type BackfillReporter, NO_REPORT, reportBackfill } from "./backfill";
import { openBatch } from "./batch";
import { surveyClocks } from "./clock-survey";
import { ImportFailure, isFileError } from "./failure";
import { filesOf } from "./files";
import { createJobs, NO_JOBS } from "./jobs";
import { IMPORT_BOUNDS, type ImportBounds } from "./load";
import { surveyMonths } from "./months";
import type { Options } from "./options";
import { createPriceCheck } from "./price-check";
import type { Terminal } from "./progress";
import { createReport } from "./report";
import { importSource, type Session } from "./source";
import { createSourceFinder, type SourceFinder } from "./sources";
import { createTally } from "./tally";

interface ImportContext {
  readonly options: Options;
  readonly database: Database;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Tests set fewer, to get several parts of a file. */
  readonly bounds?: ImportBounds;
}

interface Run extends Session {
  readonly finder: SourceFinder;
  readonly database: Database;
  readonly backfill: BackfillReporter;
}

/** What an import wrote. */
const WRITTEN = `SELECT ticker, first::float8 AS first, last::float8 AS last FROM backfill_series WHERE batch = $1
  UNION ALL SELECT ticker, first::float8, last::float8 FROM imported_series WHERE batch = $1`;
const HAS_WRITTEN = `SELECT EXISTS (SELECT FROM backfill_series WHERE batch = $1 AND stored + overwritten > 0)
  OR EXISTS (SELECT FROM imported_series WHERE batch = $1 AND stored + overwritten > 0) AS written`;
type Written = Parameters<typeof announceChanges>[1][number];

/** A run before the clocks of its files are known. */
type Begun = Omit<Run, "survey">;

/**
 * Imports all sources of a file in sequence.
 * @returns the last problem, null when there was none
 * @throws ImportFailure when it is interrupted between two of them
 */
async function importFile(file: string, run: Run): Promise<string | null> {
  const { report, signal, tally, backfill } = run;
  let found: Awaited<ReturnType<SourceFinder["sourcesOf"]>>;
  try {
    found = await run.finder.sourcesOf(file);
  } catch (error) {
    if (!isFileError(error)) throw error;
    tally.file();
    tally.refuse(file, error);
    report.file(file);
    report.result([`  NOT IMPORTED: ${error.message}`], []);
    return error.message;
  }
  for (const name of found.skipped) {
    report.file(name);
    report.result(["  skipped: not data"], []);
  }
  let problem: string | null = null;
  for (const [index, source] of found.sources.entries()) {
    if (signal.aborted) throw new ImportFailure("interrupted: run the same command again to resume");
    backfill.source(source.name, index, found.sources.length);
    problem = (await importSource(source, run)) ?? problem;
  }
  return problem;
}

async function importAll(files: readonly string[], begun: Begun): Promise<void> {
  const { backfill, changed, database, signal } = begun;
  const options = { ...begun.options, months: await surveyMonths(files, begun) };
  const run = { ...begun, options, survey: await surveyClocks(files, { ...begun, options }) };
  for (const file of files) {
    const problem = await importFile(file, run);
    // An interrupted file is neither done nor failed.
    if (!signal.aborted) backfill.fileDone(problem);
  }
  // Saved only now, so that files whose end nobody was told of are looked at again.
  await inTransaction(database.pool, (client) => run.jobs.save(client, run.finished, true));
  const { rows } = await database.pool.query<Written>(WRITTEN, [backfill.number]);
  await announceChanges(database.control, rows);
  // A run that resumed a file to its end may have written nothing itself.
  const known = new Set(rows.map(({ ticker }) => ticker));
  for (const ticker of changed)
    if (!known.has(ticker)) await database.control.publish({ kind: "klines", venue: options.venue, ticker });
}

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
async function importAndReport(files: readonly string[], run: Begun): Promise<number> {
  const { backfill, signal, changed, tally, terminal, options, database, clock } = run;
  const ended = (well: boolean) => (signal.aborted ? "interrupted" : well ? "done" : "failed");
  const tickers = () => [...changed];
  try {
    await importAll(files, run);
  } catch (error) {
    const isAway = isDatabaseAway(error);
    const problem = signal.aborted ? {} : { problem: reasonOf(error) };
    const state = isAway ? "interrupted" : ended(false);
    const end = () => backfill.end({ state, tickers: tickers(), through: false, ...problem });
    await endLate(end, isAway ? AWAY_WAITS_MS : [], clock);
    if (!isAway) throw error;
    throw new ImportFailure(
      `the database went away: ${reasonOf(error)}. What was stored stays; run the same command again to resume when it is back`,
    );
  }
  for (const line of tally.lines()) terminal.line(line);
  if (options.dryRun) return tally.exitCode();
  const { rows } = await database.pool.query<{ written: boolean }>(HAS_WRITTEN, [backfill.number]);
  if (rows[0]?.written === true)
    terminal.line(`This is import ${backfill.number}. To undo it: npm run import -- undo ${backfill.number}`);
  try {
    await backfill.end({ state: ended(!tally.failed()), tickers: tickers(), through: !signal.aborted });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    terminal.line(`WARNING: the operators' page and the audit log do not show how this import ended: ${reason}`);
  }
  return tally.exitCode();
}

/**
 * Imports files in sequence as one batch and notifies running servers. The operators' page
 * shows the progress. A file that cannot be imported does not stop the others. If the end cannot be stored for the operators'
 * page, the terminal prints a warning and the exit code stays the same. A trial stores nothing.
 * @returns the exit code
 * @throws UsageError for wrong usage; the error of pg when the database is unavailable.
 */
export async function runImport(context: ImportContext): Promise<number> {
  const { options, database, terminal, clock, signal, bounds = IMPORT_BOUNDS } = context;
  const { venue, dryRun } = options;
  const catalogue = await createCatalogue(database, venue);
  const files = await filesOf(options.files);
  const backfill = dryRun ? NO_REPORT : await reportBackfill({ database, clock, venue, files: files.length });
  const store = createKlineStore(database);
  const batch = await openBatch({ database, clock, signal, number: dryRun ? null : backfill.number });
  const run: Begun = {
    ...{ options, database, catalogue, clock, signal, store, batch, bounds, backfill },
    listings: catalogue.list(),
    terminal: { ...terminal, onProgress: backfill.step },
    jobs: dryRun ? NO_JOBS : createJobs(database, backfill.number),
    finder: createSourceFinder(),
    report: createReport(terminal),
    tally: createTally(dryRun),
    finished: [],
    prices: createPriceCheck(store),
    changed: new Set(),
    doubt: backfill.doubt,
    format: backfill.format,
  };
  try {
    return await importAndReport(files, run);
  } finally {
    await run.finder.close();
    await batch.close();
  }
}
