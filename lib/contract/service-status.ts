import { DAY_S } from "#lib/units";
import type { PreviewSession } from "./portal-admin";
import type { Venue } from "./primitives";
import type { CalendarState, FinalDisplayState, StatusReason } from "./status";

/** Path of the service status, for the status page and for monitors. */
export const SERVICE_STATUS_PATH = "/status.json";
/** Length and resolution of the health history. */
export const HEALTH_HISTORY_S = DAY_S;
export const HEALTH_BUCKET_S = 900;
/** Number of days of calendar sessions, starting before the last midnight in any time zone. */
export const CALENDAR_STRIP_DAYS = 9;
/** For a calendar with more sessions, only their number is given. */
export const CALENDAR_STRIP_MAX_SESSIONS = 200;

/** The state of one instrument. */
export interface InstrumentState {
  readonly ticker: string;
  readonly state: FinalDisplayState;
  readonly reason: StatusReason | null;
}

/** Instruments of one class with the same calendar, and its state. Times are Unix milliseconds, except in sessions. */
export interface CalendarGroup {
  /** Null for instruments without a calendar. */
  readonly calendar: string | null;
  readonly asset_class: string;
  readonly calendar_state: CalendarState;
  readonly reason: StatusReason | null;
  readonly next_open_ms: number | null;
  readonly next_close_ms: number | null;
  /** Sessions around now; null if the calendar does not cover them, empty if there are too many. */
  readonly sessions: readonly PreviewSession[] | null;
  readonly sessions_count: number | null;
  readonly instruments: readonly InstrumentState[];
}

/** One venue: its feed and the state of its instruments. */
export interface VenueStatus {
  readonly venue: Venue;
  /** Slug of the connected provider, null if there is none. */
  readonly provider: string | null;
  /** Unix milliseconds of the newest tick, null before the first. */
  readonly last_tick_ms: number | null;
  /** Age of the newest tick when this was computed. */
  readonly lag_ms: number | null;
  readonly groups: readonly CalendarGroup[];
}

/** One period of the health history of a part: sampled minutes, and how many of them were healthy. */
export interface HealthBucket {
  readonly minutes: number;
  readonly well: number;
}

/** The last 24 hours, oldest first; a period without a sample has 0 minutes. */
export interface HealthHistory {
  readonly from_ms: number;
  readonly bucket_ms: number;
  readonly rest: readonly HealthBucket[];
  readonly stream: readonly HealthBucket[];
  /** `minutes` counts those in which ticks were expected or a sample was taken; `idle` those in which no market was open. */
  readonly feeds: Readonly<Record<Venue, readonly (HealthBucket & { readonly idle: number; readonly lag_ms: number | null })[]>>;
}

/** The response of /status.json. */
export interface ServiceStatus {
  readonly at_ms: number;
  /** The latest self-probe; null before the first, and while the database does not respond. */
  readonly checked: { readonly at_ms: number; readonly rest: boolean; readonly stream: boolean } | null;
  readonly venues: readonly VenueStatus[];
  /** Null while the database does not respond. */
  readonly history: HealthHistory | null;
}
