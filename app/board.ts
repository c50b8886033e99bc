import type { BoardRow } from "#components/board/board";
import type { LiveVenueState } from "#components/board/live-venue";
import type { Market } from "#lib/market/ports";
import { statusAt } from "#lib/market/status";
import type { Runtime } from "#lib/runtime";

const BOARD_TICKERS = ["EURUSD", "GBPUSD", "USDJPY", "USDCHF", "AUDUSD", "USDCAD", "XAUUSD", "XAGUSD"];
/** One for each calendar that ships with the project. */
const LIVE_TICKERS = ["EURUSD", "XAUUSD"];

function rowOf(market: Market, ticker: string, now: number): BoardRow[] {
  const listing = market.catalogue.find(ticker);
  if (listing === undefined) return [];
  const status = statusAt({ market, nowMs: now }, listing);
  const quote = market.view.quote(ticker);
  return [
    {
      ticker,
      bid: quote?.bid.toFixed(listing.digits) ?? null,
      ask: quote?.ask.toFixed(listing.digits) ?? null,
      changePct: market.view.snapshot(ticker)?.change_pct ?? null,
      state: status.final_display_state,
      reason: status.reason,
    },
  ];
}

/** Eight instruments of the sandbox as they stand at this moment; retired ones are left out. */
export function boardOf({ markets, clock }: Runtime): BoardRow[] {
  const now = clock.now();
  return BOARD_TICKERS.flatMap((ticker) => rowOf(markets.sandbox, ticker, now));
}

/** What feeds the live venue, and the state of its markets at this moment. */
export function liveVenueOf({ markets: { live }, clock }: Runtime): LiveVenueState {
  const now = clock.now();
  const listings = LIVE_TICKERS.flatMap((ticker) => live.catalogue.find(ticker) ?? []);
  return { provider: live.provider, statuses: listings.map((listing) => statusAt({ market: live, nowMs: now }, listing)) };
}
