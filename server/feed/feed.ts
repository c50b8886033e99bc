import type { LossReason, PrecedenceReport, UpstreamReport } from "#lib/contract/portal-feeds";
import type { Kline } from "#lib/domain/kline";
import type { Tick } from "#lib/domain/tick";
import type { Mended, Mending } from "#lib/market/mending";

/**
 * A source of ticks: the interface of every provider.
 *
 * An implementation
 * - yields batches: the ticks of one emission, in the order they happened; never an empty batch;
 * - keeps the times of one ticker ascending, within a batch and from one batch to the next;
 * - converts what it yields to the service's tickers, Unix milliseconds and price units;
 * - skips a record that it cannot read and counts it; a bad record never throws and never ends the feed;
 * - throws only when the source itself is lost: Refused, or Upset with the pause that the source asks for; its supervisor
 *   restarts it after a pause;
 * - ends without a throw soon after the signal aborts, and holds no timer or connection afterwards;
 * - reads at most one batch ahead, so a slow consumer slows it down;
 * - may be started again once an earlier run has ended, but never runs twice at the same time.
 *
 * It must neither validate ticks (the engine does) nor invent ticks that its source did not provide.
 */
export type Feed = (signal: AbortSignal) => AsyncIterable<readonly Tick[]>;

/** Where a feed starts. Instants are Unix milliseconds. */
export interface FeedStart {
  /** Where a recording shifted to the present starts; the same for every node that continues it. */
  readonly originMs: number;
  /** Start of the wanted ticks after another node delivered the earlier ones; past ticks are delivered at once. */
  readonly fromMs?: number;
  /** Called with a range [fromMs, toMs) whose ticks are not delivered. */
  readonly skipped: (fromMs: number, toMs: number) => void;
  /** Called when the feed is connected, which may be days before its next tick. */
  readonly connected: () => void;
  /** Called with what is wrong while the feed goes on: none of its providers has a connection. */
  readonly failing?: (problem: string) => void;
  /** Called with each tick that is not delivered because another provider is in force for its ticker, and whose it is. */
  readonly standby?: (tick: Tick, upstream: string) => void;
  /** Told about the life of the connection; absent where nothing is stored. */
  readonly life?: FeedLife;
  /**
   * Called with a range [fromMs, toMs) of which ticks of a ticker are known to lack: a lost connection, a silence. The range may be
   * longer than the hole, and its minutes may be mended later.
   */
  readonly lacks?: (ticker: string, fromMs: number, toMs: number) => void;
  /** Stores closed minutes from a history of the source; absent where nothing is stored. */
  readonly mend?: (klines: readonly Kline[], mending: Mending) => Promise<Mended>;
}

/** The life of the connection that feeds a ticker now. */
export interface FeedLife {
  /** It lives at this instant (Unix ms), and the ticks that it brought before are taken. */
  alive(ticker: string, atMs: number, silenceMaxMs: number): void;
  /** It is lost, or has stopped pricing: ticks from this instant (Unix ms) on lack, also where it was said to live. */
  lost(ticker: string, sinceMs: number): void;
}

/** The name of pushed ticks among several providers. */
export const PUSH = "push";

/** Under this name, ProviderChoice.inForce is the provider in force for every ticker that it does not name. */
export const EVERY_TICKER = "*";

/** The provider in force for a ticker according to ProviderChoice.inForce; null where there is none. */
export const providerIn = (byTicker: Readonly<Record<string, string>> | undefined, ticker: string): string | null =>
  (byTicker?.[ticker] ?? byTicker?.[EVERY_TICKER]) || null;

/** Which of several providers is in force. */
interface ProviderChoice {
  /** The provider in force for a ticker; undefined before the first one is, and while this process does not run the feed. */
  providerOf(ticker: string): string | undefined;
  /** Takes a pushed tick. @returns whether pushes are in force for its ticker */
  pushed(tick: Tick): boolean;
  /** Call it when an operator prefers another provider. @throws Error when that cannot be read */
  pinChanged(): Promise<void>;
  /** The providers in force of all tickers, for other processes; providerIn reads it. */
  inForce(): Readonly<Record<string, string>>;
  report(): PrecedenceReport;
}

/** The data source of a venue. */
export interface MarketFeed {
  readonly name: string;
  open(start: FeedStart): Feed;
  /**
   * True where the feed is the clock: a computed or recorded source delivers all ticks in order, so klines close by the time
   * its ticks have reached and no tick is too late, however long this process was stalled.
   */
  readonly keepsTime: boolean;
  /** The instant at which the feed starts; history is loaded up to it. Undefined: now. */
  readonly startMs?: number;
  /** Called when the feed failed, with the error and the instant of the next try. */
  lost?(error: unknown, untilMs: number): void;
  /** The providers behind the feed; absent where there are none. */
  providers?(): readonly UpstreamReport[];
  /** False where every provider is known not to offer a ticker; absent where there are none, so that all may come. */
  offers?(ticker: string): boolean;
  /** Absent where there is one provider, or none. */
  readonly choice?: ProviderChoice;
}

/** The source will not serve us: wrong key, no entitlement, closed account. Only its owner can change that. */
export class Refused extends Error {
  override readonly name = "Refused";
}

type UpsetKind = Extract<LossReason, "silent" | "quiet" | "unreachable" | "lost">;
interface UpsetOptions {
  readonly retryAfterMs?: number | undefined;
  readonly kind?: UpsetKind;
  readonly cause?: unknown;
}

/** Anything that another try may mend. */
export class Upset extends Error {
  override readonly name = "Upset";
  /** How long the source asks us to wait, milliseconds. */
  readonly retryAfterMs: number | undefined;
  readonly kind: UpsetKind;

  constructor(message: string, { retryAfterMs, kind = "lost", cause }: UpsetOptions = {}) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
    this.kind = kind;
  }
}
