import type { SessionAnswer } from "#lib/domain/calendar";
import type { Kline } from "#lib/domain/kline";
import { TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import { SECOND_MS } from "#lib/units";
import { countText, minuteText } from "#server/cli/words";
import { Unsure } from "./failure";

type CalendarHours = {
  sessionAt(atMs: number): Pick<SessionAnswer, "state" | "nextOpen" | "nextClose">;
};

/** Share of the klines of a file that can be in closed hours: with more, they are not what they seem to be. */
const CLOSED_MAX_SHARE = 0.5;

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

/**
 * Stops a file before it is stored when most of its klines are in closed hours.
 * @returns takes the klines that are stored next @throws Unsure when most so far are in closed hours
 */
export function createHoursCheck(calendar: CalendarHours, ticker: string): (klines: readonly Kline[]) => void {
  const closed = createClosedHours(calendar);
  let total = 0;
  return (klines) => {
    closed.add(klines);
    total += klines.length;
    if (closed.first === null || closed.count <= total * CLOSED_MAX_SHARE) return;
    const first = minuteText(closed.first * SECOND_MS);
    throw new Unsure(
      `${countText(closed.count)} of its first ${countText(total)} klines are in hours in which the calendar of ${ticker} is closed, the first at ${first}: ` +
        "set the clock of the file with --tz, or import it with --force if the market was open",
    );
  };
}
