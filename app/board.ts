import type { BoardRow } from "#components/board/board";
import type { LiveVenueState } from "#components/board/live-venue";
import type { MarketStatus } from "#lib/contract/status";
import { marketStatus } from "#lib/domain/status";
import type { Market } from "#lib/market/ports";
import type { Runtime } from "#lib/runtime";

const BOARD_TICKERS = ["EURUSD", "GBPUSD", "USDJPY", "USDCHF", "AUDUSD", "USDCAD", "XAUUSD", "XAGUSD"];
/** One for each calendar that ships with the project. */
const LIVE_TICKERS = ["EURUSD", "XAUUSD"];

/** The status of a ticker now; undefined when the operator retired it or took its calendar away. */
function statusOf(market: Market, ticker: string, now: number): MarketStatus | undefined {
  const listing = market.catalogue.find(ticker);
  const session = market.catalogue.calendar(ticker)?.sessionAt(now);
  if (listing === undefined || session === undefined) return undefined;
  const lastTickMs = market.view.quote(ticker)?.time_msc ?? null;
  const { provider } = market;
  return marketStatus({ listing, session, lastTickMs, atMs: now, provider, projected: false, updatedAtMs: now });
}

function rowOf(market: Market, ticker: string, now: number): BoardRow[] {
  const status = statusOf(market, ticker, now);
  const digits = market.catalogue.find(ticker)?.digits;
  if (status === undefined || digits === undefined) return [];
  const quote = market.view.quote(ticker);
  return [
    {
      ticker,
      bid: quote?.bid.toFixed(digits) ?? null,
      ask: quote?.ask.toFixed(digits) ?? null,
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
  return { provider: live.provider, statuses: LIVE_TICKERS.flatMap((ticker) => statusOf(live, ticker, now) ?? []) };
}
