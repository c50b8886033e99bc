import { DAY_S } from "#lib/units";
import type { PreviewSession } from "./portal-admin";
import type { Venue } from "./primitives";
import type { CalendarState, FinalDisplayState, StatusReason } from "./status";

/** Where the state of the service is told, for the status page and for monitors. */
export const SERVICE_STATUS_PATH = "/status.json";
/** What the history shows, and how fine. */
export const HEALTH_HISTORY_S = DAY_S;
export const HEALTH_BUCKET_S = 900;
/** Samples are kept so long. */
export const HEALTH_RETENTION_S = 172_800;
/** Of how many days a calendar's sessions are told, from the midnight before now in any time zone. */
export const CALENDAR_STRIP_DAYS = 9;
/** A calendar with more sessions is told by their number alone. */
export const CALENDAR_STRIP_MAX_SESSIONS = 200;

/** One instrument in the fewest words. */
export interface InstrumentState {
  readonly ticker: string;
  readonly state: FinalDisplayState;
  readonly reason: StatusReason | null;
}

/** Instruments of one class that follow one calendar, and what it says. Instants are Unix milliseconds but for sessions. */
export interface CalendarGroup {
  /** Null for instruments without a calendar. */
  readonly calendar: string | null;
  readonly asset_class: string;
  readonly calendar_state: CalendarState;
  readonly reason: StatusReason | null;
  readonly next_open_ms: number | null;
  readonly next_close_ms: number | null;
  /** Open stretches around now; null where the calendar does not cover them, empty where there are too many. */
  readonly sessions: readonly PreviewSession[] | null;
  readonly sessions_count: number | null;
  readonly instruments: readonly InstrumentState[];
}

/** One venue: what feeds it, and the state of everything it lists. */
export interface VenueStatus {
  readonly venue: Venue;
  /** Slug of the bound provider, null where none is. */
  readonly provider: string | null;
  /** Unix milliseconds of the newest tick, null before the first. */
  readonly last_tick_ms: number | null;
  /** Its age when this was told. */
  readonly lag_ms: number | null;
  readonly groups: readonly CalendarGroup[];
}

/** A stretch of the history of one part: minutes that were sampled, and how many of those were well. */
export interface HealthBucket {
  readonly minutes: number;
  readonly well: number;
}

/** The last 24 hours, oldest first; a stretch without a sample has 0 minutes. */
export interface HealthHistory {
  readonly from_ms: number;
  readonly bucket_ms: number;
  readonly rest: readonly HealthBucket[];
  readonly stream: readonly HealthBucket[];
  /** `minutes` counts those in which ticks were expected or a sample was taken; `idle` those in which no market was open. */
  readonly feeds: Readonly<Record<Venue, readonly (HealthBucket & { readonly idle: number; readonly lag_ms: number | null })[]>>;
}

/** What /status.json answers. */
export interface ServiceStatus {
  readonly at_ms: number;
  /** The latest sample the service took of itself; null before the first, and where the database does not answer. */
  readonly checked: { readonly at_ms: number; readonly rest: boolean; readonly stream: boolean } | null;
  readonly venues: readonly VenueStatus[];
  /** Null where the database does not answer. */
  readonly history: HealthHistory | null;
}
