import { z } from "zod";
import { DAY_S } from "#lib/units";
import { AmountParameter, Conversion, CurrencyListParameter, CurrencyParameter, conversionExample } from "./conversion";
import { file, files } from "./files";
import { marketHours } from "./hours";
import { IngestReceipt, ingestReceiptExample, TickLine } from "./ingest";
import { IngestState, ingestStateExample, KlineLine, KlineReceipt, klineReceiptExample, ReplaceParameter } from "./ingest-klines";
import { Instrument, instrumentExample } from "./instrument";
import { KeyInfo, keyInfoExample } from "./key";
import { klines } from "./klines";
import {
  CONVERSION_TARGETS_MAX_COUNT,
  INGEST_KLINES_MAX_AGE_S,
  INGEST_KLINES_MAX_BYTES,
  INGEST_KLINES_MAX_ROWS,
  INGEST_MAX_BYTES,
  INGEST_MAX_LINES,
  INGEST_PUSH_MIN_TICKS,
  KLINES_ROWS_PER_COST_UNIT,
  TICKERS_PER_REQUEST_MAX_COUNT,
} from "./limits";
import { type Operation, operation } from "./operation";
import { GUARD_ERRORS, KEY_ERRORS, LIST_ERRORS } from "./operation-errors";
import { InstantParameter, OriginParameter, TickerListParameter, UnixSecondsParameter } from "./primitives";
import { format } from "./query";
import { Quote, quoteExample } from "./quote";
import { Snapshot, snapshotExample } from "./snapshot";
import { MarketStatus, marketStatusExample } from "./status";
import { StreamTicket, streamTicketExample } from "./stream-ticket";
import { ticks } from "./ticks";

const tickers = {
  schema: TickerListParameter,
  required: true,
  list: true,
  description: `Tickers, at most ${TICKERS_PER_REQUEST_MAX_COUNT}, in compact form: EURUSD, not EUR/USD.`,
  example: "EURUSD,XAUUSD",
} as const;

const missing = z
  .array(z.string())
  .optional()
  .describe("Requested tickers that have no quote yet. Absent when all of them have one.");

export const operations = {
  klines,
  ticks,
  files,
  file,
  instruments: operation({
    id: "instruments",
    method: "GET",
    path: "/api/v1/market/instruments",
    scope: "market:read",
    summary: "Instruments",
    description: "Returns the instruments available to your key, sorted by asset class, then ticker.",
    query: { format },
    data: z.object({ items: z.array(Instrument).describe("The instruments, sorted by asset class, then ticker.") }),
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
    description: "Returns the latest quote of each ticker, in the order you requested them.",
    query: { tickers, format },
    data: z.object({ items: z.array(Quote).describe("One quote per ticker, in the order you requested them."), missing }),
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
    description: "Returns the latest snapshot of each ticker, in the order you requested them.",
    query: { tickers, format },
    data: z.object({ items: z.array(Snapshot).describe("One snapshot per ticker, in the order you requested them."), missing }),
    example: { items: [snapshotExample] },
    errors: [...LIST_ERRORS, "market_data_not_ready", ...GUARD_ERRORS],
    cost: () => 1,
  }),
  conversion: operation({
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
    errors: ["invalid_parameter", "missing_parameter", "unknown_ticker", "market_data_not_ready", ...GUARD_ERRORS],
    cost: () => 1,
  }),
  marketStatus: operation({
    id: "marketStatus",
    method: "GET",
    path: "/api/v1/market/status",
    scope: "market:read",
    summary: "Market status",
    description: "Returns the market status of each ticker, now or at a given time, based on its trading calendar and its data.",
    query: {
      tickers,
      at: {
        schema: InstantParameter,
        required: false,
        description: "Time to return the status for, in ISO 8601 with a UTC offset (default: now).",
        example: "2026-12-25T12:00:00Z",
      },
      format,
    },
    data: z.object({ items: z.array(MarketStatus).describe("One status per ticker, in the order you requested them.") }),
    example: { items: [marketStatusExample] },
    errors: [...LIST_ERRORS, ...GUARD_ERRORS],
    cost: () => 1,
  }),
  marketHours,
  createStreamTicket: operation({
    id: "createStreamTicket",
    method: "POST",
    path: "/api/v1/market/stream/tickets",
    scope: "market:stream",
    summary: "Stream ticket",
    description:
      "Creates a ticket that opens one stream connection. Browsers need one because they cannot send a key with a WebSocket. The ticket is bound to the key and to an origin: the `Origin` of the request, or the `origin` parameter when your server creates the ticket for its page. While the key or its account has no connection left, the answer is `too_many_connections`, as it is for the handshake.",
    query: {
      origin: {
        schema: OriginParameter,
        required: false,
        description:
          "Origin of the page that will use the ticket, when your server requests it. It must be one of the key's allowed origins.",
        example: "https://app.example.com",
      },
    },
    data: StreamTicket,
    example: streamTicketExample,
    errors: ["invalid_parameter", "too_many_connections", ...GUARD_ERRORS],
    cost: () => 1,
  }),
  ingestTicks: operation({
    id: "ingestTicks",
    method: "POST",
    path: "/api/v1/ingest/ticks",
    scope: "market:ingest",
    summary: "Push ticks",
    description:
      "Sends ticks to the key's venue as NDJSON, one object per line. Each line is checked on its own, so one bad line does not affect the others. Accepted ticks are available as soon as the response arrives. Sending a batch again changes nothing.",
    query: {},
    body: {
      mediaType: "application/x-ndjson",
      description: "One tick per line: {ticker, time_msc, bid, ask, volume?}.",
      example: '{"ticker":"EURUSD","time_msc":1767225600123,"bid":1.08543,"ask":1.08551}\n',
      line: TickLine,
      maxLines: INGEST_MAX_LINES,
      maxBytes: INGEST_MAX_BYTES,
    },
    data: IngestReceipt,
    example: ingestReceiptExample,
    errors: ["invalid_parameter", "payload_too_large", ...GUARD_ERRORS],
    countedIn: "ticks",
    cost: () => INGEST_PUSH_MIN_TICKS,
  }),
  ingestKlines: operation({
    id: "ingestKlines",
    method: "POST",
    path: "/api/v1/ingest/klines",
    scope: "market:ingest",
    summary: "Push klines",
    description: `Sends closed M1 klines of bid prices as NDJSON, one object per line, to fill minutes that your feeder missed. Longer klines are computed from them. A batch has at most ${INGEST_KLINES_MAX_ROWS} klines, none older than ${INGEST_KLINES_MAX_AGE_S / DAY_S} days: import older ones. Each line is checked on its own. Minutes of which this service heard every tick are never replaced. The klines of a ticker are stored together or not at all, and operators can undo them like an import. Sending a batch again changes nothing.`,
    query: {
      replace: {
        schema: ReplaceParameter,
        required: false,
        description:
          "Which minutes to store: `gaps` (default) those without a kline, and those that this service saw only in part; `all` also those that an import or an earlier batch stored.",
        example: "gaps",
      },
    },
    body: {
      mediaType: "application/x-ndjson",
      description: "One kline per line: {ticker, time, open, high, low, close, tick_volume, real_volume?, spread?}.",
      example:
        '{"ticker":"EURUSD","time":1767225600,"open":1.08543,"high":1.08551,"low":1.0854,"close":1.08548,"tick_volume":42}\n',
      line: KlineLine,
      maxLines: INGEST_KLINES_MAX_ROWS,
      maxBytes: INGEST_KLINES_MAX_BYTES,
    },
    data: KlineReceipt,
    example: klineReceiptExample,
    errors: ["invalid_parameter", "payload_too_large", ...GUARD_ERRORS],
    cost: () => Math.ceil(INGEST_KLINES_MAX_ROWS / KLINES_ROWS_PER_COST_UNIT),
  }),
  ingestState: operation({
    id: "ingestState",
    method: "GET",
    path: "/api/v1/ingest/state",
    scope: "market:ingest",
    summary: "Ingest state",
    description:
      "Returns what is stored of each ticker and which minutes are missing, so that a feeder knows where to continue after an outage.",
    query: {
      tickers,
      before: {
        schema: UnixSecondsParameter,
        required: false,
        description: "Only missing minutes before this time, in Unix seconds: the `missing_before` of an earlier response.",
        example: "1767225600",
      },
    },
    data: IngestState,
    example: ingestStateExample,
    errors: [...LIST_ERRORS, ...GUARD_ERRORS],
    cost: () => 1,
  }),
  key: operation({
    id: "key",
    method: "GET",
    path: "/api/v1/key",
    scope: "any",
    summary: "Your key",
    description:
      "Returns what the key of the request can be used for, and what is left of its quota. Works with every key. The response never contains the key itself.",
    query: {},
    data: KeyInfo,
    example: keyInfoExample,
    errors: ["invalid_parameter", ...KEY_ERRORS],
    cost: () => 0,
  }),
};

export type OperationId = keyof typeof operations;
export const OPERATION_LIST: readonly Operation[] = Object.values(operations) as unknown as Operation[];
