import { UPSTREAM_TICKERS_LISTED_COUNT, type UpstreamTicker, type UpstreamTickerState } from "#lib/contract/portal-feeds";
import type { SessionAnswer } from "#lib/domain/calendar";
import type { Listing } from "#lib/domain/instrument";
import type { Tick } from "#lib/domain/tick";
import type { Catalogue } from "#lib/market/ports";
import { SECOND_MS } from "#lib/units";
import type { Offered } from "./port";
import type { Matched } from "./symbols";

/** A ticker that the provider offers. */
interface Known {
  readonly listing: Listing;
  readonly symbol: string;
  readonly theirDigits: number | undefined;
  /** Start of the ticks that came without a pause longer than the ticker may be silent; null before the first. */
  runFromMs: number | null;
  lastMs: number | null;
}

type Row = UpstreamTicker & { readonly sinceMs: number };

const PROBLEMS: readonly UpstreamTickerState[] = ["quiet", "missing", "not_offered", "awaited"];

function rank({ state, digits }: UpstreamTicker): number {
  const at = PROBLEMS.indexOf(state);
  return at < 0 ? PROBLEMS.length + (digits === null ? 1 : 0) : at;
}

/** The state of a ticker, which follows from when it ticked and what its calendar says. */
function stateOf(known: Known, session: SessionAnswer | undefined, liveMs: number, nowMs: number) {
  const { lastMs, runFromMs, listing } = known;
  if (session?.state === "closed") return { state: "closed" as const, sinceMs: session.closedAt ?? liveMs };
  const fromMs = Math.max(lastMs ?? 0, liveMs, session?.openedAt ?? 0);
  const quietMs = fromMs + listing.staleAfterS * SECOND_MS;
  if (session?.state === "open" && nowMs > quietMs) return { state: "quiet" as const, sinceMs: quietMs };
  if (lastMs === null || runFromMs === null) return { state: "awaited" as const, sinceMs: liveMs };
  return { state: "live" as const, sinceMs: runFromMs };
}

/** The tickers of one provider. Instants are Unix milliseconds. */
export function createTickerBook(calendarOf: Catalogue["calendar"], isListed: (ticker: string) => boolean) {
  let known = new Map<string, Known>();
  let missing: Matched["missing"] = [];
  let unoffered: ReadonlySet<string> = new Set();
  let matchedMs = 0;

  /** @param liveMs since when the connection lives; null while it does not */
  function rows(liveMs: number | null, nowMs: number): Row[] {
    const offered = [...known.values()].map((one) => {
      const { listing, symbol, theirDigits, lastMs } = one;
      const now = stateOf(one, calendarOf(listing.ticker)?.sessionAt(nowMs), liveMs ?? matchedMs, nowMs);
      const differ = theirDigits !== undefined && theirDigits !== listing.digits;
      const digits = differ ? ([theirDigits, listing.digits] as const) : null;
      const last_tick_at = lastMs === null ? null : new Date(lastMs).toISOString();
      return {
        ticker: listing.ticker,
        symbol,
        reason: null,
        digits,
        last_tick_at,
        ...now,
        since: new Date(now.sinceMs).toISOString(),
      };
    });
    const since = new Date(matchedMs).toISOString();
    const none = { symbol: null, digits: null, last_tick_at: null, since, sinceMs: matchedMs } as const;
    return [...offered, ...missing.map((one) => ({ ...one, ...none }))];
  }

  return {
    /** False for a ticker that the provider did not list when it was last asked. */
    offers: (ticker: string) => !unoffered.has(ticker),
    /** The symbols that were found, and what the provider says of them. */
    matched(matched: Matched, offered: readonly Offered[], nowMs: number): void {
      const digits = new Map(offered.map((one) => [one.symbol, one.digits]));
      const before = known;
      known = new Map();
      for (const [symbol, listing] of matched.bySymbol) {
        const { runFromMs = null, lastMs = null } = before.get(listing.ticker) ?? {};
        known.set(listing.ticker, { listing, symbol, theirDigits: digits.get(symbol), runFromMs, lastMs });
      }
      missing = matched.missing;
      unoffered = new Set(missing.flatMap(({ ticker, state }) => (state === "not_offered" ? [ticker] : [])));
      matchedMs = nowMs;
    },
    /** Takes a tick. @returns false for the first of a run, which may be the last price before a pause */
    tick({ ticker }: Tick, nowMs: number): boolean {
      const one = known.get(ticker);
      if (one === undefined) return false;
      const runs = one.lastMs !== null && nowMs - one.lastMs <= one.listing.staleAfterS * SECOND_MS;
      if (!runs) one.runFromMs = nowMs;
      one.lastMs = nowMs;
      return runs;
    },
    /** The rows of a report. */
    report(liveMs: number | null, nowMs: number) {
      // One that was retired since the provider was asked is no longer wanted.
      const all = rows(liveMs, nowMs).filter(({ ticker }) => isListed(ticker));
      const listed = all.sort((one, other) => rank(one) - rank(other)).slice(0, UPSTREAM_TICKERS_LISTED_COUNT);
      return {
        wanted: all.length,
        found: all.filter(({ symbol }) => symbol !== null).length,
        tickers: listed.map(({ sinceMs: _, ...ticker }): UpstreamTicker => ticker),
      };
    },
  };
}
