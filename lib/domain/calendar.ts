import type { CalendarSource, CalendarState, StatusReason } from "#lib/contract/status";
import type { CalendarDefinition, CalendarOverride } from "./calendar-definition";
import { overridden } from "./calendar-override";
import { always, cycle, missing, never, type StateRange, type Timeline } from "./calendar-timeline";
import { weekly } from "./calendar-weekly";

export type {
  CalendarDefinition,
  CalendarOverride,
  LocalDate,
  WallTime,
  WeeklyCalendar,
  WeeklySegment,
} from "./calendar-definition";

/** Maximum number of sessions listed in one window; only cycles of minutes over years come near it. */
const SESSIONS_MAX_COUNT = 100_000;

/** The state of a calendar at an instant. Instants are Unix milliseconds. */
export interface SessionAnswer {
  readonly state: CalendarState;
  /** Why it is closed or unknown; null while open. */
  readonly reason: StatusReason | null;
  readonly source: CalendarSource;
  /** Start of the current session; null when not open, or always open before. */
  readonly openedAt: number | null;
  /** Start of the current closure; null when not closed, or always closed before. */
  readonly closedAt: number | null;
  /** Strictly later than the instant; null when unknown or never. */
  readonly nextOpen: number | null;
  /** Strictly later than the instant; null when unknown or never. */
  readonly nextClose: number | null;
}

/** What a calendar is compiled from: plain data, so that another thread can compile the same one. */
export interface CalendarRules {
  readonly definition: CalendarDefinition | undefined;
  readonly overrides: readonly CalendarOverride[];
}

/** A compiled calendar. */
export interface Calendar {
  readonly rules: CalendarRules;
  /** Open at the instant of the open, closed at the instant of the close. */
  sessionAt(atMs: number): SessionAnswer;
  /**
   * The sessions that overlap [fromMs, toMs), ascending, adjacent ones merged, cut to the window; null when part of the
   * window is past the covered day, when there is no calendar, or when there are more than 100,000 sessions.
   */
  sessionsBetween(fromMs: number, toMs: number): readonly { openMs: number; closeMs: number }[] | null;
}

function timelineOf(definition: CalendarDefinition | undefined): Timeline {
  switch (definition?.kind) {
    case undefined:
      return missing;
    case "always":
      return always;
    case "never":
      return never;
    case "cycle":
      return cycle(definition.anchorS, definition.openS, definition.closedS);
    case "weekly":
      return weekly(definition);
  }
}

/** The instant at which the state of `range` ends; adjacent ranges of the same state count as one. */
function endOf(line: Timeline, range: StateRange): number {
  let { untilMs } = range;
  while (untilMs !== Number.POSITIVE_INFINITY) {
    const next = line.at(untilMs);
    if (next.state !== range.state) break;
    untilMs = next.untilMs;
  }
  return untilMs;
}

function startOf(line: Timeline, range: StateRange): number | null {
  let { fromMs } = range;
  while (fromMs !== Number.NEGATIVE_INFINITY) {
    const previous = line.at(fromMs - 1);
    if (previous.state !== range.state) return fromMs;
    fromMs = previous.fromMs;
  }
  return null;
}

/** The instants of the next two changes; null when unknown or never. Nothing past an unknown range is known. */
function changesAfter(line: Timeline, now: StateRange): Pick<SessionAnswer, "nextOpen" | "nextClose"> {
  const none = { nextOpen: null, nextClose: null };
  if (now.state === "unknown") return none;
  const first = endOf(line, now);
  if (first === Number.POSITIVE_INFINITY) return none;
  const next = line.at(first);
  if (next.state === "unknown") return none;
  const end = endOf(line, next);
  const second = end !== Number.POSITIVE_INFINITY && line.at(end).state !== "unknown" ? end : null;
  return now.state === "open" ? { nextClose: first, nextOpen: second } : { nextOpen: first, nextClose: second };
}

function sessionsOn(line: Timeline, fromMs: number, toMs: number): ReturnType<Calendar["sessionsBetween"]> {
  const sessions: { openMs: number; closeMs: number }[] = [];
  for (let atMs = fromMs; atMs < toMs; ) {
    const { state, untilMs } = line.at(atMs);
    if (state === "unknown") return null;
    const endMs = Math.min(untilMs, toMs);
    const last = sessions.at(-1);
    if (state === "open" && last?.closeMs === atMs) last.closeMs = endMs;
    else if (state === "open") sessions.push({ openMs: atMs, closeMs: endMs });
    if (sessions.length > SESSIONS_MAX_COUNT) return null;
    atMs = endMs;
  }
  return sessions;
}

/**
 * Compiles a calendar; weekly ones are computed a year at a time, on first use.
 * Without a definition, everything outside overrides is unknown.
 * @throws RangeError for a zone the runtime does not know.
 */
export function compileCalendar(definition: CalendarDefinition | undefined, overrides: readonly CalendarOverride[]): Calendar {
  const line = overridden(timelineOf(definition), overrides);
  return {
    rules: { definition, overrides },
    sessionAt(atMs) {
      const now = line.at(atMs);
      return {
        state: now.state,
        ...line.why(atMs),
        openedAt: now.state === "open" ? startOf(line, now) : null,
        closedAt: now.state === "closed" ? startOf(line, now) : null,
        ...changesAfter(line, now),
      };
    },
    sessionsBetween: (fromMs, toMs) => sessionsOn(line, fromMs, toMs),
  };
}
