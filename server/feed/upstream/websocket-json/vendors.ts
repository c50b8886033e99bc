import { z } from "zod";
import { MINUTE_MS, SECOND_MS } from "#lib/units";
import type { Received } from "../port";
import type { Said, Vendor } from "./vendor";

const slashed: Vendor["symbolOf"] = ({ base, quote }) => `${base}/${quote}`;
const isPrice = (value: number | null | undefined): value is number =>
  typeof value === "number" && value > 0 && Number.isFinite(value);
const side = (value: number | null | undefined) => (isPrice(value) ? value : null);
const odd: Said[] = [{ odd: "unreadable" }];

const MassiveMessage = z.discriminatedUnion("ev", [
  z.object({ ev: z.literal("status"), status: z.string(), message: z.string().default("") }),
  z.object({ ev: z.literal("C"), p: z.string(), a: z.number().nullish(), b: z.number().nullish(), t: z.number() }),
]);

/** `p` was EUR/USD, EUR-USD and EURUSD in different years (polygon-io/issues). */
const massivePair = (pair: string) => pair.replace(/[^A-Za-z]/g, "").replace(/^(.{3})/, "$1/");

function readMassive(value: unknown): Said {
  const parsed = MassiveMessage.safeParse(value);
  if (!parsed.success) return { odd: (value as { ev?: unknown } | null)?.ev === undefined ? "unreadable" : "unknown_type" };
  const message = parsed.data;
  if (message.ev === "C")
    return { received: [{ symbol: massivePair(message.p), timeMs: message.t, bid: side(message.b), ask: side(message.a) }] };
  if (message.status === "connected") return { next: "authenticate" };
  if (message.status === "auth_success") return { next: "subscribe" };
  if (message.status === "auth_failed" || message.status === "auth_timeout")
    return { refused: `${message.message} Check MASSIVE_KEY.` };
  if (message.status === "max_connections") return { upset: message.message, retryAfterMs: 30 * SECOND_MS };
  if (message.status === "success") return { next: "listen" };
  return { odd: "refused_symbol" };
}

/** Massive, formerly Polygon: arrays of events. Its documents write a pair as EUR-USD today, and as EUR/USD in earlier years. */
export const massive: Vendor = {
  name: "massive",
  url: "wss://socket.massive.com/forex",
  begins: null,
  symbolOf: slashed,
  declares: {
    stream: { kind: "every" },
    clock: "source",
    sides: "both",
    idleMs: MINUTE_MS,
    terms: { text: "Massive's personal plans forbid passing data on.", url: "https://massive.com/terms" },
  },
  authenticate: (key) => ({ action: "auth", params: key }),
  subscribe: (symbols) => ({ action: "subscribe", params: symbols.map((symbol) => `C.${symbol}`).join(",") }),
  spellings: [(symbol) => symbol.replace("/", "-"), (symbol) => symbol],
  read: (_, json) => (Array.isArray(json) ? json.map(readMassive) : [readMassive(json)]),
};

const TiingoMessage = z.object({
  messageType: z.string(),
  response: z.object({ code: z.number(), message: z.string() }).optional(),
  data: z.unknown().optional(),
});
/** Q, ticker, time, bid size, bid, mid, ask size, ask. */
const TiingoQuote = z.tuple([
  z.literal("Q"),
  z.string(),
  z.string(),
  z.unknown(),
  z.number().nullable(),
  z.unknown(),
  z.unknown(),
  z.number().nullable(),
]);

function readTiingo(json: unknown): Said[] {
  const parsed = TiingoMessage.safeParse(json);
  if (!parsed.success) return odd;
  const { messageType, response, data } = parsed.data;
  if (messageType === "H") return ["alive"];
  if (messageType === "I") return [{ next: "listen" }];
  if (messageType === "E") {
    const said = response?.message ?? "error";
    return [response?.code === 401 || response?.code === 403 ? { refused: `${said} Check TIINGO_TOKEN.` } : { upset: said }];
  }
  const quote = TiingoQuote.safeParse(data);
  if (!quote.success) return [{ odd: messageType === "A" ? "unreadable" : "unknown_type" }];
  const [, symbol, time, , bid, , , ask] = quote.data;
  return [{ received: [{ symbol, timeMs: Date.parse(time), bid: side(bid), ask: side(ask) }] }];
}

export const tiingo: Vendor = {
  name: "tiingo",
  url: "wss://api.tiingo.com/fx",
  begins: "subscribe",
  symbolOf: ({ base, quote }) => `${base}${quote}`.toLowerCase(),
  declares: {
    stream: { kind: "every" },
    clock: "source",
    sides: "both",
    idleMs: MINUTE_MS,
    terms: { text: "Tiingo's data is for internal use.", url: "https://www.tiingo.com/about/terms" },
  },
  subscribe: (symbols, key) => ({
    eventName: "subscribe",
    authorization: key,
    eventData: { thresholdLevel: 5, tickers: symbols },
  }),
  read: (_, json) => readTiingo(json),
};

const TwelveDataMessage = z.discriminatedUnion("event", [
  z.object({ event: z.literal("heartbeat") }),
  z.object({
    event: z.literal("subscribe-status"),
    status: z.string(),
    success: z.array(z.object({ symbol: z.string() })).nullish(),
    fails: z.array(z.object({ symbol: z.string() })).nullish(),
  }),
  z.object({
    event: z.literal("price"),
    symbol: z.string(),
    timestamp: z.number(),
    bid: z.number().nullish(),
    ask: z.number().nullish(),
  }),
]);

function readTwelveData(json: unknown): Said[] {
  const parsed = TwelveDataMessage.safeParse(json);
  if (!parsed.success)
    return [{ odd: (json as { event?: unknown } | null)?.event === undefined ? "unreadable" : "unknown_type" }];
  const message = parsed.data;
  if (message.event === "heartbeat") return ["alive"];
  if (message.event === "price") {
    const { symbol, timestamp, bid, ask } = message;
    return [{ received: [{ symbol, timeMs: timestamp * SECOND_MS, bid: side(bid), ask: side(ask) }] }];
  }
  // A subscription may succeed in part.
  const fails = (message.fails ?? []).map((): Said => ({ odd: "refused_symbol" }));
  if ((message.success ?? []).length > 0) return [{ next: "listen" }, ...fails];
  return [...fails, { refused: "none of the symbols may be subscribed to. Check TWELVEDATA_KEY and its plan." }];
}

/** Times are whole seconds, and some symbols come without bid and ask. */
export const twelveData: Vendor = {
  name: "twelvedata",
  url: "wss://ws.twelvedata.com/v1/quotes/price",
  keyParameter: "apikey",
  begins: "subscribe",
  symbolOf: slashed,
  declares: {
    stream: { kind: "sampled", windowMs: SECOND_MS },
    clock: "source",
    sides: "both",
    idleMs: MINUTE_MS,
    terms: { text: "Twelve Data's personal plans do not allow passing data on.", url: "https://twelvedata.com/terms" },
  },
  subscribe: (symbols) => ({ action: "subscribe", params: { symbols: symbols.join(",") } }),
  heartbeat: { everyMs: 10 * SECOND_MS, message: { action: "heartbeat" } },
  read: (_, json) => readTwelveData(json),
};

const TraderMadeMessage = z.object({
  symbol: z.string(),
  ts: z.union([z.string(), z.number()]),
  bid: z.number().nullish(),
  ask: z.number().nullish(),
});

function readTraderMade(text: string, json: unknown): Said[] {
  const parsed = TraderMadeMessage.safeParse(json);
  if (parsed.success) {
    const { symbol, ts, bid, ask } = parsed.data;
    const received: Received = { symbol, timeMs: Number(ts), bid: side(bid), ask: side(ask) };
    return [{ received: [received] }];
  }
  // Its other messages are plain English.
  if (json !== undefined) return odd;
  if (/connected/i.test(text)) return [{ next: "listen" }];
  if (/many|limit/i.test(text)) return [{ upset: text, retryAfterMs: MINUTE_MS }];
  return /key|subscri|plan/i.test(text) ? [{ refused: `${text} Check TRADERMADE_KEY.` }] : odd;
}

export const traderMade: Vendor = {
  name: "tradermade",
  url: "wss://marketdata.tradermade.com/feedadv",
  begins: "subscribe",
  symbolOf: ({ base, quote }) => `${base}${quote}`,
  declares: {
    stream: { kind: "every" },
    clock: "source",
    sides: "both",
    idleMs: MINUTE_MS,
    terms: {
      text: "TraderMade's terms decide whether its data may be shown to others.",
      url: "https://tradermade.com/legal/terms",
    },
  },
  subscribe: (symbols, key) => ({ userKey: key, symbol: symbols.join(",") }),
  read: readTraderMade,
};
