import type { UpstreamTicker } from "#lib/contract/portal-feeds";
import type { Listing } from "#lib/domain/instrument";
import type { Env } from "#lib/env";
import type { Offered } from "./port";

/** Whether a provider is asked for a ticker: for those that FEED_TICKERS names for it, or for all. */
export function asksFor(name: string, { FEED_TICKERS }: Pick<Env, "FEED_TICKERS">): (ticker: string) => boolean {
  const chosen = new Set(FEED_TICKERS.filter(({ feed }) => feed === name).map(({ ticker }) => ticker));
  return (ticker) => chosen.size === 0 || chosen.has(ticker);
}

/** The symbols of an upstream, and the listings that they stand for. */
export interface Matched {
  readonly bySymbol: ReadonlyMap<string, Listing>;
  /** Tickers without a symbol: those that the upstream does not offer, and those that the operator has to name. */
  readonly missing: readonly Pick<UpstreamTicker, "ticker" | "reason" | "state">[];
}

/** Letters and digits alone: EUR_USD, EUR/USD and C:EURUSD are written differently, and mean the same. */
const plain = (symbol: string) =>
  symbol
    .replace(/^[A-Za-z]+:/, "")
    .replace(/[^A-Za-z0-9]/g, "")
    .toUpperCase();
/** Brokers add at most this many characters to a symbol: EURUSDm, EURUSD.pro. */
const SUFFIX_MAX_CHARACTERS = 4;
const NAMED_MAX_COUNT = 5;

function candidatesOf(ticker: string, offered: readonly Offered[]): readonly Offered[] {
  const exact = offered.filter(({ symbol }) => plain(symbol) === ticker);
  if (exact.length > 0) return exact;
  return offered.filter(({ symbol }) => {
    const letters = plain(symbol);
    return letters.startsWith(ticker) && letters.length - ticker.length <= SUFFIX_MAX_CHARACTERS;
  });
}

/**
 * Finds each listing among what an upstream offers, by its letters, with a suffix of a broker where only one symbol has it.
 * @param named symbols that the operator chose, by ticker; they come before the rules
 */
export function matchSymbols(
  listings: readonly Listing[],
  offered: readonly Offered[],
  named: ReadonlyMap<string, string>,
): Matched {
  const known = new Set(offered.map(({ symbol }) => symbol));
  const bySymbol = new Map<string, Listing>();
  const missing: Matched["missing"][number][] = [];
  for (const listing of listings) {
    const { ticker } = listing;
    const chosen = named.get(ticker);
    if (chosen !== undefined && !known.has(chosen)) {
      missing.push({ ticker, state: "missing", reason: `FEED_SYMBOLS names ${chosen}, which is not offered` });
      continue;
    }
    const candidates = chosen === undefined ? candidatesOf(ticker, offered).map(({ symbol }) => symbol) : [chosen];
    const [symbol, ...others] = candidates;
    if (symbol === undefined) missing.push({ ticker, state: "not_offered", reason: "not offered" });
    else if (others.length > 0) {
      const some = candidates.slice(0, NAMED_MAX_COUNT).join(", ");
      missing.push({ ticker, state: "missing", reason: `offered as ${some}; choose one with FEED_SYMBOLS` });
    } else bySymbol.set(symbol, listing);
  }
  return { bySymbol, missing };
}
