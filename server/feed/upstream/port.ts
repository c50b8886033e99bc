import type { Clock } from "#lib/clock";
import type { ODD_REASONS } from "#lib/contract/portal-feeds";
import type { Listing } from "#lib/domain/instrument";

/** What an upstream says about itself. */
export interface Declaration {
  /** every: each change of the price; sampled: the last one of each window. */
  readonly stream: { readonly kind: "every" } | { readonly kind: "sampled"; readonly windowMs: number };
  /** source: ticks have the time at which the price was made; none: the source sends no time, so we stamp them. */
  readonly clock: "source" | "none";
  /** changed: a message may hold only the side that changed; the other one is the last that came. */
  readonly sides: "both" | "changed";
  /** The longest silence of a healthy connection, heartbeats included. */
  readonly idleMs: number;
  /**
   * Its history, where it has any. exact: the smallest spread of a minute; bound: no smaller than it; none: not known; volume:
   * what it counts.
   */
  readonly minutes?: { readonly pageRows: number; readonly volume: "ticks"; readonly spread: "exact" | "bound" | "none" };
  /** One sentence on what the terms allow, and where they are. */
  readonly terms: { readonly text: string; readonly url: string };
}

/** An instrument as the upstream offers it. */
export interface Offered {
  readonly symbol: string;
  /** Decimal places of its prices, where it says so. */
  readonly digits?: number;
}

/** Why a message with prices is no quote. */
type Doubt = "closed" | "one_side";

/** A price as it was received. */
export interface Received {
  readonly symbol: string;
  /** Unix milliseconds; NaN where the source sends no time. */
  readonly timeMs: number;
  /** Null where the message does not hold this side. */
  readonly bid: number | null;
  readonly ask: number | null;
  readonly doubt?: Doubt;
}

/** A closed minute of bid prices. */
export interface Minute {
  /** Open time, Unix seconds. */
  readonly time: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
  readonly spread: number | null;
}

/** Why a message was not used. */
export type OddReason = (typeof ODD_REASONS)[number];

/** The steps of a connection before prices come. */
export type Step = "connecting" | "authenticating" | "subscribing" | "live";

/** What a connection reports while it lives. */
export interface Link {
  /** Aborts when the connection must end. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  step(step: Step): void;
  /** Proof that the far side lives: any message of it. */
  alive(): void;
  /** A message that was not used. `text` is its beginning. */
  odd(reason: OddReason, text: string): void;
}

/**
 * A market elsewhere. An implementation holds a wire format and nothing else: it does not judge, retry, merge or keep time.
 * It throws Refused when the source will not serve us, and Upset (../feed.ts) for anything that another try may mend.
 */
export interface Upstream {
  /** Slug, shown as provider_source. */
  readonly name: string;
  readonly declares: Declaration;
  /** Settings that must not leave the process. */
  readonly secrets: readonly string[];
  /** Where it connects to; only hosts and ports are shown. Absent: its name and connection cannot be checked. */
  readonly addresses?: readonly string[];
  /** When its token or key ends, Unix milliseconds; null while unknown. Absent where the source does not say. */
  expiresAt?(): number | null;
  /** What it offers now. Absent where it has no such list: then symbolOf names the symbol of a listing. */
  instruments?(link: Pick<Link, "signal" | "clock">): Promise<readonly Offered[]>;
  symbolOf?(listing: Pick<Listing, "ticker" | "base" | "quote">): string;
  /**
   * The closed minutes of a symbol with from <= time < to (Unix seconds) that have prices, ascending, page by page. Absent where
   * it has none of bid prices; `declares.minutes` is then absent, too.
   */
  minutes?(symbol: string, from: number, to: number, link: Pick<Link, "signal" | "clock">): AsyncIterable<readonly Minute[]>;
  /** One connection, until it is lost: yields what was received, in order, and ends by a throw. */
  stream(symbols: readonly string[], link: Link): AsyncIterable<readonly Received[]>;
}
