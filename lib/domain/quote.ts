import type { Quote } from "#lib/contract/quote";
import { midOf, roundTo } from "./price";
import type { Tick } from "./tick";

/**
 * The quote of a tick: bid and ask rounded to the instrument's digits, mid and spread (of the rounded prices) to one
 * digit more.
 */
export function toQuote(tick: Tick, digits: number): Quote {
  const bid = roundTo(tick.bid, digits);
  const ask = roundTo(tick.ask, digits);
  return {
    type: "quote",
    ticker: tick.ticker,
    time_msc: tick.time_msc,
    bid,
    ask,
    mid: midOf(bid, ask, digits),
    spread: roundTo(ask - bid, digits + 1),
  };
}
