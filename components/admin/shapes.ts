import type { CalendarDefinitionSchema } from "#lib/contract/calendar";
import type { FeedReport } from "#lib/contract/portal";
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
  readonly feeds: readonly FeedReport[];
  /** The latest imports, newest first. */
  readonly imports: readonly ImportRow[];
}
