import { FormatParameter } from "./primitives";

/** Makes an operation available as CSV: it lists records in `items`. */
export const format = {
  schema: FormatParameter,
  required: false,
  description: "Format of the response (default json, unless the `Accept` header prefers `text/csv`). Errors are always JSON.",
  example: "csv",
} as const;
