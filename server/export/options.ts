import { TIMEFRAMES, TickerListParameter, type Timeframe, VENUES, type Venue } from "#lib/contract/primitives";
import { SECOND_MS } from "#lib/units";
import { instantOf } from "#server/cli/instant";
import { UsageError } from "#server/cli/usage-error";

/** The file formats of an export; each is also the ending of its files. */
const EXPORT_FORMATS = ["csv", "parquet"] as const;
type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The parsed command line. */
export interface ExportOptions {
  readonly venue: Venue;
  /** Null for all instruments of the venue. */
  readonly tickers: readonly string[] | null;
  readonly timeframe: Timeframe;
  /** Ticks instead of klines. */
  readonly ticks: boolean;
  /** Open times in Unix seconds, `to` excluded. */
  readonly from: number;
  readonly to: number;
  readonly format: ExportFormat;
  /** A file or folder; null for the current folder. */
  readonly out: string | null;
  readonly force: boolean;
}

export const USAGE = `npm run export -- --ticker EURUSD [options]

Writes closed klines to a file for each ticker, as the API with format=csv, but with unknown spreads empty. The open kline, and
klines that closed within the last 10 seconds, are left out. npm run import reads the files back exactly.

  --ticker EURUSD       the instrument, or several: EURUSD,GBPUSD; all for all instruments of the venue
  --timeframe M1        one of ${TIMEFRAMES.join(", ")}; M1 by default
  --ticks               writes every tick of the live venue instead, also those that were not taken, with the reason: a file
                        for each ticker and UTC day, as EURUSD_ticks_2026-01-07.csv
  --from 2024-01-01     first open time, included: a day in UTC, ISO 8601 with an offset (2024-01-01T00:00:00Z), or Unix
                        seconds; by default the first kline
  --to 2025-01-01       the same, excluded; by default now
  --format csv          ${EXPORT_FORMATS.join(" or ")}. Parquet has M1 klines, in the files that the API offers for download: one for
                        each month that touches the range, as EURUSD_M1_2024-01.parquet
  --out PATH            the file, or an existing folder or a name with a final slash for EURUSD_M1.csv in it; by default in
                        the current folder. For Parquet and --ticks, a folder
  --venue live          live or sandbox
  --force               overwrites files that exist
  --help                prints this text

A file appears when it is complete; if the export fails or is interrupted, nothing of it is left.
Exit code: 0 done, 1 failed or no klines in the range, 2 wrong usage.`;

/** Options of the command line, as for node:util parseArgs. */
export const OPTIONS = {
  ticker: { type: "string" },
  timeframe: { type: "string", default: "M1" },
  ticks: { type: "boolean", default: false },
  from: { type: "string" },
  to: { type: "string" },
  format: { type: "string", default: "csv" },
  out: { type: "string" },
  venue: { type: "string", default: "live" },
  force: { type: "boolean", default: false },
} as const;

interface Values {
  readonly ticker?: string;
  readonly timeframe: string;
  readonly ticks: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly format: string;
  readonly out?: string;
  readonly venue: string;
  readonly force: boolean;
}

function oneOf<Word extends string>(option: string, text: string, words: readonly Word[]): Word {
  const word = words.find((known) => known === text);
  if (word === undefined) throw new UsageError(`--${option} ${text}: must be one of ${words.join(", ")}.`);
  return word;
}

/** Unix seconds; a fraction of a second is rounded up, because klines open on whole seconds. */
const secondsOf = (option: string, text: string) => Math.ceil(instantOf(option, text) / SECOND_MS);

function tickersOf(text: string | undefined): readonly string[] | null {
  if (text === undefined) throw new UsageError("Missing option: --ticker, for example --ticker EURUSD, or --ticker all.");
  if (text.trim().toLowerCase() === "all") return null;
  const parsed = TickerListParameter.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new UsageError(`--ticker ${text}: must be a ticker such as EURUSD, several with commas between them, or all.`);
}

function formatOf({ format, out, ticks }: Values, timeframe: Timeframe): ExportFormat {
  const chosen = oneOf("format", format, EXPORT_FORMATS);
  const ending = EXPORT_FORMATS.find((known) => out?.toLowerCase().endsWith(`.${known}`));
  if (ending !== undefined && (ticks || ending === "parquet"))
    throw new UsageError(`--out ${out}: must be a folder: ${ticks ? "each day of ticks" : "each month in Parquet"} is a file.`);
  if (ending !== undefined && ending !== chosen)
    throw new UsageError(`--out ${out}: ends with .${ending}, but --format is ${chosen}.`);
  if (chosen === "parquet" && !ticks && timeframe !== "M1")
    throw new UsageError(`--timeframe ${timeframe}: Parquet has M1 klines only. Use --format csv.`);
  return chosen;
}

/**
 * Reads the command line.
 * @throws UsageError that names the option and its valid values
 */
export function readOptions(values: Values, words: readonly string[]): ExportOptions {
  const [word] = words;
  if (word !== undefined) throw new UsageError(`Unexpected argument "${word}": name instruments with --ticker.`);
  const from = values.from === undefined ? 0 : secondsOf("from", values.from);
  const to = values.to === undefined ? Number.MAX_SAFE_INTEGER : secondsOf("to", values.to);
  if (from >= to) throw new UsageError(`--from ${values.from ?? 0} is not before --to ${values.to}.`);
  const venue = oneOf("venue", values.venue, VENUES);
  if (values.ticks && venue !== "live") throw new UsageError(`--ticks: the ${venue} venue computes its ticks and keeps none.`);
  const timeframe = oneOf("timeframe", values.timeframe, TIMEFRAMES);
  return {
    venue,
    tickers: tickersOf(values.ticker),
    timeframe,
    ticks: values.ticks,
    from,
    to,
    format: formatOf(values, timeframe),
    out: values.out ?? null,
    force: values.force,
  };
}
