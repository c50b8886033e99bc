import { Decimal } from "decimal.js";
import { CONVERSION_SIGNIFICANT_DIGITS } from "#lib/contract/limits";
import type { Quote } from "#lib/contract/quote";
import type { Conversion } from "#lib/operations/conversion/declaration";

/** Enough for the exact product of an amount and two prices, so that only the division and the final rounding lose anything. */
const Exact = Decimal.clone({ precision: 60 });

/** An instrument that converts between its two currencies. */
export interface Pair {
  readonly ticker: string;
  readonly base: string;
  readonly quote: string;
  /** Undefined while it has no quote: it then converts nothing. */
  readonly price: Pick<Quote, "time_msc" | "bid" | "ask" | "mid"> | undefined;
  readonly stale: boolean;
}

/** The use of a pair in one direction; `inverted` from its quote currency to its base currency. */
interface Step {
  readonly pair: Pair;
  readonly inverted: boolean;
}

/** Steps from one currency to another; none where both are the same. */
type Path = readonly Step[];
type Price = NonNullable<Pair["price"]>;
type PricedPath = readonly { readonly pair: Pair & { readonly price: Price }; readonly inverted: boolean }[];

/** The steps between currencies: from, to. */
export type Steps = ReadonlyMap<string, ReadonlyMap<string, readonly Step[]>>;

/** Both directions of every pair. */
export function stepsOf(pairs: readonly Pair[]): Steps {
  const steps = new Map<string, Map<string, Step[]>>();
  const add = (from: string, to: string, step: Step) => {
    const leaving = steps.get(from) ?? new Map<string, Step[]>();
    steps.set(from, leaving.set(to, [...(leaving.get(to) ?? []), step]));
  };
  for (const pair of pairs) {
    add(pair.base, pair.quote, { pair, inverted: false });
    add(pair.quote, pair.base, { pair, inverted: true });
  }
  return steps;
}

/**
 * Every path of at most two steps, with or without quotes; the empty one where both currencies are the same. One with a step from a
 * currency to itself is never preferred, as the same path without that step is among them.
 */
function pathsBetween(steps: Steps, from: string, to: string): Path[] {
  if (from === to) return [[]];
  const paths: Path[] = (steps.get(from)?.get(to) ?? []).map((step) => [step]);
  for (const [middle, firsts] of steps.get(from) ?? []) {
    const seconds = steps.get(middle)?.get(to) ?? [];
    for (const first of firsts) for (const second of seconds) paths.push([first, second]);
  }
  return paths;
}

const isPriced = (path: Path): path is PricedPath => path.every(({ pair }) => pair.price !== undefined && pair.price.bid > 0);
const isStale = (path: Path) => path.some(({ pair }) => pair.stale);
/** What a unit costs divided by what it sells for; the same in both directions. */
const spreadOf = (path: PricedPath) => path.reduce((ratio, { pair: { price } }) => ratio * (price.ask / price.bid), 1);
/** The tickers in an order that is the same in both directions. */
const nameOf = (path: Path) =>
  path
    .map(({ pair }) => pair.ticker)
    .sort()
    .join();

/** Live before stale; among equals the smaller spread, then the fewer legs, then the tickers in alphabetical order. */
function byPreference(a: PricedPath, b: PricedPath): number {
  const stale = Number(isStale(a)) - Number(isStale(b));
  if (stale !== 0) return stale;
  const spread = spreadOf(a) - spreadOf(b);
  if (spread !== 0) return spread;
  return a.length - b.length || (nameOf(a) < nameOf(b) ? -1 : 1);
}

/** An amount times a price of each leg: the first of the two for a leg as quoted, one divided by the second for an inverted leg. */
function worth(path: PricedPath, amount: number, [quoted, inverse]: readonly ["bid" | "ask" | "mid", "bid" | "ask" | "mid"]) {
  let above = new Exact(amount);
  let below = new Exact(1);
  for (const { pair, inverted } of path) {
    if (inverted) below = below.times(pair.price[inverse]);
    else above = above.times(pair.price[quoted]);
  }
  return above.dividedBy(below);
}

function round(exact: Decimal, rounding: Decimal.Rounding): number {
  return exact.toSignificantDigits(CONVERSION_SIGNIFICANT_DIGITS, rounding).toNumber();
}

/** Sold at the bid, bought at the ask: an inverted leg is bought where the other direction sells. Bids round down, asks up. */
function worths(path: PricedPath, amount: number) {
  return {
    bid: round(worth(path, amount, ["bid", "ask"]), Decimal.ROUND_DOWN),
    ask: round(worth(path, amount, ["ask", "bid"]), Decimal.ROUND_UP),
    mid: round(worth(path, amount, ["mid", "mid"]), Decimal.ROUND_HALF_UP),
  };
}

function legOf({ pair: { ticker, price, stale }, inverted }: PricedPath[number]): Conversion["legs"][number] {
  const { time_msc, bid, ask } = price;
  return { ticker, inverted, time_msc, bid, ask, market_data_state: stale ? "stale" : "live" };
}

/**
 * Converts an amount directly, inversely or through one other currency. Paths without a stale leg come first, among them the one
 * with the least spread. The bid of an inverted leg is 1 / ask, its ask 1 / bid, its mid 1 / mid. Numbers are computed exactly and
 * have at most CONVERSION_SIGNIFICANT_DIGITS digits; as bids are rounded down and asks up, converting there and back never gains.
 * @returns "unreachable" when no two pairs lead there, "missing" when those that do have no quote yet
 */
export function convert(
  steps: Steps,
  { from, to, amount }: Pick<Conversion, "from" | "to" | "amount">,
): Conversion | "unreachable" | "missing" {
  const paths = pathsBetween(steps, from, to);
  if (paths.length === 0) return "unreachable";
  const [path] = paths.filter(isPriced).sort(byPreference);
  if (path === undefined) return "missing";
  const amounts = worths(path, amount);
  return {
    type: "conversion",
    from,
    to,
    amount,
    ...worths(path, 1),
    bid_amount: amounts.bid,
    ask_amount: amounts.ask,
    mid_amount: amounts.mid,
    time_msc: path.length === 0 ? null : Math.min(...path.map(({ pair }) => pair.price.time_msc)),
    market_data_state: isStale(path) ? "stale" : "live",
    legs: path.map(legOf),
  };
}
