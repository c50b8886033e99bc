import type { Listing } from "#lib/domain/instrument";
import type { Tick } from "#lib/domain/tick";
import { createAlignment } from "#lib/domain/timeframe";
import type { Catalogue } from "#lib/market/ports";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";

/** A silence is far longer than usual after so many usual gaps, and so many times the longest gap of this day or the one before. */
const USUAL_GAPS_COUNT = 20;
const LONGEST_GAPS_COUNT = 2;
/** The share of a new gap in the usual one. */
const GAP_SHARE = 1 / 16;
/** From so many gaps on they say what is usual; before, a connection without any price ends after UNKNOWN_MS. */
const KNOWN_GAPS_COUNT = 16;
const UNKNOWN_MS = 2 * MINUTE_MS;
/** No silence of all tickers is too long before this, and any is after MOST_MS; so for one ticker while others have prices. */
const LEAST_MS = MINUTE_MS;
const TICKER_LEAST_MS = 10 * MINUTE_MS;
const MOST_MS = 30 * MINUTE_MS;
/** A ticker that is silent alone ends the connection of all others at most this often. */
const TICKER_CUT_PAUSE_MS = HOUR_MS;
/** Around the start of the trading day many sources pause. Silence from so long before until so long after it does not count. */
const DAY_TURN_BEFORE_MS = 2 * MINUTE_MS;
const DAY_TURN_AFTER_MS = 10 * MINUTE_MS;

/** A ticker, and since when its ticks are known to lack, Unix milliseconds. */
export interface Lacking {
  readonly ticker: string;
  readonly sinceMs: number;
}

/**
 * Judges when a provider that stays connected has stopped pricing. It learns the usual gaps of the provider and of each ticker from
 * what they send, over all connections of a run. Instants are given, Unix milliseconds.
 */
export interface PriceSilence {
  /** A connection begins that can bring prices of these. */
  begin(listings: readonly Listing[], nowMs: number): void;
  /** Reading goes on after a pause of our own, in which nothing could come. */
  reads(nowMs: number): void;
  /**
   * Takes ticks that came. Those that only repeat the last price, as many sources do at the start of a connection, break no silence.
   * @returns whether any is new, and which tickers were silent before
   */
  ticks(ticks: readonly Tick[], nowMs: number): { readonly fresh: boolean; readonly resumed: readonly Lacking[] };
  /** Looks for silences; call it each second. `cut` says why the connection must end, `silent` names tickers that fell silent. */
  look(nowMs: number): { readonly cut: string | null; readonly silent: readonly Lacking[] };
  /** True from a cut of all prices until the next price. */
  isQuiet(): boolean;
  /** True for a ticker that fell silent and has had no price since. */
  isSilent(ticker: string): boolean;
  /** The newest price of any ticker; null before the first. */
  newestMs(): number | null;
  /** The tickers of the last connection. */
  tickers(): Iterable<string>;
  /** Since when each ticker lacks ticks if the connection ends now: from its last price; while its market is closed, from now. */
  lacking(nowMs: number): Lacking[];
}

/** The usual and the longest gap between prices. */
function createGaps() {
  let [count, usualMs, longestMs, longestBeforeMs, day] = [0, 0, 0, 0, 0];
  return {
    add(gapMs: number, nowMs: number): void {
      // A longer silence is a closed market or a failure.
      if (gapMs > MOST_MS) return;
      count += 1;
      usualMs += (gapMs - usualMs) * Math.max(1 / count, GAP_SHARE);
      const today = Math.floor(nowMs / DAY_MS);
      if (today !== day) [day, longestBeforeMs, longestMs] = [today, longestMs, 0];
      longestMs = Math.max(longestMs, gapMs);
    },
    isKnown: () => count >= KNOWN_GAPS_COUNT,
    /** How long a silence may last. */
    farMs(leastMs: number): number {
      const longest = Math.max(longestMs, longestBeforeMs);
      const far = Math.max(leastMs, USUAL_GAPS_COUNT * usualMs, LONGEST_GAPS_COUNT * longest);
      return Math.min(MOST_MS, far);
    },
  };
}

interface TickerState {
  readonly listing: Listing;
  readonly gaps: ReturnType<typeof createGaps>;
  last: Tick | undefined;
  lastMs: number | null;
  /** Nothing came on this connection. */
  isFirst: boolean;
  silent: boolean;
}

const durationText = (ms: number) =>
  ms < 2 * MINUTE_MS ? `${Math.round(ms / SECOND_MS)} s` : `${Math.round(ms / MINUTE_MS)} min`;

/** Makes the judge of one provider. Its memory is bounded by the number of listings. */
export function createPriceSilence(calendarOf: Catalogue["calendar"], nowMs: number): PriceSilence {
  const alignment = createAlignment();
  const all = createGaps();
  let states = new Map<string, TickerState>();
  let newestMs: number | null = null;
  let beganMs = nowMs;
  /** Silence counts from here: when the connection began, or reading went on. */
  let readsMs = nowMs;
  /** Connections that ended because of a silence, without a price since. */
  let cuts = 0;
  let tickerCutMs = Number.NEGATIVE_INFINITY;

  /** The length of a silence without the pause around the start of the trading day. */
  function countedMs(fromMs: number, toMs: number): number {
    const turnMs = alignment.tradingDayOpen(Math.floor((toMs + DAY_TURN_BEFORE_MS) / SECOND_MS)) * SECOND_MS;
    const pauseMs = Math.min(toMs, turnMs + DAY_TURN_AFTER_MS) - Math.max(fromMs, turnMs - DAY_TURN_BEFORE_MS);
    return toMs - fromMs - Math.max(0, pauseMs);
  }

  /** From when a ticker must have prices; null while its market is not open. */
  function dueMs({ listing }: TickerState, atMs: number): number | null {
    const session = calendarOf(listing.ticker)?.sessionAt(atMs);
    if (session?.state !== "open") return null;
    const openedMs = session.openedAt === null ? 0 : session.openedAt + listing.openGraceS * SECOND_MS;
    return Math.max(readsMs, openedMs);
  }

  function isFresh({ last, isFirst }: TickerState, { time_msc, bid, ask }: Tick): boolean {
    if (last === undefined) return true;
    return time_msc > last.time_msc && !(isFirst && bid === last.bid && ask === last.ask);
  }

  /** Why the silence of all tickers must end the connection; null if it need not. */
  function cutOf(atMs: number): string | null {
    if (countedMs(Math.max(newestMs ?? 0, readsMs), atMs) < LEAST_MS) return null;
    const open = [...states.values()].flatMap((state) => {
      const ms = dueMs(state, atMs);
      return ms === null ? [] : [{ dueMs: ms, leastMs: state.listing.staleAfterS * SECOND_MS }];
    });
    if (open.length === 0) return null;
    const sinceMs = Math.max(newestMs ?? 0, Math.min(...open.map((one) => one.dueMs)));
    const leastMs = Math.max(all.isKnown() ? LEAST_MS : UNKNOWN_MS, Math.min(...open.map((one) => one.leastMs)));
    // Where reconnecting did not help, the next connection gets longer: an unknown holiday is no reason to insist.
    const mostMs = Math.max(leastMs, Math.min(MOST_MS, all.farMs(leastMs) * 2 ** cuts));
    if (countedMs(sinceMs, atMs) < mostMs) return null;
    cuts += 1;
    return `no price for ${durationText(atMs - sinceMs)} while its markets are open`;
  }

  function isTooLong(state: TickerState, atMs: number): boolean {
    const { lastMs, gaps, listing, silent } = state;
    if (silent || lastMs === null || !gaps.isKnown() || atMs - lastMs < TICKER_LEAST_MS) return false;
    const fromMs = dueMs(state, atMs);
    const farMs = gaps.farMs(Math.max(TICKER_LEAST_MS, listing.staleAfterS * SECOND_MS));
    return fromMs !== null && countedMs(Math.max(lastMs, fromMs), atMs) >= farMs;
  }

  return {
    begin(listings, atMs) {
      const before = states;
      states = new Map();
      [beganMs, readsMs] = [atMs, atMs];
      for (const listing of listings) {
        const known = before.get(listing.ticker) ?? { gaps: createGaps(), last: undefined, lastMs: null, silent: false };
        states.set(listing.ticker, { ...known, listing, isFirst: true });
      }
    },
    reads(atMs) {
      readsMs = atMs;
    },
    ticks(ticks, atMs) {
      const resumed: Lacking[] = [];
      let fresh = false;
      for (const tick of ticks) {
        const state = states.get(tick.ticker);
        if (state === undefined) continue;
        const isNew = isFresh(state, tick);
        state.isFirst = false;
        if (!isNew) continue;
        fresh = true;
        if (state.silent && state.lastMs !== null) resumed.push({ ticker: tick.ticker, sinceMs: state.lastMs });
        // What came before this connection says nothing of the usual gap.
        else if (state.lastMs !== null && state.lastMs >= readsMs) state.gaps.add(countedMs(state.lastMs, atMs), atMs);
        Object.assign(state, { last: tick, lastMs: atMs, silent: false });
      }
      if (!fresh) return { fresh, resumed };
      // As long as nothing is known, also from one connection to the next: otherwise a slow source would never be known.
      if (newestMs !== null && (newestMs >= readsMs || !all.isKnown())) all.add(countedMs(newestMs, atMs), atMs);
      newestMs = atMs;
      cuts = 0;
      return { fresh, resumed };
    },
    look(atMs) {
      const cut = cutOf(atMs);
      if (cut !== null) return { cut, silent: [] };
      const silent: Lacking[] = [];
      for (const [ticker, state] of states)
        if (isTooLong(state, atMs)) {
          state.silent = true;
          silent.push({ ticker, sinceMs: state.lastMs ?? atMs });
        }
      const [first] = silent;
      if (first === undefined || atMs - tickerCutMs < TICKER_CUT_PAUSE_MS) return { cut: null, silent };
      tickerCutMs = atMs;
      return { cut: `no price of ${first.ticker} for ${durationText(atMs - first.sinceMs)} while its market is open`, silent };
    },
    isQuiet: () => cuts > 0,
    isSilent: (ticker) => states.get(ticker)?.silent === true,
    newestMs: () => newestMs,
    tickers: () => states.keys(),
    lacking: (atMs) =>
      [...states].map(([ticker, { lastMs }]) => {
        const isClosed = calendarOf(ticker)?.sessionAt(atMs).state === "closed";
        return { ticker, sinceMs: isClosed ? atMs : (lastMs ?? beganMs) };
      }),
  };
}
