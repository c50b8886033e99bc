import type { BoardRow } from "#lib/contract/board";
import type { Market } from "./ports";
import { statusAt } from "./status";

const BOARD_TICKERS = ["EURUSD", "GBPUSD", "USDJPY", "USDCHF", "AUDUSD", "USDCAD", "XAUUSD", "XAGUSD"];

function rowOf(market: Market, ticker: string, nowMs: number): BoardRow[] {
  const listing = market.catalogue.find(ticker);
  if (listing === undefined) return [];
  const { final_display_state: state, reason } = statusAt({ market, nowMs }, listing);
  const snapshot = market.view.snapshot(ticker);
  const price = snapshot && {
    bid: snapshot.bid,
    ask: snapshot.ask,
    change_pct: snapshot.change_pct,
    time_msc: snapshot.time_msc,
  };
  return [{ ticker, digits: listing.digits, price: price ?? null, state, reason }];
}

/** Eight instruments of the sandbox with their current prices; retired ones are omitted. */
export function boardOf(sandbox: Market, nowMs: number): BoardRow[] {
  return BOARD_TICKERS.flatMap((ticker) => rowOf(sandbox, ticker, nowMs));
}
