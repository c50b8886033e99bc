import type { QueryOf } from "#lib/contract/operation";
import { convert, type Pair, type Steps, stepsOf } from "#lib/domain/conversion";
import type { Listing } from "#lib/domain/instrument";
import { currencyCalled } from "#lib/domain/instrument-name";
import { marketDataState } from "#lib/domain/status";
import { Fault } from "#lib/fault";
import { route } from "#lib/http/route";
import type { Call, DataReply } from "#lib/market/question";
import { type Conversion, conversion } from "./declaration";

const NOT_READY_RETRY_AFTER_S = 1;
const AMOUNT_DEFAULT = 1;

function pairOf({ market, nowMs }: Call<unknown>, { ticker, base, quote, staleAfterS }: Listing): Pair {
  const price = market.view.quote(ticker);
  return { ticker, base, quote, price, stale: marketDataState(price?.time_msc ?? null, nowMs, staleAfterS) === "stale" };
}

/** The caller's instruments as steps between currencies. Test tickers have made-up prices, so they convert nothing. */
function stepsFor(call: Call<unknown>): Steps {
  const listings = call.market.catalogue.list().filter((one) => one.assetClass !== "test" && call.mayRead(one));
  return stepsOf(listings.map((listing) => pairOf(call, listing)));
}

/** @throws Fault unknown_ticker that names every currency without an instrument */
function requireCurrencies(steps: Steps, currencies: readonly string[], parameter: "from" | "to"): void {
  const unknown = currencies.filter((currency) => !steps.has(currency));
  const [first] = unknown;
  if (first === undefined) return;
  const suggestion = currencyCalled(first, [...steps.keys()]);
  throw new Fault("unknown_ticker", {
    detail: `None of your instruments has this currency: ${unknown.join(", ")}.`,
    parameter,
    tickers: unknown,
    ...(suggestion !== undefined && { suggestion }),
  });
}

/**
 * What an amount is worth in each target currency, in their order.
 * @throws Fault unknown_ticker for a currency without an instrument, or that two instruments do not reach; market_data_not_ready
 * when no target can be reached with quotes yet
 */
function conversionsOf(call: Call<QueryOf<typeof conversion.query>>): DataReply {
  const { from, to, amount = AMOUNT_DEFAULT } = call.query;
  const steps = stepsFor(call);
  requireCurrencies(steps, [from], "from");
  requireCurrencies(steps, to, "to");
  const items: Conversion[] = [];
  const missing: string[] = [];
  const unreachable: string[] = [];
  for (const target of to) {
    const converted = convert(steps, { from, to: target, amount });
    if (converted === "unreachable") unreachable.push(target);
    else if (converted === "missing") missing.push(target);
    else items.push(converted);
  }
  if (unreachable.length > 0)
    throw new Fault("unknown_ticker", {
      detail: `One or two of your instruments do not lead from ${from} to ${unreachable.join(", ")}.`,
      parameter: "to",
      tickers: unreachable,
    });
  if (items.length === 0)
    throw new Fault("market_data_not_ready", {
      detail: `No quotes yet to convert ${from} to ${missing.join(", ")}.`,
      tickers: missing,
      retry_after: NOT_READY_RETRY_AFTER_S,
    });
  return { data: missing.length === 0 ? { items } : { items, missing } };
}

export const handler = route(conversion, conversionsOf);
