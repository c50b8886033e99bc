import type { Timeframe } from "#lib/contract/primitives";
import { TIMEFRAME_SECONDS, timeframeOfMinutes } from "#lib/domain/timeframe";
import { UsageError } from "#server/cli/usage-error";
import { ImportFailure, Unsure } from "./failure";
import type { RowKind } from "./row";
import type { Sample } from "./sample";

/** Words of file names, in the order in which they are tried. */
const WORDS: readonly (readonly [Timeframe, RegExp])[] = [
  ["MN1", /MN1?|MONTH(?:LY)?/],
  ["W1", /W1|1W|WEEK(?:LY)?|10080/],
  ["D1", /D1|1D|DAY|DAILY|1440/],
  ["H4", /H4|4H|240/],
  ["H1", /H1|1H|60M(?:IN)?|HOUR(?:LY)?/],
  ["M30", /M30|30M(?:IN)?/],
  ["M15", /M15|15M(?:IN)?/],
  ["M5", /M5|5M(?:IN)?/],
  ["M1", /M1|1MIN/],
];
/** MetaTrader 4 puts the minutes of a kline behind the instrument: EURUSD60.csv. */
const BEHIND_TICKER = /[A-Z]{6}([1-9]\d{1,4})(?!\d)/;

/** The timeframe that a file name names; null when it names none, or several. */
export function timeframeIn(path: string): Timeframe | null {
  const name = (path.replaceAll("\\", "/").split("/").pop() ?? "").toUpperCase();
  const words = WORDS.filter(([, word]) => new RegExp(`(?<![A-Z0-9])(?:${word.source})(?![A-Z0-9])`).test(name));
  const behind = timeframeOfMinutes(Number(BEHIND_TICKER.exec(name)?.[1]));
  const found = [...new Set([...words.map(([timeframe]) => timeframe), ...(behind === undefined ? [] : [behind])])];
  return found.length === 1 ? (found[0] as Timeframe) : null;
}

/** What can say the timeframe of a file. */
interface Said {
  readonly kind: RowKind;
  readonly sample: Pick<Sample, "timeframe" | "steady">;
  readonly path: string;
  /** The value of --timeframe, null when not set. */
  readonly given: Timeframe | null;
}

const longer = (a: Timeframe, b: Timeframe) => TIMEFRAME_SECONDS[a] > TIMEFRAME_SECONDS[b];

/**
 * The timeframe of the klines of a file, from the steps between its rows, its name and --timeframe; M1 for ticks.
 * @throws ImportFailure or UsageError when they contradict each other; Unsure when the rows are too few or too far apart to tell
 */
export function timeframeOf({ kind, sample, path, given }: Said): Timeframe {
  if (kind === "ticks") {
    if (given !== null && given !== "M1") throw new UsageError(`--timeframe ${given}: it has ticks, which become M1 klines`);
    return "M1";
  }
  const { timeframe: shown, steady } = sample;
  // Minutes show themselves; H1 in their name is half a year.
  if (given === null && shown === "M1") return shown;
  const named = given ?? timeframeIn(path);
  if (shown === null) return named ?? "M1";
  const source = given === null ? "its name says" : "--timeframe is";
  if (named !== null && (longer(named, shown) || (steady && named !== shown)))
    throw new ImportFailure(`${source} ${named}, but its rows are those of ${shown}`);
  if (named !== null) return named;
  if (steady) return shown;
  throw new Unsure(
    `its rows may be ${shown}, or M1 with gaps: they are too few, or too far apart, to tell. Set --timeframe ${shown} or --timeframe M1`,
  );
}
