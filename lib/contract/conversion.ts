import { z } from "zod";
import {
  CONVERSION_AMOUNT_MAX,
  CONVERSION_AMOUNT_MIN,
  CONVERSION_LEGS_MAX_COUNT,
  CONVERSION_SIGNIFICANT_DIGITS,
  CONVERSION_TARGETS_MAX_COUNT,
} from "./limits";
import { Price, Ticker, UnixMilliseconds } from "./primitives";
import { MARKET_DATA_STATES } from "./status";
import { refuse } from "./validate";

const CURRENCY_SHAPE = /^[A-Z0-9]{2,10}$/i;
const CURRENCY_RULE = "must be a currency code, for example USD, or XAU for gold.";

const Currency = z
  .string()
  .regex(/^[A-Z0-9]{2,10}$/)
  .meta({ id: "Currency", description: "Code of a currency or metal (ISO 4217).", examples: ["USD"] });

/** A quote has made it, so it is never `missing`. */
const QuotedState = z.enum(MARKET_DATA_STATES).exclude(["missing"]);

const ConversionLeg = z
  .object({
    ticker: Ticker,
    inverted: z.boolean().describe("True if the leg goes from the quote currency to the base currency of the ticker."),
    time_msc: UnixMilliseconds.describe("Quote time, Unix milliseconds."),
    bid: Price.describe("Bid price of the ticker, not inverted."),
    ask: Price.describe("Ask price of the ticker, not inverted."),
    market_data_state: QuotedState.describe("State of the ticker's market data."),
  })
  .meta({ id: "ConversionLeg", description: "An instrument that a conversion uses." });

const Rate = z.number().meta({ description: `Number of at most ${CONVERSION_SIGNIFICANT_DIGITS} significant digits.` });

/** The value of an amount in another currency. */
export const Conversion = z
  .object({
    type: z.literal("conversion").describe("Kind of record."),
    from: Currency.describe("The currency to convert from."),
    to: Currency.describe("The currency to convert to."),
    amount: z.number().describe("The amount in `from`."),
    bid: Rate.describe("What one unit of `from` sells for, in `to`; rounded down."),
    ask: Rate.describe("What one unit of `from` costs, in `to`; rounded up."),
    mid: Rate.describe("The rate between them, without the spread: the mid prices of the legs, multiplied."),
    bid_amount: Rate.describe("What `amount` sells for, in `to`; rounded down."),
    ask_amount: Rate.describe("What `amount` costs, in `to`; rounded up."),
    mid_amount: Rate.describe("`amount` at the rate `mid`."),
    time_msc: UnixMilliseconds.nullable().describe(
      "Time of the oldest quote it uses, Unix milliseconds; null if it uses none because `from` and `to` are the same.",
    ),
    market_data_state: QuotedState.describe("`stale` if any leg is stale, otherwise `live`."),
    legs: z
      .array(ConversionLeg)
      .max(CONVERSION_LEGS_MAX_COUNT)
      .describe("The instruments it uses, from `from` to `to`; empty if both are the same currency."),
  })
  .meta({ id: "Conversion", description: "The value of an amount in another currency, at the latest quotes." });
export type Conversion = z.infer<typeof Conversion>;

export const conversionExample: Conversion = {
  type: "conversion",
  from: "USD",
  to: "JPY",
  amount: 1000,
  bid: 156.012,
  ask: 156.021,
  mid: 156.0165,
  bid_amount: 156_012,
  ask_amount: 156_021,
  mid_amount: 156_016.5,
  time_msc: 1_767_225_600_123,
  market_data_state: "live",
  legs: [
    {
      ticker: "USDJPY",
      inverted: false,
      time_msc: 1_767_225_600_123,
      bid: 156.012,
      ask: 156.021,
      market_data_state: "live",
    },
  ],
};

/** One currency in a query: trimmed and upper-cased before the check. */
export const CurrencyParameter = z
  .string()
  .transform((text, ctx) => {
    const code = text.trim();
    if (!CURRENCY_SHAPE.test(code)) return refuse(ctx, { fault: "invalid_parameter", detail: CURRENCY_RULE });
    return code.toUpperCase();
  })
  .pipe(Currency);

/** A comma-separated list of currencies: trimmed, upper-cased, without duplicates, in the order given. */
export const CurrencyListParameter = z
  .string()
  .transform((text, ctx) => {
    const elements = text.split(",").map((element) => element.trim());
    if (elements.includes("")) return refuse(ctx, { fault: "missing_parameter", detail: "contains an empty element." });
    if (!elements.every((element) => CURRENCY_SHAPE.test(element)))
      return refuse(ctx, { fault: "invalid_parameter", detail: "must be currency codes, for example JPY,EUR." });
    const codes = [...new Set(elements.map((element) => element.toUpperCase()))];
    if (codes.length > CONVERSION_TARGETS_MAX_COUNT)
      return refuse(ctx, {
        fault: "invalid_parameter",
        detail: `takes at most ${CONVERSION_TARGETS_MAX_COUNT} currencies.`,
        max: CONVERSION_TARGETS_MAX_COUNT,
      });
    return codes;
  })
  .pipe(z.array(Currency).min(1).max(CONVERSION_TARGETS_MAX_COUNT));

const DECIMAL = /^\d{1,30}(\.\d{1,30})?$/;

/** An amount in a query: plain decimal digits with a point, no sign, exponent or separators. */
export const AmountParameter = z
  .string()
  .transform((text, ctx) => {
    const amount = DECIMAL.test(text) ? Number(text) : Number.NaN;
    if (amount >= CONVERSION_AMOUNT_MIN && amount <= CONVERSION_AMOUNT_MAX) return amount;
    return refuse(ctx, {
      fault: "invalid_parameter",
      detail: `must be a number from ${CONVERSION_AMOUNT_MIN} to ${CONVERSION_AMOUNT_MAX}, in digits with a decimal point, for example 1000 or 0.5.`,
      max: CONVERSION_AMOUNT_MAX,
    });
  })
  .pipe(z.number().min(CONVERSION_AMOUNT_MIN).max(CONVERSION_AMOUNT_MAX).meta({ default: 1 }));
