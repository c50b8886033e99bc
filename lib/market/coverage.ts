import { DAY_S, MINUTE_MS, MINUTE_S } from "#lib/units";

/** A range of minutes: open times in Unix seconds, whole minutes, `to` excluded. */
export interface Minutes {
  readonly from: number;
  readonly to: number;
}

/** Minutes that have no kline for a known reason. */
export interface KnownGaps<Reason extends string> {
  readonly reason: Reason;
  /** Ascending and disjoint; they may reach beyond what is missing. */
  readonly ranges: readonly Minutes[];
}

/** What became of the minutes of a span: each is stored, closed or a gap. */
interface Coverage<Reason extends string> {
  /** Numbers of minutes; `inClosedHours` are those stored while the market was closed. */
  readonly stored: number;
  readonly closed: number;
  readonly gap: number;
  readonly inClosedHours: number;
  /** Open minutes by UTC day from that of the span's start, and how many of them are stored. */
  readonly days: { readonly open: readonly number[]; readonly stored: readonly number[] };
  /**
   * Ascending. A gap reaches over closed hours to the next minute that is stored, or that lacks for another reason; only its open minutes
   * count.
   */
  readonly gaps: readonly (Minutes & { readonly minutes: number; readonly reason: Reason | "missing" })[];
  /** Stored minutes in closed hours, ascending, one range for each closure; only stored minutes count. */
  readonly closedRanges: readonly (Minutes & { readonly minutes: number })[];
}

/** Ranges as ascending ones without overlaps. */
export function merged(ranges: readonly Minutes[]): Minutes[] {
  const found: { from: number; to: number }[] = [];
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = found.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else found.push({ from, to });
  }
  return found;
}

/** How many minutes ranges have. */
export const countOf = (ranges: readonly Minutes[]) => ranges.reduce((sum, { from, to }) => sum + (to - from) / MINUTE_S, 0);

/** Ranges cut to a span; those outside are left out. */
function within(span: Minutes, ranges: readonly Minutes[]): Minutes[] {
  return ranges
    .map(({ from, to }) => ({ from: Math.max(from, span.from), to: Math.min(to, span.to) }))
    .filter(({ from, to }) => from < to);
}

/** The minutes that sessions (Unix ms, ascending) touch, as ascending disjoint ranges. */
function minutesOf(sessions: readonly { readonly openMs: number; readonly closeMs: number }[]): Minutes[] {
  const ranges: { from: number; to: number }[] = [];
  for (const { openMs, closeMs } of sessions) {
    if (closeMs <= openMs) continue;
    const from = Math.floor(openMs / MINUTE_MS) * MINUTE_S;
    const to = Math.ceil(closeMs / MINUTE_MS) * MINUTE_S;
    const last = ranges.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else ranges.push({ from, to });
  }
  return ranges;
}

/** The minutes of `ranges` that are not in `others`; both ascending and disjoint. */
function without(ranges: readonly Minutes[], others: readonly Minutes[]): Minutes[] {
  const rest: Minutes[] = [];
  let index = 0;
  for (const { from, to } of ranges) {
    let at = from;
    while ((others[index]?.to ?? Number.POSITIVE_INFINITY) <= at) index += 1;
    for (let next = index; next < others.length; next += 1) {
      const other = others[next] as Minutes;
      if (other.from >= to) break;
      if (other.from > at) rest.push({ from: at, to: other.from });
      at = Math.max(at, other.to);
    }
    if (at < to) rest.push({ from: at, to });
  }
  return rest;
}

/** The open minutes of a span, as ascending ranges; see coverageOf for the parameters. */
export function openWithin(span: Minutes, sessions: readonly { readonly openMs: number; readonly closeMs: number }[]): Minutes[] {
  return within(span, minutesOf(sessions));
}

/** The minutes that are in both; all ascending and disjoint. */
export function inBoth(ranges: readonly Minutes[], others: readonly Minutes[]): Minutes[] {
  return without(ranges, without(ranges, others));
}

/** The open minutes of a span that are not among the stored ones, as ascending ranges; see coverageOf for the parameters. */
export function openWithout(
  span: Minutes,
  stored: readonly Minutes[],
  sessions: readonly { readonly openMs: number; readonly closeMs: number }[],
): Minutes[] {
  return without(openWithin(span, sessions), within(span, stored));
}

/** Joins ranges that no open minute lies between, and counts their own minutes. */
function joined(ranges: readonly Minutes[], open: readonly Minutes[]): (Minutes & { minutes: number })[] {
  const found: { from: number; to: number; minutes: number }[] = [];
  let index = 0;
  for (const { from, to } of ranges) {
    const last = found.at(-1);
    const minutes = (to - from) / MINUTE_S;
    while (last !== undefined && (open[index]?.to ?? Number.POSITIVE_INFINITY) <= last.to) index += 1;
    if (last !== undefined && (open[index]?.from ?? Number.POSITIVE_INFINITY) >= from) {
      last.to = to;
      last.minutes += minutes;
    } else found.push({ from, to, minutes });
  }
  return found;
}

/** The number of minutes of the ranges in each UTC day of the span. */
function byDay(span: Minutes, ranges: readonly Minutes[]): number[] {
  const first = Math.floor(span.from / DAY_S);
  const days = new Array<number>(Math.max(0, Math.ceil(span.to / DAY_S) - first)).fill(0);
  for (const range of ranges)
    for (let { from } = range; from < range.to; ) {
      const day = Math.floor(from / DAY_S);
      const to = Math.min(range.to, (day + 1) * DAY_S);
      days[day - first] = (days[day - first] ?? 0) + (to - from) / MINUTE_S;
      from = to;
    }
  return days;
}

/** What is missing, by reason: a minute that has several has the first. */
function byReason<Reason extends string>(
  missing: readonly Minutes[],
  open: readonly Minutes[],
  known: readonly KnownGaps<Reason>[],
): Coverage<Reason>["gaps"] {
  let rest = missing;
  const gaps = known.flatMap(({ reason, ranges }) => {
    const own = inBoth(rest, ranges);
    rest = without(rest, own);
    return joined(own, open).map((gap) => ({ ...gap, reason }));
  });
  return [...gaps, ...joined(rest, open).map((gap) => ({ ...gap, reason: "missing" as const }))].sort((a, b) => a.from - b.from);
}

/**
 * Compares stored minutes with the hours of a calendar.
 * @param span what is looked at
 * @param stored ascending and disjoint, may reach beyond the span
 * @param sessions when the market is open, Unix milliseconds, ascending; a minute is open when a session touches it
 * @param known why some minutes have no kline; what is missing otherwise is "missing"
 */
export function coverageOf<Reason extends string = never>(
  span: Minutes,
  stored: readonly Minutes[],
  sessions: readonly { readonly openMs: number; readonly closeMs: number }[],
  known: readonly KnownGaps<Reason>[] = [],
): Coverage<Reason> {
  const kept = within(span, stored);
  const open = openWithin(span, sessions);
  const missing = without(open, kept);
  const stray = without(kept, open);
  const [all, gap, inClosedHours, count] = [countOf([span]), countOf(missing), countOf(stray), countOf(kept)];
  const openByDay = byDay(span, open);
  const missingByDay = byDay(span, missing);
  return {
    stored: count,
    closed: all - count - gap,
    gap,
    inClosedHours,
    days: { open: openByDay, stored: openByDay.map((minutes, day) => minutes - (missingByDay[day] ?? 0)) },
    gaps: byReason(missing, open, known),
    closedRanges: joined(stray, open),
  };
}

/** The longest ranges, longest first; of equal ones the first comes first. */
export function longest<Range>(ranges: readonly Range[], length: (range: Range) => number, count: number): Range[] {
  return ranges.toSorted((a, b) => length(b) - length(a)).slice(0, count);
}
