import { type Closure, FORTNIGHT_DAYS } from "#lib/contract/markets";
import { DAY_S } from "#lib/units";

/** A part of a day, as fractions of it. */
interface Part {
  readonly from: number;
  readonly to: number;
}

/** One UTC day of a market. */
export interface MarketDay {
  /** Unix seconds of midnight. */
  readonly time: number;
  readonly closed: readonly Part[];
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

/** The fourteen UTC days from `fromS`, a midnight, with their closed parts. */
export function daysOf(closures: readonly Closure[], fromS: number): MarketDay[] {
  return Array.from({ length: FORTNIGHT_DAYS }, (_, index) => {
    const time = fromS + index * DAY_S;
    const within = closures.filter(({ from, to }) => from < time + DAY_S && to > time);
    const part = (at: number) => Math.min(1, Math.max(0, (at - time) / DAY_S));
    return {
      time,
      closed: within.map(({ from, to }) => ({ from: part(from), to: part(to) })),
      reasons: [...new Set(within.map(({ reason }) => CLOSURE_REASONS[reason ?? ""] ?? "Closed"))],
    };
  });
}

const MINUTES = 1_440;
const two = (value: number) => String(value).padStart(2, "0");

/** A fraction of a day as a time of day, 24:00 at its end. */
function clockText(part: number): string {
  const minutes = Math.round(part * MINUTES);
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** The open times of a day, as in "00:00–21:00" and "22:00–24:00". */
export function openTimes({ closed }: Pick<MarketDay, "closed">): string[] {
  const open: string[] = [];
  let at = 0;
  for (const { from, to } of [...closed, { from: 1, to: 1 }]) {
    if (from > at) open.push(`${clockText(at)}–${clockText(from)}`);
    at = to;
  }
  return open;
}

/** The same in words. */
export const openText = (day: Pick<MarketDay, "closed">): string => openTimes(day).join(", ") || "Closed";
