import { z } from "zod";
import { TICKERS_PER_REQUEST_MAX_COUNT } from "./limits";
import { FormatParameter, TickerListParameter, TickerParameter } from "./primitives";

/** The one ticker that an operation is about. */
export const ticker = {
  schema: TickerParameter,
  required: true,
  description: "A single ticker in compact form, for example EURUSD.",
  example: "EURUSD",
} as const;

/** The tickers that an operation is about. */
export const tickers = {
  schema: TickerListParameter,
  required: true,
  list: true,
  description: `Tickers, at most ${TICKERS_PER_REQUEST_MAX_COUNT}, in compact form: EURUSD, not EUR/USD.`,
  example: "EURUSD,XAUUSD",
} as const;

/** The tickers of a list that have no record yet. */
export const missing = z
  .array(z.string())
  .optional()
  .describe("Requested tickers that have no quote yet. Absent when all of them have one.");

/** Makes an operation available as CSV: it lists records in `items`. */
export const format = {
  schema: FormatParameter,
  required: false,
  description: "Format of the response (default json, unless the `Accept` header prefers `text/csv`). Errors are always JSON.",
  example: "csv",
  advanced: true,
} as const;

/** What is wrong with a range that does not begin before it ends; undefined for nothing, or where an end is left open. */
export function orderIssue(from: number | undefined, to: number | undefined) {
  if (from === undefined || to === undefined || from < to) return undefined;
  return { fault: "invalid_range", parameter: "from", detail: "`from` must be before `to`." } as const;
}
