import type { Timeframe } from "#lib/contract/primitives";
import type { SessionAnswer } from "#lib/domain/calendar";
import type { KlineColumns } from "#lib/domain/columns";
import { TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import { SECOND_MS } from "#lib/units";
import { DOUBT_ROWS_COUNT, rowText } from "./doubt";

export type CalendarHours = {
  sessionAt(atMs: number): Pick<SessionAnswer, "state" | "nextOpen" | "nextClose">;
};

/** Klines of hours in which the calendar of the instrument is closed. */
export interface ClosedHours {
  readonly count: number;
  /** Open time of the first, Unix seconds; null before there is one. */
  readonly first: number | null;
  /** The first ones, as lines of a report. */
  readonly examples: readonly string[];
  add(klines: KlineColumns): void;
}

/** Counts klines in closed hours. The state is asked once for a session, because rows come in order. */
export function createClosedHours(calendar: CalendarHours, timeframe: Timeframe): ClosedHours {
  const lengthMs = TIMEFRAME_SECONDS[timeframe] * SECOND_MS;
  let count = 0;
  let first: number | null = null;
  const examples: string[] = [];
  let session = { fromMs: 0, untilMs: 0, closed: false };
  /** Whether the market is closed for the whole of a kline. */
  function isClosed(atMs: number): boolean {
    if (atMs < session.fromMs || atMs >= session.untilMs) {
      const { state, nextOpen, nextClose } = calendar.sessionAt(atMs);
      const untilMs = (state === "open" ? nextClose : nextOpen) ?? atMs + lengthMs;
      session = { fromMs: atMs, untilMs, closed: state === "closed" };
    }
    return session.closed && atMs + lengthMs <= session.untilMs;
  }
  return {
    get count() {
      return count;
    },
    get first() {
      return first;
    },
    examples,
    add(klines) {
      for (let row = 0; row < klines.time.length; row += 1) {
        const time = klines.time[row] as number;
        if (!isClosed(time * SECOND_MS)) continue;
        if (examples.length < DOUBT_ROWS_COUNT) examples.push(rowText(klines, row));
        count += 1;
        first = Math.min(first ?? time, time);
      }
    },
  };
}
