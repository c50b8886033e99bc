import type { Bar } from "#lib/client/bar-source";
import type { Timeframe } from "#lib/contract/primitives";
import { DAY_S, HOUR_S, MINUTE_S } from "#lib/units";

/** Length of the timeframes in which a day has several klines; in the others a break is shorter than a kline. */
const INTRADAY_S: Readonly<Partial<Record<Timeframe, number>>> = {
  M1: MINUTE_S,
  M5: 5 * MINUTE_S,
  M15: 15 * MINUTE_S,
  M30: 30 * MINUTE_S,
  H1: HOUR_S,
  H4: 4 * HOUR_S,
};
/** True where a day has several klines, so that their times have a time of day. */
export const isIntraday = (timeframe: Timeframe) => timeframe in INTRADAY_S;

/** A longer row of closed and open hours without a kline is one break. */
const PIECES_MAX_COUNT = 6;
/** Room of a break on the time axis, in klines: a weekend must not be wider than the days around it. */
const CLOSED_SLOTS = 4;
const MISSING_MAX_SLOTS = 12;

/** Ranges in which the market is open, ascending, and the time for which they are known. Unix seconds. */
export interface Hours {
  readonly from: number;
  readonly to: number;
  readonly open: readonly (readonly [opens: number, closes: number])[];
}

/** A range without klines. `closed`: the market was. `missing`: it was open. `unknown`: the hours are not known. */
export interface Break {
  readonly kind: "closed" | "missing" | "unknown";
  /** Unix seconds, end excluded. */
  readonly from: number;
  readonly to: number;
}

/** The open and closed pieces of a range, ascending. */
function piecesOf(from: number, to: number, hours: Hours): Break[] {
  const pieces: Break[] = [];
  let at = from;
  for (const [opens, closes] of hours.open) {
    if (closes <= at) continue;
    if (opens >= to) break;
    if (opens > at) pieces.push({ kind: "closed", from: at, to: opens });
    pieces.push({ kind: "missing", from: Math.max(at, opens), to: Math.min(closes, to) });
    at = Math.min(closes, to);
  }
  if (at < to) pieces.push({ kind: "closed", from: at, to });
  return pieces;
}

function explain(from: number, to: number, stepS: number, hours: Hours | null): Break[] {
  if (hours === null || from < hours.from || to > hours.to) return [{ kind: "unknown", from, to }];
  // Less than one kline of open hours is no gap: quotes rarely come in the second of the open.
  const pieces = piecesOf(from, to, hours).filter(({ kind, from: start, to: end }) => kind === "closed" || end - start >= stepS);
  return pieces.length > PIECES_MAX_COUNT ? [{ kind: "missing", from, to }] : pieces;
}

/**
 * The breaks between bars, and after the last one up to `nowS`. A bar that is an hour late in H4, as when daylight saving time
 * ends, is no break.
 */
export function breaksOf(bars: readonly Bar[], timeframe: Timeframe, hours: Hours | null, nowS: number): Break[] {
  const stepS = INTRADAY_S[timeframe];
  if (stepS === undefined) return [];
  return bars.flatMap(({ time }, index) => {
    const next = bars[index + 1]?.time ?? nowS;
    return next - time < 2 * stepS ? [] : explain(time + stepS, next, stepS, hours);
  });
}

/** Ascending times that hold the place of a break on the time axis. */
export function slotsOf({ kind, from, to }: Break, timeframe: Timeframe): number[] {
  const klines = Math.max(1, Math.floor((to - from) / (INTRADAY_S[timeframe] ?? DAY_S)));
  const count = Math.min(klines, kind === "closed" ? CLOSED_SLOTS : MISSING_MAX_SLOTS);
  return Array.from({ length: count }, (_, index) => from + Math.floor((index * (to - from)) / count));
}

/** The label of a kind of break. */
export const BREAK_WORDS: Readonly<Record<Break["kind"], string>> = {
  closed: "Closed",
  missing: "No data",
  unknown: "No klines",
};
