import type { CalendarSource, CalendarState, StatusReason } from "#lib/contract/status";
import { DAY_MS, SECOND_MS } from "#lib/units";

const SINCE_EVER = Number.NEGATIVE_INFINITY;
const FOR_EVER = Number.POSITIVE_INFINITY;

/** A range of time in one state: fromMs <= t < untilMs, Unix milliseconds, infinite where it has no end. */
export interface StateRange {
  readonly state: CalendarState;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Why a calendar is in its state, and which layer decided it. */
export interface Verdict {
  readonly reason: StatusReason | null;
  readonly source: CalendarSource;
}

/** All of time as ranges without gaps. Calendars are built from timelines. */
export interface Timeline {
  /** The range around an instant. Adjacent ranges may have the same state. */
  at(atMs: number): StateRange;
  why(atMs: number): Verdict;
}

export const OPEN_BY_RULES: Verdict = { reason: null, source: "session_rules" };

/** Why a market is closed without a dated exception: a closure shorter than a day is a daily break, any other a weekend. */
export function restOf(fromMs: number, untilMs: number): Verdict {
  return { reason: untilMs - fromMs < DAY_MS ? "daily_break" : "weekend", source: "session_rules" };
}

function endless(state: CalendarState, verdict: Verdict): Timeline {
  const range = { state, fromMs: SINCE_EVER, untilMs: FOR_EVER };
  return { at: () => range, why: () => verdict };
}

/** Open at any instant. */
export const always: Timeline = endless("open", OPEN_BY_RULES);

/** Closed at any instant: a weekend without end. */
export const never: Timeline = endless("closed", restOf(SINCE_EVER, FOR_EVER));

/** No calendar: nothing is known. */
export const missing: Timeline = endless("unknown", { reason: "calendar_missing", source: "unavailable" });

/**
 * Alternately open and closed from an anchor on, closed before it; all in seconds, `openS` at least one. Computed directly, at any
 * distance.
 */
export function cycle(anchorS: number, openS: number, closedS: number): Timeline {
  const anchorMs = anchorS * SECOND_MS;
  const openMs = openS * SECOND_MS;
  const periodMs = openMs + closedS * SECOND_MS;

  function at(atMs: number): StateRange {
    if (atMs < anchorMs) return { state: "closed", fromMs: SINCE_EVER, untilMs: anchorMs };
    if (closedS <= 0) return { state: "open", fromMs: anchorMs, untilMs: FOR_EVER };
    const startMs = anchorMs + Math.floor((atMs - anchorMs) / periodMs) * periodMs;
    return atMs < startMs + openMs
      ? { state: "open", fromMs: startMs, untilMs: startMs + openMs }
      : { state: "closed", fromMs: startMs + openMs, untilMs: startMs + periodMs };
  }

  return {
    at,
    why(atMs) {
      const { state, fromMs, untilMs } = at(atMs);
      return state === "open" ? OPEN_BY_RULES : restOf(fromMs, untilMs);
    },
  };
}
