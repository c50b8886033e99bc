import type { FileHandle } from "node:fs/promises";
import path from "node:path";
import type { Listing } from "#lib/domain/instrument";
import { TIME_MAX_S } from "#lib/domain/period";
import type { TickColumns } from "#lib/domain/tick-columns";
import { dateOf } from "#lib/market/file-id";
import type { FileSource } from "#lib/market/file-source";
import { MIB_BYTES, SECOND_MS } from "#lib/units";
import { EXIT_DONE, EXIT_FAILED } from "#server/cli/usage-error";
import { countText } from "#server/cli/words";
import { RECORDING_COLUMNS } from "#server/import/formats/spotwire";
import type { Database } from "#server/store/database/db";
import { daysWithTicks, everyTickOfDay } from "#server/store/history/ticks";
import { encodeTicks } from "#server/store/segments/tick-parquet";
import type { ExportOptions } from "./options";
import { completeFiles, type ExportContext, ExportFailure, folderOf, listingsOf, writeFile } from "./run";

/** Months whose names are in memory at once. */
const LISTED_MAX_COUNT = 1_000;

/** The rows of a ticker in one period, which go into a file of their own. */
interface Part {
  /** The name of the file without its ending. */
  readonly name: string;
  /** @returns the number of rows */
  write(handle: FileHandle): Promise<number>;
}

/** The parts of a ticker in a range, Unix seconds, `to` excluded; ascending. */
type PartsOf = (listing: Listing, range: { readonly from: number; readonly to: number }) => AsyncIterable<Part>;

/** The files that the API offers of a ticker, byte for byte: the M1 klines of each month that touches the range. */
export function monthFiles(source: FileSource): PartsOf {
  return async function* (listing, { from, to }) {
    for (let start = from; ; ) {
      const months = await source.list(listing, { from: start, to, limit: LISTED_MAX_COUNT }, {});
      for (const month of months) {
        const name = `${listing.ticker}_M1_${dateOf(month.from, source.period)}`;
        yield {
          name,
          async write(handle) {
            const file = await source.open(listing, { start: month.from }, {});
            if (file === undefined)
              throw new ExportFailure(`The klines of ${name} changed during the export. Run it again with --force.`);
            const { size, read } = file.parquet;
            for (let at = 0; at < size; at += MIB_BYTES) await handle.writeFile(await read(at, Math.min(size, at + MIB_BYTES)));
            return file.rows;
          },
        };
      }
      const last = months.at(-1);
      if (last === undefined || months.length < LISTED_MAX_COUNT) return;
      start = last.to;
    }
  };
}

const known = (value: number) => (Number.isNaN(value) ? "" : String(value));

/** Ticks as a recording, which npm run import and npm run replay read. */
function recordingOf({ time, bid, ask, volume, received, outcome }: TickColumns): string {
  const line = (_: number, row: number) => {
    const numbers = [time, bid, ask, volume, received].map((column) => known(column[row] as number));
    return `${numbers.join()},${outcome[row]}\n`;
  };
  return `${RECORDING_COLUMNS.join()}\n${Array.from(time, line).join("")}`;
}

/** Every tick that is stored of a ticker, also those that were not taken, by UTC days. */
export function dayTicks({ pool, segments }: Pick<Database, "pool" | "segments">, format: ExportOptions["format"]): PartsOf {
  return async function* ({ ticker, digits }, { from, to }) {
    for (const day of await daysWithTicks(pool, ticker, from * SECOND_MS, to * SECOND_MS))
      yield {
        name: `${ticker}_ticks_${dateOf(day, "day")}`,
        async write(handle) {
          const ticks = await everyTickOfDay({ client: pool, segments }, ticker, day);
          await handle.writeFile(format === "csv" ? recordingOf(ticks) : encodeTicks(ticks, { venue: "live", ticker }, digits));
          return ticks.time.length;
        },
      };
  };
}

/**
 * Exports the rows of the chosen tickers, each part to a file of its own.
 * @param rowsName what the rows are, such as ticks
 * @returns the exit code
 * @throws as runExport
 */
export async function exportParts(
  partsOf: PartsOf,
  rowsName: string,
  { options, catalogue, terminal, signal }: Pick<ExportContext, "options" | "catalogue" | "terminal" | "signal">,
): Promise<number> {
  const { from, to, format, tickers } = options;
  const folder = await folderOf(options);
  const empty: string[] = [];
  let written = 0;
  for (const listing of listingsOf(options, catalogue)) {
    const before = written;
    for await (const { name, write } of partsOf(listing, { from, to: Math.min(to, TIME_MAX_S) })) {
      if (signal.aborted) throw new ExportFailure(`Stopped. ${completeFiles(written)}.`);
      const file = path.join(folder, `${name}.${format}`);
      const rows = await writeFile(file, options, write);
      terminal.line(`${file}: ${countText(rows)} ${rowsName}`);
      written += 1;
    }
    if (written === before) empty.push(listing.ticker);
  }
  if (empty.length > 0) terminal.line(`No ${rowsName} in the range: ${empty.join(", ")}`);
  return written > 0 && (tickers === null || empty.length === 0) ? EXIT_DONE : EXIT_FAILED;
}
