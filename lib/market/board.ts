import type { BoardRow } from "#lib/contract/board";
import type { Listing } from "#lib/domain/instrument";
import type { Market } from "./ports";
import { statusAt } from "./status";

/** What is shown of a venue at a glance. */
export const BOARD_TICKERS = ["EURUSD", "GBPUSD", "USDJPY", "USDCHF", "AUDUSD", "USDCAD", "XAUUSD", "XAGUSD"];

/** The row of an instrument with its current price. */
export function rowOf(market: Market, listing: Listing, nowMs: number): BoardRow {
  const { ticker } = listing;
  const { final_display_state: state, reason } = statusAt({ market, nowMs }, listing);
  const snapshot = market.view.snapshot(ticker);
  const price = snapshot && {
    bid: snapshot.bid,
    ask: snapshot.ask,
    change_pct: snapshot.change_pct,
    time_msc: snapshot.time_msc,
  };
  return { ticker, digits: listing.digits, price: price ?? null, state, reason };
}

/** Eight instruments of the sandbox with their current prices; retired ones are omitted. */
export function boardOf(sandbox: Market, nowMs: number): BoardRow[] {
  return BOARD_TICKERS.flatMap((ticker) => sandbox.catalogue.find(ticker) ?? []).map((listing) => rowOf(sandbox, listing, nowMs));
}
