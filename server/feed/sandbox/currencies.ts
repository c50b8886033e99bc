/**
 * The character of the sandbox's prices, as data. Levels are round numbers near real ones; nothing here is recorded market
 * data.
 */

/** Where a currency is mainly traded: determines its active hours. */
type Region = "asia" | "europe" | "america" | "metal";

export interface Currency {
  /** Mean value of one unit (an ounce for a metal) in US dollars. */
  readonly usd: number;
  /** Standard deviation of the currency's own daily move, in percent. */
  readonly dailyPercent: number;
  /** Its part of the spread, in units of 1/100 000 of the price. */
  readonly cost: number;
  readonly region: Region;
  /** A pegged currency moves like this one, plus its own small move. */
  readonly follows?: string;
}

export const CURRENCIES: Readonly<Record<string, Currency>> = {
  USD: { usd: 1, dailyPercent: 0.3, cost: 2, region: "america" },
  EUR: { usd: 1.08, dailyPercent: 0.25, cost: 2, region: "europe" },
  GBP: { usd: 1.265, dailyPercent: 0.3, cost: 3, region: "europe" },
  CHF: { usd: 1.13, dailyPercent: 0.3, cost: 4, region: "europe" },
  JPY: { usd: 0.00666, dailyPercent: 0.4, cost: 3, region: "asia" },
  AUD: { usd: 0.655, dailyPercent: 0.38, cost: 4, region: "asia" },
  NZD: { usd: 0.605, dailyPercent: 0.38, cost: 6, region: "asia" },
  CAD: { usd: 0.735, dailyPercent: 0.28, cost: 5, region: "america" },
  SEK: { usd: 0.0955, dailyPercent: 0.4, cost: 20, region: "europe" },
  NOK: { usd: 0.0935, dailyPercent: 0.45, cost: 20, region: "europe" },
  DKK: { usd: 0.1448, dailyPercent: 0.02, cost: 6, region: "europe", follows: "EUR" },
  PLN: { usd: 0.25, dailyPercent: 0.4, cost: 25, region: "europe" },
  CZK: { usd: 0.0432, dailyPercent: 0.35, cost: 30, region: "europe" },
  HUF: { usd: 0.00275, dailyPercent: 0.45, cost: 30, region: "europe" },
  RON: { usd: 0.217, dailyPercent: 0.1, cost: 30, region: "europe", follows: "EUR" },
  TRY: { usd: 0.031, dailyPercent: 0.3, cost: 60, region: "europe" },
  ILS: { usd: 0.27, dailyPercent: 0.4, cost: 30, region: "europe" },
  ZAR: { usd: 0.054, dailyPercent: 0.6, cost: 40, region: "europe" },
  MXN: { usd: 0.058, dailyPercent: 0.5, cost: 30, region: "america" },
  BRL: { usd: 0.195, dailyPercent: 0.6, cost: 40, region: "america" },
  SGD: { usd: 0.745, dailyPercent: 0.15, cost: 8, region: "asia" },
  HKD: { usd: 0.1282, dailyPercent: 0.03, cost: 3, region: "asia", follows: "USD" },
  CNH: { usd: 0.139, dailyPercent: 0.12, cost: 8, region: "asia", follows: "USD" },
  CNY: { usd: 0.139, dailyPercent: 0.12, cost: 10, region: "asia", follows: "USD" },
  THB: { usd: 0.0285, dailyPercent: 0.3, cost: 40, region: "asia" },
  INR: { usd: 0.012, dailyPercent: 0.2, cost: 30, region: "asia" },
  KRW: { usd: 0.00074, dailyPercent: 0.4, cost: 40, region: "asia" },
  XAU: { usd: 2650, dailyPercent: 0.75, cost: 6, region: "metal" },
  XAG: { usd: 31, dailyPercent: 1.3, cost: 50, region: "metal" },
  XPT: { usd: 985, dailyPercent: 1.1, cost: 120, region: "metal" },
  XPD: { usd: 1010, dailyPercent: 1.6, cost: 250, region: "metal" },
};

/** Used for a currency that is not in the table. */
export const UNKNOWN_CURRENCY: Currency = { usd: 1, dailyPercent: 0.5, cost: 20, region: "america" };

/** Volatility of a minute relative to the day's average, by hour of day in UTC. */
export const LIVELINESS: Readonly<Record<Region, readonly number[]>> = {
  asia: [1.3, 1.3, 1.1, 1, 0.9, 0.9, 1, 1.1, 1.2, 1.1, 1, 0.9, 1.1, 1.3, 1.3, 1.1, 0.9, 0.7, 0.7, 0.7, 0.6, 0.5, 0.8, 1.2],
  europe: [
    0.5, 0.5, 0.5, 0.5, 0.5, 0.7, 1.2, 1.5, 1.6, 1.4, 1.2, 1.1, 1.3, 1.5, 1.6, 1.5, 1.2, 0.8, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5,
  ],
  america: [0.6, 0.6, 0.5, 0.5, 0.5, 0.6, 0.8, 1, 1.1, 1, 0.9, 1, 1.6, 1.8, 1.8, 1.5, 1.2, 1, 1, 0.9, 0.8, 0.5, 0.5, 0.6],
  metal: [0.8, 0.9, 0.8, 0.7, 0.7, 0.7, 0.8, 1, 1.1, 1.1, 1, 1, 1.5, 1.8, 1.7, 1.4, 1.1, 0.9, 0.9, 0.8, 0.6, 0.4, 0.5, 0.8],
};

/** Spread relative to its minimum, by hour of day in UTC: widest after New York has closed. */
export const SPREAD_WIDTH: readonly number[] = [
  1.3, 1.2, 1.2, 1.2, 1.2, 1.1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1.1, 1.2, 1.3, 1.6, 3, 2.2, 1.6,
];
