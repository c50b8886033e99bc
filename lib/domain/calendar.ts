import type { CalendarSource, CalendarState, StatusReason } from "#lib/contract/status";
import { overridden } from "./calendar-override";
import { always, cycle, missing, never, type Stretch, type Timeline } from "./calendar-timeline";
import { weekly } from "./calendar-weekly";

/** More sessions than this in one window are not listed; only cycles of minutes over years come near it. */
const SESSIONS_MAX_COUNT = 100_000;

/** Local wall time "HH:MM" or "HH:MM:SS", "24:00" for the end of a day. */
export type WallTime = string;
/** Local date "YYYY-MM-DD". */
export type LocalDate = string;

/** One open stretch of a local weekday; a session over midnight is two of them that touch at 24:00. */
export interface WeeklySegment {
  /** 0 Sunday … 6 Saturday. */
  readonly day: 0 | 1 | 2 | 3 | 4 | 5 | 6;
  readonly open: WallTime;
  readonly close: WallTime;
}

/** Weekly sessions in an IANA zone with dated exceptions; data that a non-programmer can review. */
export interface WeeklyCalendar {
  readonly kind: "weekly";
  readonly zone: string;
  readonly week: readonly WeeklySegment[];
  /** Local dates without any session. */
  readonly holidays: readonly LocalDate[];
  /** The day ends at this wall time: 18:00 on a day whose evening session starts then means no evening session. */
  readonly earlyCloses: Readonly<Record<LocalDate, WallTime>>;
  /** The day starts at this wall time; after an early close of the same day it leaves a hole between them. */
  readonly lateOpens: Readonly<Record<LocalDate, WallTime>>;
  /** Last local date the dated exceptions are known for; past it the state is unknown. */
  readonly coveredUntil: LocalDate;
}

/** A calendar as it is stored and edited. */
export type CalendarDefinition =
  | WeeklyCalendar
  | { readonly kind: "always" }
  | { readonly kind: "never" }
  /**
   * Open for `openS` from `anchorS` (Unix seconds), closed for `closedS`, and so on; closed before the anchor.
   * With `closedS` 0 it opens once, at the anchor, and stays open.
   */
  | { readonly kind: "cycle"; readonly anchorS: number; readonly openS: number; readonly closedS: number };

/**
 * An operator's word that beats holidays and rules from `fromMs` until `untilMs` (null: until lifted).
 * Where several cover an instant, the one that began last counts.
 */
export interface CalendarOverride {
  readonly state: "open" | "closed";
  readonly fromMs: number;
  readonly untilMs: number | null;
}

/** What a calendar says of one instant. Instants are Unix milliseconds. */
export interface SessionAnswer {
  readonly state: CalendarState;
  /** Why it is closed or unknown; null while open. */
  readonly reason: StatusReason | null;
  readonly source: CalendarSource;
  /** Start of the running session; null when not open, or open since ever. */
  readonly openedAt: number | null;
  /** Start of the running closure; null when not closed, or closed since ever. */
  readonly closedAt: number | null;
  /** Strictly later than the instant; null when unknown or never. */
  readonly nextOpen: number | null;
  /** Strictly later than the instant; null when unknown or never. */
  readonly nextClose: number | null;
}

/** A calendar ready to be asked. */
export interface Calendar {
  /** Open at the instant of the open, closed at the instant of the close. */
  sessionAt(atMs: number): SessionAnswer;
  /**
   * The open stretches that touch [fromMs, toMs), ascending, adjacent ones merged, cut to the window;
   * null when part of the window is past the covered day, when there is no calendar, or for more than 100,000 sessions.
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

/** The instant a state that holds at `stretch` ends, adjacent stretches of the same state taken together. */
function endOf(line: Timeline, stretch: Stretch): number {
  let { untilMs } = stretch;
  while (untilMs !== Number.POSITIVE_INFINITY) {
    const next = line.at(untilMs);
    if (next.state !== stretch.state) break;
    untilMs = next.untilMs;
  }
  return untilMs;
}

function startOf(line: Timeline, stretch: Stretch): number | null {
  let { fromMs } = stretch;
  while (fromMs !== Number.NEGATIVE_INFINITY) {
    const previous = line.at(fromMs - 1);
    if (previous.state !== stretch.state) return fromMs;
    fromMs = previous.fromMs;
  }
  return null;
}

/** When the next two changes come; null for what is not known or never comes. An unknown stretch hides all behind it. */
function changesAfter(line: Timeline, now: Stretch): Pick<SessionAnswer, "nextOpen" | "nextClose"> {
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
 * Makes a calendar ready to be asked; weekly ones are worked out a year at a time, as years are asked about.
 * Without a definition all is unknown but what overrides say.
 * @throws RangeError for a zone the runtime does not know.
 */
export function compileCalendar(definition: CalendarDefinition | undefined, overrides: readonly CalendarOverride[]): Calendar {
  const line = overridden(timelineOf(definition), overrides);
  return {
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
