import type { Timeframe } from "#lib/contract/primitives";
import { ascending, type KlineColumns } from "#lib/domain/columns";
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
  take(klines: KlineColumns): Jump | null;
}

const areApart = (a: number, b: number) => Math.max(a / b, b / a) > JUMP_FACTOR;

/** Where a part ended: its last kline, and a jump that is not known to last. */
interface Tail {
  readonly last: { readonly time: number; readonly close: number };
  readonly jump: Jump | null;
  /** Klines since the jump. */
  readonly count: number;
}

export function createJumpTracker(timeframe: Timeframe): JumpTracker {
  const followingMaxS = FOLLOWING_MAX_S + TIMEFRAME_SECONDS[timeframe];
  const nothing = { time: Number.NEGATIVE_INFINITY, close: Number.NaN };
  let tail: Tail = { last: nothing, jump: null, count: 0 };
  return {
    take(klines) {
      const { time, open, close } = ascending(klines);
      const begin = tail.last.time < (time[0] ?? 0) ? tail : { last: nothing, jump: null as Jump | null, count: 0 };
      let { jump, count } = begin;
      let { time: lastTime, close: lastClose } = begin.last;
      for (let row = 0; row < time.length; row += 1) {
        const at = time[row] as number;
        const ownOpen = open[row] as number;
        const ownClose = close[row] as number;
        if (at - lastTime > followingMaxS) jump = null;
        else if (jump !== null) {
          count += 1;
          if (!areApart(ownClose, jump.from)) jump = null;
        } else if (areApart(ownOpen, lastClose)) {
          jump = { time: at, from: lastClose, to: ownOpen };
          count = 1;
        }
        if (jump !== null && count >= LASTING_MIN_KLINES) return jump;
        lastTime = at;
        lastClose = ownClose;
      }
      tail = { last: { time: lastTime, close: lastClose }, jump, count };
      return null;
    },
  };
}
