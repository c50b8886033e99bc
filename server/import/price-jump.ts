import type { Kline } from "#lib/domain/kline";
import { TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import { DAY_S } from "#lib/units";

/** How far apart the close of a kline and the open of the next may be, as a factor: more than any weekend. */
const JUMP_FACTOR = 1.1;
/** Klines further apart than a long weekend do not follow each other. */
const FOLLOWING_MAX_S = 5 * DAY_S;
/** Klines at the other price before a jump is none of a single wrong quote. */
const LASTING_MIN_KLINES = 20;

/** A jump of prices: open time of the first kline after it (Unix seconds), and the prices before and after. */
interface Jump {
  readonly time: number;
  readonly from: number;
  readonly to: number;
}

/** Looks for lasting jumps in klines of one series, part by part. Parts that go back in time begin anew. */
export interface JumpTracker {
  /** The first lasting jump in the next part; null when there is none. A part with a jump is not followed. */
  take(klines: readonly Kline[]): Jump | null;
}

const areApart = (a: number, b: number) => Math.max(a / b, b / a) > JUMP_FACTOR;

/** Where a part ended: its last kline, and a jump that is not known to last. */
interface Tail {
  readonly last: Kline | undefined;
  readonly jump: Jump | null;
  /** Klines since the jump. */
  readonly count: number;
}

export function createJumpTracker(): JumpTracker {
  let tail: Tail = { last: undefined, jump: null, count: 0 };
  return {
    take(klines) {
      const rows = klines.toSorted((a, b) => a.time - b.time);
      const [first] = rows;
      const goesOn = first !== undefined && tail.last !== undefined && tail.last.time < first.time;
      let { last, jump, count } = goesOn ? tail : { last: undefined, jump: null as Jump | null, count: 0 };
      for (const row of rows) {
        const follows = last !== undefined && row.time - last.time <= FOLLOWING_MAX_S + TIMEFRAME_SECONDS[row.timeframe];
        if (!follows) jump = null;
        else if (jump !== null) {
          count += 1;
          if (!areApart(row.close, jump.from)) jump = null;
        } else if (last !== undefined && areApart(row.open, last.close)) {
          jump = { time: row.time, from: last.close, to: row.open };
          count = 1;
        }
        if (jump !== null && count >= LASTING_MIN_KLINES) return jump;
        last = row;
      }
      tail = { last, jump, count };
      return null;
    },
  };
}
