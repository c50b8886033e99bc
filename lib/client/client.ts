import type { Instrument } from "#lib/contract/instrument";
import type { Kline, KlineWindow } from "#lib/contract/kline";
import { KLINES_ROWS_PER_COST_UNIT, TICKS_MAX_LIMIT_ROWS } from "#lib/contract/limits";
import type { Quote } from "#lib/contract/quote";
import type { Snapshot } from "#lib/contract/snapshot";
import type { MarketStatus } from "#lib/contract/status";
import type { STREAM_PATH } from "#lib/contract/stream";
import type { StreamTicket } from "#lib/contract/stream-ticket";
import type { Conversion } from "#lib/operations/conversion/declaration";
import type { operations } from "#lib/operations/declarations";
import type { DataFileList } from "#lib/operations/files/declaration";
import type { KeyInfo } from "#lib/operations/key/declaration";
import type { TradingHours } from "#lib/operations/marketHours/declaration";
import type { Summary } from "#lib/operations/marketSummary/declaration";
import type { TickWindow } from "#lib/operations/ticks/declaration";
import { type ClientClock, monotonicClock } from "./clock";
import type { MessagePack } from "./connection";
import { createStream } from "./create-stream";
import { SpotwireError } from "./errors";
import {
  checkBaseUrl,
  checkKey,
  checkList,
  checkNumber,
  checkTickers,
  isoInstant,
  unixMilliseconds,
  unixSeconds,
} from "./options";
import type {
  ConversionQuery,
  FileQuery,
  FilesQuery,
  HoursQuery,
  KlinesQuery,
  SummaryQuery,
  TickersQuery,
  TicksQuery,
} from "./queries";
import type { RateLimit } from "./rate-limit";
import { type CallOptions, createRest } from "./rest";
import type { Dialer } from "./socket";
import type { Stream, StreamOptions } from "./stream";

/** The instruments a key may read. */
export interface InstrumentList {
  items: Instrument[];
}

/** Quotes, in the order of the request. */
export interface QuoteList {
  items: Quote[];
  /** Tickers of the request that have no quote yet; absent when all have one. */
  missing?: string[] | undefined;
}

/** Snapshots, in the order of the request. */
export interface SnapshotList {
  items: Snapshot[];
  /** Tickers of the request that have no quote yet; absent when all have one. */
  missing?: string[] | undefined;
}

/** Conversions, in the order of the request. */
export interface ConversionList {
  items: Conversion[];
  /** Targets that cannot be reached with quotes yet; absent when all can. */
  missing?: string[] | undefined;
}

/** Statuses, in the order of the request. */
export interface MarketStatusList {
  items: MarketStatus[];
}

/** The operations of readers; feeders have programs of their own. */
type ReadingId = {
  [Id in keyof typeof operations]: (typeof operations)[Id]["scope"] extends "market:ingest" ? never : Id;
}[keyof typeof operations];

/** The address of each operation, which the compiler compares with the contract. */
export const ENDPOINTS = {
  klines: { method: "GET", path: "/api/v1/market/klines" },
  marketSummary: { method: "GET", path: "/api/v1/market/summary" },
  ticks: { method: "GET", path: "/api/v1/market/ticks" },
  files: { method: "GET", path: "/api/v1/market/files" },
  file: { method: "GET", path: "/api/v1/market/files/{id}" },
  instruments: { method: "GET", path: "/api/v1/market/instruments" },
  latestQuotes: { method: "GET", path: "/api/v1/market/quotes/latest" },
  latestSnapshots: { method: "GET", path: "/api/v1/market/snapshots/latest" },
  conversion: { method: "GET", path: "/api/v1/market/conversion" },
  marketStatus: { method: "GET", path: "/api/v1/market/status" },
  marketHours: { method: "GET", path: "/api/v1/market/hours" },
  createStreamTicket: { method: "POST", path: "/api/v1/market/stream/tickets" },
  key: { method: "GET", path: "/api/v1/key" },
} as const satisfies { readonly [Id in ReadingId]: Pick<(typeof operations)[Id], "method" | "path"> };
const STREAM_ADDRESS: typeof STREAM_PATH = "/api/v1/market/stream";

const TIMEOUT_DEFAULT_S = 10;
/** A quota window lasts a minute, so this is enough to outlast an exhausted quota. */
const MAX_WAIT_DEFAULT_S = 90;
const MAX_ATTEMPTS_DEFAULT = 4;
const MAX_QUEUED_DEFAULT_CALLS = 1_000;

/** How a client reaches its service. */
export interface ClientOptions {
  /** Address of the service, for example `https://market.example.com`. */
  readonly baseUrl: string;
  /** `sw_live_…` or `sw_test_…`. Optional for a page that streams with tickets from its own backend, or with a `fetch` that adds the credentials. */
  readonly key?: string | undefined;
  /** Returns a fresh ticket for each stream connection, so that a page needs no key. */
  readonly ticket?: (() => Promise<string>) | undefined;
  /** Timeout of one attempt in seconds; 10 by default. */
  readonly timeoutS?: number | undefined;
  /** Maximum seconds a call waits for a Retry-After; 90 by default, 0 to never wait. */
  readonly maxWaitS?: number | undefined;
  /** Maximum attempts of one call; 4 by default, 1 to never retry. */
  readonly maxAttempts?: number | undefined;
  /** Maximum number of waiting calls; 1,000 by default. */
  readonly maxQueuedCalls?: number | undefined;
  /** A library for MessagePack: streams use it where the service can, for fewer bytes. JSON otherwise. */
  readonly messagePack?: MessagePack | undefined;
  /** Replaces the fetch of the runtime. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Replaces the WebSocket of the runtime. */
  readonly dialer?: Dialer | undefined;
  /** Replaces the clock of the runtime; for tests. */
  readonly clock?: ClientClock | undefined;
  /** Replaces Math.random; for tests. */
  readonly random?: (() => number) | undefined;
}

/** Typed client of a market data service. Every failure is a SpotwireError. */
export interface Client {
  /** The remaining quota from the last response; undefined before the first. */
  readonly rateLimit: RateLimit | undefined;
  klines(query: KlinesQuery, options?: CallOptions): Promise<KlineWindow>;
  /** All klines of a window from its start, page by page; the last one may still be open. */
  klinesAll(query: KlinesQuery & { readonly from: number | Date }, options?: CallOptions): AsyncIterableIterator<Kline>;
  /** What a market did, in a few rows: ranges, changes and spreads by day, week, weekday, hour, session or event. */
  marketSummary(query: SummaryQuery, options?: CallOptions): Promise<Summary>;
  /** Every tick of a window, page by page, or the newest ones. */
  ticks(query: TicksQuery, options?: CallOptions): Promise<TickWindow>;
  /** All ticks of a window from its start, page by page. */
  ticksAll(query: TicksQuery & { readonly from: number | Date }, options?: CallOptions): AsyncIterableIterator<Quote>;
  /** The files of a ticker, for bulk downloads. The list may end before `to`: then ask again from its `next_from`. */
  files(query: FilesQuery, options?: CallOptions): Promise<DataFileList>;
  /** Downloads a file of the list. The timeout of an attempt includes the whole file. */
  file(query: FileQuery, options?: CallOptions): Promise<Uint8Array<ArrayBuffer>>;
  /** The instruments this key may read. */
  instruments(options?: CallOptions): Promise<InstrumentList>;
  latestQuotes(query: TickersQuery, options?: CallOptions): Promise<QuoteList>;
  latestSnapshots(query: TickersQuery, options?: CallOptions): Promise<SnapshotList>;
  /** What an amount is worth in other currencies, at the latest quotes. */
  conversion(query: ConversionQuery, options?: CallOptions): Promise<ConversionList>;
  /** Market status and its reason, now or at another instant. */
  marketStatus(
    query: TickersQuery & { readonly at?: string | Date | undefined },
    options?: CallOptions,
  ): Promise<MarketStatusList>;
  /** When the market of a ticker is open. The answer may end before `to`: then ask again from its `to`. */
  marketHours(query: HoursQuery, options?: CallOptions): Promise<TradingHours>;
  /** Creates a ticket for one stream connection of a page. A server passes the page's `origin`. */
  createStreamTicket(query?: { readonly origin?: string | undefined }, options?: CallOptions): Promise<StreamTicket>;
  /** What this key may do, and what is left of its quota. Costs nothing. */
  key(options?: CallOptions): Promise<KeyInfo>;
  /** @throws SpotwireError invalid_key when the client has neither a key nor a ticket function */
  stream(options?: StreamOptions): Stream;
}

/**
 * Creates a client. It sends nothing yet.
 * @throws SpotwireError invalid_key for a mistyped key, invalid_argument for an invalid option
 */
export function createClient(options: ClientOptions): Client {
  const { clock = monotonicClock, random = Math.random, fetch, ticket } = options;
  const baseUrl = checkBaseUrl(options.baseUrl);
  const key = options.key === undefined ? undefined : checkKey(options.key);
  const rest = createRest({
    baseUrl,
    key,
    fetch,
    clock,
    random,
    timeoutS: checkNumber("timeoutS", options.timeoutS ?? TIMEOUT_DEFAULT_S, 0),
    maxWaitS: checkNumber("maxWaitS", options.maxWaitS ?? MAX_WAIT_DEFAULT_S, 0),
    maxAttempts: checkNumber("maxAttempts", options.maxAttempts ?? MAX_ATTEMPTS_DEFAULT, 1),
    maxQueuedCalls: checkNumber("maxQueuedCalls", options.maxQueuedCalls ?? MAX_QUEUED_DEFAULT_CALLS, 0),
  });

  async function klines(
    { ticker, timeframe, from, to, limit, price, asOf }: KlinesQuery,
    callOptions?: CallOptions,
  ): Promise<KlineWindow> {
    const window = { from: unixSeconds(from), to: unixSeconds(to), as_of: isoInstant(asOf) };
    const query = { ticker, timeframe, limit, price, ...window };
    return rest.call(ENDPOINTS.klines, query, callOptions);
  }

  async function* klinesAll(
    query: KlinesQuery & { readonly from: number | Date },
    callOptions?: CallOptions,
  ): AsyncGenerator<Kline, undefined> {
    let from: number | Date = query.from;
    for (;;) {
      const page: KlineWindow = await klines({ limit: KLINES_ROWS_PER_COST_UNIT, ...query, from }, callOptions);
      yield* page.items;
      if (page.next_from === null) return undefined;
      if (page.next_from <= page.from) throw new SpotwireError("bad_answer", "The next page does not start after this page.");
      from = page.next_from;
    }
  }

  async function ticks({ ticker, from, to, limit, cursor }: TicksQuery, callOptions?: CallOptions): Promise<TickWindow> {
    const query = { ticker, from: unixMilliseconds(from), to: unixMilliseconds(to), limit, cursor };
    return rest.call(ENDPOINTS.ticks, query, callOptions);
  }

  async function* ticksAll(
    query: TicksQuery & { readonly from: number | Date },
    callOptions?: CallOptions,
  ): AsyncGenerator<Quote, undefined> {
    let { cursor } = query;
    for (;;) {
      const page: TickWindow = await ticks({ limit: TICKS_MAX_LIMIT_ROWS, ...query, cursor }, callOptions);
      yield* page.items;
      if (page.next_cursor === null) return undefined;
      if (page.next_cursor === cursor) throw new SpotwireError("bad_answer", "The next page does not start after this page.");
      cursor = page.next_cursor;
    }
  }

  async function createStreamTicket(query: { readonly origin?: string | undefined } = {}, callOptions?: CallOptions) {
    return rest.call<StreamTicket>(ENDPOINTS.createStreamTicket, { origin: query.origin }, callOptions);
  }

  function stream(streamOptions: StreamOptions = {}): Stream {
    if (key === undefined && ticket === undefined)
      throw new SpotwireError("invalid_key", "A stream needs a key or a ticket function.");
    // The stream itself tries again, and tells its listeners why.
    const fetchTicket = async (signal: AbortSignal) =>
      (await rest.call<StreamTicket>(ENDPOINTS.createStreamTicket, {}, { signal }, 1)).ticket;
    const url = `${baseUrl.replace(/^http/, "ws")}${STREAM_ADDRESS}`;
    const { dialer, messagePack } = options;
    const canRead = key !== undefined || fetch !== undefined;
    const context = {
      key,
      ticket,
      fetchTicket,
      messagePack,
      url,
      clock,
      random,
      dialer,
      klines,
      canRead,
    };
    return createStream(context, streamOptions);
  }

  const listOf = (query: TickersQuery) => checkTickers(query.tickers).join(",");

  return {
    get rateLimit() {
      return rest.rateLimit;
    },
    klines,
    klinesAll,
    ticks,
    ticksAll,
    marketSummary: async ({ ticker, from, to, by, session, part, zone }, callOptions) =>
      rest.call(
        ENDPOINTS.marketSummary,
        { ticker, from: isoInstant(from), to: isoInstant(to), by, session, part, zone },
        callOptions,
      ),
    files: async ({ ticker, type, from, to, price, asOf }, callOptions) => {
      const window = { from: unixSeconds(from), to: unixSeconds(to), as_of: isoInstant(asOf) };
      return rest.call(ENDPOINTS.files, { ticker, type, price, ...window }, callOptions);
    },
    file: async ({ id, format }, callOptions) => {
      const path = ENDPOINTS.file.path.replace("{id}", () => encodeURIComponent(id));
      return rest.download({ method: "GET", path }, { format }, callOptions);
    },
    instruments: async (callOptions) => rest.call(ENDPOINTS.instruments, {}, callOptions),
    latestQuotes: async (query, callOptions) => rest.call(ENDPOINTS.latestQuotes, { tickers: listOf(query) }, callOptions),
    latestSnapshots: async (query, callOptions) => rest.call(ENDPOINTS.latestSnapshots, { tickers: listOf(query) }, callOptions),
    conversion: async ({ from, to, amount }, callOptions) =>
      rest.call(ENDPOINTS.conversion, { from, to: checkList("to", to, "USD").join(","), amount }, callOptions),
    marketStatus: async (query, callOptions) =>
      rest.call(ENDPOINTS.marketStatus, { tickers: listOf(query), at: isoInstant(query.at) }, callOptions),
    marketHours: async ({ ticker, from, to }, callOptions) =>
      rest.call(ENDPOINTS.marketHours, { ticker, from: unixSeconds(from), to: unixSeconds(to) }, callOptions),
    createStreamTicket,
    key: async (callOptions) => rest.call(ENDPOINTS.key, {}, callOptions),
    stream,
  };
}
