import { FILTER_REASONS, type FilterReason } from "#lib/contract/ingest";
import { type Calendar, compileCalendar } from "#lib/domain/calendar";
import { SEED_CALENDARS } from "#lib/domain/calendars/index";
import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import { createLog } from "#lib/log";
import { printableName } from "#lib/printable";
import { type CommandContext, defineCommand, runAsProcess } from "#server/cli/run-command";
import { EXIT_DONE, UsageError } from "#server/cli/usage-error";
import { createFilterTrial, type FilterTrial } from "#server/feed/filter/trial";
import { reportLines } from "#server/feed/filter/trial-report";
import { exitCodeOf, isFileError, Unsure } from "#server/import/failure";
import { filesOf } from "#server/import/files/sources";
import { tickSources } from "./replay-files";

const USAGE = `npm run replay -- [options] --filters FILE…

Tries the filters that hold ticks back on recorded ticks, and prints how many of each ticker they hold back and why, with
the first ones. For ticks that npm run export wrote it also prints where the outcome is another one now. FILE is
a file of ticks in any format that npm run import reads, or a folder of such files. Nothing is stored, and no database is
needed: calendars and instruments are those of a new installation.

  --filters             tries the filters
  --ticker EURUSD       the instrument; by default read from the file's name or path
  --off spike,…         reasons for which no tick is held back: ${FILTER_REASONS.join(", ")};
                        by default those of TICK_FILTERS_OFF
  --help                prints this text

Exit code: 0 done, 1 a file could not be read, 2 wrong usage, 3 a file does not show how to read it.`;

const OPTIONS = {
  filters: { type: "boolean", default: false },
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

/** @throws UsageError */
function tickerOf(text: string | undefined): string | null {
  const ticker = text?.trim().toUpperCase() ?? null;
  if (ticker !== null && !LIVE_LISTINGS.some((listing) => listing.ticker === ticker))
    throw new UsageError(`--ticker ${text}: is not an instrument of a new installation.`);
  return ticker;
}

function trialOf(off: readonly FilterReason[]): FilterTrial {
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

/** `npm run replay`. */
export const replayCommand = defineCommand({
  name: "replay",
  usage: USAGE,
  options: OPTIONS,
  async run({ values, positionals }, context) {
    const { print, readEnv, stopSignal } = context;
    if (positionals.length === 0) throw new UsageError("Missing argument: FILE.");
    if (!values.filters) throw new UsageError("Add --filters: there is nothing else to try.");
    const ticker = tickerOf(values.ticker);
    const trial = trialOf(values.off === undefined ? readEnv().TICK_FILTERS_OFF : reasonsOf(values.off));
    const files = await filesOf(positionals);
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
    for (const line of reportLines(trial.results(), { files: files.length, unread })) print(line);
    return exitCode;
  },
});

await runAsProcess(import.meta.url, replayCommand);
