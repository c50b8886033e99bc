import type { Quote } from "#lib/contract/quote";
import { roundTo } from "./price";
import type { Tick } from "./tick";

/**
 * The quote of a tick: bid and ask rounded to the instrument's digits, mid and spread (of the rounded prices) to one
 * digit more, which mid needs to be exact.
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
    mid: roundTo((bid + ask) / 2, digits + 1),
    spread: roundTo(ask - bid, digits + 1),
  };
}
