import type { Quote } from "#lib/contract/quote";
import type { Snapshot } from "#lib/contract/snapshot";
import type { Calendar } from "./calendar";
import type { Kline } from "./kline";
import { roundTo } from "./price";
import type { TradingAlignment } from "./timeframe";
import { previousTradingDay } from "./trading-day";

const PERCENT_DIGITS = 4;

/** The state of a ticker's trading day. Prices are null when part of the day was not seen. */
export interface DayState {
  /** Open of the trading day, Unix seconds. */
  readonly dayOpenS: number;
  /** Open of the next trading day, Unix seconds. */
  readonly nextDayOpenS: number;
  /** First bid of the day. */
  readonly open: number;
  readonly bidHigh: number;
  readonly bidLow: number;
  readonly askHigh: number | null;
  readonly askLow: number | null;
  readonly lastBid: number;
  /** Open of the trading day directly before this one by the calendar, Unix seconds; null when there is none. */
  readonly previousDayS: number | null;
  /** Last bid of that day; null when it had no quote. An older day never replaces it. */
  readonly previousClose: number | null;
}

/** The last bid of the day `previousDayS`, as far as the state of an earlier day knows it. */
function closeOf(previousDayS: number | null, day: DayState | undefined): number | null {
  if (day === undefined) return null;
  if (day.dayOpenS === previousDayS) return day.lastBid;
  // Between them were only quotes of a day on which the market is closed.
  return day.previousDayS === previousDayS ? day.previousClose : null;
}

/** Adds a quote, later than all before, to the trading day; does not mutate its arguments. */
export function foldDay(
  day: DayState | undefined,
  quote: Quote,
  alignment: TradingAlignment,
  calendar: Calendar | undefined,
): DayState {
  const { bid, ask } = quote;
  if (day === undefined || quote.time_msc >= day.nextDayOpenS * 1000) {
    const atS = Math.floor(quote.time_msc / 1000);
    const dayOpenS = alignment.tradingDayOpen(atS);
    const previousDayS = previousTradingDay(dayOpenS, calendar, alignment);
    return {
      dayOpenS,
      nextDayOpenS: alignment.nextOpenTime("D1", atS),
      open: bid,
      bidHigh: bid,
      bidLow: bid,
      askHigh: ask,
      askLow: ask,
      lastBid: bid,
      previousDayS,
      previousClose: closeOf(previousDayS, day),
    };
  }
  return {
    dayOpenS: day.dayOpenS,
    nextDayOpenS: day.nextDayOpenS,
    open: day.open,
    bidHigh: Math.max(bid, day.bidHigh),
    bidLow: Math.min(bid, day.bidLow),
    // Null stays null: the asks of the unseen part of the day may have been higher or lower.
    askHigh: day.askHigh === null ? null : Math.max(ask, day.askHigh),
    askLow: day.askLow === null ? null : Math.min(ask, day.askLow),
    lastBid: bid,
    previousDayS: day.previousDayS,
    previousClose: day.previousClose,
  };
}

/**
 * The trading day after a restart, from the ticker's latest D1 klines, ascending: the last one (open or closed) is the day,
 * that of the trading day before it gives the previous close. Klines hold no asks: the ask range is that of the last stored quote, where it is
 * of that day, else unknown until the next day opens. Undefined without klines.
 */
export function hydrateDay(
  days: readonly Kline[],
  lastQuote: { time_msc: number; ask_high: number | null; ask_low: number | null } | undefined,
  alignment: TradingAlignment,
  calendar: Calendar | undefined,
): DayState | undefined {
  const day = days.at(-1);
  if (day === undefined) return undefined;
  const previousDayS = previousTradingDay(day.time, calendar, alignment);
  const nextDayOpenS = alignment.nextOpenTime("D1", day.time);
  const inDay = lastQuote !== undefined && lastQuote.time_msc >= day.time * 1000 && lastQuote.time_msc < nextDayOpenS * 1000;
  return {
    dayOpenS: day.time,
    nextDayOpenS,
    open: day.open,
    bidHigh: day.high,
    bidLow: day.low,
    askHigh: inDay ? lastQuote.ask_high : null,
    askLow: inDay ? lastQuote.ask_low : null,
    lastBid: day.close,
    previousDayS,
    previousClose: days.findLast(({ time }) => time === previousDayS)?.close ?? null,
  };
}

/** The bid less the previous close, in price units and in percent of that close, which rounding may have made 0. */
function changeSince(close: number | null, bid: number, digits: number): Pick<Snapshot, "change" | "change_pct"> {
  if (close === null) return { change: null, change_pct: null };
  const change = roundTo(bid - close, digits);
  return { change, change_pct: close === 0 ? null : roundTo((100 * change) / close, PERCENT_DIGITS) };
}

/**
 * The snapshot of a quote with its trading day. Without the day, or with a day the quote is not in, the fields of the day
 * are null. `change` is bid - previous close in price units, `change_pct` the same in percent of that close, four decimals.
 */
export function toSnapshot(quote: Quote, day: DayState | undefined, digits: number): Snapshot {
  const inDay = day !== undefined && quote.time_msc >= day.dayOpenS * 1000 && quote.time_msc < day.nextDayOpenS * 1000;
  const known = inDay ? day : undefined;
  const close = known?.previousClose ?? null;
  return {
    type: "snapshot",
    ticker: quote.ticker,
    time_msc: quote.time_msc,
    bid: quote.bid,
    ask: quote.ask,
    mid: quote.mid,
    spread: quote.spread,
    bid_high: known?.bidHigh ?? null,
    bid_low: known?.bidLow ?? null,
    ask_high: known?.askHigh ?? null,
    ask_low: known?.askLow ?? null,
    last: null,
    last_high: null,
    last_low: null,
    open: known?.open ?? null,
    close,
    ...changeSince(close, quote.bid, digits),
  };
}
