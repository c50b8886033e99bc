import { FILTER_REASONS, type FilterReason } from "#lib/contract/ingest";
import { type Calendar, compileCalendar } from "#lib/domain/calendar";
import { SEED_CALENDARS } from "#lib/domain/calendars/index";
import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import type { Listing } from "#lib/domain/instrument";
import { createLog } from "#lib/log";
import { printableName } from "#lib/printable";
import { instantOf } from "#server/cli/instant";
import { type CommandContext, defineCommand, runAsProcess } from "#server/cli/run-command";
import { EXIT_DONE, UsageError } from "#server/cli/usage-error";
import { countText } from "#server/cli/words";
import { createFilterTrial, type FilterTrial } from "#server/feed/filter/trial";
import { reportLines } from "#server/feed/filter/trial-report";
import { exitCodeOf, isFileError, Unsure } from "#server/import/failure";
import { filesOf } from "#server/import/files/sources";
import { createCatalogue } from "#server/store/market/catalogue";
import { tickSources } from "./replay-files";
import { everyTick } from "./replay-stored";

const USAGE = `npm run replay -- [options] --filters FILE…
npm run replay -- [options] --filters --from 2026-01-05 [--to 2026-01-10]

Tries the filters that hold ticks back on recorded ticks, and prints how many of each ticker they hold back and why, with
the first ones. For ticks that the service kept it also prints where the outcome is another one now. Nothing is stored.
FILE is a file of ticks in any format that npm run import reads, or a folder of such files; no database is needed then:
calendars and instruments are those of a new installation. With --from, the ticks are those that the live venue stored,
with its calendars and instruments.

  --filters             tries the filters
  --from 2026-01-05     stored ticks that came from here on: a day in UTC, ISO 8601 with an offset (2026-01-05T00:00:00Z),
                        or Unix seconds
  --to 2026-01-10       the same, excluded; by default now
  --ticker EURUSD       the instrument; by default read from the file's name or path, and of stored ticks all
  --off spike,…         reasons for which no tick is held back: ${FILTER_REASONS.join(", ")};
                        by default those of TICK_FILTERS_OFF
  --help                prints this text

Exit code: 0 done, 1 a file could not be read, 2 wrong usage, 3 a file does not show how to read it.`;

const OPTIONS = {
  filters: { type: "boolean", default: false },
  from: { type: "string" },
  to: { type: "string" },
  ticker: { type: "string" },
  off: { type: "string" },
} as const;

/** @throws UsageError */
function reasonsOf(text: string): FilterReason[] {
  const words = text.split(",").map((word) => word.trim());
  return words
    .filter((word) => word !== "")
    .map((word) => {
      const reason = FILTER_REASONS.find((known) => known === word);
      if (reason === undefined) throw new UsageError(`--off ${text}: "${word}" is not one of ${FILTER_REASONS.join(", ")}.`);
      return reason;
    });
}

/** @param of whose instruments these are, in words @throws UsageError */
function tickerOf(text: string | undefined, listings: readonly Listing[], of: string): string | null {
  const ticker = text?.trim().toUpperCase() ?? null;
  if (ticker !== null && !listings.some((listing) => listing.ticker === ticker))
    throw new UsageError(`--ticker ${text}: is not an instrument of ${of}.`);
  return ticker;
}

/** The trial of files, which needs no database. */
function trialOfFiles(off: readonly FilterReason[]): FilterTrial {
  const listings = new Map(LIVE_LISTINGS.map((listing) => [listing.ticker, listing]));
  const calendars = new Map<string, Calendar>(
    Object.entries(SEED_CALENDARS).map(([name, definition]) => [name, compileCalendar(definition, [])]),
  );
  return createFilterTrial({
    off,
    listingOf: (ticker) => listings.get(ticker),
    calendarOf: (ticker) => calendars.get(listings.get(ticker)?.calendar ?? ""),
  });
}

/** Gives the ticks of a file to the trial; returns how many of its rows could not be read. */
async function tryFile(file: string, ticker: string | null, trial: FilterTrial, context: CommandContext): Promise<number> {
  const options = { listings: LIVE_LISTINGS, clock: context.clock, log: createLog("silent"), signal: context.stopSignal() };
  let unread = 0;
  for await (const { listing, settings, read } of tickSources(file, ticker, options)) {
    const rows = read(
      { ...settings, everyOutcome: true },
      {
        row({ timeMs, bid, ask, volume, receivedMs = Number.NaN, outcome = null }) {
          const tick = { ticker: listing.ticker, time_msc: timeMs, bid, ask, ...(volume >= 0 && { volume }) };
          trial.take(tick, Number.isNaN(receivedMs) ? timeMs : receivedMs, outcome);
        },
        malformed() {
          unread += 1;
        },
      },
    );
    for await (const _ of rows) if (options.signal.aborted) return unread;
  }
  return unread;
}

type Values = { readonly from?: string | undefined; readonly to?: string | undefined; readonly ticker?: string | undefined };

/** Tries the filters on files. @returns the exit code */
async function tryFiles(
  paths: readonly string[],
  values: Values,
  off: readonly FilterReason[],
  context: CommandContext,
): Promise<number> {
  const { print, stopSignal } = context;
  const ticker = tickerOf(values.ticker, LIVE_LISTINGS, "a new installation");
  const trial = trialOfFiles(off);
  const files = await filesOf(paths);
  let [exitCode, unread]: [number, number] = [EXIT_DONE, 0];
  for (const file of files) {
    if (stopSignal().aborted) break;
    try {
      unread += await tryFile(file, ticker, trial, context);
    } catch (error) {
      if (!isFileError(error)) throw error;
      exitCode = Math.max(exitCode, exitCodeOf(error));
      const advice = error instanceof Unsure ? " (an option of npm run import alone)" : "";
      print(`${printableName(file)}: NOT READ: ${error.message}${advice}`);
    }
  }
  const source = `${countText(files.length)} ${files.length === 1 ? "file" : "files"}`;
  for (const line of reportLines(trial.results(), { source, unread })) print(line);
  return exitCode;
}

/** Tries the filters on the stored ticks of a range, one ticker after the other. @returns the exit code */
async function tryStored(
  range: { readonly from: number; readonly to: number },
  values: Values,
  off: readonly FilterReason[],
  { print, stopSignal, withDatabase }: CommandContext,
): Promise<number> {
  const signal = stopSignal();
  return withDatabase(async (db) => {
    const { list, find, calendar } = await createCatalogue(db, "live");
    const ticker = tickerOf(values.ticker, list(), "this installation");
    const trial = createFilterTrial({ off, listingOf: find, calendarOf: calendar });
    const tickers = ticker === null ? list().map((listing) => listing.ticker) : [ticker];
    for (const one of tickers)
      for await (const ticks of everyTick(db, one, range)) {
        if (signal.aborted) break;
        for (const { tick, receivedMs, outcome } of ticks) trial.take(tick, receivedMs, outcome);
      }
    const results = trial.results();
    const source = `${countText(results.length)} ${results.length === 1 ? "ticker" : "tickers"}`;
    for (const line of reportLines(results, { source, unread: 0 })) print(line);
    return EXIT_DONE;
  });
}

/** The range of stored ticks; null for files. @throws UsageError */
function rangeOf({ from: fromText, to: toText }: Values, paths: readonly string[], nowMs: number) {
  if (fromText === undefined && toText !== undefined) throw new UsageError("Missing option: --from, for the stored ticks.");
  if (fromText === undefined && paths.length === 0)
    throw new UsageError("Missing argument: FILE, or --from for the stored ticks.");
  if (fromText === undefined) return null;
  if (paths.length > 0) throw new UsageError(`Unexpected argument "${paths[0]}": --from reads the stored ticks.`);
  const [from, to] = [instantOf("from", fromText), toText === undefined ? nowMs : instantOf("to", toText)];
  if (from >= to) throw new UsageError(`--from ${fromText} is not before ${toText === undefined ? "now" : `--to ${toText}`}.`);
  return { from, to };
}

/** `npm run replay`. */
export const replayCommand = defineCommand({
  name: "replay",
  usage: USAGE,
  options: OPTIONS,
  async run({ values, positionals }, context) {
    const range = rangeOf(values, positionals, context.clock.now());
    if (!values.filters) throw new UsageError("Add --filters: there is nothing else to try.");
    const off = values.off === undefined ? context.readEnv().TICK_FILTERS_OFF : reasonsOf(values.off);
    return range === null ? tryFiles(positionals, values, off, context) : tryStored(range, values, off, context);
  },
});

await runAsProcess(import.meta.url, replayCommand);
