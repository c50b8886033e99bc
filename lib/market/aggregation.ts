import type { Timeframe } from "#lib/contract/primitives";
import { type Kline, mergeKlines } from "#lib/domain/kline";
import type { TradingAlignment } from "#lib/domain/timeframe";

/** The timeframe that each timeframe aggregates. MN1 aggregates D1, because a week can span two months. */
const MADE_OF: readonly (readonly [timeframe: Timeframe, of: Timeframe])[] = [
  ["M5", "M1"],
  ["M15", "M5"],
  ["M30", "M15"],
  ["H1", "M30"],
  ["H4", "H1"],
  ["D1", "H4"],
  ["W1", "D1"],
  ["MN1", "D1"],
];

/** Takes rows in ascending order. */
interface Level {
  push(row: Kline): void;
  finish(): void;
}

/** Aggregates rows into klines of one longer timeframe and emits each when the next begins. */
function createLevel(timeframe: Timeframe, alignment: TradingAlignment, emit: (kline: Kline) => void): Level {
  let current: Kline | undefined;
  let endS = Number.NEGATIVE_INFINITY;
  return {
    push(row) {
      if (current !== undefined && row.time < endS) {
        current = mergeKlines(current, row);
        return;
      }
      if (current !== undefined) emit(current);
      endS = alignment.nextOpenTime(timeframe, row.time);
      current = { ...row, timeframe, time: alignment.openTime(timeframe, row.time) };
    },
    finish() {
      if (current !== undefined) emit(current);
      current = undefined;
    },
  };
}

/** Aggregates M1 rows into M5 to MN1 in one pass. Calls `emit` with each kline when it is complete. */
export function createAggregation(alignment: TradingAlignment, emit: (kline: Kline) => void): Level {
  const levels = new Map<Timeframe, Level>();
  for (const [timeframe] of MADE_OF.toReversed()) {
    const fed = MADE_OF.filter(([, of]) => of === timeframe).map(([next]) => levels.get(next));
    levels.set(
      timeframe,
      createLevel(timeframe, alignment, (kline) => {
        emit(kline);
        for (const level of fed) level?.push(kline);
      }),
    );
  }
  return {
    push: (row) => levels.get("M5")?.push(row),
    // From the shortest to the longest: finishing one level pushes its last kline to the next.
    finish: () => {
      for (const [timeframe] of MADE_OF) levels.get(timeframe)?.finish();
    },
  };
}
