import type { Listing } from "#lib/domain/instrument";
import { CURRENCIES, type Currency, LIVELINESS, UNKNOWN_CURRENCY } from "./currencies";
import type { PathModel } from "./path";

/** A price of fewer points than this is too coarse to move; only listings of an unknown currency are scaled up to it. */
const COARSEST_PRICE_POINTS = 10_000;
const COST_UNIT = 1e-5;
/** The currency whose parameters a test ticker uses, if not the euro's. */
const TEST_HABITS: Readonly<Record<string, string>> = { TESTMETAL: "XAU" };

/** The parts of a listing that its prices depend on. */
export type PricedListing = Pick<Listing, "ticker" | "assetClass" | "base" | "quote" | "digits">;

/** How the price of one listing is computed. Prices are whole points; a point is 10^-digits price units. */
export interface PriceModel {
  readonly ticker: string;
  /** Points per price unit. */
  readonly scale: number;
  /** Mean price, in points. */
  readonly mean: number;
  /** The logarithm of price / mean is the sum of these paths … */
  readonly up: readonly PathModel[];
  /** … less the sum of these. */
  readonly down: readonly PathModel[];
  /** Standard deviation of a daily move, as a fraction. */
  readonly daily: number;
  /** Activity by hour of day (UTC), 24 values: that of its more active side. */
  readonly hours: readonly number[];
  /** Narrowest spread as a fraction of the price. */
  readonly cost: number;
}

function pathsOf(name: string, currency: Currency): PathModel[] {
  const own = { name, daily: currency.dailyPercent / 100, hours: LIVELINESS[currency.region] };
  const followed = currency.follows === undefined ? undefined : CURRENCIES[currency.follows];
  return followed === undefined || currency.follows === undefined ? [own] : [own, ...pathsOf(currency.follows, followed)];
}

/** Paths of `ones` that are not among `others`: paths shared by both sides cancel out. */
function without(ones: readonly PathModel[], others: readonly PathModel[]): PathModel[] {
  return ones.filter((one) => others.every((other) => other.name !== one.name));
}

/**
 * The model of a listing. All pairs of a currency share its path, so that EURJPY is EURUSD times USDJPY at any minute.
 * A test ticker has the parameters of the euro (TESTMETAL: of gold) and its own path. A currency that is not in the table
 * counts as one US dollar, multiplied by tens until a price has five figures.
 */
export function priceModel(listing: PricedListing): PriceModel {
  const test = listing.assetClass === "test";
  const habits = test ? (TEST_HABITS[listing.ticker] ?? "EUR") : listing.base;
  const base = CURRENCIES[habits] ?? UNKNOWN_CURRENCY;
  const quote = CURRENCIES[listing.quote] ?? UNKNOWN_CURRENCY;
  const basePaths = pathsOf(test ? listing.ticker : listing.base, base);
  const quotePaths = pathsOf(listing.quote, quote);
  const up = without(basePaths, quotePaths);
  const down = without(quotePaths, basePaths);
  const scale = Number(`1e${listing.digits}`);
  let mean = (base.usd / quote.usd) * scale;
  if (base === UNKNOWN_CURRENCY || quote === UNKNOWN_CURRENCY) while (mean < COARSEST_PRICE_POINTS) mean *= 10;
  const hours = Array.from({ length: 24 }, (_, hour) =>
    Math.max(LIVELINESS[base.region][hour] ?? 1, LIVELINESS[quote.region][hour] ?? 1),
  );
  // Math.sqrt is the only root that IEEE 754 rounds exactly, so it is the same everywhere.
  const daily = Math.sqrt([...up, ...down].reduce((sum, path) => sum + path.daily * path.daily, 0));
  return { ticker: listing.ticker, scale, mean, up, down, daily, hours, cost: (base.cost + quote.cost) * COST_UNIT };
}
