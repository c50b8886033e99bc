import { z } from "zod";
import type { FilterReason } from "./ingest";
import { Ticker } from "./primitives";

/** Providers that the live venue can connect to. */
export const PROVIDERS = ["oanda", "ctrader", "fix", "massive", "tiingo", "twelvedata", "tradermade"] as const;

/** A setting of a provider, as a form asks for it. */
export interface ProviderField {
  readonly name: string;
  readonly hint: string;
  readonly required: boolean;
  readonly secret: boolean;
  /** What can be chosen; absent where anything can be typed. */
  readonly options?: readonly string[];
  readonly initial?: string;
}

/** What operators see of the providers of a venue. Instants are ISO 8601. */

/** Most tickers that a report lists; those with a problem come first. */
export const UPSTREAM_TICKERS_LISTED_COUNT = 200;
/** Lost connections that a report lists, newest first; all of the last hour are counted. */
export const UPSTREAM_LOSSES_LISTED_COUNT = 20;

/**
 * idle: this process does not run the feed; quiet: it was connected and stopped pricing although markets were open, so the connection
 * was ended and opened again, and no price has come since; waiting: until the next try; refused: only the owner of the account can
 * change it.
 */
export const UPSTREAM_STATES = [
  "idle",
  "connecting",
  "authenticating",
  "subscribing",
  "live",
  "quiet",
  "waiting",
  "refused",
] as const;
export type UpstreamState = (typeof UPSTREAM_STATES)[number];

/** Why a connection ended, or did not come about. silent: nothing came; quiet: no prices came while markets were open. */
export type LossReason = "refused" | "silent" | "quiet" | "unreachable" | "asked_to_wait" | "lost";

/** Why a message of a provider was not used. */
export const ODD_REASONS = [
  "unreadable",
  "too_long",
  "unknown_type",
  "unknown_symbol",
  "no_price",
  "no_time",
  "refused_symbol",
] as const;

/**
 * awaited: no tick yet; quiet: the market is open and no tick came for longer than the instrument may be silent; missing: its symbol is
 * not clear, and FEED_SYMBOLS has to name it.
 */
export type UpstreamTickerState = "awaited" | "live" | "quiet" | "closed" | "missing" | "not_offered";

/** An instrument of the venue at a provider. */
export interface UpstreamTicker {
  readonly ticker: string;
  /** The name that the provider gives it; null if it is missing or not offered. */
  readonly symbol: string | null;
  readonly state: UpstreamTickerState;
  readonly since: string;
  /** Why it has no symbol, null if it has one. */
  readonly reason: string | null;
  /** Decimal places of the provider's prices where they differ from ours, which are the second number. */
  readonly digits: readonly [theirs: number, ours: number] | null;
  readonly last_tick_at: string | null;
}

/** A connection that ended, or did not come about. */
interface UpstreamLoss {
  readonly at: string;
  readonly reason: LossReason;
  readonly text: string;
}

/** The connection of a provider. */
export interface ConnectionReport {
  readonly name: string;
  readonly state: UpstreamState;
  readonly since: string;
  /** When it is tried again; null unless it is waited for. */
  readonly until: string | null;
  /** Why the last connection ended; null while connected. */
  readonly problem: string | null;
  /** When anything came, and when a tick came; null before the first. */
  readonly last_heard_at: string | null;
  readonly last_tick_at: string | null;
  /** Arrival minus the tick's time, of the last minute; null without a tick in it, or if the provider sends no times. */
  readonly lag: { readonly median_ms: number; readonly p99_ms: number } | null;
  /** False if the provider sends no times, so that ticks have the time of their arrival. */
  readonly sends_times: boolean;
  /** The smallest arrival minus tick time of the last five minutes: the difference of the clocks, plus the shortest way. */
  readonly clock_offset_ms: number | null;
  /** True if the offset has been below -1 s or above 5 s for a minute. */
  readonly clock_is_off: boolean;
  /** Instruments of the venue, and how many of them the provider offers. */
  readonly wanted: number;
  readonly found: number;
  /** Those with a problem first, at most UPSTREAM_TICKERS_LISTED_COUNT. */
  readonly tickers: readonly UpstreamTicker[];
  /** Connections lost or refused in the last hour; the list is the newest of them. */
  readonly losses_count: number;
  readonly losses: readonly UpstreamLoss[];
  /** Messages that were not used, by reason, with the beginning of the first one. */
  readonly odd: readonly { readonly reason: string; readonly count: number; readonly text: string }[];
  readonly terms: { readonly text: string; readonly url: string };
  /** When the token or key of the account ends, if the provider says so. */
  readonly expires_at: string | null;
}

/** Minutes that may be missing, and are fetched from a provider's history. */
export interface WaitingRepair {
  readonly from: string;
  /** Excluded. */
  readonly to: string;
  /** Tries so far, and when the next one is. */
  readonly tries: number;
  readonly due_at: string;
  /** True while they are fetched. */
  readonly running: boolean;
}

/** A provider of a venue, as seen by the process that answers. Numbers count since the process started. */
export interface UpstreamReport extends ConnectionReport {
  /** The next one first; null if it has no history, or minutes are not repaired. */
  readonly repairs: readonly WaitingRepair[] | null;
}

/** Most ticks that were held back and that a report lists. */
export const HELD_BACK_LISTED_COUNT = 200;

export type HeldBackReason = FilterReason | "bad_price" | "crossed_quote";

/** A tick that was kept out. */
export interface HeldBackTick {
  readonly at_ms: number;
  readonly ticker: string;
  readonly time_msc: number;
  readonly bid: number;
  readonly ask: number;
  readonly reason: HeldBackReason;
  /** Another instrument that has such a price: a symbol may be mapped to the wrong ticker. Null where none has. */
  readonly looks_like: string | null;
}

/** The ticks that were kept out of a venue since the process started. */
export interface HeldBackTicks {
  readonly counts: readonly { readonly reason: HeldBackReason; readonly count: number }[];
  /** Ticks with an unusually wide spread; they were let through. */
  readonly wide: number;
  /** Newest first, at most HELD_BACK_LISTED_COUNT. */
  readonly newest: readonly HeldBackTick[];
}

/** The ticks that are kept of a venue. */
export interface KeptTicks {
  /** Ticks since the process started that are not kept, because the database was unavailable for too long. */
  readonly left_out: number;
}

/**
 * Why a provider speaks for an instrument: the first one did; the one before it was lost, or quiet; an earlier one is well
 * again; an operator pinned it.
 */
export type ChangeReason = "first" | "lost" | "quiet" | "back" | "pinned";

/** Another provider began to speak for some instruments. */
export interface PrecedenceChange {
  readonly at: string;
  /** Null if nobody spoke before. */
  readonly from: string | null;
  readonly to: string;
  readonly reason: ChangeReason;
  /** How many instruments, and the first of them. */
  readonly tickers: number;
  readonly some: readonly string[];
}

/** Most instruments with diverging prices that a report lists. */
export const DIVERGENT_LISTED_COUNT = 50;

/** Which of several providers speaks. */
export interface PrecedenceReport {
  /** In order of precedence, with the number of instruments that each speaks for. */
  readonly providers: readonly {
    readonly name: string;
    readonly speaks: number;
    /** Instruments whose prices differ from those that are taken. */
    readonly divergent: number;
  }[];
  /** Instruments for which no provider speaks yet. */
  readonly waiting: number;
  /** The provider that an operator prefers, whatever its state. */
  readonly pinned: string | null;
  /** Newest first. */
  readonly changes: readonly PrecedenceChange[];
  /** At most DIVERGENT_LISTED_COUNT. */
  readonly divergent: readonly { readonly ticker: string; readonly name: string; readonly since: string }[];
}

/** The provider to pin; null releases the one that is. */
/** Settings of a provider that are checked before they are used; more than any has. */
const SETTINGS_MAX_COUNT = 20;
const SETTING_MAX_CHARACTERS = 4_000;
export const FeedCheckForm = z.strictObject({
  provider: z.enum(PROVIDERS),
  settings: z
    .record(z.string().max(40), z.string().max(SETTING_MAX_CHARACTERS))
    .refine((given) => Object.keys(given).length <= SETTINGS_MAX_COUNT, `takes at most ${SETTINGS_MAX_COUNT} settings.`),
});
export type FeedCheckForm = z.infer<typeof FeedCheckForm>;

/** What one step of a check found; `next` is what to do about a failure. */
export interface FeedFinding {
  readonly step: "settings" | "name" | "connection" | "encryption" | "login" | "instruments" | "prices" | "history" | "clock";
  /** noted: not what was hoped for, but nothing is wrong. */
  readonly state: "ok" | "noted" | "failed";
  readonly text: string;
  readonly next?: string;
}

export const FeedPinForm = z.strictObject({ provider: z.string().min(1).max(40).nullable() });

/** Most instruments that are retired with one call. */
const RETIRED_MAX_COUNT = 5_000;
/** The instruments to retire: those that an operator was shown. */
export const RetireForm = z.strictObject({ tickers: z.array(Ticker).min(1).max(RETIRED_MAX_COUNT) });
