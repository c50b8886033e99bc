import { z } from "zod";
import { Price, Ticker, UnixMilliseconds } from "./primitives";

const NullablePrice = Price.nullable();

/** The current quote with figures for its trading day; unknown values are null. */
export const Snapshot = z
  .object({
    type: z.literal("snapshot").describe("Kind of record."),
    ticker: Ticker,
    time_msc: UnixMilliseconds.describe("Snapshot time, Unix milliseconds."),
    bid: Price.describe("Current bid price."),
    ask: Price.describe("Current ask price."),
    mid: Price.describe("(bid + ask) / 2, rounded to the instrument's digits + 1."),
    spread: Price.describe("ask - bid in price units."),
    bid_high: NullablePrice.describe("Highest bid of the trading day."),
    bid_low: NullablePrice.describe("Lowest bid of the trading day."),
    ask_high: NullablePrice.describe("Highest ask of the trading day."),
    ask_low: NullablePrice.describe("Lowest ask of the trading day."),
    last: NullablePrice.describe("Set only if the provider supplies it; not a trade price."),
    last_high: NullablePrice.describe("Set only if the provider supplies it."),
    last_low: NullablePrice.describe("Set only if the provider supplies it."),
    open: NullablePrice.describe("First bid of the trading day."),
    close: NullablePrice.describe(
      "The previous close: last bid of the trading day directly before this one; null if it had no quote.",
    ),
    change: NullablePrice.describe("bid - close."),
    change_pct: z.number().nullable().describe("`change` as a percentage of `close`: 100 * change / close."),
  })
  .meta({
    id: "Snapshot",
    description: "The current quote with figures for its trading day. Not an order book and not trade data.",
  });
export type Snapshot = z.infer<typeof Snapshot>;

export const snapshotExample: Snapshot = {
  type: "snapshot",
  ticker: "EURUSD",
  time_msc: 1_767_225_600_123,
  bid: 1.08543,
  ask: 1.08551,
  mid: 1.08547,
  spread: 0.00008,
  bid_high: 1.08712,
  bid_low: 1.08401,
  ask_high: 1.0872,
  ask_low: 1.08409,
  last: null,
  last_high: null,
  last_low: null,
  open: 1.08502,
  close: 1.08499,
  change: 0.00044,
  change_pct: 0.0406,
};
