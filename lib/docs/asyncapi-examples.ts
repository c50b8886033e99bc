import { ERRORS } from "#lib/contract/errors";
import { quoteExample } from "#lib/contract/quote";
import { marketStatusExample } from "#lib/contract/status";
import type { AckOf, ClientMessage, QuietTicker, StreamMethod } from "#lib/contract/stream";

/** A message as it is sent, with a name and a summary. */
export interface Example<Payload> {
  readonly name: string;
  readonly summary: string;
  readonly payload: Payload;
}

type ClientMessageOf<Method extends StreamMethod> = Extract<ClientMessage, { method: Method }>;

/** Values the examples share, so that they read as one conversation. */
export const EPOCH = "k3";
export const SEQUENCE = 813;
export const NOW_MSC = quoteExample.time_msc;
const { ticker } = quoteExample;

/** Examples of each method, typed by the contract. */
export const CLIENT_EXAMPLES: { readonly [Method in StreamMethod]: readonly Example<ClientMessageOf<Method>>[] } = {
  subscribe: [
    {
      name: "klines",
      summary: "One-minute klines of one ticker.",
      payload: { id: 1, method: "subscribe", params: { stream: "kline", tickers: [ticker], timeframe: "M1", snapshot: true } },
    },
    {
      name: "resume",
      summary: "Quotes of two tickers, resumed after the last record received of each.",
      payload: {
        id: "after-reconnect",
        method: "subscribe",
        params: {
          stream: "quote",
          tickers: [ticker, "XAUUSD"],
          resume: { epoch: EPOCH, seq: { [ticker]: SEQUENCE, XAUUSD: 41 } },
        },
      },
    },
  ],
  unsubscribe: [
    {
      name: "klines",
      summary: "Stop the one-minute klines of one ticker.",
      payload: { id: 2, method: "unsubscribe", params: { stream: "kline", tickers: [ticker], timeframe: "M1" } },
    },
  ],
  list: [{ name: "list", summary: "List the subscriptions of this connection.", payload: { id: 3, method: "list" } }],
  ping: [{ name: "ping", summary: "Check that the connection is alive.", payload: { id: 4, method: "ping" } }],
  ingest: [
    {
      name: "ticks",
      summary: "Two ticks, one of them sent before.",
      payload: {
        method: "ingest",
        params: {
          seq: 17,
          ticks: [
            { ticker, time_msc: NOW_MSC, bid: quoteExample.bid, ask: quoteExample.ask },
            { ticker, time_msc: NOW_MSC, bid: quoteExample.bid, ask: quoteExample.ask },
          ],
        },
      },
    },
  ],
};

const succeeded = { type: "ack", code: 0, message: "success" } as const;

/** A market that is closed. */
export const QUIET: QuietTicker = {
  ticker: marketStatusExample.ticker,
  final_display_state: marketStatusExample.final_display_state,
  reason: marketStatusExample.reason,
  next_open_at: marketStatusExample.next_open_at,
};

/** The answers to these messages. */
export const ACK_EXAMPLES: { readonly [Method in StreamMethod]: readonly Example<AckOf<Method>>[] } = {
  subscribe: [
    {
      name: "judged_alone",
      summary: "One ticker was accepted, two were rejected.",
      payload: {
        ...succeeded,
        id: 1,
        method: "subscribe",
        data: {
          accepted: [ticker],
          rejected: [
            { ticker: "GBPUSDD", code: ERRORS.unknown_ticker.code, message: "unknown_ticker", suggestion: "GBPUSD" },
            { ticker: "EUR/USD", code: ERRORS.invalid_ticker.code, message: "invalid_ticker", suggestion: "EURUSD" },
          ],
          quiet: [],
          subscriptions: 12,
        },
      },
    },
    {
      name: "resumed",
      summary: "The missed records of one ticker follow without a gap; the other ticker gets a snapshot. One market is closed.",
      payload: {
        ...succeeded,
        id: "after-reconnect",
        method: "subscribe",
        data: { accepted: [ticker, "XAUUSD"], rejected: [], resumed: [ticker], quiet: [QUIET], subscriptions: 2 },
      },
    },
  ],
  unsubscribe: [
    {
      name: "unsubscribed",
      summary: "One subscription ended.",
      payload: { ...succeeded, id: 2, method: "unsubscribe", data: { accepted: [ticker], rejected: [], subscriptions: 11 } },
    },
  ],
  list: [
    {
      name: "list",
      summary: "Two subscriptions.",
      payload: {
        ...succeeded,
        id: 3,
        method: "list",
        data: {
          subscriptions: 2,
          items: [
            { stream: "quote", ticker },
            { stream: "kline", ticker, timeframe: "M1" },
          ],
        },
      },
    },
  ],
  ping: [
    {
      name: "ping",
      summary: "The server's clock.",
      payload: { ...succeeded, id: 4, method: "ping", data: { time_msc: NOW_MSC } },
    },
  ],
  ingest: [
    {
      name: "ingested",
      summary: "One tick was accepted, the other one was sent before.",
      payload: {
        ...succeeded,
        id: null,
        method: "ingest",
        data: {
          seq: 17,
          received: 2,
          accepted: 1,
          rejected: 1,
          reasons: { duplicate: 1 },
          rejections: [{ index: 1, reason: "duplicate" }],
        },
      },
    },
  ],
};
