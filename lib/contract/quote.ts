import { z } from "zod";
import { Price, Ticker, UnixMilliseconds } from "./primitives";

/** A bid and ask price, not a trade. */
export const Quote = z
  .object({
    type: z.literal("quote").describe("Kind of record."),
    ticker: Ticker,
    time_msc: UnixMilliseconds.describe("Quote time, Unix milliseconds."),
    bid: Price.describe("Current bid price."),
    ask: Price.describe("Current ask price."),
    mid: Price.describe("(bid + ask) / 2, rounded to the instrument's digits + 1."),
    spread: Price.describe("ask - bid in price units, rounded to the instrument's digits + 1."),
  })
  .meta({ id: "Quote", description: "A bid and ask price, not a trade." });
export type Quote = z.infer<typeof Quote>;

export const quoteExample: Quote = {
  type: "quote",
  ticker: "EURUSD",
  time_msc: 1_767_225_600_123,
  bid: 1.08543,
  ask: 1.08551,
  mid: 1.08547,
  spread: 0.00008,
};
