import { z } from "zod";
import { StreamName, Ticker, Timeframe } from "./primitives";

export const ASSET_CLASSES = ["forex", "metals", "test"] as const;
export const AssetClass = z
  .enum(ASSET_CLASSES)
  .meta({ id: "AssetClass", description: "Asset class. `test` is for the sandbox's test tickers." });
export type AssetClass = z.infer<typeof AssetClass>;

/** An instrument available to the calling account. */
export const Instrument = z
  .object({
    ticker: Ticker,
    display_name: z.string().describe("Short name to show in a user interface; currently the ticker."),
    name: z
      .string()
      .describe("Full name in English, for example `Gold / US Dollar`. Search in it, so that gold and yen find something."),
    asset_class: AssetClass,
    base_currency: z.string().describe("Base currency of the ticker: a price is for one unit of it."),
    quote_currency: z.string().describe("Quote currency of the ticker: a price is an amount of it."),
    streams: z.array(StreamName).describe("Streams available for this ticker."),
    timeframes: z.array(Timeframe).describe("Kline timeframes available for this ticker."),
    digits: z.int().min(0).max(10).describe("Number of decimal places in a price."),
    pip_size: z.number().positive().describe("Size of one pip in price units."),
  })
  .meta({ id: "Instrument", description: "An instrument available to your account." });
export type Instrument = z.infer<typeof Instrument>;

export const instrumentExample: Instrument = {
  ticker: "EURUSD",
  display_name: "EURUSD",
  name: "Euro / US Dollar",
  asset_class: "forex",
  base_currency: "EUR",
  quote_currency: "USD",
  streams: ["quote", "kline", "snapshot"],
  timeframes: ["M1", "M5", "M15", "M30", "H1", "H4", "D1", "W1", "MN1"],
  digits: 5,
  pip_size: 0.0001,
};
