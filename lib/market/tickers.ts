import { TICKER_MAX_CHARACTERS } from "#lib/contract/limits";
import type { Listing } from "#lib/domain/instrument";
import { Fault } from "#lib/fault";
import { nearTicker, plainTicker } from "#lib/instrument-search";
import type { Market } from "./ports";
import type { Call } from "./question";

interface Scene extends Pick<Call<unknown>, "mayRead"> {
  readonly market: Pick<Market, "catalogue">;
}

/** Longest text that is searched for a ticker; a little longer than a ticker with separators and a prefix. */
const SUGGESTION_MAX_CHARACTERS = TICKER_MAX_CHARACTERS * 2;

/** The listing, if the caller may read it. */
export function findListing({ market, mayRead }: Scene, ticker: string): Listing | undefined {
  const listing = market.catalogue.find(ticker);
  return listing !== undefined && mayRead(listing) ? listing : undefined;
}

/** The ticker that one the caller cannot read probably means: of the caller's instruments, one that is a typing mistake away. */
export function suggestNear({ market, mayRead }: Scene, unknown: string): string | undefined {
  return nearTicker(unknown, market.catalogue.list(), mayRead);
}

/**
 * The listings of the tickers, in their order.
 * @throws Fault unknown_ticker that names every ticker the caller cannot read, whether unknown or not permitted; with a
 * suggestion for the first of them, so that a long list costs no more than one
 */
export function requireListings(scene: Scene, tickers: readonly string[], parameter: string): Listing[] {
  const listings: Listing[] = [];
  const unknown: string[] = [];
  for (const ticker of tickers) {
    const listing = findListing(scene, ticker);
    if (listing === undefined) unknown.push(ticker);
    else listings.push(listing);
  }
  const [first] = unknown;
  if (first === undefined) return listings;
  const suggestion = suggestNear(scene, first);
  throw new Fault("unknown_ticker", {
    detail: `Not among your instruments: ${unknown.join(", ")}.`,
    parameter,
    tickers: unknown,
    ...(suggestion !== undefined && { suggestion }),
  });
}

/**
 * Creates a `requireListings` that remembers its last result for each list of tickers; equal queries share their list. A result
 * is used again while neither the catalogue nor what the caller may read has changed, and is dropped with its list.
 */
export function createListingsFinder() {
  const kept = new WeakMap<
    readonly string[],
    { readonly all: readonly Listing[]; readonly mayRead: Scene["mayRead"]; readonly listings: readonly Listing[] }
  >();
  return (scene: Scene, tickers: readonly string[], parameter: string): readonly Listing[] => {
    const { market, mayRead } = scene;
    const all = market.catalogue.list();
    const known = kept.get(tickers);
    if (known?.all === all && known.mayRead === mayRead) return known.listings;
    const listings = requireListings(scene, tickers, parameter);
    kept.set(tickers, { all, mayRead, listings });
    return listings;
  };
}

/** The ticker that a malformed one (`EUR/USD`, `C:EURUSD`) probably means, if the caller may read it. */
export function suggestTicker(scene: Scene, malformed: readonly string[]): string | undefined {
  for (const text of malformed) {
    if (text.length > SUGGESTION_MAX_CHARACTERS) continue;
    const ticker = plainTicker(text);
    if (findListing(scene, ticker) !== undefined) return ticker;
  }
  return undefined;
}
