import { type Closure, FORTNIGHT_DAYS } from "#lib/contract/markets";
import { SECOND_MS } from "#lib/units";
import { startOfDay } from "../portal/local-time";

/** A range of time in Unix seconds, its end excluded. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** One day of a market, from midnight to midnight in a time zone. */
export interface MarketDay extends Span {
  readonly closed: readonly Span[];
  readonly open: readonly Span[];
  /** Why it is closed at all, each reason once, in order. */
  readonly reasons: readonly string[];
}

/** Why a market is closed, by the reason of its status. */
export const CLOSURE_REASONS: Readonly<Record<string, string>> = {
  weekend: "Weekend",
  daily_break: "Daily break",
  holiday: "Holiday",
  early_close: "Early close",
  late_open: "Late open",
  operator_override: "Closed by the operator",
};

/** What is left of a day between its closed times. */
function openIn({ from, to }: Span, closed: readonly Span[]): Span[] {
  const open: Span[] = [];
  let at = from;
  for (const span of [...closed, { from: to, to }]) {
    if (span.from > at) open.push({ from: at, to: span.from });
    at = span.to;
  }
  return open;
}

/**
 * The fourteen days from the one of `nowMs` on, with their closed and their open times.
 * @param zone the zone that the page shows: UTC, or that of the device
 */
export function daysOf(closures: readonly Closure[], nowMs: number, zone: string): MarketDay[] {
  return Array.from({ length: FORTNIGHT_DAYS }, (_, index) => {
    const from = startOfDay(nowMs, index, zone) / SECOND_MS;
    const to = startOfDay(nowMs, index + 1, zone) / SECOND_MS;
    const within = closures.filter((closure) => closure.from < to && closure.to > from);
    const closed = within.map((closure) => ({ from: Math.max(closure.from, from), to: Math.min(closure.to, to) }));
    return {
      from,
      to,
      closed,
      open: openIn({ from, to }, closed),
      reasons: [...new Set(within.map(({ reason }) => CLOSURE_REASONS[reason ?? ""] ?? "Closed"))],
    };
  });
}
