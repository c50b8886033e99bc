import { KlineWindow, klineExample } from "#lib/contract/kline";
import { KlineTable, tableOf } from "#lib/contract/kline-table";
import {
  KLINES_AS_OF_MAX_MINUTES,
  KLINES_DEFAULT_LIMIT_ROWS,
  KLINES_ROWS_PER_COST_UNIT,
  MCP_KLINES_DEFAULT_LIMIT_ROWS,
} from "#lib/contract/limits";
import { operation } from "#lib/contract/operation";
import { COUNTED_ERRORS } from "#lib/contract/operation-errors";
import {
  describeLimit,
  LimitParameter,
  PastSecondsParameter,
  PriceSideParameter,
  TimeframeParameter,
  UnixSecondsParameter,
} from "#lib/contract/primitives";
import { format, orderIssue, ticker } from "#lib/contract/query";

export const klines = operation({
  id: "klines",
  method: "GET",
  path: "/api/v1/market/klines",
  scope: "market:read",
  summary: "Historical klines",
  description:
    "Returns the klines of one ticker and timeframe from `from` (included) to `to` (excluded), in ascending order by open time.",
  query: {
    ticker,
    timeframe: {
      schema: TimeframeParameter,
      required: true,
      description: "Length of a kline. Case-sensitive: M1 is one minute, MN1 is one month.",
      example: "H1",
    },
    from: {
      schema: UnixSecondsParameter,
      required: false,
      description:
        "Start of the range in Unix seconds, or in ISO 8601 with a UTC offset; inclusive. Without `to`, returns the oldest klines from this time on.",
      example: "1767225600",
    },
    to: {
      schema: UnixSecondsParameter,
      required: false,
      description:
        "End of the range in Unix seconds, or in ISO 8601 with a UTC offset; exclusive. Without `from`, returns the newest klines before this time. A time in the future is treated as now.",
      example: "1767312000",
    },
    limit: {
      schema: LimitParameter,
      required: false,
      description: describeLimit(KLINES_DEFAULT_LIMIT_ROWS),
      example: "24",
    },
    price: {
      schema: PriceSideParameter,
      required: false,
      description:
        "Which prices the klines are made of: bid (default), ask or mid. Ask and mid klines exist only where every tick of a minute is known, with its ask: of what the live venue took since it keeps ticks, of imported ticks, and in the sandbox; ask klines also of imported klines that had asks. A longer kline exists only where every minute of its interval has the side. Other klines are left out; they are never made up from the spread.",
      example: "ask",
      advanced: true,
    },
    as_of: {
      schema: PastSecondsParameter,
      required: false,
      description: `The klines as they would have been answered at this instant: without what was imported, pushed, corrected or undone later, and without minutes that had not ended. Unix seconds, or ISO 8601 with a UTC offset, of which a fraction of a second is dropped. Not in the future. Without \`to\`, the range ends with it. At most ${KLINES_AS_OF_MAX_MINUTES.toLocaleString("en-US")} stored minutes that changed since are read for one response; for more, ask for a shorter range.`,
      example: "1767225600",
      advanced: true,
    },
    format,
  },
  data: KlineWindow,
  example: {
    ticker: "EURUSD",
    timeframe: "H1",
    from: 1_767_225_600,
    to: 1_767_229_200,
    count: 1,
    limit: KLINES_DEFAULT_LIMIT_ROWS,
    next_from: null,
    expected_count: 1,
    items: [klineExample],
  },
  errors: [
    "invalid_parameter",
    "missing_parameter",
    "invalid_ticker",
    "unsupported_timeframe",
    "invalid_range",
    "limit_out_of_range",
    "unknown_ticker",
    "not_in_plan",
    ...COUNTED_ERRORS,
  ],
  cost: ({ limit }) => Math.ceil((limit ?? KLINES_DEFAULT_LIMIT_ROWS) / KLINES_ROWS_PER_COST_UNIT),
  costWords: `Costs one rate-limit unit per ${KLINES_ROWS_PER_COST_UNIT} requested rows.`,
  mcp: {
    tool: true,
    defaults: { limit: { value: MCP_KLINES_DEFAULT_LIMIT_ROWS, description: describeLimit(MCP_KLINES_DEFAULT_LIMIT_ROWS) } },
    result: { schema: KlineTable, of: tableOf },
  },
  revalidated: true,
  check: ({ from, to }) => orderIssue(from, to),
});
