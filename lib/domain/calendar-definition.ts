/** Local wall time "HH:MM" or "HH:MM:SS", "24:00" for the end of a day. */
export type WallTime = string;
/** Local date "YYYY-MM-DD". */
export type LocalDate = string;

/** An open range of a local weekday; a session over midnight is two segments that touch at 24:00. */
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
  /** The day starts at this wall time; after an early close on the same day, the market is closed in between. */
  readonly lateOpens: Readonly<Record<LocalDate, WallTime>>;
  /** Names of the exceptions by date, for operators; they do not decide anything. */
  readonly names?: Readonly<Record<LocalDate, string>> | undefined;
  /** Last local date the dated exceptions are known for; past it the state is unknown. */
  readonly coveredUntil: LocalDate;
}

/** A calendar as it is stored and edited. */
export type CalendarDefinition =
  | WeeklyCalendar
  | { readonly kind: "always" }
  | { readonly kind: "never" }
  /**
   * Open for `openS`, at least 1, from `anchorS` (Unix seconds), closed for `closedS`, and so on; closed before the anchor.
   * With `closedS` 0 it opens once, at the anchor, and stays open.
   */
  | { readonly kind: "cycle"; readonly anchorS: number; readonly openS: number; readonly closedS: number };

/**
 * A state set by an operator that overrides holidays and rules from `fromMs` until `untilMs` (null: until lifted).
 * When several cover an instant, the one that started last applies.
 */
export interface CalendarOverride {
  readonly state: "open" | "closed";
  readonly fromMs: number;
  readonly untilMs: number | null;
}
