import { DAY_S } from "#lib/units";
import type { Venue } from "./primitives";
import type { FeedBucket, HealthBucket } from "./service-status";

/** The status page's history. Times are Unix milliseconds in names that end in _ms, else ISO 8601. */

/** Days of uptime, today included, in UTC. */
export const UPTIME_DAYS = 90;
/** A part that failed for so many minutes had an incident; minutes with less than the second number between them are one. */
export const INCIDENT_MIN_MINUTES = 3;
export const INCIDENT_JOIN_MINUTES = 5;
/** Listed incidents and notes. */
export const INCIDENTS_MAX_COUNT = 50;
/** Stored notes of operators. */
export const INCIDENT_NOTES_MAX_COUNT = 500;
/** Path of the feed of incidents and notes (Atom, RFC 4287). */
export const STATUS_FEED_PATH = "/status.atom";
/** Path of the page on which webhooks about them are added. */
export const WEBHOOKS_PATH = "/dashboard/webhooks";

/** Uptime by day, oldest first; a day without samples has 0 minutes. */
export interface UptimeDays {
  readonly from_ms: number;
  readonly rest: readonly HealthBucket[];
  readonly stream: readonly HealthBucket[];
  readonly feeds: Readonly<Record<Venue, readonly FeedBucket[]>>;
}

/**
 * What failed. `service`: nothing was recorded, because the service did not run. The venues are written out because the status page
 * would load the schema library for their list.
 */
export const INCIDENT_PARTS = ["service", "rest", "stream", "live", "sandbox"] as const satisfies readonly (
  | "service"
  | "rest"
  | "stream"
  | Venue
)[];
export type IncidentPart = (typeof INCIDENT_PARTS)[number];

/** An incident in words. */
export const INCIDENT_TITLES: Readonly<Record<IncidentPart, string>> = {
  service: "Service not running",
  rest: "REST down",
  stream: "Streams down",
  live: "Live prices unavailable",
  sandbox: "Sandbox prices unavailable",
};

export const IMPACTS = ["none", "degraded", "down"] as const;
export type IncidentImpact = (typeof IMPACTS)[number];

/** An incident that the service noticed, or what an operator says about one, or about maintenance that is planned. */
export interface IncidentNote {
  readonly id: string;
  /** Its name in feeds, webhooks and links, the same for as long as it exists. */
  readonly key: string;
  /** What failed, as measured; null for what an operator added. */
  readonly part: IncidentPart | null;
  /** True while the service opens and closes it: until an operator edits it. */
  readonly automatic: boolean;
  readonly title: string;
  readonly text: string;
  readonly impact: IncidentImpact;
  readonly starts_at: string;
  /** Null while it lasts. */
  readonly ends_at: string | null;
  readonly updated_at: string;
}

/** The history of the service, as the status page shows it. */
export interface UptimeReport {
  readonly days: UptimeDays;
  /** Those that last first, then the latest end. */
  readonly notes: readonly IncidentNote[];
}

/** How long samples are kept: all days, and the one that is not over. */
export const HEALTH_RETENTION_S = (UPTIME_DAYS + 1) * DAY_S;
