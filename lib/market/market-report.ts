import type { Clock } from "#lib/clock";
import {
  CLOSURES_MAX_COUNT,
  type Closure,
  FIRST_BARS_COUNT,
  FORTNIGHT_DAYS,
  type MarketDetail,
  type MarketRow,
  type PeriodRange,
  SPARK_COUNT,
  SPARK_TOP,
} from "#lib/contract/markets";
import type { Timeframe, Venue } from "#lib/contract/primitives";
import type { Calendar } from "#lib/domain/calendar";
import { type Listing, toInstrument } from "#lib/domain/instrument";
import type { Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import { DAY_MS, SECOND_MS } from "#lib/units";
import { withTimeout } from "#lib/with-timeout";
import { rowOf } from "./board";
import { createNewestKlines, type NewestKlines } from "./newest-klines";
import type { Market } from "./ports";
import { statusAt } from "./status";

const seconds = (ms: number) => Math.floor(ms / SECOND_MS);

/** Sessions behind the chart: as far back as most of its timeframes are scrolled. */
const PAST_DAYS = 400;
/** Series that are read from the store at once. */
const PARALLEL_READS_COUNT = 8;
/** The list does not wait longer for its lines; they are there the next time. */
const SPARKS_MAX_WAIT_MS = 1_000;

/** Finds the trading days, weeks and months of prices. */
const alignment = createAlignment();

/** The half hours of the trading day that a market's price is of, as whole numbers from 0 to SPARK_TOP. */
function sparkOf(market: Market, ticker: string, halves: readonly Kline[]): number[] {
  const snapshot = market.view.snapshot(ticker);
  const atS = snapshot === undefined ? halves.at(-1)?.time : seconds(snapshot.time_msc);
  if (atS === undefined) return [];
  const dayS = alignment.tradingDayOpen(atS);
  const closes = [
    ...[snapshot?.close ?? []].flat(),
    ...halves.flatMap(({ time, close }) => (alignment.tradingDayOpen(time) === dayS ? [close] : [])),
    ...[snapshot?.bid ?? []].flat(),
  ];
  const low = Math.min(...closes);
  const range = Math.max(...closes) - low;
  return closes.map((close) => (range === 0 ? SPARK_TOP / 2 : Math.round((SPARK_TOP * (close - low)) / range)));
}

interface Sparks {
  sparks: ReadonlyMap<string, number[]>;
  running?: Promise<void> | undefined;
}

/** The lines of a venue's rows: read in the background, while everybody is shown the lines from before. */
function createSparks(newest: NewestKlines, clock: Clock) {
  const venues = new WeakMap<Market, Sparks>();

  async function read(market: Market, nowMs: number): Promise<ReadonlyMap<string, number[]>> {
    const sparks = new Map<string, number[]>();
    const queue = [...market.catalogue.list()];
    async function work(): Promise<void> {
      for (let listing = queue.shift(); listing !== undefined; listing = queue.shift()) {
        const { ticker } = listing;
        const klines = await newest(market, { ticker, timeframe: "M30", limit: SPARK_COUNT }, nowMs).catch(() => []);
        sparks.set(ticker, sparkOf(market, ticker, klines));
      }
    }
    await Promise.all(Array.from({ length: PARALLEL_READS_COUNT }, work));
    return sparks;
  }

  return async (market: Market, nowMs: number): Promise<ReadonlyMap<string, number[]>> => {
    const known: Sparks = venues.get(market) ?? { sparks: new Map() };
    venues.set(market, known);
    known.running ??= read(market, nowMs).then((sparks) => {
      known.sparks = sparks;
      known.running = undefined;
    });
    if (known.sparks.size === 0) await withTimeout(known.running, SPARKS_MAX_WAIT_MS, clock).catch(() => undefined);
    return known.sparks;
  };
}

function marketRow(market: Market, listing: Listing, nowMs: number, spark: readonly number[]): MarketRow {
  const { name, asset_class, base_currency, quote_currency, pip_size } = toInstrument(listing);
  return { ...rowOf(market, listing, nowMs), name, asset_class, base_currency, quote_currency, pip_size, spark };
}

/**
 * The closed times of the coming fortnight, whatever the time zone of its reader, each with its reason; null when unknown or too
 * many. A closure over several UTC days is one for each: it may begin as an early close and go on as a weekend.
 */
function closuresOf(calendar: Calendar, nowMs: number): Closure[] | null {
  const todayMs = nowMs - (nowMs % DAY_MS);
  const endMs = todayMs + (FORTNIGHT_DAYS + 1) * DAY_MS;
  const closures: Closure[] = [];
  for (let atMs = todayMs - DAY_MS; atMs < endMs; ) {
    const { state, reason, nextOpen, nextClose } = calendar.sessionAt(atMs);
    if (state === "unknown" || closures.length > CLOSURES_MAX_COUNT) return null;
    const nextDayMs = atMs - (atMs % DAY_MS) + DAY_MS;
    const untilMs = Math.min(endMs, (state === "open" ? nextClose : nextOpen) ?? endMs, state === "open" ? endMs : nextDayMs);
    if (state === "closed") closures.push({ from: seconds(atMs), to: seconds(untilMs), reason });
    atMs = untilMs;
  }
  return closures;
}

/** The open times around now, to tell closed hours from missing klines. */
function hoursOf(calendar: Calendar, nowMs: number): MarketDetail["hours"] {
  const [fromMs, toMs] = [nowMs - PAST_DAYS * DAY_MS, nowMs + DAY_MS];
  const sessions = calendar.sessionsBetween(fromMs, toMs);
  if (sessions === null) return null;
  return {
    from: seconds(fromMs),
    to: seconds(toMs),
    open: sessions.map(({ openMs, closeMs }) => [seconds(openMs), seconds(closeMs)] as const),
  };
}

/** The calendar's part of a page. A calendar that flips by the minute is not spelled out. */
function calendarPart(market: Market, live: Market, ticker: string, nowMs: number) {
  const calendar = market.catalogue.calendar(ticker);
  // Of the venue whose badge is shown: hours of another one would contradict it.
  const closures = calendar === undefined ? null : closuresOf(calendar, nowMs);
  return {
    closures,
    in_live: live.catalogue.find(ticker) !== undefined,
    hours: calendar === undefined || closures === null ? null : hoursOf(calendar, nowMs),
  };
}

/** The range of a week or a month, if the price is of it. */
function rangeOf(timeframe: "W1" | "MN1", kline: Kline | undefined, lastS: number): PeriodRange | null {
  if (kline === undefined || kline.time !== alignment.openTime(timeframe, lastS)) return null;
  const { time, high, low } = kline;
  return { time, high, low };
}

interface MarketsSources {
  readonly markets: Readonly<Record<Venue, Market>>;
  readonly clock: Clock;
}

/** What the pages about markets show; both are open to everybody, so each is bounded and mostly in memory. */
export interface MarketsReport {
  rows(venue: Venue): Promise<MarketRow[]>;
  /** Undefined for a ticker that the venue does not list. */
  detail(venue: Venue, ticker: string): Promise<MarketDetail | undefined>;
}

/** Makes the report of this process. */
export function createMarketsReport({ markets, clock }: MarketsSources): MarketsReport {
  const newest = createNewestKlines();
  const sparks = createSparks(newest, clock);
  return {
    async rows(venue) {
      const market = markets[venue];
      const nowMs = market.timeAt(clock.now());
      const lines = await sparks(market, nowMs);
      return market.catalogue.list().map((listing) => marketRow(market, listing, nowMs, lines.get(listing.ticker) ?? []));
    },
    async detail(venue, ticker) {
      const market = markets[venue];
      const listing = market.catalogue.find(ticker);
      if (listing === undefined) return undefined;
      const nowMs = market.timeAt(clock.now());
      const read = (timeframe: Timeframe, limit: number) =>
        newest(market, { ticker, timeframe, limit }, nowMs).catch((): Kline[] => []);
      const [hourly, halves, weeks, months] = await Promise.all([
        read("H1", FIRST_BARS_COUNT),
        read("M30", SPARK_COUNT),
        read("W1", 1),
        read("MN1", 1),
      ]);
      const row = marketRow(market, listing, nowMs, sparkOf(market, ticker, halves));
      const lastS = seconds(market.view.snapshot(ticker)?.time_msc ?? nowMs);
      return {
        venue: market.venue,
        row: { ...row, price: market.view.snapshot(ticker) ?? null },
        instrument: toInstrument(listing),
        status: statusAt({ market, nowMs }, listing),
        bars: hourly.map(({ time, open, high, low, close, tick_volume }) => [time, open, high, low, close, tick_volume] as const),
        ranges: { W1: rangeOf("W1", weeks.at(-1), lastS), MN1: rangeOf("MN1", months.at(-1), lastS) },
        spreads: halves.flatMap(({ time, spread }) => (spread === null ? [] : [[time, spread] as const])),
        ...calendarPart(market, markets.live, ticker, nowMs),
      };
    },
  };
}
