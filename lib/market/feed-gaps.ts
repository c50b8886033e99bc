import { FEED_GAP_MIN_S, FEED_GAPS_HOURS, FEED_GAPS_MAX_COUNT, type FeedGap, type FeedGaps } from "#lib/contract/portal-admin";
import type { Calendar } from "#lib/domain/calendar";
import { HOUR_MS, MINUTE_MS } from "#lib/units";
import type { FeedCoverage } from "./feed-watch";
import type { Catalogue } from "./ports";

const GAPS_MS = FEED_GAPS_HOURS * HOUR_MS;

interface Span {
  readonly openMs: number;
  readonly closeMs: number;
}

/** The ranges of [fromMs, toMs) in which any of the calendars is open, ascending and disjoint; skips unknown calendars. */
function anyOpen(calendars: readonly Pick<Calendar, "sessionsBetween">[], fromMs: number, toMs: number): Span[] {
  const all = calendars.flatMap((calendar) => calendar.sessionsBetween(fromMs, toMs) ?? []);
  const spans: { openMs: number; closeMs: number }[] = [];
  for (const { openMs, closeMs } of all.sort((a, b) => a.openMs - b.openMs)) {
    const last = spans.at(-1);
    if (last !== undefined && openMs <= last.closeMs) last.closeMs = Math.max(last.closeMs, closeMs);
    else spans.push({ openMs, closeMs });
  }
  return spans;
}

/**
 * The ranges of open time without a tick, in whole minutes. Closed time does not split a range: a feed that was silent
 * before and after a weekend was silent once, and only the open time counts towards the length.
 */
function silentRanges(spans: readonly Span[], sight: Pick<FeedCoverage, "ticked">) {
  const found: { startMs: number; endMs: number; openMs: number }[] = [];
  let silent = false;
  for (const { openMs, closeMs } of spans) {
    for (let minute = Math.floor(openMs / MINUTE_MS); minute * MINUTE_MS < closeMs; minute += 1) {
      const startMs = Math.max(openMs, minute * MINUTE_MS);
      const endMs = Math.min(closeMs, (minute + 1) * MINUTE_MS);
      const last = found.at(-1);
      if (sight.ticked(minute)) silent = false;
      else if (silent && last !== undefined) {
        last.endMs = endMs;
        last.openMs += endMs - startMs;
      } else {
        found.push({ startMs, endMs, openMs: endMs - startMs });
        silent = true;
      }
    }
  }
  return { found, silent };
}

/** The calendars that the listings of a venue follow, each once. */
function calendarsOf(catalogue: Pick<Catalogue, "list" | "calendar">): Calendar[] {
  const all = catalogue.list().map(({ ticker }) => catalogue.calendar(ticker));
  return [...new Set(all)].filter((calendar) => calendar !== undefined);
}

/**
 * The feed gaps of the day before `nowMs` (Unix ms): times of FEED_GAP_MIN_S or longer in which a market of the venue was
 * open by its calendar and no instrument had a tick. The current minute does not count yet.
 */
export function feedGaps(sight: FeedCoverage, catalogue: Pick<Catalogue, "list" | "calendar">, nowMs: number): FeedGaps {
  const toMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  // A minute counts only when it was watched from its start.
  const sinceMs = Math.min(toMs, Math.ceil(Math.max(sight.sinceMs, toMs - GAPS_MS) / MINUTE_MS) * MINUTE_MS);
  const { found, silent } = silentRanges(anyOpen(calendarsOf(catalogue), sinceMs, toMs), sight);
  const gaps = found.filter(({ openMs }) => openMs >= FEED_GAP_MIN_S * 1_000);
  const last = found.at(-1);
  const items = gaps.map((gap): FeedGap => {
    const { startMs, endMs, openMs } = gap;
    const lasts = silent && gap === last && endMs === toMs && !sight.ticked(toMs / MINUTE_MS);
    return {
      starts_at: new Date(startMs).toISOString(),
      ends_at: lasts ? null : new Date(endMs).toISOString(),
      length_s: openMs / 1_000,
    };
  });
  return {
    since: new Date(sinceMs).toISOString(),
    until: new Date(toMs).toISOString(),
    threshold_s: FEED_GAP_MIN_S,
    count: items.length,
    total_s: items.reduce((sum, { length_s }) => sum + length_s, 0),
    items: items.reverse().slice(0, FEED_GAPS_MAX_COUNT),
  };
}
