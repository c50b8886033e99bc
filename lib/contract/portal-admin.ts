import { z } from "zod";
import { CalendarDefinitionSchema } from "./calendar";
import { ASSET_CLASSES } from "./instrument";
import { eachLimitField, HISTORY_DAYS_MAX, PLAN_PRICE_MAX_CHARACTERS, SEARCH_MAX_CHARACTERS } from "./limits";
import { InstantField, PlanLimit } from "./portal";
import type { HeldBackTicks, KeptTicks, PrecedenceReport, UpstreamReport } from "./portal-feeds";
import { PLAIN_TEXT, PLAIN_TEXT_WORDS, Ticker, type Timeframe, type Venue } from "./primitives";
import type { CalendarState, StatusReason } from "./status";

/** Requests and responses of the operator pages. Times are ISO 8601 unless the name ends in _ms. Names end in the unit. */

export const PLAN_NAME_MAX_CHARACTERS = 40;
/** Maximum number of plans. */
export const PLANS_MAX_COUNT = 100;
/** Maximum active and planned overrides of a calendar. */
export const OVERRIDES_MAX_COUNT = 50;
export const OVERRIDE_NOTE_MAX_CHARACTERS = 200;
/** Length of a calendar preview. */
export const PREVIEW_DAYS = 14;
/** Maximum sessions in a preview; a calendar that opens very often is cut after these. */
export const PREVIEW_SESSIONS_MAX_COUNT = 300;
/** Reported feed gaps: within these hours, at least this long, at most this many, newest first. */
export const FEED_GAPS_HOURS = 24;
export const FEED_GAP_MIN_S = 120;
export const FEED_GAPS_MAX_COUNT = 50;
/** Backfills that are listed, and backfills that are stored. */
export const BACKFILLS_LISTED_COUNT = 20;
export const BACKFILLS_MAX_COUNT = 1_000;
/** A running backfill without a report for this long counts as lost. */
export const BACKFILL_SILENT_S = 120;

/**
 * Which accounts to list: those whose name or a member's email contains a text, that have live access, or that wait for an operator, for
 * approval or for live access; a page at a time.
 */
export const AccountsQuery = z.strictObject({
  live: z.literal("true").optional(),
  waiting: z.literal("true").optional(),
  q: z.string().trim().max(SEARCH_MAX_CHARACTERS).optional(),
  before: z.uuid().optional(),
});

/** Maximum tickers in a list of permitted instruments; this many fit into the body of a form. */
export const PERMISSION_TICKERS_MAX_COUNT = 1_000;
/** Which instruments an account can read. */
const PermissionsForm = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("all") }),
  z.strictObject({
    kind: z.literal("asset_classes"),
    values: z.array(z.enum(ASSET_CLASSES)).max(ASSET_CLASSES.length, `takes at most ${ASSET_CLASSES.length} classes.`),
  }),
  z.strictObject({
    kind: z.literal("tickers"),
    values: z.array(Ticker).max(PERMISSION_TICKERS_MAX_COUNT, `takes at most ${PERMISSION_TICKERS_MAX_COUNT} tickers.`),
  }),
]);
/** A domain of email addresses whose owners join an organisation when a provider vouches for them. */
const SignInDomain = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])$/, "Enter a domain, as example.com.");
/** Whole UTC days before today; null for all of the history. */
const HistoryDays = z.int().min(1).max(HISTORY_DAYS_MAX).nullable();

/** Changes to an account by an operator; absent fields stay unchanged. */
export const AccountForm = z.strictObject({
  /** Of the account that was read: another one is refused, because somebody changed it since. */
  revision: z.int().min(1),
  plan: z.string().max(40).optional(),
  permissions: PermissionsForm.optional(),
  suspended: z.boolean().optional(),
  live_access: z.boolean().optional(),
  history_days: HistoryDays.optional(),
  sign_in_domain: SignInDomain.nullable().optional(),
});
/** Instruments that are of one of these classes and among these tickers; null bounds nothing. */
export interface ReadableInstruments {
  readonly asset_classes: readonly string[] | null;
  readonly tickers: readonly string[] | null;
}

/** An account as an operator sees it. */
export interface PortalAccount {
  readonly id: string;
  readonly name: string;
  /** Of the first owner; null for an account that nobody signs in to. */
  readonly email: string | null;
  readonly members: number;
  /** Since when it waits for approval; null for one that does not. */
  readonly waiting_since: string | null;
  readonly sign_in_domain: string | null;
  readonly plan: string;
  /** By a choice of its own; `reads` counts its plan in. */
  readonly permissions: z.infer<typeof PermissionsForm>;
  readonly suspended_at: string | null;
  /** Whether it may use the live venue by a grant of its own, and by its plan. */
  readonly live_access: boolean;
  readonly plan_live_access: boolean;
  /** Since when it asks for live access; null for one that does not, or has it. */
  readonly live_asked_at: string | null;
  /** Days of history by a bound of its own; null is none. */
  readonly history_days: number | null;
  /** What it may read, by its own permissions and bound and by those of its plan together. */
  readonly reads: ReadableInstruments & { readonly history_days: number | null };
  readonly created_at: string;
  /** Keys that are neither revoked nor expired. */
  readonly active_keys: number;
  /** Rises with each change. */
  readonly revision: number;
}

/** What a source of live prices says about passing them on. */
export interface ProviderTerms {
  readonly provider: string;
  readonly terms: string;
  /** Path of its guide. */
  readonly guide: string;
}

/** What an operator has to know who gives others live prices. */
export interface LiveTerms {
  /** Of the sources that are configured. */
  readonly items: readonly ProviderTerms[];
  /** Accounts with live access, by a grant or by their plan. */
  readonly accounts: number;
}

/** Name of a plan. */
export const PlanName = z
  .string()
  .regex(
    new RegExp(`^[a-z][a-z0-9-]{0,${PLAN_NAME_MAX_CHARACTERS - 1}}$`),
    `Use lowercase letters, digits and hyphens, starting with a letter, at most ${PLAN_NAME_MAX_CHARACTERS} characters.`,
  );

/** What a plan includes, as an operator edits it. */
export const PlanForm = z.strictObject({
  ...eachLimitField(() => PlanLimit),
  live_access: z.boolean(),
  /** Units of a UTC month; null for no quota. Calls beyond a hard one are refused, those beyond a soft one only counted. */
  month_units: PlanLimit.nullable(),
  month_hard: z.boolean(),
  history_days: HistoryDays,
  streams: z.boolean(),
  /** An instrument needs the permission of its plan and of its account. */
  permissions: PermissionsForm,
  /** For people; null for none. */
  price: z
    .string()
    .trim()
    .min(1)
    .max(PLAN_PRICE_MAX_CHARACTERS, `Use at most ${PLAN_PRICE_MAX_CHARACTERS} characters.`)
    .regex(PLAIN_TEXT, PLAIN_TEXT_WORDS)
    .nullable(),
  /** It is on the page of plans. */
  public: z.boolean(),
});
export type PlanForm = z.infer<typeof PlanForm>;

/** A plan to be stored. */
export const PlanChangeForm = PlanForm.extend({
  /** The one that was changed, as it was read; null for a new plan. Another one is refused with `conflict`. */
  revision: z.int().min(1).nullable(),
});
export type PlanChangeForm = z.infer<typeof PlanChangeForm>;

/** A plan on the page of plans. */
export interface PublicPlan extends PlanForm {
  readonly name: string;
}

/** A plan as an operator sees it. */
export interface AdminPlan extends PublicPlan {
  /** Rises with each change. */
  readonly revision: number;
  /** Number of accounts on this plan. */
  readonly accounts: number;
}

/**
 * Opens or closes a calendar manually: from now or from the given start, which may be in the past, until the given end or
 * until it is removed. If overrides overlap, the one with the latest start applies.
 */
export const OverrideForm = z
  .strictObject({
    state: z.enum(["open", "closed"]),
    starts_at: InstantField.nullable(),
    ends_at: InstantField.nullable(),
    note: z.string().trim().max(OVERRIDE_NOTE_MAX_CHARACTERS),
  })
  .refine(({ starts_at, ends_at }) => starts_at === null || ends_at === null || Date.parse(starts_at) < Date.parse(ends_at), {
    message: "The end must be later than the start.",
    path: ["ends_at"],
  });
export type OverrideForm = z.infer<typeof OverrideForm>;

export const DefinitionForm = z.strictObject({ definition: CalendarDefinitionSchema });
/** A definition to preview, from a later date on where one is given. */
export const PreviewForm = DefinitionForm.extend({ from: z.iso.date().optional() });

/** A manual override of a calendar. */
export interface AdminOverride {
  readonly id: string;
  readonly state: "open" | "closed";
  readonly starts_at: string;
  /** Null: until it is removed. */
  readonly ends_at: string | null;
  readonly note: string;
}

/** A calendar as an operator sees it. */
export interface AdminCalendar {
  readonly name: string;
  /** The stored definition, in the format of DefinitionForm. */
  readonly definition: CalendarDefinitionSchema;
  readonly updated_at: string;
  /** Overrides that have not ended, in order of creation. */
  readonly overrides: readonly AdminOverride[];
  /** Number of listed instruments that use it. */
  readonly listings: number;
  /** Whether all of them are of the sandbox. */
  readonly sandbox: boolean;
}

/** A trading session that is open in a period, with its own ends, which may be outside of it. */
export interface PreviewSession {
  /** Null where it was always open before. */
  readonly opens_at: string | null;
  /** Null where it never closes, or where the calendar does not say. */
  readonly closes_at: string | null;
}

/** The state of a calendar now and its sessions in the next PREVIEW_DAYS days. */
export interface CalendarPreview {
  readonly now: {
    readonly state: CalendarState;
    readonly reason: StatusReason | null;
    /** Null if unknown or never. */
    readonly next_open_at: string | null;
    readonly next_close_at: string | null;
  };
  /** Ascending, at most PREVIEW_SESSIONS_MAX_COUNT; null if the calendar does not cover the whole period. */
  readonly sessions: readonly PreviewSession[] | null;
  /** True if the list was cut at PREVIEW_SESSIONS_MAX_COUNT. */
  readonly sessions_cut: boolean;
}

/** A period in which a market of the venue was open and no instrument received a tick. */
export interface FeedGap {
  readonly starts_at: string;
  /** Null while it lasts. */
  readonly ends_at: string | null;
  /** Time in it during which a market was open. */
  readonly length_s: number;
}

/** The gaps of a feed, with minute resolution. */
export interface FeedGaps {
  /** Start of the examined period: FEED_GAPS_HOURS ago, or when the venue first had data. */
  readonly since: string;
  /** End of the examined period: the last full minute in the time of the venue. */
  readonly until: string;
  /** Minimum length of a gap. */
  readonly threshold_s: number;
  readonly count: number;
  readonly total_s: number;
  /** Newest first, at most FEED_GAPS_MAX_COUNT. */
  readonly items: readonly FeedGap[];
}

/** How a process loaded stored or computed history into memory, at startup or after an import. */
export interface HistoryFill {
  /** Listed tickers whose history is in memory. */
  readonly restored: number;
  readonly tickers: number;
  readonly started_at: string;
  /** Null while it runs. */
  readonly ended_at: string | null;
}

/** The last call of a key that may push. */
export interface LastPusher {
  /** Names of the key and of its account. */
  readonly key: string;
  readonly account: string;
  readonly at: string;
  /** The network that it came from; null where it is not known. */
  readonly address: string | null;
  /** The call was refused, because the key had ended. */
  readonly refused: boolean;
}

/** The feed of a venue, as seen by the process that answers. */
export interface FeedReport {
  readonly venue: Venue;
  /** Slug of the connected provider, null if there is none. */
  readonly provider: string | null;
  /** The providers behind it; empty for pushed, replayed and computed ticks. */
  readonly providers: readonly UpstreamReport[];
  /** Null where there is one provider, or none. */
  readonly precedence: PrecedenceReport | null;
  /** Null where ticks are not filtered: the sandbox and recordings. */
  readonly held_back: HeldBackTicks | null;
  /** Null where ticks are not kept. */
  readonly kept: KeptTicks | null;
  /** What is wrong with the feed, null if it is healthy. */
  readonly problem: string | null;
  /** What is wrong with its prices, null if nothing. */
  readonly prices_problem: string | null;
  /** Null where no key may push, or none was used. */
  readonly pusher: LastPusher | null;
  /** Ticker of the newest tick, null before the first. */
  readonly newest_ticker: string | null;
  /** Age of the newest tick in milliseconds, by the clock of the service. */
  readonly lag_ms: number | null;
  /** Listed tickers that the feed is known not to bring. */
  readonly not_offered: readonly string[];
  /** The other listed tickers, without those for tests, and how many of them have a live quote, a stale quote, or none. */
  readonly tickers: number;
  readonly live: number;
  readonly stale: number;
  readonly missing: number;
  /** Ticks since the process started: accepted, and rejected for any reason. */
  readonly taken: number;
  readonly refused: number;
  /** The rejected ones by reason. */
  readonly reasons: Readonly<Record<string, number>>;
  /** Null if no feed is connected. */
  readonly gaps: FeedGaps | null;
  readonly history: HistoryFill;
}

export const BACKFILL_STATES = ["running", "done", "failed", "interrupted", "lost"] as const;
/** `lost`: still marked as running, but without a report for BACKFILL_SILENT_S. */
export type BackfillState = (typeof BACKFILL_STATES)[number];

/** What a backfill wrote to one series of klines. */
export interface BackfillSeriesReport {
  readonly ticker: string;
  /** M1, or that of klines that were imported as such. */
  readonly timeframe: Timeframe;
  /** Open times of its first and last kline. */
  readonly first_at: string;
  readonly last_at: string;
  /** Klines that were not stored before, that were stored with the same values, and with other values. */
  readonly stored: number;
  readonly already_there: number;
  readonly overwritten: number;
  /** Klines above M1 that do not show, because minutes of their intervals were stored. */
  readonly covered: number;
  /** Ticks that are kept of them. */
  readonly ticks: number;
}

/** One import run, as reported by itself. */
export interface BackfillReport {
  readonly id: string;
  /** Its number, which undoes it and puts it back. */
  readonly number: number;
  readonly venue: Venue;
  readonly state: BackfillState;
  /** All files, finished files, and finished files that could not be imported completely. */
  readonly files: number;
  readonly files_done: number;
  readonly files_failed: number;
  /** Current or last file and step; empty before the first. */
  readonly file: string;
  readonly step: string;
  /** Progress, 0 to 1. */
  readonly share: number;
  /** Rows read, and rows per second; null before the first. */
  readonly rows: number;
  readonly rows_per_s: number | null;
  /** The last problem, null if there was none. */
  readonly problem: string | null;
  /** What was doubtful about its files, whether they were stored or not. */
  readonly doubts: readonly string[];
  readonly started_at: string;
  readonly updated_at: string;
  /** When it was undone, null if it was not or was put back. */
  readonly undone_at: string | null;
  /** It is not complete: nothing of it shows. The same command continues it. */
  readonly pending: boolean;
  /** By ticker and timeframe; empty if it stored nothing. */
  readonly series: readonly BackfillSeriesReport[];
}

/** State of the feeds and of backfills. The tick rate is the difference between two reports of the same process. */
export interface FeedsReport {
  /** Identifies the process run that the counters belong to; counters of different runs cannot be compared. */
  readonly process: string;
  readonly at_ms: number;
  readonly feeds: readonly FeedReport[];
  /** Newest first, at most BACKFILLS_LISTED_COUNT. */
  readonly backfills: readonly BackfillReport[];
}
