import type { MarketRow } from "#lib/contract/markets";

/** The groups of the list, in the order of its buttons. */
export const GROUPS = ["All", "Favorites", "Majors", "Crosses", "Exotics", "Metals", "Test"] as const;
export type Group = (typeof GROUPS)[number];

/** The eight major currencies; a pair of any other is exotic. */
const MAJOR_CURRENCIES: readonly string[] = ["EUR", "GBP", "AUD", "NZD", "USD", "CAD", "CHF", "JPY"];

type Grouped = Pick<MarketRow, "asset_class" | "base_currency" | "quote_currency">;

/** The group an instrument belongs to. */
export function groupOf({ asset_class, base_currency: base, quote_currency: quote }: Grouped): Group {
  if (asset_class === "metals") return "Metals";
  if (asset_class === "test") return "Test";
  if (!MAJOR_CURRENCIES.includes(base) || !MAJOR_CURRENCIES.includes(quote)) return "Exotics";
  return base === "USD" || quote === "USD" ? "Majors" : "Crosses";
}

/** The order of the list before anybody sorts it: what most readers look for comes first. */
const FIRST: readonly Group[] = ["Majors", "Metals", "Crosses", "Exotics", "Test"];

/** The rows by group; within a group they keep their order. */
export function byGroup<One extends Grouped>(rows: readonly One[]): One[] {
  return FIRST.flatMap((group) => rows.filter((row) => groupOf(row) === group));
}

/** The columns the list can be sorted by; `none` keeps the order of the search, or by group, then ticker. */
type SortKey = "none" | "ticker" | "spread" | "change";
export interface Sorting {
  readonly key: SortKey;
  readonly descending: boolean;
}

/** The spread in pips; undefined before the first quote. */
export function pipsOf({ price, pip_size }: Pick<MarketRow, "price" | "pip_size">): number | undefined {
  return price === null ? undefined : (price.ask - price.bid) / pip_size;
}

function sortValue(row: MarketRow, key: SortKey): number | string | undefined {
  if (key === "ticker") return row.ticker;
  return key === "spread" ? pipsOf(row) : (row.price?.change_pct ?? undefined);
}

/** The rows in order; those without a value are last, either way. */
export function sortRows(rows: readonly MarketRow[], { key, descending }: Sorting): MarketRow[] {
  if (key === "none") return [...rows];
  const way = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [left, right] = [sortValue(a, key), sortValue(b, key)];
    if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
    return left < right ? -way : left > right ? way : 0;
  });
}
