import type { CalendarDefinitionSchema } from "#lib/contract/calendar";
import type { Venue } from "#lib/contract/primitives";
import type { CalendarState, StatusReason } from "#lib/contract/status";

/** A plan as /admin/plans answers it. */
export interface PlanRow {
  readonly name: string;
  readonly restPerMinute: number;
  readonly restBurst: number;
  readonly streamConnections: number;
  readonly subscriptionsPerConnection: number;
  /** Accounts on it. */
  readonly accounts: number;
}

/** A calendar opened or closed by hand; instants are ISO 8601, `endsAt` is null until it is lifted. */
export interface OverrideRow {
  readonly id: string;
  readonly state: "open" | "closed";
  readonly startsAt: string;
  readonly endsAt: string | null;
  readonly note: string;
}

/** A calendar as /admin/calendars answers it. */
export interface CalendarRow {
  readonly name: string;
  readonly definition: CalendarDefinitionSchema;
  readonly updatedAt: string;
  readonly overrides: readonly OverrideRow[];
  /** Listed instruments that follow it. */
  readonly listings: number;
}

/** An open stretch in Unix milliseconds. */
export interface Session {
  readonly openMs: number;
  readonly closeMs: number;
}

/** What a calendar says of now and of the coming fortnight; `sessions` is null where part of it is not covered. */
export interface Preview {
  readonly now: {
    readonly state: CalendarState;
    readonly reason: StatusReason | null;
    /** Unix milliseconds. */
    readonly nextOpen: number | null;
    readonly nextClose: number | null;
  };
  readonly sessions: readonly Session[] | null;
}

/** One venue's feed as the process that answered sees it. */
export interface FeedRow {
  readonly venue: Venue;
  /** Slug of the bound provider, null where none is. */
  readonly provider: string | null;
  /** What is wrong with the feed, null when it is well. */
  readonly problem: string | null;
  /** Ticker of the newest tick, null before the first. */
  readonly newest_ticker: string | null;
  /** Its age in milliseconds by the clock of the service. */
  readonly lag_ms: number | null;
  /** Listed tickers, and how many of them have a fresh quote, an old one, none at all. */
  readonly tickers: number;
  readonly live: number;
  readonly stale: number;
  readonly missing: number;
  /** Ticks since the process started: taken, and refused for whatever reason. */
  readonly taken: number;
  readonly refused: number;
}

/** Progress of an import of one file. */
export interface ImportRow {
  readonly id: string;
  readonly venue: string;
  readonly ticker: string;
  readonly file: string;
  readonly rows: number;
  readonly done: boolean;
  readonly updated_at: string;
}

/** What /admin/feeds answers. */
export interface FeedsAnswer {
  /** Names the run of the process whose counters these are: those of another say nothing about a rate. */
  readonly process: string;
  /** Unix milliseconds. */
  readonly at_ms: number;
  readonly feeds: readonly FeedRow[];
  /** The latest imports, newest first. */
  readonly imports: readonly ImportRow[];
}
