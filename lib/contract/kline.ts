import { z } from "zod";
import { KLINES_MAX_LIMIT_ROWS } from "./limits";
import { Price, Ticker, Timeframe, UnixSeconds } from "./primitives";

/** One candle of bid prices. */
export const Kline = z
  .object({
    type: z.literal("kline"),
    ticker: Ticker,
    timeframe: Timeframe,
    time: UnixSeconds.describe("Open time, Unix seconds."),
    open: Price.describe("First bid."),
    high: Price.describe("Highest bid."),
    low: Price.describe("Lowest bid."),
    close: Price.describe("Last bid, or the current one while the kline is open."),
    tick_volume: z.number().min(0).describe("Number of quotes; not traded volume."),
    real_volume: z.number().nullable().describe("Null unless the source has one; no exchange volume commitment."),
    spread: Price.describe("Smallest ask - bid among the kline's quotes, in price units."),
  })
  .meta({ id: "Kline", description: "One candle of bid prices." });
export type Kline = z.infer<typeof Kline>;

export const klineExample: Kline = {
  type: "kline",
  ticker: "EURUSD",
  timeframe: "H1",
  time: 1_767_225_600,
  open: 1.08502,
  high: 1.08571,
  low: 1.08466,
  close: 1.08543,
  tick_volume: 2_114,
  real_volume: null,
  spread: 0.00006,
};

/** Data of the klines operation: the effective window and its rows, always ascending. */
export const KlineWindow = z
  .object({
    ticker: Ticker,
    timeframe: Timeframe,
    from: UnixSeconds.describe("Start of the effective window, included."),
    to: UnixSeconds.describe("End of the effective window, excluded."),
    count: z.int().min(0).describe("Rows in items."),
    limit: z.int().min(1).max(KLINES_MAX_LIMIT_ROWS).describe("Row limit applied."),
    next_from: UnixSeconds.nullable().describe("Open time of the next row when the window held more than limit, else null."),
    expected_count: z
      .int()
      .min(0)
      .nullable()
      .describe("Intervals of the window in which the calendar was open; null where the calendar is unknown."),
    items: z.array(Kline),
  })
  .meta({ id: "KlineWindow", description: "A window of klines, ascending by open time." });
export type KlineWindow = z.infer<typeof KlineWindow>;
