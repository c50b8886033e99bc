import { DAY_S } from "#lib/units";
import { DISPLAY_CLASS, type FinalDisplayState } from "./display-class";
import type { PreviewSession } from "./portal-admin";
import type { Venue } from "./primitives";
import type { CalendarState, StatusReason } from "./status";

/** Path of the service status, for the status page and for monitors. */
export const SERVICE_STATUS_PATH = "/status.json";
/** Length and resolution of the health history. */
export const HEALTH_HISTORY_S = DAY_S;
export const HEALTH_BUCKET_S = 900;
/** Number of days of calendar sessions, starting before the last midnight in any time zone. */
export const CALENDAR_STRIP_DAYS = 9;
/** For a calendar with more sessions, only their number is given. */
export const CALENDAR_STRIP_MAX_SESSIONS = 200;

/** The class of each state, as of the badges; without a provider an instrument has no state of its own. */
export const STATE_CLASS = { ...DISPLAY_CLASS, not_bound: "neutral" } as const satisfies Record<
  FinalDisplayState | "not_bound",
  unknown
>;

/** The state of one instrument. */
export interface InstrumentState {
  readonly ticker: string;
  /** `not_bound`: the venue has no provider, so only its market hours are known. */
  readonly state: keyof typeof STATE_CLASS;
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

/**
 * The state of a feed in a minute. `no_data`: nothing it offers can be judged, because no calendar is known or it offers nothing. `closed`
 * and `not_bound` expect no prices. The better one is first.
 */
export const FEED_STATES = ["operational", "degraded", "down", "closed", "no_data", "not_bound"] as const;
export type FeedState = (typeof FEED_STATES)[number];

/** Why a check has nothing to judge: it is neither well nor wrong, and no success. */
export const IDLE_REASONS = ["not_configured", "not_bound", "closed", "no_data"] as const;
export type IdleReason = (typeof IDLE_REASONS)[number];

/** One period of the health history of a part: sampled minutes, and how many of them were healthy. */
export interface HealthBucket {
  readonly minutes: number;
  readonly well: number;
}

/** The same of a feed. A minute without data is in no number. */
export interface FeedBucket extends HealthBucket {
  /** Minutes in which no prices were expected: no market was open, or there was no provider. */
  readonly idle: number;
  /** Those of them without a provider. */
  readonly not_bound: number;
  /** Minutes in which the feed was down; in the others that are neither healthy nor idle, some prices were late. */
  readonly down: number;
}

/** The last 24 hours, oldest first; a period without a sample has 0 minutes. */
export interface HealthHistory {
  readonly from_ms: number;
  readonly bucket_ms: number;
  readonly rest: readonly HealthBucket[];
  readonly stream: readonly HealthBucket[];
  readonly feeds: Readonly<Record<Venue, readonly (FeedBucket & { readonly lag_ms: number | null })[]>>;
}

/** The response of /status.json. */
export interface ServiceStatus {
  readonly at_ms: number;
  /** The latest self-probe; null before the first, and while the database does not respond. */
  readonly checked: { readonly at_ms: number; readonly rest: boolean; readonly stream: boolean } | null;
  readonly venues: readonly VenueStatus[];
  /** Names of the checks of /api/ready that fail on a node, and "nodes" while one is silent. */
  readonly failing: readonly string[];
  /** How many incidents and notes there are, and when one changed last (ISO 8601). Null while the database does not respond. */
  readonly incidents: { readonly count: number; readonly updated_at: string | null } | null;
  /** Null while the database does not respond. */
  readonly history: HealthHistory | null;
}
