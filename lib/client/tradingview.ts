import type { AssetClass, Instrument } from "#lib/contract/instrument";
import type { Timeframe } from "#lib/contract/primitives";
import { nearTicker, searchInstruments } from "#lib/instrument-search";
import type { TradingHours } from "#lib/operations/marketHours/declaration";
import { DAY_S } from "#lib/units";
import type { Client } from "./client";
import { type ClientClock, monotonicClock } from "./clock";
import { asSpotwireError, SpotwireError } from "./errors";
import type { Stream } from "./stream";
import { ZONE } from "./trading-date";
import { readHistory } from "./tradingview/history";
import type {
  DatafeedConfiguration,
  HistoryMetadata,
  LibraryBar,
  PeriodParams,
  Resolution,
  SearchResult,
  SymbolInfo,
  SymbolName,
} from "./tradingview/library";
import { createLive } from "./tradingview/live";
import { sessionTexts } from "./tradingview/sessions";

export type * from "./tradingview/library";

/** Each timeframe as a resolution of the library, ascending. */
const RESOLUTIONS: Readonly<Record<Timeframe, string>> = {
  M1: "1",
  M5: "5",
  M15: "15",
  M30: "30",
  H1: "60",
  H4: "240",
  D1: "1D",
  W1: "1W",
  MN1: "1M",
};
const TIMEFRAMES = Object.keys(RESOLUTIONS) as readonly Timeframe[];
/** Names that the library has for the classes of instruments. */
const TYPES: Readonly<Record<AssetClass, string>> = { forex: "forex", metals: "commodity", test: "forex" };

/** Sessions are read so far back and ahead; farther away the usual week is assumed. */
const HOURS_BACK_S = 730 * DAY_S;
const HOURS_AHEAD_S = 365 * DAY_S;
/** Answers about the hours of a symbol; only a market that opens by the minute has more. */
const HOURS_ANSWERS_MAX_COUNT = 4;
/** The list of instruments is read again after this time. */
const INSTRUMENTS_MAX_AGE_MS = 300_000;

/** How a datafeed tells the page what the library does not show. */
export interface DatafeedOptions {
  /** Name of the exchange in the library; `Spotwire` by default. */
  readonly exchange?: string | undefined;
  /** A stream that the page uses for more than this datafeed, and closes itself; by default the datafeed opens one. */
  readonly stream?: Stream | undefined;
  /**
   * Bars that the library keeps are wrong or missing, after a gap or a correction. The datafeed makes the library drop them; call
   * `resetData()` of the chart to load them again at once.
   */
  readonly onReset?: ((symbol: string, resolution: string) => void) | undefined;
  /** The stream failed. It reconnects unless the error is final, for example because the key was revoked. */
  readonly onError?: ((error: SpotwireError) => void) | undefined;
  /** Replaces the clock of the runtime; for tests. */
  readonly clock?: ClientClock | undefined;
  /** Replaces Date.now; for tests. */
  readonly now?: (() => number) | undefined;
}

/** A datafeed as the Charting Library calls it. Its callbacks are called asynchronously, errors are sentences. */
export interface Datafeed {
  onReady(callback: (configuration: DatafeedConfiguration) => void): void;
  searchSymbols(input: string, exchange: string, type: string, onResult: (results: SearchResult[]) => void): void;
  resolveSymbol(name: string, onResolve: (symbol: SymbolInfo) => void, onError: (reason: string) => void): void;
  getBars(
    symbol: SymbolName,
    resolution: string,
    period: PeriodParams,
    onResult: (bars: LibraryBar[], meta: HistoryMetadata) => void,
    onError: (reason: string) => void,
  ): void;
  subscribeBars(
    symbol: SymbolName,
    resolution: string,
    onTick: (bar: LibraryBar) => void,
    listenerId: string,
    onResetCacheNeeded: () => void,
  ): void;
  unsubscribeBars(listenerId: string): void;
  /** Unix seconds. Not called back when the service does not answer: the library then uses the clock of the device. */
  getServerTime(callback: (time: number) => void): void;
  /** Ends the stream, unless it was passed; call it when the chart is removed. */
  close(): void;
}

/** The failure in a sentence, as the library shows it. */
function wordsOf(thrown: unknown): string {
  const { detail, data, retryAfterS, requestId } = asSpotwireError(thrown, "The service did not answer");
  const meant = data.suggestion === undefined ? "" : ` Did you mean ${data.suggestion}?`;
  const wait = retryAfterS === undefined ? "" : ` Try again in ${retryAfterS} s.`;
  return `${detail}${meant}${wait}${requestId === undefined ? "" : ` (request ${requestId})`}`;
}

/** @throws SpotwireError invalid_argument that names the supported resolutions */
function timeframeOf(resolution: string): Timeframe {
  const text = /^[DWM]$/.test(resolution) ? `1${resolution}` : resolution;
  const found = TIMEFRAMES.find((timeframe) => RESOLUTIONS[timeframe] === text);
  if (found !== undefined) return found;
  const supported = Object.values(RESOLUTIONS).join(", ");
  throw new SpotwireError("invalid_argument", `Resolution ${resolution} is not supported, but ${supported} are.`);
}

const resolutionsOf = (timeframes: readonly Timeframe[]) =>
  TIMEFRAMES.filter((one) => timeframes.includes(one)).map((one) => RESOLUTIONS[one] as Resolution);

/** The ticker in `EURUSD` or `EXCHANGE:EURUSD`. */
const tickerOf = ({ name, ticker = name }: SymbolName) => ticker.replace(/^[^:]*:/, "").toUpperCase();

function symbolOf(instrument: Instrument, hours: TradingHours, exchange: string): SymbolInfo {
  const { ticker, name, asset_class, quote_currency, digits, timeframes } = instrument;
  const resolutions = resolutionsOf(timeframes);
  const intraday = resolutions.filter((resolution) => /^\d+$/.test(resolution));
  const ends = (unit: string) => resolutions.some((resolution) => resolution.endsWith(unit));
  return {
    name: ticker,
    full_name: ticker,
    ticker,
    description: name,
    type: TYPES[asset_class],
    exchange,
    listed_exchange: exchange,
    currency_code: quote_currency,
    timezone: ZONE,
    ...sessionTexts(hours),
    format: "price",
    minmov: 1,
    pricescale: 10 ** digits,
    visible_plots_set: "ohlcv",
    volume_precision: 0,
    has_intraday: intraday.length > 0,
    intraday_multipliers: intraday,
    has_daily: ends("D"),
    daily_multipliers: ["1"],
    has_weekly_and_monthly: ends("W") || ends("M"),
    weekly_multipliers: ["1"],
    monthly_multipliers: ["1"],
    supported_resolutions: resolutions,
    data_status: "streaming",
  };
}

/** Reads what the datafeed needs to know about symbols. */
function createSymbols(client: Client, clock: ClientClock, now: () => number) {
  let known: { readonly list: Promise<readonly Instrument[]>; readonly atMs: number } | undefined;

  function instruments(): Promise<readonly Instrument[]> {
    if (known === undefined || clock.now() - known.atMs > INSTRUMENTS_MAX_AGE_MS) {
      const list = client.instruments().then(({ items }) => items);
      known = { list, atMs: clock.now() };
      // A failure is not kept.
      list.catch(() => {
        known = undefined;
      });
    }
    return known.list;
  }

  /** @throws SpotwireError unknown_ticker with a suggestion */
  async function find(name: string): Promise<Instrument> {
    const list = await instruments();
    const ticker = tickerOf({ name });
    const found = list.find((instrument) => instrument.ticker === ticker);
    if (found !== undefined) return found;
    const suggestion = nearTicker(ticker, list) ?? searchInstruments(list, ticker)[0]?.ticker;
    const data = suggestion === undefined ? {} : { suggestion };
    throw new SpotwireError("unknown_ticker", `Unknown symbol ${ticker}.`, { data });
  }

  async function hoursOf(ticker: string): Promise<TradingHours> {
    const today = Math.floor(now() / 1000 / DAY_S) * DAY_S;
    const end = today + HOURS_AHEAD_S;
    let hours = await client.marketHours({ ticker, from: today - HOURS_BACK_S, to: end });
    for (let answers = 1; answers < HOURS_ANSWERS_MAX_COUNT && hours.to < end; answers += 1) {
      const next = await client.marketHours({ ticker, from: hours.to, to: end });
      if (next.to === next.from) break;
      hours = { ...hours, to: next.to, sessions: [...hours.sessions, ...next.sessions] };
    }
    return hours;
  }

  return { instruments, find, hoursOf };
}

/** Calls back with a result, or with why there is none. What a callback throws is the library's own affair. */
function answer<Result>(work: Promise<Result>, onResult: (result: Result) => void, onError: (reason: string) => void): void {
  void work.then(onResult, (thrown) => onError(wordsOf(thrown)));
}

/**
 * Makes a datafeed for TradingView's Charting Library (Advanced Charts, Trading Platform): symbols, sessions with holidays and early
 * closes, history of any length, and live bars over one stream that reconnects and resumes.
 */
export function createDatafeed(client: Client, options: DatafeedOptions = {}): Datafeed {
  const { exchange = "Spotwire", stream, onReset, onError = () => undefined, clock = monotonicClock, now = Date.now } = options;
  const symbols = createSymbols(client, clock, now);
  const live = createLive({ client, shared: stream, clock, onError });
  /** The newest bar that the library was given, by symbol and timeframe. */
  const newest = new Map<string, LibraryBar>();
  const keyOf = (symbol: SymbolName, timeframe: Timeframe) => `${tickerOf(symbol)} ${timeframe}`;

  async function search(input: string, type: string): Promise<SearchResult[]> {
    const found = searchInstruments(await symbols.instruments(), input).filter(
      ({ asset_class }) => type === "" || TYPES[asset_class] === type,
    );
    return found.map(({ ticker, name, asset_class }) => ({
      symbol: ticker,
      full_name: ticker,
      ticker,
      description: name,
      exchange,
      type: TYPES[asset_class],
    }));
  }

  async function resolve(name: string): Promise<SymbolInfo> {
    const instrument = await symbols.find(name);
    return symbolOf(instrument, await symbols.hoursOf(instrument.ticker), exchange);
  }

  async function read(symbol: SymbolName, resolution: string, { from, to, countBack }: PeriodParams) {
    const timeframe = timeframeOf(resolution);
    // The library asks ever further back; the service knows no time before 1970.
    if (to <= 0) return { bars: [], meta: { noData: true } };
    const history = await readHistory(client, {
      ticker: tickerOf(symbol),
      timeframe,
      from,
      to,
      ...(countBack !== undefined && { countBack }),
    });
    const last = history.bars.at(-1);
    const key = keyOf(symbol, timeframe);
    if (last !== undefined && last.time >= (newest.get(key)?.time ?? 0)) newest.set(key, last);
    return history;
  }

  /** Reports a resolution that is not supported. */
  function supported(resolution: string): Timeframe | undefined {
    try {
      return timeframeOf(resolution);
    } catch (thrown) {
      onError(asSpotwireError(thrown, "Not supported"));
      return undefined;
    }
  }

  return {
    onReady(callback) {
      const types = [...new Set(Object.values(TYPES))];
      const configuration: DatafeedConfiguration = {
        supported_resolutions: resolutionsOf(TIMEFRAMES),
        exchanges: [{ value: exchange, name: exchange, desc: exchange }],
        symbols_types: [{ name: "All types", value: "" }, ...types.map((value) => ({ name: value, value }))],
        supports_marks: false,
        supports_timescale_marks: false,
        supports_time: true,
      };
      setTimeout(() => callback(configuration), 0);
    },
    searchSymbols: (input, wanted, type, onResult) =>
      answer(wanted === "" || wanted === exchange ? search(input, type) : Promise.resolve([]), onResult, () => onResult([])),
    resolveSymbol: (name, onResolve, onFailure) => answer(resolve(name), onResolve, onFailure),
    getBars: (symbol, resolution, period, onResult, onFailure) =>
      answer(read(symbol, resolution, period), ({ bars, meta }) => onResult(bars, meta), onFailure),
    subscribeBars(symbol, resolution, onTick, listenerId, onResetCacheNeeded) {
      const timeframe = supported(resolution);
      if (timeframe === undefined) return;
      const key = keyOf(symbol, timeframe);
      live.follow(listenerId, {
        ticker: tickerOf(symbol),
        timeframe,
        newest: newest.get(key),
        onBar(bar) {
          newest.set(key, bar);
          onTick(bar);
        },
        onReset() {
          newest.delete(key);
          onResetCacheNeeded();
          onReset?.(symbol.name, resolution);
        },
      });
    },
    unsubscribeBars: (listenerId) => live.unfollow(listenerId),
    getServerTime(callback) {
      const time = async () => {
        const [first] = await symbols.instruments();
        if (first === undefined) return undefined;
        const { items } = await client.marketStatus({ tickers: [first.ticker] });
        return Math.floor(Date.parse(items[0]?.updated_at ?? "") / 1000);
      };
      void time().then(
        (at) => {
          if (at !== undefined && !Number.isNaN(at)) callback(at);
        },
        () => undefined,
      );
    },
    close: () => live.close(),
  };
}
