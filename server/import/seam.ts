import type { Timeframe } from "#lib/contract/primitives";
import { ascending, columnsOf, emptyColumns, joinColumns, type KlineColumns, rowFrom, rowsBetween } from "#lib/domain/columns";
import { TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import type { Series } from "#lib/history/layers";
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

/** The klines of the first or last day of a stretch, both ascending, at most LEVEL_MAX_COUNT. */
function dayAt(klines: KlineColumns, timeframe: Timeframe, end: "first" | "last"): KlineColumns {
  const { time } = klines;
  const [first = 0, last = 0] = [time[0], time.at(-1)];
  const spanS = spanOf(timeframe);
  if (end === "first") return rowsBetween(klines, 0, Math.min(rowFrom(time, first + spanS), LEVEL_MAX_COUNT));
  return rowsBetween(klines, Math.max(rowFrom(time, last - spanS + 1), time.length - LEVEL_MAX_COUNT), time.length);
}

/** How far a pair usually moves in a number of klines. */
function usualMove({ close }: KlineColumns, steps: number): number {
  const moves = [...close.subarray(1)].map((price, row) => Math.abs(Math.log(price / (close[row] as number))));
  return DEVIATION_OF_MEDIAN * middleOf(moves) * Math.sqrt(steps);
}

/** A jump between a stored day and one of a file that follow each other; null when there is none. */
function jumpBetween(own: KlineColumns, stored: KlineColumns, side: "before" | "after"): Doubt | null {
  const levels = [own, stored].map(({ close }) => middleOf([...close])) as [number, number];
  const jump = Math.abs(Math.log(levels[0] / levels[1]));
  const steps = own.time.length + stored.time.length;
  const usual = Math.max(usualMove(own, steps), usualMove(stored, steps));
  if (jump <= Math.max(JUMP_MIN, JUMP_MOVES * usual)) return null;
  const percent = Number((Math.abs(levels[0] / levels[1] - 1) * 100).toPrecision(2));
  const [earlier, later] = side === "before" ? [stored, own] : [own, stored];
  return {
    reason: `its level jumps by ${percent} % from the day stored ${side} it: ${levels[0]} where ${levels[1]} is usual`,
    rows: [rowText(earlier, earlier.time.length - 1), rowText(later, 0)],
  };
}

/** The klines of the first and the last day of a file, and where it begins and ends. */
interface Ends {
  take(klines: KlineColumns): void;
  /** Compares both days with those that are stored before and after. */
  judge(store: Pick<KlineTable, "read">): Promise<Doubt[]>;
}

/** Follows the klines of a file, in any order. */
export function createEnds({ ticker, timeframe }: Series): Ends {
  let first = emptyColumns(0);
  let last = emptyColumns(0);
  const dayOf = (klines: KlineColumns, end: "first" | "last") => dayAt(ascending(klines), timeframe, end);
  return {
    take(klines) {
      first = dayOf(joinColumns([first, dayOf(klines, "first")]), "first");
      last = dayOf(joinColumns([last, dayOf(klines, "last")]), "last");
    },
    async judge(store) {
      const [begin, end] = [first.time[0], last.time.at(-1)];
      if (begin === undefined || end === undefined) return [];
      const reach = FOLLOWING_MAX_S + TIMEFRAME_SECONDS[timeframe];
      const series = { ticker, timeframe, limit: LEVEL_MAX_COUNT };
      const far = reach + spanOf(timeframe);
      const [before, after] = [
        columnsOf(await store.read({ ...series, from: begin - far, to: begin, end: "newest" })),
        columnsOf(await store.read({ ...series, from: end + 1, to: end + far, end: "oldest" })),
      ];
      const found = [
        (before.time.at(-1) ?? 0) < begin - reach ? null : jumpBetween(first, dayOf(before, "last"), "before"),
        (after.time[0] ?? Number.POSITIVE_INFINITY) > end + reach ? null : jumpBetween(last, dayOf(after, "first"), "after"),
      ];
      return found.filter((doubt) => doubt !== null);
    },
  };
}
