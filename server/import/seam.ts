import type { Timeframe } from "#lib/contract/primitives";
import type { Kline } from "#lib/domain/kline";
import { TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import type { KlineTable } from "#lib/market/kline-store";
import { DAY_S, MINUTE_S } from "#lib/units";
import { type Doubt, rowText } from "./doubt";

/** Klines further apart than a long weekend do not follow each other. */
const FOLLOWING_MAX_S = 5 * DAY_S;
/** Klines that show a level: those of a day, or as many of a longer timeframe. */
const LEVEL_MAX_COUNT = DAY_S / MINUTE_S;
const LEVEL_MIN_COUNT = 20;
/** A jump from one day to the next is at least this much, as a logarithm; less is a usual day. */
const JUMP_MIN = 0.02;
/** A jump is this many times as far as the pair usually moves in that time: markets jump further than chance lets them. */
const JUMP_MOVES = 8;
/** Makes the median of absolute moves a standard deviation. */
const DEVIATION_OF_MEDIAN = 1.4826;

const middleOf = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** Length of the stretch of klines that shows a level, seconds. */
const spanOf = (timeframe: Timeframe) => Math.max(DAY_S, LEVEL_MIN_COUNT * TIMEFRAME_SECONDS[timeframe]);

/** The klines of the first or last day of a stretch, ascending. */
function dayAt(klines: readonly Kline[], end: "first" | "last"): Kline[] {
  const [first, last] = [klines[0], klines.at(-1)];
  if (first === undefined || last === undefined) return [];
  const spanS = spanOf(first.timeframe);
  return klines.filter(({ time }) => (end === "first" ? time < first.time + spanS : time > last.time - spanS));
}

/** How far a pair usually moves in a number of klines. */
function usualMove(klines: readonly Kline[], steps: number): number {
  const moves = klines.slice(1).map(({ close }, index) => Math.abs(Math.log(close / (klines[index] as Kline).close)));
  return DEVIATION_OF_MEDIAN * middleOf(moves) * Math.sqrt(steps);
}

/** A jump between a stored day and one of a file that follow each other; null when there is none. */
function jumpBetween(own: readonly Kline[], stored: readonly Kline[], side: "before" | "after"): Doubt | null {
  const levels = [own, stored].map((day) => middleOf(day.map(({ close }) => close))) as [number, number];
  const jump = Math.abs(Math.log(levels[0] / levels[1]));
  const steps = own.length + stored.length;
  const usual = Math.max(usualMove(own, steps), usualMove(stored, steps));
  if (jump <= Math.max(JUMP_MIN, JUMP_MOVES * usual)) return null;
  const percent = Number((Math.abs(levels[0] / levels[1] - 1) * 100).toPrecision(2));
  const near = (side === "before" ? [stored.at(-1), own[0]] : [own.at(-1), stored[0]]) as [Kline, Kline];
  return {
    reason: `its level jumps by ${percent} % from the day stored ${side} it: ${levels[0]} where ${levels[1]} is usual`,
    rows: near.map(rowText),
  };
}

/** The klines of the first and the last day of a file, and where it begins and ends. */
interface Ends {
  take(klines: readonly Kline[]): void;
  /** Compares both days with those that are stored before and after. */
  judge(ticker: string, store: Pick<KlineTable, "read">): Promise<Doubt[]>;
}

/** Follows the klines of a file, in any order. */
export function createEnds(): Ends {
  let first: Kline[] = [];
  let last: Kline[] = [];
  const byTime = (a: Kline, b: Kline) => a.time - b.time;
  return {
    take(klines) {
      const rows = klines.toSorted(byTime);
      first = dayAt([...first, ...dayAt(rows, "first")].sort(byTime), "first").slice(0, LEVEL_MAX_COUNT);
      last = dayAt([...last, ...dayAt(rows, "last")].sort(byTime), "last").slice(-LEVEL_MAX_COUNT);
    },
    async judge(ticker, store) {
      const [begin, end] = [first[0], last.at(-1)];
      if (begin === undefined || end === undefined) return [];
      const { timeframe } = begin;
      const reach = FOLLOWING_MAX_S + TIMEFRAME_SECONDS[timeframe];
      const series = { ticker, timeframe, limit: LEVEL_MAX_COUNT };
      const far = reach + spanOf(timeframe);
      const before = dayAt(await store.read({ ...series, from: begin.time - far, to: begin.time, end: "newest" }), "last");
      const after = dayAt(await store.read({ ...series, from: end.time + 1, to: end.time + far, end: "oldest" }), "first");
      const found = [
        (before.at(-1)?.time ?? 0) < begin.time - reach ? null : jumpBetween(first, before, "before"),
        (after[0]?.time ?? Number.POSITIVE_INFINITY) > end.time + reach ? null : jumpBetween(last, after, "after"),
      ];
      return found.filter((doubt) => doubt !== null);
    },
  };
}
