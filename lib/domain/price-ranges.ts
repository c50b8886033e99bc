import { TICK_VOLUME_MAX } from "#lib/contract/limits";

/**
 * The lowest and highest value of a currency or metal in US dollars since 1971, with room above and below, as data that anyone
 * can review. It only has to tell one instrument from another.
 */
const USD_VALUES: Readonly<Record<string, readonly [low: number, high: number]>> = {
  USD: [1, 1],
  EUR: [0.6, 1.8],
  GBP: [0.95, 2.8],
  CHF: [0.22, 1.6],
  JPY: [0.0026, 0.015],
  AUD: [0.45, 1.55],
  NZD: [0.36, 1.55],
  CAD: [0.58, 1.15],
  SEK: [0.08, 0.27],
  NOK: [0.075, 0.24],
  DKK: [0.08, 0.24],
  PLN: [0.18, 0.6],
  CZK: [0.02, 0.08],
  HUF: [0.002, 0.02],
  RON: [0.17, 0.55],
  TRY: [0.01, 1],
  ILS: [0.19, 0.7],
  ZAR: [0.045, 1.6],
  MXN: [0.035, 0.4],
  BRL: [0.14, 1.3],
  SGD: [0.3, 0.9],
  HKD: [0.12, 0.21],
  CNH: [0.1, 0.25],
  CNY: [0.1, 0.25],
  THB: [0.016, 0.05],
  INR: [0.009, 0.14],
  KRW: [0.0005, 0.0035],
  XAU: [30, 12_000],
  XAG: [1.2, 250],
  XPT: [90, 5_000],
  XPD: [50, 6_000],
};

/** A price, or the lowest and the highest of a kline, and the volume where there is one. */
interface Judged {
  readonly low: number;
  readonly high: number;
  readonly volume: number | undefined;
}

/**
 * Why well-formed prices and volumes cannot be true, whoever sends them: a provider, a push or an operator. Null when they can.
 * @param range of the pair, by plausibleRange; null for an unknown currency, whose prices may be any
 */
export function judgePlausible(
  range: PriceRange | null,
  { low, high, volume }: Judged,
): "implausible_price" | "volume_out_of_range" | null {
  if (volume !== undefined && volume > TICK_VOLUME_MAX) return "volume_out_of_range";
  return range !== null && (low < range.low || high > range.high) ? "implausible_price" : null;
}

/** Whether a currency or metal is known by its code. */
export function isCurrency(code: string): boolean {
  return Object.hasOwn(USD_VALUES, code);
}

/** The lowest and the highest price. */
export interface PriceRange {
  readonly low: number;
  readonly high: number;
}

/** Prices that a pair can have; null where one of its currencies is not known. */
export function plausibleRange(base: string, quote: string): PriceRange | null {
  const [bases, quotes] = [USD_VALUES[base], USD_VALUES[quote]];
  if (bases === undefined || quotes === undefined) return null;
  return { low: bases[0] / quotes[1], high: bases[1] / quotes[0] };
}
