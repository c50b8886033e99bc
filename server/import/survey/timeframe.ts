import type { AssetClass } from "#lib/contract/instrument";
import type { Timeframe } from "#lib/contract/primitives";
import { closesAtMs } from "#lib/domain/kline";
import {
  createAlignment,
  NEW_YORK_CLOSE,
  TIMEFRAME_SECONDS,
  type TradingAlignment,
  timeframeOfMinutes,
} from "#lib/domain/timeframe";
import { zone } from "#lib/domain/zone";
import { DAY_MS, HOUR_MS, HOUR_S, MINUTE_MS, MINUTE_S, SECOND_MS } from "#lib/units";
import { UsageError } from "#server/cli/usage-error";
import { countText, minuteText } from "#server/cli/words";
import { ImportFailure, Unsure } from "#server/import/failure";
import type { RowKind } from "#server/import/rows/row";
import { openMs, weeklyHours } from "./clock";

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
  /** The longest timeframe that the steps between its rows allow, and whether it has no other. */
  readonly sample: { readonly timeframe: Timeframe | null; readonly steady: boolean };
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

/** Whether klines of a timeframe open on a clock, not on multiples of UTC. */
const isLong = (timeframe: Timeframe) => TIMEFRAME_SECONDS[timeframe] > HOUR_S;

/** The klines of the service that rows of one timeframe can be. */
export interface Intervals {
  readonly timeframe: Timeframe;
  /** Open time (Unix seconds) of the kline that a row of this time is; null when the service has no such kline. */
  openOf(timeMs: number): number | null;
  /** The kline of the service that holds the time of a row. */
  around(timeMs: number): number;
  /** Whether a kline is over. */
  isOver(openS: number, nowMs: number): boolean;
}

const MINUTES: Intervals = {
  timeframe: "M1",
  around: (timeMs) => Math.floor(timeMs / MINUTE_MS) * MINUTE_S,
  openOf: (timeMs) => (timeMs % MINUTE_MS === 0 ? timeMs / SECOND_MS : null),
  isOver: (openS, nowMs) => openS * SECOND_MS + MINUTE_MS <= nowMs,
};

/**
 * The open time of the kline with the same trading hours as [openS, …) of a source: their starts and ends are apart only while
 * the market is closed, as those of a week that begins on Saturday instead of Sunday evening.
 */
function sameHours(timeframe: Timeframe, openS: number, alignment: TradingAlignment, isShut: (a: number, b: number) => boolean) {
  const within = alignment.openTime(timeframe, openS);
  for (const own of [within, alignment.nextOpenTime(timeframe, openS)]) {
    const shiftS = openS - own;
    const endS = alignment.nextOpenTime(timeframe, own);
    if (isShut(own, openS) && isShut(endS, endS + shiftS)) return own;
  }
  return null;
}

/**
 * The intervals of a timeframe. Rows of up to an hour open on multiples of UTC; longer ones must hold the same trading hours as
 * the klines of the service.
 */
export function createIntervals(timeframe: Timeframe, assetClass: AssetClass): Intervals {
  if (timeframe === "M1") return MINUTES;
  const alignment = createAlignment();
  const hours = weeklyHours(assetClass);
  const isShut = (a: number, b: number) => openMs(hours, Math.min(a, b) * SECOND_MS, Math.max(a, b) * SECOND_MS) === 0;
  const around = (timeMs: number) => alignment.openTime(timeframe, Math.floor(timeMs / SECOND_MS));
  return {
    timeframe,
    around,
    openOf(timeMs) {
      const own = around(timeMs);
      if (own * SECOND_MS === timeMs) return own;
      return isLong(timeframe) ? sameHours(timeframe, timeMs / SECOND_MS, alignment, isShut) : null;
    },
    isOver: (openS, nowMs) => closesAtMs({ timeframe, time: openS }, alignment) <= nowMs,
  };
}

/** Share of the klines of a file that may open at other times than ours: more are another day boundary. */
export const MISALIGNED_MAX_SHARE = 0.2;
/** Share of its klines that shows the time of day at which those of a file open. */
const USUAL_MIN_SHARE = 0.8;
/** Klines of a source are at least this share of their timeframe apart: some are an hour shorter when a clock changes. */
const APART_MIN_SHARE = 0.7;
/** Times that say when the klines of a file open. */
const TIMES_MAX_COUNT = 10_000;

/** The time of day that most times have, modulo a period; null when they differ. */
function usualTime(timesMs: readonly number[], periodMs: number): string | null {
  const counts = new Map<number, number>();
  for (const time of timesMs) counts.set(time % periodMs, (counts.get(time % periodMs) ?? 0) + 1);
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  if (most === undefined || most[1] < timesMs.length * USUAL_MIN_SHARE) return null;
  return new Date(most[0]).toISOString().slice(11, 16);
}

/** When klines open, in words: at a time in UTC, or one in New York. */
function boundaryOf({ timeframe }: Intervals, timesMs: readonly number[]): string | null {
  const periodMs = timeframe === "H4" ? 4 * HOUR_MS : DAY_MS;
  const every = timeframe === "H4" ? " and every four hours from there" : "";
  const utc = usualTime(timesMs, periodMs);
  if (utc !== null) return `at ${utc} UTC${every}`;
  const newYork = zone(NEW_YORK_CLOSE.zone);
  const local = usualTime(
    timesMs.map((ms) => newYork.toLocal(ms)),
    periodMs,
  );
  return local === null ? null : `at ${local} in New York${every}`;
}

/** Why klines cannot be taken that open at other times than ours. */
export function misalignedReason(intervals: Intervals, timesMs: readonly number[]): string {
  const { timeframe } = intervals;
  const off = timesMs.find((ms) => intervals.openOf(ms) === null) ?? 0;
  const example = `its ${timeframe} klines open at other times than those of Spotwire, for example at ${minuteText(off)} instead of ${minuteText(intervals.around(off) * SECOND_MS)}`;
  if (!isLong(timeframe)) return `${example}: it is on another clock, set it with --tz`;
  const theirs = boundaryOf(intervals, timesMs);
  const ours = `the trading day of Spotwire opens at ${NEW_YORK_CLOSE.dayStart} in New York`;
  const both = theirs === null ? ours : `${ours}, its klines open ${theirs}`;
  return `${example}: ${both}. Import M1 or H1 of this source instead`;
}

/**
 * Checks the times of a file of klines longer than a minute: they must be those of our klines.
 * @param timesMs of its rows, in UTC and in their order; NaN for those that do not exist
 * @returns what the operator should know
 * @throws ImportFailure when too many are not, or the file has klines of a shorter timeframe, too
 */
export function checkAlignment(intervals: Intervals, timesMs: readonly number[]): string[] {
  const { timeframe } = intervals;
  const known = timesMs.filter((timeMs) => !Number.isNaN(timeMs));
  const apartMs = TIMEFRAME_SECONDS[timeframe] * SECOND_MS * APART_MIN_SHARE;
  const closeMs = known.find((timeMs, row) => {
    const stepMs = Math.abs(timeMs - (known[row - 1] ?? Number.NaN));
    return stepMs > 0 && stepMs < apartMs;
  });
  if (closeMs !== undefined)
    throw new ImportFailure(
      `its klines are ${timeframe}, but around ${minuteText(closeMs)} they are closer together: import each timeframe from a file of its own`,
    );
  const off = known.filter((timeMs) => intervals.openOf(timeMs) === null);
  const [example] = off;
  if (example === undefined) return [];
  if (off.length > known.length * MISALIGNED_MAX_SHARE)
    throw new ImportFailure(misalignedReason(intervals, [...known.slice(0, TIMES_MAX_COUNT), example]));
  const instead = `for example at ${minuteText(example)} instead of ${minuteText(intervals.around(example) * SECOND_MS)}`;
  return [
    `${countText(off.length)} of ${countText(known.length)} klines open at other times than those of Spotwire, ${instead}: they are refused`,
  ];
}
