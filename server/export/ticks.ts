import path from "node:path";
import type { Database } from "#lib/db";
import type { TickColumns } from "#lib/domain/tick-columns";
import { daysWithTicks, everyTickOfDay } from "#lib/history/ticks";
import { encodeTicks } from "#lib/segments/tick-parquet";
import { SECOND_MS } from "#lib/units";
import { EXIT_DONE, EXIT_FAILED } from "#server/cli/usage-error";
import { countText } from "#server/cli/words";
import { writeWhole } from "#server/database/whole-file";
import { RECORDING_COLUMNS } from "#server/import/formats/recording";
import { type ExportContext, ExportFailure, folderOf, listingsOf } from "./run";

/** The latest instant of a range without an end: the first of the year 10000, Unix milliseconds. */
const END_MS = 253_402_300_800_000;

const known = (value: number) => (Number.isNaN(value) ? "" : String(value));

/** Ticks as a recording, which npm run import and npm run replay read. */
function csvOf({ time, bid, ask, volume, received, outcome }: TickColumns): string {
  const line = (_: number, row: number) => {
    const numbers = [time, bid, ask, volume, received].map((column) => known(column[row] as number));
    return `${numbers.join()},${outcome[row]}\n`;
  };
  return `${RECORDING_COLUMNS.join()}\n${Array.from(time, line).join("")}`;
}

/**
 * Exports every tick that is stored of the chosen tickers, each UTC day to a file of its own.
 * @returns the exit code
 * @throws as runExport
 */
export async function exportTicks(
  db: Pick<Database, "pool" | "segments">,
  { options, catalogue, terminal, signal }: Pick<ExportContext, "options" | "catalogue" | "terminal" | "signal">,
): Promise<number> {
  const folder = await folderOf(options);
  const [from, to] = [options.from * SECOND_MS, Math.min(options.to * SECOND_MS, END_MS)];
  const empty: string[] = [];
  let written = 0;
  for (const { ticker, digits } of listingsOf(options, catalogue)) {
    const days = await daysWithTicks(db.pool, ticker, from, to);
    for (const day of days) {
      if (signal.aborted) throw new ExportFailure(`Stopped. ${written} complete ${written === 1 ? "file stays" : "files stay"}.`);
      const ticks = await everyTickOfDay({ client: db.pool, segments: db.segments }, ticker, day);
      const date = new Date(day * SECOND_MS).toISOString().slice(0, "2026-01-07".length);
      const file = path.join(folder, `${ticker}_ticks_${date}.${options.format}`);
      const bytes = options.format === "csv" ? csvOf(ticks) : encodeTicks(ticks, { venue: "live", ticker }, digits);
      const ifExists = options.force ? null : "--force overwrites it.";
      const failure = (message: string) => new ExportFailure(message);
      await writeWhole({ file, what: "export", ifExists, failure }, (handle) => handle.writeFile(bytes));
      terminal.line(`${file}: ${countText(ticks.time.length)} ticks`);
      written += 1;
    }
    if (days.length === 0) empty.push(ticker);
  }
  if (empty.length > 0) terminal.line(`No ticks in the range: ${empty.join(", ")}`);
  return written > 0 && (options.tickers === null || empty.length === 0) ? EXIT_DONE : EXIT_FAILED;
}
