import { z } from "zod";
import { KLINES_MAX_LIMIT_ROWS } from "./limits";
import { Price, PriceSide, Ticker, Timeframe, UnixSeconds } from "./primitives";

/** A candle. Of a stream, and of a request without `price`, its prices are bids. */
export const Kline = z
  .object({
    type: z.literal("kline").describe("Kind of record."),
    ticker: Ticker,
    timeframe: Timeframe,
    time: UnixSeconds.describe("Open time, Unix seconds."),
    open: Price.describe("First bid; the first ask or mid where `price` asks for it."),
    high: Price.describe("Highest bid, ask or mid."),
    low: Price.describe("Lowest bid, ask or mid."),
    close: Price.describe("Last bid, ask or mid; the current one while the kline is open."),
    tick_volume: z.number().min(0).describe("Number of quotes in the interval, not traded volume."),
    real_volume: z.number().nullable().describe("Traded volume, if the source provides it; otherwise null."),
    spread: Price.describe(
      "Smallest known ask - bid among the kline's quotes, in price units; 0 if none is known (imported history).",
    ),
  })
  .meta({ id: "Kline", description: "A candle: of bid prices, or of the ask or mid prices that a request asks for." });
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

/** Data of the klines operation: the effective range and its rows, in ascending order. */
export const KlineWindow = z
  .object({
    ticker: Ticker,
    timeframe: Timeframe,
    from: UnixSeconds.describe("Start of the effective range, inclusive."),
    to: UnixSeconds.describe("End of the effective range, exclusive."),
    count: z.int().min(0).describe("Number of klines in `items`."),
    limit: z.int().min(1).max(KLINES_MAX_LIMIT_ROWS).describe("The limit that was applied."),
    next_from: UnixSeconds.nullable().describe(
      "Open time of the next kline if the range contains more than `limit`; otherwise null.",
    ),
    expected_count: z
      .int()
      .min(0)
      .nullable()
      .describe("Number of intervals in the range during which the market was open; null if the calendar is unknown."),
    incomplete: z
      .array(UnixSeconds)
      .optional()
      .describe(
        "Open times of the klines in `items` that are known to lack ticks, ascending: in their interval the feed was lost, the service did not run, or it refused what was pushed, and no history has mended them. Absent if there are none.",
      ),
    price: PriceSide.optional().describe("The `price` of the request. Absent if none was requested; then the prices are bids."),
    as_of: UnixSeconds.optional().describe("The instant in `as_of` of the request. Absent if none was requested."),
    revision: z
      .string()
      .optional()
      .describe(
        "Identifies the klines in `items`, whatever the request: it changes whenever one of them does, and is the same as long as they are. Only on the live venue. Opaque; compare it, do not read it.",
      ),
    items: z.array(Kline).describe("The klines, in ascending order by open time."),
  })
  .meta({ id: "KlineWindow", description: "A range of klines, in ascending order by open time." });
export type KlineWindow = z.infer<typeof KlineWindow>;
