import { type Spread, spreadText } from "./spread";
import type { Row } from "./table";

/** Work that costs more than this many times what it costs at the smallest size has grown. */
const GROWTH_MAX = 1.5;

/** The cost of a piece of work at one size. */
export interface Sized {
  readonly size: number;
  readonly cost: Spread;
}

/**
 * A row for each size, each compared with the first.
 * @param what the work
 * @param among what there is more and more of, in the plural
 */
export function growthRows(what: string, among: string, unit: string, costs: readonly Sized[]): Row[] {
  const [first] = costs;
  return costs.map(({ size, cost }) => {
    const row = { what: `${what}, ${size.toLocaleString("en-US")} ${among}`, value: `${spreadText(cost)} ${unit}` };
    if (first === undefined || size === first.size) return row;
    const against = `that of ${first.size.toLocaleString("en-US")}`;
    return { ...row, ratio: { value: cost.median / first.cost.median, target: GROWTH_MAX, against, bound: "at most" } };
  });
}
