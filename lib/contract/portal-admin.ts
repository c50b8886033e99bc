import { z } from "zod";
import { CalendarDefinitionSchema } from "./calendar";
import { InstantField } from "./portal";
import type { Venue } from "./primitives";
import type { CalendarState, StatusReason } from "./status";

/** What operators send and are answered. Instants are ISO 8601 unless a name ends in _ms. Units are the last word of a name. */

export const PLAN_NAME_MAX_CHARACTERS = 40;
/** Plans of an installation. */
export const PLANS_MAX_COUNT = 100;
/** More than any installation serves, and still exact in every sum. */
const LIMIT_MAX = 1_000_000_000;
/** Overrides of one calendar that have not ended. */
export const OVERRIDES_MAX_COUNT = 50;
export const OVERRIDE_NOTE_MAX_CHARACTERS = 200;
/** What a preview looks ahead. */
export const PREVIEW_DAYS = 14;
/** Sessions of a preview; a calendar that opens more often, every hour or so, is cut after these. */
export const PREVIEW_SESSIONS_MAX_COUNT = 300;
/** What is told of gaps: of the last so many hours, from this length on, the newest of them. */
export const FEED_GAPS_HOURS = 24;
export const FEED_GAP_MIN_S = 120;
export const FEED_GAPS_MAX_COUNT = 50;
/** Backfills that are told of, and those that are remembered at all. */
export const BACKFILLS_LISTED_COUNT = 20;
export const BACKFILLS_MAX_COUNT = 100;
/** A backfill that runs and has said nothing for so long is taken for lost. */
export const BACKFILL_SILENT_S = 120;

const Limit = z
  .int("Must be a whole number.")
  .min(1, "At least 1.")
  .max(LIMIT_MAX, `At most ${LIMIT_MAX.toLocaleString("en-US")}.`);

/** Name of a plan. */
export const PlanName = z
  .string()
  .regex(
    new RegExp(`^[a-z][a-z0-9-]{0,${PLAN_NAME_MAX_CHARACTERS - 1}}$`),
    `Lower-case letters, digits and dashes, starting with a letter, at most ${PLAN_NAME_MAX_CHARACTERS}.`,
  );

/** A plan's limits as an operator edits them. */
export const PlanForm = z.strictObject({
  rest_per_minute: Limit,
  rest_burst: Limit,
  stream_connections: Limit,
  subscriptions_per_connection: Limit,
});
export type PlanForm = z.infer<typeof PlanForm>;

/** A plan as an operator sees it. */
export interface AdminPlan extends PlanForm {
  readonly name: string;
  /** Accounts on it. */
  readonly accounts: number;
}

/**
 * Opens or closes a calendar by hand, from now unless a start is given (one that has passed counts from then), until it is
 * lifted unless an end is given. Where several overlap, the one that starts last counts.
 */
export const OverrideForm = z
  .strictObject({
    state: z.enum(["open", "closed"]),
    starts_at: InstantField.nullable(),
    ends_at: InstantField.nullable(),
    note: z.string().trim().max(OVERRIDE_NOTE_MAX_CHARACTERS, `At most ${OVERRIDE_NOTE_MAX_CHARACTERS} characters.`),
  })
  .refine(({ starts_at, ends_at }) => starts_at === null || ends_at === null || Date.parse(starts_at) < Date.parse(ends_at), {
    message: "Must be later than the start.",
    path: ["ends_at"],
  });
export type OverrideForm = z.infer<typeof OverrideForm>;

export const DefinitionForm = z.strictObject({ definition: CalendarDefinitionSchema });

/** An operator's word about a calendar. */
export interface AdminOverride {
  readonly id: string;
  readonly state: "open" | "closed";
  readonly starts_at: string;
  /** Null: until it is lifted. */
  readonly ends_at: string | null;
  readonly note: string;
}

/** A calendar as an operator sees it. */
export interface AdminCalendar {
  readonly name: string;
  /** As it was written: its own names, as DefinitionForm takes them. */
  readonly definition: CalendarDefinitionSchema;
  readonly updated_at: string;
  /** Those that have not ended, in the order they were made. */
  readonly overrides: readonly AdminOverride[];
  /** Listed instruments that follow it. */
  readonly listings: number;
}

/** An open stretch. */
export interface PreviewSession {
  readonly opens_at: string;
  readonly closes_at: string;
}

/** What a calendar says of now and of the coming fortnight. */
export interface CalendarPreview {
  readonly now: {
    readonly state: CalendarState;
    readonly reason: StatusReason | null;
    /** Null when unknown or never. */
    readonly next_open_at: string | null;
    readonly next_close_at: string | null;
  };
  /** Ascending, at most PREVIEW_SESSIONS_MAX_COUNT; null where part of the fortnight is past the last day that is covered. */
  readonly sessions: readonly PreviewSession[] | null;
  /** True where more sessions follow in the fortnight than are told. */
  readonly sessions_cut: boolean;
}

/** A stretch in which some market of a venue was open and no tick of any instrument came. */
export interface FeedGap {
  readonly starts_at: string;
  /** Null while it lasts in an open market. */
  readonly ends_at: string | null;
  /** Open time in it. */
  readonly length_s: number;
}

/** The gaps of a feed, to the minute. */
export interface FeedGaps {
  /** What is known begins here: FEED_GAPS_HOURS ago, or when the venue was first filled. */
  readonly since: string;
  /** The last minute that has passed, by the time that the venue has reached. */
  readonly until: string;
  /** Shorter ones are none. */
  readonly threshold_s: number;
  readonly count: number;
  readonly total_s: number;
  /** The newest first, at most FEED_GAPS_MAX_COUNT. */
  readonly items: readonly FeedGap[];
}

/** How a process brought stored or computed history into memory, at its start or after an import. */
export interface HistoryFill {
  /** Tickers that had history and are in memory, of all that are listed. */
  readonly restored: number;
  readonly tickers: number;
  readonly started_at: string;
  /** Null while it runs. */
  readonly ended_at: string | null;
}

/** One venue's feed as the process that answered sees it. */
export interface FeedReport {
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
  /** Null where no feed is bound. */
  readonly gaps: FeedGaps | null;
  readonly history: HistoryFill;
}

export const BACKFILL_STATES = ["running", "done", "failed", "interrupted", "lost"] as const;
/** `lost`: it said it runs, but has been silent for BACKFILL_SILENT_S. */
export type BackfillState = (typeof BACKFILL_STATES)[number];

/** One run of an import, as it told of itself. */
export interface BackfillReport {
  readonly id: string;
  readonly venue: Venue;
  readonly state: BackfillState;
  /** Files it was given, those it is through with, and of these the ones that could not be imported to their end. */
  readonly files: number;
  readonly files_done: number;
  readonly files_failed: number;
  /** The file it is at or was at last, and what it does with it; empty before the first. */
  readonly file: string;
  readonly step: string;
  /** Part of all its work that is done, 0 to 1. */
  readonly share: number;
  /** Rows read, and how many a second; null before the first. */
  readonly rows: number;
  readonly rows_per_s: number | null;
  /** The last thing that went wrong, null when nothing did. */
  readonly problem: string | null;
  readonly started_at: string;
  readonly updated_at: string;
}

/** How the feeds are and how far backfills have come. A rate of ticks is the difference of two reports of one process. */
export interface FeedsReport {
  /** Names the run of the process whose counters these are: those of another say nothing about a rate. */
  readonly process: string;
  readonly at_ms: number;
  readonly feeds: readonly FeedReport[];
  /** The latest, newest first, at most BACKFILLS_LISTED_COUNT. */
  readonly backfills: readonly BackfillReport[];
}
