import type { Bar } from "#lib/client/bar-source";

/** A close of an instrument at a kline of another one; the time is that of the kline, Unix seconds. */
interface Close {
  readonly time: number;
  readonly close: number;
}

/** How two instruments changed, in percent, since a kline that both have. */
export interface Comparison {
  /** Open time of that kline, Unix seconds. */
  readonly since: number;
  readonly first: number;
  readonly second: number;
}

/** The closes of a second instrument at the klines of the first, each the last one known then; none before its own first kline. */
export function closesAt(bars: readonly Bar[], others: readonly Bar[]): Close[] {
  let known = -1;
  return bars.flatMap(({ time }) => {
    while ((others[known + 1]?.time ?? Number.POSITIVE_INFINITY) <= time) known += 1;
    const close = others[known]?.close;
    return close === undefined ? [] : [{ time, close }];
  });
}

const percent = (from: Close, to: Close) => 100 * (to.close / from.close - 1);

/** How both changed between two klines; undefined where one of them has no price, or 0. */
export function comparisonOf(
  first: readonly Close[],
  second: readonly Close[],
  since: number,
  until: number,
): Comparison | undefined {
  const changes = [first, second].map((closes) => {
    const [from, to] = [since, until].map((time) => closes.find((one) => one.time === time));
    return from === undefined || to === undefined || from.close === 0 ? undefined : percent(from, to);
  });
  const [one, other] = changes;
  return one === undefined || other === undefined ? undefined : { since, first: one, second: other };
}
