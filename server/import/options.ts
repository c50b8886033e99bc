import type { parseArgs } from "node:util";
import { TIMEFRAMES, type Timeframe } from "#lib/contract/primitives";
import { HOUR_MS } from "#lib/units";
import { UsageError } from "#server/cli/usage-error";
import { parseClock } from "#server/import/formats/clocks";
import { FORMATS } from "#server/import/formats/detect";
import { dayMs } from "#server/import/rows/bytes";
import { DATE_ORDERS, type DateOrder, isColumnName, plainName, SPREAD_UNITS } from "#server/import/rows/row";

const MAX_ERRORS_DEFAULT_ROWS = 100;
const MAX_ERRORS_MAX_ROWS = 999_999_999;
const POINT_DIGITS_MAX = 10;
/** What --volume says. */
const VOLUMES = { ticks: "tickVolume", real: "realVolume" } as const;

export const USAGE = `npm run import -- [options] FILE…
npm run import -- list
npm run import -- undo [--dry-run] NUMBER
npm run import -- redo [--dry-run] NUMBER

Imports history into the stored klines of the live venue. FILE is a file of ticks or klines: text, Parquet or .bi5,
plain or in a .gz, .zip or .tar archive, or a folder of such files. Ticks become M1 klines, and are
kept. M5 to MN1 are computed from M1 on request; klines of M5 to MN1 are taken where no M1 is stored. Clients see an import
once it is complete, all of it at once. To resume an interrupted import, run the same command again.

  --venue live          the venue; the sandbox generates its klines and accepts no imports
  --ticker EURUSD       the instrument; by default read from the file's name, path or symbol column
  --format NAME         ${wrapped(FORMATS.map(({ id }) => id))}
  --tz ZONE             time zone of the times: Europe/Athens, -05:00, EET or NY+7, or CET..2014-03-30,EET for a server
                        that changed its time zone
  --timeframe D1        the timeframe of klines, where neither their times nor the file's name show it
  --date 2019-02-04T10  day and hour of a single .bi5 file whose path does not contain them
  --months 0            the number of January in the paths of .bi5 files, 0 or 1, where the files do not show it
  --columns NAMES       names the columns of a file without a header line, from left to right, - for one to skip:
                        time,open,high,low,close,tick_volume or date,time,bid,ask
  --date-format DMY     order of day, month and year in the dates of a plain file: YMD, DMY or MDY
  --kind klines         klines or ticks, where a plain file has the columns of both
  --spread pips         what a spread column is in: points, pips or price (units of the price), where it does not show it
  --volume ticks        what a column "volume" of klines counts: ticks (numbers of quotes) or real (amounts)
  --labels end          the times of klines are those of their ends, not of their starts
  --point-digits 2      decimal places of whole-number prices, and of points in a spread column
  --max-errors ${MAX_ERRORS_DEFAULT_ROWS}      malformed rows of a file; with more, nothing of it is stored
  --dry-run             stores nothing and prints what would happen: the clock, the first klines in UTC, repeated and
                        conflicting minutes, klines in closed hours, and how many stored klines would be overwritten;
                        of undo and redo, which klines they would change
  --force               imports a file again that was imported before, and a file that names another instrument or whose
                        prices are not those of the instrument
  --accept-doubts       imports a doubtful file, too: one with rows in closed hours, or whose prices or times are not those
                        that are stored; its doubts are kept with the import
  --help                prints this text

The import detects the format and the time zone, and prints what it detected. Each import has a number: \`list\` shows the
imports, \`undo\` restores the klines that would be stored without one, at any time, and \`redo\` puts it back.
Exit code: 0 done, 1 a file or row was refused or no kline is stored, 2 wrong usage, 3 unsure or doubtful: an
option must decide.`;

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

function parseMonths(text: string): 0 | 1 {
  if (text !== "0" && text !== "1") throw new UsageError(`--months ${text}: must be 0 or 1, the number of January.`);
  return text === "0" ? 0 : 1;
}

function parseColumns(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => name !== "-" && !isColumnName(plainName(name)));
  if (unknown !== undefined)
    throw new UsageError(
      `--columns ${text}: "${unknown}" is not a column. Use time, date, open, high, low, close, bid, ask, tick_volume, real_volume, spread, symbol, or - for one to skip.`,
    );
  return names;
}

/** YMD, DMY or MDY, or a pattern of them such as DD.MM.YYYY HH:mm. */
function parseDateOrder(text: string): DateOrder {
  const [letters = ""] = /^[ymd./-]+/i.exec(text) ?? [];
  const order = [...new Set(letters.toLowerCase().replace(/[^ymd]/g, ""))].join("");
  const found = DATE_ORDERS.find((known) => known === order);
  if (found === undefined) throw new UsageError(`--date-format ${text}: must be YMD, DMY or MDY, for example MM/DD/YYYY.`);
  return found;
}

function timeframeNamed(text: string): Timeframe {
  const found = TIMEFRAMES.find((timeframe) => timeframe === text.toUpperCase());
  if (found === undefined) throw new UsageError(`--timeframe ${text}: must be one of ${TIMEFRAMES.join(", ")}.`);
  return found;
}

/** One of several words. */
function oneOf<const Word extends string>(name: string, words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const found = words.find((word) => word === text);
    if (found === undefined) throw new UsageError(`--${name} ${text}: must be ${words.join(" or ")}.`);
    return found;
  };
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
  timeframe: { type: "string" },
  date: { type: "string" },
  months: { type: "string" },
  columns: { type: "string" },
  "date-format": { type: "string" },
  kind: { type: "string" },
  spread: { type: "string" },
  volume: { type: "string" },
  labels: { type: "string" },
  "point-digits": { type: "string" },
  "max-errors": { type: "string" },
  force: { type: "boolean", default: false },
  "accept-doubts": { type: "boolean", default: false },
  "dry-run": { type: "boolean", default: false },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>["values"];

/** What an option says; null where it is not given. */
const said = <T>(text: string | undefined, parse: (text: string) => T): T | null => (text === undefined ? null : parse(text));

/** The parsed command line. */
export type Options = Readonly<ReturnType<typeof readOptions>>;

/**
 * Reads the command line.
 * @throws UsageError that names the option and its valid values
 */
export function readOptions(values: Values, files: readonly string[]) {
  if (files.length === 0) throw new UsageError("Missing argument: FILE.");
  if (values.date !== undefined && files.length > 1)
    throw new UsageError(`--date ${values.date}: applies to a single file, but ${files.length} files are given.`);
  const ticker = values.ticker?.trim().toUpperCase() ?? null;
  if (ticker !== null && !/^[A-Z0-9]{3,20}$/.test(ticker))
    throw new UsageError(`--ticker ${values.ticker}: must be 3 to 20 letters and digits, for example EURUSD.`);
  if (values.format !== undefined && !FORMATS.some(({ id }) => id === values.format))
    throw new UsageError(`--format ${values.format}: must be one of ${FORMATS.map(({ id }) => id).join(", ")}.`);
  if (values.columns !== undefined && values.format !== undefined && values.format !== "plain")
    throw new UsageError(`--columns ${values.columns}: only files of --format plain have columns to name.`);
  return {
    venue: venueOf(values.venue),
    files,
    ticker,
    format: values.format ?? null,
    clock: said(values.tz, parseClock),
    dateMs: said(values.date, parseDate),
    months: said(values.months, parseMonths),
    columns: said<readonly string[]>(values.columns, parseColumns),
    dateOrder: said(values["date-format"], parseDateOrder),
    pointDigits: said(values["point-digits"], (text) => wholeNumber("point-digits", text, POINT_DIGITS_MAX)),
    timeframe: said(values.timeframe, timeframeNamed),
    kind: said(values.kind, oneOf("kind", ["klines", "ticks"])),
    spread: said(values.spread, oneOf("spread", SPREAD_UNITS)),
    volume: said(values.volume, (text) => VOLUMES[oneOf("volume", ["ticks", "real"])(text)]),
    labels: said(values.labels, oneOf("labels", ["start", "end"])),
    maxErrors:
      said(values["max-errors"], (text) => wholeNumber("max-errors", text, MAX_ERRORS_MAX_ROWS)) ?? MAX_ERRORS_DEFAULT_ROWS,
    force: values.force,
    /** True to import doubtful files, too. */
    acceptDoubts: values["accept-doubts"],
    /** True to store nothing and report what would happen. */
    dryRun: values["dry-run"],
  };
}
