import type { AssetClass } from "#lib/contract/instrument";
import { type Calendar, compileCalendar } from "#lib/domain/calendar";
import { SEED_CALENDARS } from "#lib/domain/calendars/index";
import { HOUR_MS, MINUTE_MS } from "#lib/units";
import type { ClockEvidence, Run } from "./clock-evidence";
import type { SourceClock } from "./clock-zone";

/** Rows this far inside closed hours still match a clock: some feeds begin early or end late. */
const STRAY_MS = 20 * MINUTE_MS;
/** A source that ends this long before the close of a week ends early. */
const EARLY_MS = 2 * STRAY_MS;
/** Times that are compared to see whether two clocks read a run alike. */
const COMPARED_MS = 6 * HOUR_MS;

/** The weekly hours of a market, without its holidays: rows of a holiday say nothing about a clock. */
export function weeklyHours(assetClass: AssetClass): Calendar {
  const definition = assetClass === "metals" ? SEED_CALENDARS.metals : SEED_CALENDARS.forex;
  if (definition?.kind !== "weekly") throw new Error("the seed calendars of forex and metals are weekly");
  return compileCalendar({ ...definition, holidays: [], earlyCloses: {}, lateOpens: {}, coveredUntil: "2199-12-31" }, []);
}

/** Milliseconds of [fromMs, untilMs) in which a market is open. */
export function openMs(hours: Calendar, fromMs: number, untilMs: number): number {
  const sessions = hours.sessionsBetween(fromMs, untilMs) ?? [];
  return sessions.reduce((sum, { openMs: from, closeMs }) => sum + Math.min(closeMs, untilMs) - Math.max(from, fromMs), 0);
}

/** Milliseconds of [fromMs, untilMs) in which a market is closed; the longest stretch. */
function longestClosed(hours: Calendar, fromMs: number, untilMs: number): number {
  let closedMs = 0;
  let at = fromMs;
  for (const { openMs, closeMs } of hours.sessionsBetween(fromMs, untilMs) ?? []) {
    closedMs = Math.max(closedMs, openMs - at);
    at = closeMs;
  }
  return Math.max(closedMs, untilMs - at);
}

/** Which runs of rows a clock puts into closed hours: each is strong evidence against it. */
export function runsWhileClosed(clock: SourceClock, { runs, long }: ClockEvidence, hours: Calendar): boolean[] {
  return runs.map(({ fromMs, untilMs }) => {
    if (long) return openMs(hours, clock.toUtcMs(fromMs), clock.toUtcMs(untilMs)) < STRAY_MS;
    if (untilMs - fromMs < STRAY_MS) return false;
    return longestClosed(hours, clock.toUtcMs(fromMs), clock.toUtcMs(untilMs)) >= STRAY_MS;
  });
}

/** The first run that two clocks read differently; undefined when both give the same times for all rows. */
export function firstDifference(a: SourceClock, b: SourceClock, { runs }: ClockEvidence): Run | undefined {
  return runs.find(({ fromMs, untilMs }) => {
    for (let at = fromMs; at < untilMs; at += COMPARED_MS) if (a.toUtcMs(at) !== b.toUtcMs(at)) return true;
    return a.toUtcMs(untilMs) !== b.toUtcMs(untilMs);
  });
}

/** On which weekends a clock finds the market closed early on Friday, by about an hour or more. */
export function earlyCloses(clock: SourceClock, { weekends }: ClockEvidence, hours: Calendar): boolean[] {
  return weekends.map(({ closeMs }) => {
    const atMs = clock.toUtcMs(closeMs);
    const { state, nextClose } = hours.sessionAt(atMs - 1);
    // Where it is closed, a quote came after the close.
    return state === "open" && nextClose !== null && nextClose - atMs >= EARLY_MS;
  });
}

/** Whether two clocks agree on a Friday's close: it shows that the source quotes until then. */
export function agreeOnClose(a: SourceClock, b: SourceClock, { weekends }: ClockEvidence): boolean {
  return weekends.some(({ closeMs }) => a.toUtcMs(closeMs) === b.toUtcMs(closeMs));
}
