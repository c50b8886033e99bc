import { z } from "zod";
import {
  TICKS_DEFAULT_LIMIT_ROWS,
  TICKS_MAX_LIMIT_ROWS,
  TICKS_PER_COST_UNIT,
  TICKS_SAME_TIME_MAX_COUNT,
} from "#lib/contract/limits";
import { operation } from "#lib/contract/operation";
import { COUNTED_ERRORS } from "#lib/contract/operation-errors";
import { Ticker, TickLimitParameter, UnixMilliseconds, UnixMillisecondsParameter } from "#lib/contract/primitives";
import { format, orderIssue, ticker } from "#lib/contract/query";
import { Quote, quoteExample } from "#lib/contract/quote";
import { refuse } from "#lib/contract/validate";

/** Where the next page begins: behind so many ticks of a time. */
interface TickPlace {
  /** Unix milliseconds. */
  readonly time: number;
  readonly skip: number;
}

const CURSOR = /^([0-9a-z]{1,9})-([0-9a-z]{1,6})$/;

/** The text of a place, for clients to send back. */
export const cursorOf = ({ time, skip }: TickPlace): string => `${time.toString(36)}-${skip.toString(36)}`;

/** The place of a cursor. */
export function placeOf(cursor: string): TickPlace {
  const [, time = "", skip = ""] = CURSOR.exec(cursor) ?? [];
  return { time: Number.parseInt(time, 36), skip: Number.parseInt(skip, 36) };
}

const CursorParameter = z
  .string()
  .transform((text, ctx) => {
    if (!CURSOR.test(text))
      return refuse(ctx, { fault: "invalid_parameter", detail: "must be the `next_cursor` of an earlier response." });
    if (placeOf(text).skip <= TICKS_SAME_TIME_MAX_COUNT) return text;
    const most = TICKS_SAME_TIME_MAX_COUNT.toLocaleString("en-US");
    return refuse(ctx, { fault: "invalid_parameter", detail: `leads behind more than ${most} ticks of one millisecond.` });
  })
  .pipe(z.string());

/** Quotes of the past, in ascending order by time. */
export const TickWindow = z
  .object({
    ticker: Ticker,
    from: UnixMilliseconds.nullable().describe("Start of the range, inclusive; null if it begins with the first tick."),
    to: UnixMilliseconds.describe("End of the range, exclusive."),
    count: z.int().min(0).describe("Number of quotes in `items`."),
    limit: z.int().min(1).max(TICKS_MAX_LIMIT_ROWS).describe("The limit that was applied."),
    next_cursor: z
      .string()
      .nullable()
      .describe("The `cursor` of the next page, if the range has more than `limit` quotes; otherwise null. Opaque."),
    items: z
      .array(Quote)
      .describe("The quotes, in ascending order by time, those of one millisecond in the order in which they came."),
  })
  .meta({ id: "TickWindow", description: "A range of quotes of the past, in ascending order by time." });
export type TickWindow = z.infer<typeof TickWindow>;

const example: TickWindow = {
  ticker: "EURUSD",
  from: 1_767_225_600_000,
  to: 1_767_229_200_000,
  count: 1,
  limit: TICKS_DEFAULT_LIMIT_ROWS,
  next_cursor: null,
  items: [quoteExample],
};

export const ticks = operation({
  id: "ticks",
  method: "GET",
  path: "/api/v1/market/ticks",
  scope: "market:read",
  summary: "Historical ticks",
  description:
    "Returns the quotes of one ticker from `from` (included) to `to` (excluded), in ascending order by time: every tick that the venue took, or that was imported. With `Accept: application/x-ndjson`, the response has one quote in JSON per line; there and in CSV, the header `Link` has the next page. Ticks of the live venue can be read some five seconds after they came.",
  query: {
    ticker,
    from: {
      schema: UnixMillisecondsParameter,
      required: false,
      description:
        "Start of the range in Unix milliseconds, or in ISO 8601 with a UTC offset; inclusive. Without it, and without `cursor`, returns the newest quotes before `to`.",
      example: "1767225600000",
    },
    to: {
      schema: UnixMillisecondsParameter,
      required: false,
      description:
        "End of the range in Unix milliseconds, or in ISO 8601 with a UTC offset; exclusive (default: now). A time in the future is treated as now.",
      example: "1767229200000",
    },
    limit: {
      schema: TickLimitParameter,
      required: false,
      description: `Maximum number of quotes to return (default ${TICKS_DEFAULT_LIMIT_ROWS}). Values outside 1–${TICKS_MAX_LIMIT_ROWS} return an error.`,
      example: "20",
    },
    cursor: {
      schema: CursorParameter,
      required: false,
      description:
        "The `next_cursor` of the page before, to continue after it. It takes the place of `from`; the other parameters stay as they are. It is valid as long as the ticks are kept.",
      example: "mjuw5fcr-1",
      advanced: true,
    },
    format,
  },
  data: TickWindow,
  lines: true,
  example,
  errors: [
    "invalid_parameter",
    "missing_parameter",
    "invalid_ticker",
    "invalid_range",
    "limit_out_of_range",
    "unknown_ticker",
    "not_in_plan",
    ...COUNTED_ERRORS,
  ],
  cost: ({ limit }) => Math.ceil((limit ?? TICKS_DEFAULT_LIMIT_ROWS) / TICKS_PER_COST_UNIT),
  costWords: `Costs one rate-limit unit per ${TICKS_PER_COST_UNIT} requested rows.`,
  mcp: {
    tool: false,
    because:
      "It is for programs that read millions of quotes. An agent asks klines, whose rows say as much in a few hundred words.",
  },
  check: ({ from, to }) => orderIssue(from, to),
});
