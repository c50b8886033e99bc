import { HOUR_MS } from "#lib/units";
import { UsageError } from "#server/cli/usage-error";
import { dayMs } from "./bytes";
import { parseClock, type SourceClock } from "./clock-zone";
import { FORMATS } from "./detect";

const MAX_ERRORS_DEFAULT_ROWS = 100;
const MAX_ERRORS_MAX_ROWS = 999_999_999;
const POINT_DIGITS_MAX = 10;

/** The parsed command line. */
export interface Options {
  readonly venue: "live";
  readonly files: readonly string[];
  readonly ticker: string | null;
  readonly format: string | null;
  readonly clock: SourceClock | null;
  /** Start of the hour or day of a .bi5 file, Unix milliseconds. */
  readonly dateMs: number | null;
  readonly pointDigits: number | null;
  readonly maxErrors: number;
  readonly force: boolean;
  /** True to store nothing and report what would happen. */
  readonly dryRun: boolean;
}

export const USAGE = `npm run import -- [options] FILE…
npm run import -- list
npm run import -- undo NUMBER

Imports history into the stored klines of the live venue. FILE is a file of ticks or M1 klines, plain, gzipped or
zipped, or a folder of such files. M5 to MN1 are rebuilt from M1. Rows that are already stored are not stored again. To
resume an interrupted import, run the same command again.

  --venue live          the venue; the sandbox generates its klines and accepts no imports
  --ticker EURUSD       the instrument; by default read from the file's name, path or symbol column
  --format NAME         ${wrapped(FORMATS.map(({ id }) => id))}
  --tz ZONE             time zone of the times: Europe/Athens, -05:00, EET or NY+7, or CET..2014-03-30,EET for a server
                        that changed its time zone
  --date 2019-02-04T10  day and hour of a single .bi5 file whose path does not contain them
  --point-digits 2      decimal places of whole-number prices, and of points in a spread column
  --max-errors ${MAX_ERRORS_DEFAULT_ROWS}      malformed rows after which the import of a file stops
  --dry-run             stores nothing and prints what would happen: the clock, the first klines in UTC, repeated and
                        conflicting minutes, klines in closed hours, and how many stored klines would be overwritten
  --force               imports a file again that was imported before, and a file that names another instrument or whose
                        prices are not those of the instrument
  --help                prints this text

The import detects the format and the time zone, and prints what it detected. Each import has a number: \`list\` shows the
imports, and \`undo\` restores the klines that would be stored without one.
Exit code: 0 done, 1 a file or row was refused or no kline is stored, 2 wrong usage, 3 unsure: an option must decide.`;

function wrapped(names: readonly string[]): string {
  const half = Math.ceil(names.length / 2);
  return `one of ${names.slice(0, half).join(", ")},\n${" ".repeat(24)}${names.slice(half).join(", ")}`;
}

function wholeNumber(name: string, text: string, max: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= max)) throw new UsageError(`--${name} ${text}: must be a whole number from 0 to ${max}.`);
  return value;
}

function parseDate(text: string): number {
  const [, year, month, day, hour = "0"] = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d))?$/.exec(text) ?? [];
  const atMs = dayMs(Number(year), Number(month), Number(day)) + Number(hour) * HOUR_MS;
  if (Number.isNaN(atMs) || Number(hour) > 23)
    throw new UsageError(`--date ${text}: must be a day, or a day and an hour, for example 2019-02-04T10.`);
  return atMs;
}

function venueOf(text: string): "live" {
  if (text === "live") return text;
  const reason = text === "sandbox" ? "must be live; the sandbox generates its klines and stores none." : "must be live.";
  throw new UsageError(`--venue ${text}: ${reason}`);
}

/** Options of the command line, as for node:util parseArgs. */
export const OPTIONS = {
  venue: { type: "string", default: "live" },
  ticker: { type: "string" },
  format: { type: "string" },
  tz: { type: "string" },
  date: { type: "string" },
  "point-digits": { type: "string" },
  "max-errors": { type: "string" },
  force: { type: "boolean", default: false },
  "dry-run": { type: "boolean", default: false },
} as const;

interface Values {
  readonly venue: string;
  readonly ticker?: string;
  readonly format?: string;
  readonly tz?: string;
  readonly date?: string;
  readonly "point-digits"?: string;
  readonly "max-errors"?: string;
  readonly force: boolean;
  readonly "dry-run": boolean;
}

/**
 * Reads the command line.
 * @throws UsageError that names the option and its valid values
 */
export function readOptions(values: Values, files: readonly string[]): Options {
  if (files.length === 0) throw new UsageError("Missing argument: FILE.");
  if (values.date !== undefined && files.length > 1)
    throw new UsageError(`--date ${values.date}: applies to a single file, but ${files.length} files are given.`);
  const ticker = values.ticker?.trim().toUpperCase() ?? null;
  if (ticker !== null && !/^[A-Z0-9]{3,20}$/.test(ticker))
    throw new UsageError(`--ticker ${values.ticker}: must be 3 to 20 letters and digits, for example EURUSD.`);
  if (values.format !== undefined && !FORMATS.some(({ id }) => id === values.format))
    throw new UsageError(`--format ${values.format}: must be one of ${FORMATS.map(({ id }) => id).join(", ")}.`);
  const { "point-digits": pointDigits, "max-errors": maxErrors } = values;
  return {
    venue: venueOf(values.venue),
    files,
    ticker,
    format: values.format ?? null,
    clock: values.tz === undefined ? null : parseClock(values.tz),
    dateMs: values.date === undefined ? null : parseDate(values.date),
    pointDigits: pointDigits === undefined ? null : wholeNumber("point-digits", pointDigits, POINT_DIGITS_MAX),
    maxErrors: maxErrors === undefined ? MAX_ERRORS_DEFAULT_ROWS : wholeNumber("max-errors", maxErrors, MAX_ERRORS_MAX_ROWS),
    force: values.force,
    dryRun: values["dry-run"],
  };
}
