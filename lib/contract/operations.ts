import { z } from "zod";
import type { ErrorId } from "./errors";
import { IngestReceipt, ingestReceiptExample } from "./ingest";
import { Instrument, instrumentExample } from "./instrument";
import { KlineWindow, klineExample } from "./kline";
import { KLINES_DEFAULT_LIMIT_ROWS, KLINES_MAX_LIMIT_ROWS, KLINES_ROWS_PER_COST_UNIT } from "./limits";
import { type Operation, operation } from "./operation";
import {
  InstantParameter,
  LimitParameter,
  OriginParameter,
  TickerListParameter,
  TickerParameter,
  TimeframeParameter,
  UnixSecondsParameter,
} from "./primitives";
import { Quote, quoteExample } from "./quote";
import { Snapshot, snapshotExample } from "./snapshot";
import { MarketStatus, marketStatusExample } from "./status";
import { StreamTicket, streamTicketExample } from "./stream-ticket";

/** Errors that any authenticated operation can answer. */
const GUARD_ERRORS = [
  "unauthorized",
  "insufficient_scope",
  "origin_not_allowed",
  "account_suspended",
  "method_not_allowed",
  "uri_too_long",
  "rate_limited",
  "internal_error",
  "service_unavailable",
] as const satisfies ErrorId[];

const LIST_ERRORS = [
  "invalid_parameter",
  "missing_parameter",
  "invalid_ticker",
  "too_many_tickers",
  "unknown_ticker",
] as const satisfies ErrorId[];

const tickers = {
  schema: TickerListParameter,
  required: true,
  description: "Comma-separated compact tickers, at most 100; slash symbols are not accepted.",
  example: "EURUSD,XAUUSD",
} as const;

const missing = z
  .array(z.string())
  .optional()
  .describe("Tickers of the request that have no quote yet; absent when every one has.");

export const operations = {
  klines: operation({
    id: "klines",
    method: "GET",
    path: "/api/v1/market/klines",
    scope: "market:read",
    summary: "Historical klines",
    description: "Klines of one ticker and timeframe in a half-open window, from <= time < to, always ascending.",
    query: {
      ticker: {
        schema: TickerParameter,
        required: true,
        description: "A single compact ticker, for example EURUSD.",
        example: "EURUSD",
      },
      timeframe: {
        schema: TimeframeParameter,
        required: true,
        description: "Length of a kline. Case-sensitive: M1 is a minute, MN1 a month.",
        example: "H1",
      },
      from: {
        schema: UnixSecondsParameter,
        required: false,
        description: "Start of the window in Unix seconds, included. Alone: the oldest rows from there.",
        example: "1767225600",
      },
      to: {
        schema: UnixSecondsParameter,
        required: false,
        description:
          "End of the window in Unix seconds, excluded. Alone: the newest rows before it. A future one is taken as now.",
        example: "1767312000",
      },
      limit: {
        schema: LimitParameter,
        required: false,
        description: `Most rows in the answer, ${KLINES_DEFAULT_LIMIT_ROWS} when omitted. Outside 1 to ${KLINES_MAX_LIMIT_ROWS} it is refused, never clamped.`,
        example: "24",
      },
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
      ...GUARD_ERRORS,
    ],
    cost: ({ limit }) => Math.ceil((limit ?? KLINES_DEFAULT_LIMIT_ROWS) / KLINES_ROWS_PER_COST_UNIT),
    check: ({ from, to }) =>
      from !== undefined && to !== undefined && from >= to
        ? { fault: "invalid_range", parameter: "from", detail: "`from` must be before `to`." }
        : undefined,
  }),
  instruments: operation({
    id: "instruments",
    method: "GET",
    path: "/api/v1/market/instruments",
    scope: "market:read",
    summary: "Instruments",
    description: "The instruments available to the calling account, by asset class, then ticker.",
    query: {},
    data: z.object({ items: z.array(Instrument) }),
    example: { items: [instrumentExample] },
    errors: ["invalid_parameter", ...GUARD_ERRORS],
    cost: () => 1,
  }),
  latestQuotes: operation({
    id: "latestQuotes",
    method: "GET",
    path: "/api/v1/market/quotes/latest",
    scope: "market:read",
    summary: "Latest quotes",
    description: "The latest quote of each ticker, in the order asked for.",
    query: { tickers },
    data: z.object({ items: z.array(Quote), missing }),
    example: { items: [quoteExample] },
    errors: [...LIST_ERRORS, "market_data_not_ready", ...GUARD_ERRORS],
    cost: () => 1,
  }),
  latestSnapshots: operation({
    id: "latestSnapshots",
    method: "GET",
    path: "/api/v1/market/snapshots/latest",
    scope: "market:read",
    summary: "Latest snapshots",
    description: "The latest snapshot of each ticker, in the order asked for.",
    query: { tickers },
    data: z.object({ items: z.array(Snapshot), missing }),
    example: { items: [snapshotExample] },
    errors: [...LIST_ERRORS, "market_data_not_ready", ...GUARD_ERRORS],
    cost: () => 1,
  }),
  marketStatus: operation({
    id: "marketStatus",
    method: "GET",
    path: "/api/v1/market/status",
    scope: "market:read",
    summary: "Market status",
    description: "Calendar-aware state of each ticker, now or at a given instant.",
    query: {
      tickers,
      at: {
        schema: InstantParameter,
        required: false,
        description: "ISO 8601 instant with offset to answer for, instead of now.",
        example: "2026-12-25T12:00:00Z",
      },
    },
    data: z.object({ items: z.array(MarketStatus) }),
    example: { items: [marketStatusExample] },
    errors: [...LIST_ERRORS, ...GUARD_ERRORS],
    cost: () => 1,
  }),
  createStreamTicket: operation({
    id: "createStreamTicket",
    method: "POST",
    path: "/api/v1/market/stream/tickets",
    scope: "market:stream",
    summary: "Stream ticket",
    description:
      "A ticket that opens one stream connection in a browser, which cannot send a key with a WebSocket. It is bound to the key and to the origin: that of the request, or the one named by a server that asks for its page.",
    query: {
      origin: {
        schema: OriginParameter,
        required: false,
        description: "Origin of the page the ticket is for, when a server asks in its place. It must be among the key's origins.",
        example: "https://app.example.com",
      },
    },
    data: StreamTicket,
    example: streamTicketExample,
    errors: ["invalid_parameter", ...GUARD_ERRORS],
    cost: () => 1,
  }),
  ingestTicks: operation({
    id: "ingestTicks",
    method: "POST",
    path: "/api/v1/ingest/ticks",
    scope: "market:ingest",
    summary: "Push ticks",
    description:
      "Delivers ticks to the key's venue as NDJSON, one object a line. Each line is judged alone. Accepted ticks are in the engine when the answer comes. A repeated batch changes nothing.",
    query: {},
    body: {
      mediaType: "application/x-ndjson",
      description: "One tick a line: {ticker, time_msc, bid, ask, volume?}.",
      example: '{"ticker":"EURUSD","time_msc":1767225600123,"bid":1.08543,"ask":1.08551}\n',
    },
    data: IngestReceipt,
    example: ingestReceiptExample,
    errors: ["invalid_parameter", "payload_too_large", ...GUARD_ERRORS],
    cost: () => 1,
  }),
};

export type OperationId = keyof typeof operations;
export const OPERATION_LIST: readonly Operation[] = Object.values(operations) as unknown as Operation[];
