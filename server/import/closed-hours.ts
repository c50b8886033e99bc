import type { SessionAnswer } from "#lib/domain/calendar";
import type { Kline } from "#lib/domain/kline";
import { TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import { SECOND_MS } from "#lib/units";

type CalendarHours = {
  sessionAt(atMs: number): Pick<SessionAnswer, "state" | "nextOpen" | "nextClose">;
};

/** Klines of hours in which the calendar of the instrument is closed. */
export interface ClosedHours {
  readonly count: number;
  /** Open time of the first, Unix seconds; null before there is one. */
  readonly first: number | null;
  add(klines: readonly Kline[]): void;
}

/** Counts klines in closed hours. The state is asked once for a session, because rows come in order. */
export function createClosedHours(calendar: CalendarHours): ClosedHours {
  let count = 0;
  let first: number | null = null;
  let session = { fromMs: 0, untilMs: 0, closed: false };
  /** Whether the market is closed for the whole of a kline. */
  function isClosed(atMs: number, lengthMs: number): boolean {
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
    add(klines) {
      for (const { time, timeframe } of klines) {
        if (!isClosed(time * SECOND_MS, TIMEFRAME_SECONDS[timeframe] * SECOND_MS)) continue;
        count += 1;
        first = Math.min(first ?? time, time);
      }
    },
  };
}
