import { type FileHandle, mkdir, stat } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Clock } from "#lib/clock";
import { type CsvTable, csvOf } from "#lib/contract/csv";
import type { Listing } from "#lib/domain/instrument";
import type { Kline } from "#lib/domain/kline";
import type { Catalogue } from "#lib/market/ports";
import { operations } from "#lib/operations/declarations";
import { SECOND_MS } from "#lib/units";
import { EXIT_DONE, EXIT_FAILED, UsageError } from "#server/cli/usage-error";
import { countText, minuteText } from "#server/cli/words";
import { writeWhole } from "#server/database/whole-file";
import { startProgress, type Terminal } from "#server/import/progress";
import type { ExportOptions } from "./options";
import type { ClosedKlines, KlineSource } from "./series";

/** An export that cannot be completed. The message says why, and what was written. */
export class ExportFailure extends Error {
  override readonly name = "ExportFailure";
}

export interface ExportContext {
  readonly options: ExportOptions;
  readonly catalogue: Pick<Catalogue, "list" | "find">;
  readonly source: KlineSource;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Called with the open time of the last kline that was read, and the number of rows so far. */
type OnPage = (time: number, rows: number) => void;

/** @throws UsageError for instruments that the venue does not have, or not in this timeframe */
export function listingsOf(
  { tickers, venue, timeframe }: ExportOptions,
  catalogue: ExportContext["catalogue"],
): readonly Listing[] {
  const offered = ({ timeframes }: Listing) => timeframes.includes(timeframe);
  if (tickers === null) return catalogue.list().filter(offered);
  return tickers.map((ticker) => {
    const listing = catalogue.find(ticker);
    if (listing === undefined) throw new UsageError(`${ticker} is not an instrument of the ${venue} venue.`);
    if (!offered(listing))
      throw new UsageError(`${ticker} is not offered in ${timeframe}, only in ${listing.timeframes.join(", ")}.`);
    return listing;
  });
}

/** Where the file of a ticker goes. Creates the folder if it is missing. */
async function placeOf(options: ExportOptions): Promise<(ticker: string) => string> {
  const { out, tickers, timeframe } = options;
  const isFolder = out === null || /[\\/]$/.test(out) || ((await stat(out).catch(() => null))?.isDirectory() ?? false);
  if (!isFolder && tickers?.length !== 1)
    throw new UsageError(`--out ${out}: must be a folder for several tickers. A name with a final slash is created as one.`);
  if (!isFolder) return () => out;
  const folder = await folderOf(options);
  return (ticker) => path.join(folder, `${ticker}_${timeframe}.csv`);
}

/** The folder for several files. Creates it if it is missing. */
export async function folderOf({ out }: Pick<ExportOptions, "out">): Promise<string> {
  const folder = out ?? "";
  if (folder !== "")
    await mkdir(folder, { recursive: true }).catch((error: Error) => {
      throw new ExportFailure(`${folder} cannot be created: ${error.message}.`);
    });
  return folder;
}

/** Writes a file of an export: whole, or not at all. @returns what `write` returns @throws ExportFailure */
export const writeFile = <Result>(file: string, { force }: ExportOptions, write: (handle: FileHandle) => Promise<Result>) =>
  writeWhole(
    {
      file,
      what: "export",
      ifExists: force ? null : "--force overwrites it.",
      failure: (message) => new ExportFailure(message),
    },
    write,
  );

/** What an export that stops leaves. */
export const completeFiles = (count: number) => `${count} complete ${count === 1 ? "file stays" : "files stay"}`;

/** The pages of klines, reported as they are read. */
async function* watched({ pages }: ClosedKlines, onPage: OnPage, signal: AbortSignal): AsyncGenerator<readonly Kline[]> {
  let rows = 0;
  for await (const page of pages()) {
    signal.throwIfAborted();
    yield page;
    rows += page.length;
    onPage(page.at(-1)?.time ?? 0, rows);
  }
  signal.throwIfAborted();
}

/** Klines as the API writes them with format=csv, except that a spread which no source knows is empty there, not 0: an import reads it back. */
async function* csvText(pages: AsyncIterable<readonly Kline[]>): AsyncGenerator<string> {
  const table = csvOf(operations.klines) as CsvTable;
  const head = table.text([]);
  yield head;
  for await (const page of pages) yield table.text(page).slice(head.length);
}

async function writeCsv(handle: FileHandle, pages: AsyncIterable<readonly Kline[]>): Promise<void> {
  // One page waits at a time, so that memory does not grow with the range.
  const text = Readable.from(csvText(pages), { objectMode: true, highWaterMark: 1 });
  await pipeline(text, handle.createWriteStream({ flush: true }));
}

/** @returns the number of rows, 0 when there is nothing to write */
async function exportTicker({ ticker }: Listing, file: string, context: ExportContext): Promise<number> {
  const { options, source, terminal, clock, signal } = context;
  const { timeframe, from, to } = options;
  return source.withKlines({ ticker, timeframe, from, to }, async (klines) => {
    const { bounds } = klines;
    if (bounds === null) return 0;
    const spanS = bounds.last - bounds.first + 1;
    const progress = startProgress(terminal, `${ticker} ${timeframe}`, spanS, clock);
    let rows = 0;
    const onPage: OnPage = (time, count) => {
      rows = count;
      progress.update(time - bounds.first + 1, count);
    };
    try {
      const pages = watched(klines, onPage, signal);
      await writeFile(file, options, (handle) => writeCsv(handle, pages));
    } finally {
      progress.stop();
    }
    const [first, last] = [bounds.first, bounds.last].map((time) => minuteText(time * SECOND_MS));
    terminal.line(`${file}: ${countText(rows)} klines, ${first} to ${last}`);
    return rows;
  });
}

/**
 * Exports the klines of the chosen tickers as CSV, each to a file of its own.
 * @returns the exit code
 * @throws UsageError for wrong usage; ExportFailure when a file cannot be written or the export is interrupted, then files that
 * were complete stay; the error of pg when the database is unavailable
 */
export async function runExport(context: ExportContext): Promise<number> {
  const { options, catalogue, terminal, signal } = context;
  const listings = listingsOf(options, catalogue);
  const fileOf = await placeOf(options);
  let written = 0;
  const empty: string[] = [];
  for (const listing of listings) {
    const file = fileOf(listing.ticker);
    const rows = await exportTicker(listing, file, context).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      throw new ExportFailure(`Stopped. ${written === 0 ? "Nothing was written" : completeFiles(written)}, nothing of ${file}.`);
    });
    if (rows === 0) empty.push(listing.ticker);
    else written += 1;
  }
  if (empty.length > 0) terminal.line(`No closed ${options.timeframe} klines in the range: ${empty.join(", ")}`);
  return written > 0 && (options.tickers === null || empty.length === 0) ? EXIT_DONE : EXIT_FAILED;
}
