import { FormatParameter, TickerParameter } from "./primitives";

/** The one ticker that an operation is about. */
export const ticker = {
  schema: TickerParameter,
  required: true,
  description: "A single ticker in compact form, for example EURUSD.",
  example: "EURUSD",
} as const;

/** Makes an operation available as CSV: it lists records in `items`. */
export const format = {
  schema: FormatParameter,
  required: false,
  description: "Format of the response (default json, unless the `Accept` header prefers `text/csv`). Errors are always JSON.",
  example: "csv",
} as const;

/** What is wrong with a range that does not begin before it ends; undefined for nothing, or where an end is left open. */
export function orderIssue(from: number | undefined, to: number | undefined) {
  if (from === undefined || to === undefined || from < to) return undefined;
  return { fault: "invalid_range", parameter: "from", detail: "`from` must be before `to`." } as const;
}
