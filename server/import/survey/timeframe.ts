import type { AssetClass } from "#lib/contract/instrument";
import type { Timeframe } from "#lib/contract/primitives";
import { closesAtMs } from "#lib/domain/kline";
import {
  createAlignment,
  NEW_YORK_CLOSE,
  TIMEFRAME_SECONDS,
  TIMEFRAMES_ORDER,
  type TradingAlignment,
  timeframeOfMinutes,
} from "#lib/domain/timeframe";
import { zone } from "#lib/domain/zone";
import { DAY_MS, DAY_S, HOUR_MS, HOUR_S, MINUTE_MS, MINUTE_S, SECOND_MS } from "#lib/units";
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

/** H1 and H2 behind a year are halves of it. */
const HALF_YEAR = /((?:19|20)\d\d[-_ ]?)H[12](?!\d)/g;

/** What, of minutes, says how long a file is: a word, or a half or a week of a year. */
const SPAN =
  /(?<![a-z])(month|week|day|hour)(ly)?(?![a-z])|daily|[hw]\d{1,2}(?=[-_ ]?(19|20)\d\d)|(?<=(19|20)\d\d[-_ ]?)[hw]\d{1,2}/gi;

/** The timeframe that a file name names; null when it names none, or several. */
export function timeframeIn(path: string): Timeframe | null {
  const name = (path.replaceAll("\\", "/").split("/").pop() ?? "").toUpperCase().replace(HALF_YEAR, "$1");
  const words = WORDS.filter(([, word]) => new RegExp(`(?<![A-Z0-9])(?:${word.source})(?![A-Z0-9])`).test(name));
  const behind = timeframeOfMinutes(Number(BEHIND_TICKER.exec(name)?.[1]));
  const found = [...new Set([...words.map(([timeframe]) => timeframe), ...(behind === undefined ? [] : [behind])])];
  return found.length === 1 ? (found[0] as Timeframe) : null;
}

/** Steps needed before they show a timeframe. */
const STEADY_MIN_STEPS = 10;
/** How far a step may be from the length of a timeframe where rows have the times of their first ticks, as factors. */
const NEAR_MIN = 0.7;
const NEAR_MAX = 1.3;
/** Share of the steps of sparse rows that are at least as long as their timeframe, and of their times that are on its grid. */
const FITTING_MIN_SHARE = 0.9;
/** Length of the shortest month: steps from this length on are months. */
const MN1_MIN_S = 28 * DAY_S;
const MN1_MAX_S = 31 * DAY_S;

/** What the steps between the rows of a file show. */
export interface Spacing {
  /** The longest timeframe that the rows can have; null where there is no step, or they can have none. */
  readonly timeframe: Timeframe | null;
  /** True where most of many steps are as long as the timeframe: then it has no other. */
  readonly steady: boolean;
  /** How many steps are as long, of how many. */
  readonly kept: number;
  readonly steps: number;
  /** The step in the middle of all by length, seconds; NaN without any. */
  readonly middleS: number;
  /** Why they can have no timeframe; null where they can. */
  readonly refusal: string | null;
}

/** Whether a step is one of a timeframe: days and weeks are an hour off where a clock changes, months differ. */
function isStepOf(timeframe: Timeframe, stepS: number): boolean {
  if (timeframe === "MN1") return stepS >= MN1_MIN_S && stepS <= MN1_MAX_S;
  const lengthS = TIMEFRAME_SECONDS[timeframe];
  return Math.abs(stepS - lengthS) <= (lengthS >= DAY_S ? HOUR_S : 0);
}

const isNear = (timeframe: Timeframe, stepS: number) =>
  stepS >= TIMEFRAME_SECONDS[timeframe] * NEAR_MIN && stepS <= TIMEFRAME_SECONDS[timeframe] * NEAR_MAX;

/** The most common number, the least of several, and how often it occurs. */
function mostCommon(numbers: readonly number[]): readonly [number: number, count: number] {
  const counts = new Map<number, number>();
  for (const one of numbers) counts.set(one, (counts.get(one) ?? 0) + 1);
  return [...counts].reduce((best, one) => (one[1] > best[1] || (one[1] === best[1] && one[0] < best[0]) ? one : best));
}

/** Whether nearly all times are a whole number of steps apart, on any clock. */
const areOnGrid = (timesMs: readonly number[], gridMs: number) =>
  mostCommon(timesMs.map((time) => time % gridMs))[1] >= timesMs.length * FITTING_MIN_SHARE;

/** The longest timeframe that sparse rows can have: nearly all of them are as far apart, and on one grid of it, on any clock. */
function longestTimeframe(timesMs: readonly number[], stepsS: readonly number[]): Timeframe {
  const fitting = TIMEFRAMES_ORDER.filter((timeframe) => {
    const lengthS = TIMEFRAME_SECONDS[timeframe];
    // Of a day or a week in UTC, an hour can be missing when the clock of the source is put forward.
    const shortestS = timeframe === "MN1" ? MN1_MIN_S : lengthS >= DAY_S ? lengthS - HOUR_S : lengthS;
    const gridMs = Math.min(lengthS, HOUR_S) * SECOND_MS;
    return stepsS.filter((step) => step >= shortestS).length >= stepsS.length * FITTING_MIN_SHARE && areOnGrid(timesMs, gridMs);
  });
  return fitting.at(-1) ?? "M1";
}

/** Of ticks, and of a single row. */
export const NO_SPACING: Spacing = { timeframe: null, steady: false, kept: 0, steps: 0, middleS: Number.NaN, refusal: null };

/** What the steps between the times of klines show, in their order or newest first. The step that most of them keep decides. */
export function spacingOf(timesMs: readonly number[]): Spacing {
  const all = timesMs.slice(1).map((time, index) => Math.abs(time - (timesMs[index] as number)) / SECOND_MS);
  const stepsS = all.filter((step) => step > 0);
  const steps = stepsS.length;
  // Days have no time of day: a single one is none of our minutes.
  if (steps === 0) return timesMs.every((time) => time % DAY_MS === 0) ? { ...NO_SPACING, timeframe: "D1" } : NO_SPACING;
  const [usualS, count] = mostCommon(stepsS);
  const middleS = stepsS.toSorted((a, b) => a - b)[Math.floor(steps / 2)] as number;
  const found = (timeframe: Timeframe | null, steady: boolean, refusal: string | null = null): Spacing => {
    const kept = timeframe === null ? 0 : stepsS.filter((step) => isStepOf(timeframe, step)).length;
    return { timeframe, steady, kept, steps, middleS, refusal };
  };
  const own = TIMEFRAMES_ORDER.find((timeframe) => isStepOf(timeframe, usualS));
  const isMany = steps >= STEADY_MIN_STEPS;
  // Klines of another length are on a grid of it, and a day has a whole number of them: other steps come from first ticks and gaps.
  const areOthers = DAY_S % usualS === 0 && areOnGrid(timesMs, usualS * SECOND_MS);
  if (isMany && count * 2 > steps && (own !== undefined || areOthers))
    return own === undefined
      ? found(null, true, `its rows are ${stepText(usualS)} apart, and Spotwire has no klines of that length`)
      : found(own, true);
  const near = TIMEFRAMES_ORDER.find((timeframe) => stepsS.filter((step) => isNear(timeframe, step)).length * 2 > steps);
  if (isMany && near !== undefined) return found(near, true);
  const isOffGrid = timesMs.filter((time) => time % MINUTE_MS === 0).length < timesMs.length * FITTING_MIN_SHARE;
  if (isMany && isOffGrid)
    return found(null, true, "its rows come at irregular times: bars of ticks, volume or range. Spotwire stores klines of time");
  const longest = longestTimeframe(timesMs, stepsS);
  // Sparse minutes still follow each other more often than they are any other time apart.
  return found(longest, longest === "M1" && usualS === MINUTE_S);
}

/** A length of time in words. */
function stepText(seconds: number): string {
  const [unit, length] =
    seconds % DAY_S === 0 ? ["day", DAY_S] : seconds % HOUR_S === 0 ? ["hour", HOUR_S] : ["minute", MINUTE_S];
  if (seconds % length !== 0) return `${seconds} seconds`;
  return seconds === length ? `a${unit === "hour" ? "n" : ""} ${unit}` : `${seconds / length} ${unit}s`;
}

/** What can say the timeframe of a file. */
interface Said {
  readonly kind: RowKind;
  /** What its rows show, or state in each of them. */
  readonly spacing: Spacing;
  readonly path: string;
  /** The value of --timeframe, null when not set. */
  readonly given: Timeframe | null;
}

/**
 * The timeframe of the klines of a file, from the steps between its rows, its name and --timeframe; M1 for ticks.
 * @throws ImportFailure or UsageError when they contradict each other; Unsure when the rows are too few or too far apart to tell
 */
export function timeframeOf({ kind, spacing, path, given }: Said): Timeframe {
  if (kind === "ticks") {
    if (given !== null && given !== "M1") throw new UsageError(`--timeframe ${given}: it has ticks, which become M1 klines`);
    return "M1";
  }
  const { timeframe: shown, steady, middleS, refusal } = spacing;
  if (refusal !== null) {
    if (given === "M1") return given;
    throw new ImportFailure(`${refusal}. If they are minutes with gaps, say --timeframe M1`);
  }
  const named = given ?? timeframeIn(shown === "M1" ? path.replace(SPAN, "") : path);
  if (shown === null) return named ?? "M1";
  const source = given === null ? "its name says" : "--timeframe is";
  const insist = given === null ? `. If its name is wrong, say --timeframe ${shown}` : "";
  const isCloser = named !== null && middleS < TIMEFRAME_SECONDS[named] * NEAR_MIN;
  if (named !== null && (isCloser || (steady && named !== shown)))
    throw new ImportFailure(`${source} ${named}, but its rows are those of ${shown}${insist}`);
  if (named !== null) return named;
  if (steady) return shown;
  const options = shown === "M1" ? "--timeframe M1" : `--timeframe ${shown} or --timeframe M1`;
  throw new Unsure(
    `its rows may be ${shown === "M1" ? "M1 with gaps, or bars of another kind" : `${shown}, or M1 with gaps`}: they are too few, or too far apart, to tell. Set ${options}`,
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
/** Klines one after the other that are closer together than their timeframe: less are odd ones, which are refused one by one. */
const CLOSE_MIN_STEPS = 5;
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
  if (!isLong(timeframe)) {
    const same = usualTime(timesMs, TIMEFRAME_SECONDS[timeframe] * SECOND_MS);
    return same === null
      ? `${example}: they have the times of their first ticks, not of their starts. Round them down to full ${timeframe}`
      : `${example}: it is on another clock, set it with --tz, or its times are those of the ends of its klines`;
  }
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
  // Some are an hour shorter when a clock changes.
  const apartMs = TIMEFRAME_SECONDS[timeframe] * SECOND_MS * NEAR_MIN;
  let close = 0;
  const closeMs = known.find((timeMs, row) => {
    const stepMs = Math.abs(timeMs - (known[row - 1] ?? Number.NaN));
    if (!(stepMs < apartMs)) close = 0;
    else if (stepMs > 0) close += 1;
    return close === CLOSE_MIN_STEPS;
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
