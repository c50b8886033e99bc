import { DAY_MS, DAY_S, HOUR_S, MINUTE_S } from "#lib/units";

/**
 * Calls a datafeed as TradingView's Charting Library does, and throws where an answer breaks a documented rule. The types have the
 * shape of the library's own.
 */

type ResolutionString = string & { [Symbol.species]: "ResolutionString" };

/** A bar as the library takes it. */
export interface Bar {
  time: number;
  open: number;
  high: number;
  low: number;
  close: number;
  volume?: number;
}

interface LibrarySymbolInfo {
  name: string;
  ticker?: string;
  description: string;
  type: string;
  exchange: string;
  listed_exchange: string;
  timezone: "Etc/UTC" | "America/New_York" | "Europe/London";
  session: string;
  session_holidays?: string;
  corrections?: string;
  format: "price" | "volume";
  minmov: number;
  pricescale: number;
  has_intraday?: boolean;
  intraday_multipliers?: string[];
  has_daily?: boolean;
  has_weekly_and_monthly?: boolean;
  supported_resolutions?: ResolutionString[];
  data_status?: "streaming" | "endofday" | "delayed_streaming";
  visible_plots_set?: "ohlcv" | "ohlc" | "c";
}

interface DatafeedConfiguration {
  supported_resolutions?: ResolutionString[];
  symbols_types?: { name: string; value: string }[];
  supports_time?: boolean;
}

interface SearchSymbolResultItem {
  symbol: string;
  description: string;
  exchange: string;
  ticker?: string;
  type: string;
}

interface PeriodParams {
  from: number;
  to: number;
  countBack: number;
  firstDataRequest: boolean;
}

interface HistoryMetadata {
  noData?: boolean;
  nextTime?: number | null;
}

/** The datafeed as the library declares it. */
export interface LibraryDatafeed {
  onReady(callback: (configuration: DatafeedConfiguration) => void): void;
  searchSymbols(input: string, exchange: string, type: string, onResult: (items: SearchSymbolResultItem[]) => void): void;
  resolveSymbol(name: string, onResolve: (symbol: LibrarySymbolInfo) => void, onError: (reason: string) => void): void;
  getBars(
    symbol: LibrarySymbolInfo,
    resolution: ResolutionString,
    period: PeriodParams,
    onResult: (bars: Bar[], meta?: HistoryMetadata) => void,
    onError: (reason: string) => void,
  ): void;
  subscribeBars(
    symbol: LibrarySymbolInfo,
    resolution: ResolutionString,
    onTick: (bar: Bar) => void,
    listenerGuid: string,
    onResetCacheNeededCallback: () => void,
  ): void;
  unsubscribeBars(listenerGuid: string): void;
  getServerTime?(callback: (unixTime: number) => void): void;
}

function must(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new Error(`The library expects ${rule}.`);
}

/** Calls back exactly once, not before the call has returned; an error is a sentence. */
function once<Result>(call: (onResult: (result: Result) => void, onError: (reason: string) => void) => void): Promise<Result> {
  return new Promise((resolve, reject) => {
    let returned = false;
    let calls = 0;
    const checked =
      <Value>(end: (value: Value) => void) =>
      (value: Value) => {
        calls += 1;
        if (!returned) reject(new Error("The library expects its callbacks to be called asynchronously."));
        else if (calls > 1) reject(new Error("The library expects its callbacks to be called once."));
        else end(value);
      };
    call(
      checked(resolve),
      checked((reason: string) =>
        reject(new Error(typeof reason === "string" && / .*[.)]$/.test(reason) ? reason : `no sentence: ${reason}`)),
      ),
    );
    returned = true;
  });
}

const isLong = (resolution: string) => /[DWM]$/.test(resolution);

/** Checks one bar by itself. */
function checkBar({ time, open, high, low, close, volume = 0 }: Bar, resolution: string): void {
  const at = new Date(time);
  must(Number.isSafeInteger(time) && time > Date.UTC(1990), "times in Unix milliseconds");
  must(low <= Math.min(open, close) && high >= Math.max(open, close), "high and low around open and close");
  must([open, high, low, close, volume].every(Number.isFinite) && volume >= 0, "numbers");
  if (isLong(resolution)) must(time % DAY_MS === 0, "days, weeks and months at 00:00 UTC");
  else if (Number(resolution) <= 60)
    must(time % (Number(resolution) * MINUTE_S * 1000) === 0, "bars that open on their interval");
  if (resolution.endsWith("W")) must(at.getUTCDay() === 1, "weeks that open on Monday");
  if (resolution.endsWith("M")) must(at.getUTCDate() === 1, "months that open on the first day");
}

/** Seconds since the epoch on the wall clock of a zone. */
function wallClock(timezone: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: timezone, dateStyle: "short", timeStyle: "medium" });
  return (atMs) => Date.parse(`${format.format(atMs).replace(" ", "T")}Z`) / 1000;
}

const PART = /^(\d\d)(\d\d)(?:F(\d))?-(\d\d)(\d\d)(?:F(\d))?$/;

/** The parts of a session on a date (wall seconds of its midnight): those that begin later than they end begin the day before. */
function partsOn(text: string, midnight: number): [number, number][] {
  return text.split(",").map((part): [number, number] => {
    const [, h1 = "", m1 = "", f1, h2 = "", m2 = "", f2] = PART.exec(part) ?? [];
    must(h1 !== "", `sessions as HHMM-HHMM, not ${part}`);
    const at = (hours: string, minutes: string) => Number(hours) * HOUR_S + Number(minutes) * MINUTE_S;
    const [from, to] = [at(h1, m1), at(h2, m2)];
    const back = f1 === undefined ? (from >= to ? 1 : 0) : Number(f1);
    return [midnight + from - back * DAY_S, midnight + to - Number(f2 ?? 0) * DAY_S];
  });
}

/** What the library takes a symbol's sessions for: open at an instant (Unix milliseconds) or not. */
export function isOpen(
  symbol: Pick<LibrarySymbolInfo, "timezone" | "session" | "session_holidays" | "corrections">,
  atMs: number,
): boolean {
  const wall = wallClock(symbol.timezone)(atMs);
  const holidays = (symbol.session_holidays ?? "").split(",");
  const corrections = new Map(
    (symbol.corrections ?? "")
      .split(";")
      .filter((text) => text !== "")
      .flatMap((text) => {
        const cut = text.lastIndexOf(":");
        return text
          .slice(cut + 1)
          .split(",")
          .map((date): [string, string] => [date, text.slice(0, cut)]);
      }),
  );
  const week = symbol.session.split("|").map((text) => {
    const [parts = "", days = "23456"] = text.split(":");
    return { parts, days };
  });
  const today = Math.floor(wall / DAY_S) * DAY_S;
  return [today, today + DAY_S].some((midnight) => {
    const date = new Date(midnight * 1000);
    const name = date.toISOString().slice(0, 10).replaceAll("-", "");
    if (holidays.includes(name)) return false;
    const own = corrections.get(name) ?? week.find(({ days }) => days.includes(String(date.getUTCDay() + 1)))?.parts;
    return own !== undefined && partsOn(own, midnight).some(([from, to]) => from <= wall && wall < to);
  });
}

/** What a subscription of the library received. */
export interface LibrarySubscription {
  readonly ticks: Bar[];
  /** How often it was told to forget its bars. */
  readonly resets: () => number;
}

/** The library, as far as it talks to a datafeed. */
export interface ChartingLibrary {
  ready(): Promise<DatafeedConfiguration>;
  search(input: string, type?: string): Promise<SearchSymbolResultItem[]>;
  resolve(name: string): Promise<LibrarySymbolInfo>;
  /** One request of history, checked. Rejects with the reason that the datafeed gives. */
  load(symbol: LibrarySymbolInfo, resolution: string, period: PeriodParams): Promise<{ bars: Bar[]; meta: HistoryMetadata }>;
  /** Follows a symbol after these bars were loaded; `onTick` is called after each checked tick. */
  subscribe(
    chart: { symbol: LibrarySymbolInfo; resolution: string; id: string; last?: Bar | undefined },
    onTick?: () => void,
    onReset?: () => void,
  ): LibrarySubscription;
  unsubscribe(id: string): void;
  serverTime(): Promise<number>;
}

/** Checks what a datafeed knows about a symbol. */
function checkSymbol(symbol: LibrarySymbolInfo): void {
  for (const field of ["name", "description", "type", "exchange", "listed_exchange", "session"] as const)
    must(symbol[field] !== "", `a ${field}`);
  must(Number.isSafeInteger(Math.log10(symbol.pricescale)), "a power of ten as price scale");
  must(symbol.minmov === 1 && symbol.format === "price", "decimal prices");
  must((symbol.supported_resolutions ?? []).length > 0, "resolutions");
  isOpen(symbol, Date.UTC(2026, 0, 7));
}

/** Opens the library on a datafeed. */
export function openLibrary(datafeed: LibraryDatafeed): ChartingLibrary {
  return {
    ready: () => once((onResult) => datafeed.onReady(onResult)),
    search: (input, type = "") => once((onResult) => datafeed.searchSymbols(input, "", type, onResult)),
    async resolve(name) {
      const symbol = await once<LibrarySymbolInfo>((onResult, onError) => datafeed.resolveSymbol(name, onResult, onError));
      checkSymbol(symbol);
      return symbol;
    },
    async load(symbol, resolution, period) {
      const { bars, meta } = await once<{ bars: Bar[]; meta: HistoryMetadata }>((onResult, onError) =>
        datafeed.getBars(
          symbol,
          resolution as ResolutionString,
          period,
          (loaded, about = {}) => onResult({ bars: loaded, meta: about }),
          onError,
        ),
      );
      for (const [index, bar] of bars.entries()) {
        checkBar(bar, resolution);
        must(index === 0 || bar.time > (bars[index - 1]?.time ?? 0), "bars in ascending order, each once");
        must(bar.time < period.to * 1000, "no bar at or after the end of the range");
      }
      must((bars.length === 0) === (meta.noData === true), "noData when there are no bars, and only then");
      return { bars, meta };
    },
    subscribe({ symbol, resolution, id, last }, onTick, onReset) {
      const ticks: Bar[] = [];
      let newest = last?.time ?? 0;
      let resets = 0;
      let returned = false;
      const tick = (bar: Bar) => {
        must(returned, "its callbacks to be called asynchronously");
        checkBar(bar, resolution);
        must(bar.time >= newest, "no tick before the newest bar (time violation)");
        newest = bar.time;
        ticks.push(bar);
        onTick?.();
      };
      const forget = () => {
        resets += 1;
        onReset?.();
      };
      datafeed.subscribeBars(symbol, resolution as ResolutionString, tick, id, forget);
      returned = true;
      return { ticks, resets: () => resets };
    },
    unsubscribe: (id) => datafeed.unsubscribeBars(id),
    serverTime: () =>
      new Promise((resolve, reject) => {
        if (datafeed.getServerTime === undefined) reject(new Error("no server time"));
        else datafeed.getServerTime(resolve);
      }),
  };
}
