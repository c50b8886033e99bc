import { parseArgs } from "node:util";
import { HOUR_MS } from "#lib/units";
import { dayMs } from "./bytes";
import { parseClock, type SourceClock } from "./clock-zone";
import { FORMATS } from "./detect";
import { usageFailure } from "./failure";

const MAX_ERRORS_DEFAULT_ROWS = 100;
const POINT_DIGITS_MAX = 10;

/** What the command was asked to do. */
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
}

export const USAGE = `Usage: npm run import -- [options] FILE…

Imports history into the stored klines of the live venue. FILE is a file of ticks or M1 klines, plain, gzipped or
zipped, or a folder of them. M5 to MN1 are rebuilt from M1. What is stored already is not stored twice; an interrupted
import goes on where it was.

  --venue live          the venue (the sandbox computes its klines, nothing can be imported there)
  --ticker EURUSD       the instrument; without it, it is read from the file's name, path or symbol column
  --format NAME         ${wrapped(FORMATS.map(({ id }) => id))}
  --tz ZONE             clock of the times: Europe/Athens, -05:00, EET, NY+7, or CET..2014-03-30,EET for a server that moved
  --date 2019-02-04T10  day and hour of a single .bi5 file whose path does not say it
  --point-digits 2      decimal places of whole-number prices and of points in a spread column
  --max-errors 100      malformed rows after which a file is given up
  --force               import a file again that was imported before
  --help

Formats and time zones are detected and what was taken is printed. Exit code: 0 done, 1 failed, 2 wrong usage.`;

function wrapped(names: readonly string[]): string {
  const half = Math.ceil(names.length / 2);
  return `one of ${names.slice(0, half).join(", ")},\n${" ".repeat(24)}${names.slice(half).join(", ")}`;
}

function wholeNumber(name: string, text: string, max: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= max)) throw usageFailure(`--${name} ${text}: must be a whole number from 0 to ${max}`);
  return value;
}

function parseDate(text: string): number {
  const [, year, month, day, hour = "0"] = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d))?$/.exec(text) ?? [];
  const atMs = dayMs(Number(year), Number(month), Number(day)) + Number(hour) * HOUR_MS;
  if (Number.isNaN(atMs) || Number(hour) > 23)
    throw usageFailure(`--date ${text}: must be a day, or a day and hour, as in 2019-02-04T10`);
  return atMs;
}

function read(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      strict: true,
      options: {
        venue: { type: "string" },
        ticker: { type: "string" },
        format: { type: "string" },
        tz: { type: "string" },
        date: { type: "string" },
        "point-digits": { type: "string" },
        "max-errors": { type: "string" },
        force: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw usageFailure(error instanceof Error ? error.message : String(error));
  }
}

function venueOf(text: string): "live" {
  if (text === "live") return text;
  throw usageFailure(
    text === "sandbox"
      ? "--venue sandbox: the sandbox computes its klines, nothing is stored there. Import into live"
      : `--venue ${text}: must be live`,
  );
}

/**
 * Reads the command line.
 * @returns "help" when that was asked for
 * @throws ImportFailure (usage) naming what is wrong and what is allowed.
 */
export function parseOptions(argv: readonly string[]): Options | "help" {
  const { values, positionals } = read(argv);
  if (values.help) return "help";
  if (positionals.length === 0) throw usageFailure("no FILE was named");
  if (values.date !== undefined && positionals.length > 1) throw usageFailure("--date is the date of one file: name only that");
  const ticker = values.ticker?.trim().toUpperCase() ?? null;
  if (ticker !== null && !/^[A-Z0-9]{3,20}$/.test(ticker))
    throw usageFailure(`--ticker ${values.ticker}: a ticker is 3 to 20 letters and digits, as in EURUSD`);
  if (values.format !== undefined && !FORMATS.some(({ id }) => id === values.format))
    throw usageFailure(`--format ${values.format}: must be one of ${FORMATS.map(({ id }) => id).join(", ")}`);
  return {
    venue: venueOf(values.venue ?? "live"),
    files: positionals,
    ticker,
    format: values.format ?? null,
    clock: values.tz === undefined ? null : parseClock(values.tz),
    dateMs: values.date === undefined ? null : parseDate(values.date),
    pointDigits:
      values["point-digits"] === undefined ? null : wholeNumber("point-digits", values["point-digits"], POINT_DIGITS_MAX),
    maxErrors:
      values["max-errors"] === undefined ? MAX_ERRORS_DEFAULT_ROWS : wholeNumber("max-errors", values["max-errors"], 999_999_999),
    force: values.force ?? false,
  };
}
