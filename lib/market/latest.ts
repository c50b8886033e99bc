import { Fault } from "#lib/fault";
import type { MarketView } from "./ports";
import { type Call, type EncodedReply, type Question, SUCCESS_HEAD, SUCCESS_TAIL } from "./question";
import { requireListings } from "./tickers";

const NOT_READY_RETRY_AFTER_S = 1;

interface TickersQuery {
  readonly tickers: readonly string[];
}

/** Makes the question for the newest record of each ticker. A record is encoded once, however often it is requested. */
function createLatest(read: (view: MarketView, ticker: string) => object | undefined): Question<TickersQuery> {
  const encoded = new WeakMap<object, string>();

  function encode(record: object): string {
    const known = encoded.get(record);
    if (known !== undefined) return known;
    const text = JSON.stringify(record);
    encoded.set(record, text);
    return text;
  }

  return (call: Call<TickersQuery>): EncodedReply => {
    const { view } = call.market;
    const missing: string[] = [];
    let items = "";
    for (const { ticker } of requireListings(call, call.query.tickers, "tickers")) {
      const record = read(view, ticker);
      if (record === undefined) missing.push(ticker);
      else items += items === "" ? encode(record) : `,${encode(record)}`;
    }
    if (items === "")
      throw new Fault("market_data_not_ready", {
        detail: `No quote yet: ${missing.join(", ")}.`,
        tickers: missing,
        retry_after: NOT_READY_RETRY_AFTER_S,
      });
    const rest = missing.length === 0 ? "" : `,"missing":${JSON.stringify(missing)}`;
    return { body: `${SUCCESS_HEAD}{"items":[${items}]${rest}}${SUCCESS_TAIL}` };
  };
}

/**
 * The latest quote of each ticker.
 * @throws Fault unknown_ticker; market_data_not_ready when none of them has a quote yet
 */
export const latestQuotes = createLatest((view, ticker) => view.quote(ticker));

/**
 * The latest snapshot of each ticker.
 * @throws Fault unknown_ticker; market_data_not_ready when none of them has a quote yet
 */
export const latestSnapshots = createLatest((view, ticker) => view.snapshot(ticker));
