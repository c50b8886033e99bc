import { z } from "zod";
import { CURRENCY_SHAPE, Currency, CurrencyParameter } from "#lib/contract/currency";
import {
  CONVERSION_AMOUNT_MAX,
  CONVERSION_AMOUNT_MIN,
  CONVERSION_LEGS_MAX_COUNT,
  CONVERSION_SIGNIFICANT_DIGITS,
  CONVERSION_TARGETS_MAX_COUNT,
} from "#lib/contract/limits";
import { operation } from "#lib/contract/operation";
import { COUNTED_ERRORS } from "#lib/contract/operation-errors";
import { emptyItem, Price, Ticker, UnixMilliseconds } from "#lib/contract/primitives";
import { format } from "#lib/contract/query";
import { MARKET_DATA_STATES } from "#lib/contract/status";
import { refuse } from "#lib/contract/validate";

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

const conversionExample: Conversion = {
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

/** A comma-separated list of currencies: trimmed, upper-cased, without duplicates, in the order given. */
const CurrencyListParameter = z
  .string()
  .transform((text, ctx) => {
    const elements = text.split(",").map((element) => element.trim());
    const empty = elements.indexOf("");
    if (empty >= 0) return refuse(ctx, { fault: "missing_parameter", detail: emptyItem(empty, elements.length) });
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

export const conversion = operation({
  id: "conversion",
  method: "GET",
  path: "/api/v1/market/conversion",
  scope: "market:read",
  summary: "Conversion",
  description:
    "Converts an amount from one currency or metal to others at the latest quotes: directly, inversely or through one other currency, by the path with the least spread. Paths without stale quotes come first.",
  query: {
    from: {
      schema: CurrencyParameter,
      required: true,
      description: "The currency to convert from, for example USD, or XAU for an ounce of gold.",
      example: "USD",
    },
    to: {
      schema: CurrencyListParameter,
      required: true,
      list: true,
      description: `The currencies to convert to, at most ${CONVERSION_TARGETS_MAX_COUNT}.`,
      example: "JPY,EUR",
    },
    amount: {
      schema: AmountParameter,
      required: false,
      description: "The amount to convert (default 1).",
      example: "1000",
    },
    format,
  },
  data: z.object({
    items: z.array(Conversion).describe("One conversion per target, in the order you requested them."),
    missing: z
      .array(z.string())
      .optional()
      .describe("Requested targets that cannot be reached with quotes yet. Absent when all of them can."),
  }),
  example: { items: [conversionExample] },
  errors: ["invalid_parameter", "missing_parameter", "unknown_ticker", "market_data_not_ready", ...COUNTED_ERRORS],
  cost: () => 1,
  mcp: { tool: true },
});
