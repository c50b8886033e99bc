import type { Quote } from "#lib/contract/quote";
import type { Snapshot } from "#lib/contract/snapshot";
import { Fault } from "#lib/fault";
import type { Call, DataReply } from "./question";
import { requireListings } from "./tickers";

const NOT_READY_RETRY_AFTER_S = 1;

interface TickersQuery {
  readonly tickers: readonly string[];
}

/** The ready items in the order asked for, and the tickers that have none yet. */
function latest<Item>(call: Call<TickersQuery>, read: (ticker: string) => Item | undefined): DataReply {
  const items: Item[] = [];
  const missing: string[] = [];
  for (const { ticker } of requireListings(call, call.query.tickers, "tickers")) {
    const item = read(ticker);
    if (item === undefined) missing.push(ticker);
    else items.push(item);
  }
  if (items.length === 0)
    throw new Fault("market_data_not_ready", {
      detail: `No quote yet: ${missing.join(", ")}.`,
      tickers: missing,
      retry_after: NOT_READY_RETRY_AFTER_S,
    });
  return { data: missing.length === 0 ? { items } : { items, missing } };
}

/**
 * The latest quote of each ticker.
 * @throws Fault unknown_ticker; market_data_not_ready when none of them has a quote yet
 */
export function latestQuotes(call: Call<TickersQuery>): DataReply {
  return latest<Quote>(call, call.market.view.quote);
}

/**
 * The latest snapshot of each ticker.
 * @throws Fault unknown_ticker; market_data_not_ready when none of them has a quote yet
 */
export function latestSnapshots(call: Call<TickersQuery>): DataReply {
  return latest<Snapshot>(call, call.market.view.snapshot);
}
