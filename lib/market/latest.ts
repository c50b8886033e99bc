import { LRUCache } from "lru-cache";
import type { Listing } from "#lib/domain/instrument";
import { Fault } from "#lib/fault";
import type { MarketView } from "./ports";
import { type Call, type EncodedReply, type Question, SUCCESS_HEAD, SUCCESS_TAIL } from "./question";
import { createListingsFinder } from "./tickers";

const NOT_READY_RETRY_AFTER_S = 1;

interface TickersQuery {
  readonly tickers: readonly string[];
}

/** Characters of all answers that are kept. */
const KEPT_MAX_CHARACTERS = 4_194_304;

type Records = readonly (object | undefined)[];

interface Answer {
  readonly records: Records;
  readonly body: string;
}

const isSame = (a: Records, b: Records) => a.length === b.length && a.every((record, index) => record === b[index]);

/**
 * Makes the question for the newest record of each ticker. A record is encoded once, however often it is requested, and so is an
 * answer as long as none of its records changes.
 * The question throws Fault unknown_ticker, and market_data_not_ready when none of the tickers has a record yet.
 */
export function createLatest(read: (view: MarketView, ticker: string) => object | undefined): Question<TickersQuery> {
  const listingsOf = createListingsFinder();
  const encoded = new WeakMap<object, string>();
  const answers = new LRUCache<TickersQuery, Answer>({
    maxSize: KEPT_MAX_CHARACTERS,
    sizeCalculation: ({ body }) => body.length,
  });

  function encode(record: object): string {
    const known = encoded.get(record);
    if (known !== undefined) return known;
    const text = JSON.stringify(record);
    encoded.set(record, text);
    return text;
  }

  /** @throws Fault market_data_not_ready */
  function bodyOf(records: Records, listings: readonly Listing[]): string {
    const missing: string[] = [];
    let items = "";
    for (const [index, record] of records.entries()) {
      if (record === undefined) missing.push(listings[index]?.ticker ?? "");
      else items += items === "" ? encode(record) : `,${encode(record)}`;
    }
    if (items === "")
      throw new Fault("market_data_not_ready", {
        detail: `No quote yet: ${missing.join(", ")}.`,
        tickers: missing,
        retry_after: NOT_READY_RETRY_AFTER_S,
      });
    const rest = missing.length === 0 ? "" : `,"missing":${JSON.stringify(missing)}`;
    return `${SUCCESS_HEAD}{"items":[${items}]${rest}}${SUCCESS_TAIL}`;
  }

  return (call: Call<TickersQuery>): EncodedReply => {
    const { query, market } = call;
    const listings = listingsOf(call, query.tickers, "tickers");
    const records = listings.map(({ ticker }) => read(market.view, ticker));
    const known = answers.get(query);
    if (known !== undefined && isSame(known.records, records)) return known;
    const answer = { records, body: bodyOf(records, listings) };
    answers.set(query, answer);
    return answer;
  };
}
