import { describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { FEED_GAPS_MAX_COUNT } from "#lib/contract/portal-admin";
import { type Calendar, compileCalendar } from "#lib/domain/calendar";
import { DAY_MS, MINUTE_MS } from "#lib/units";
import { feedGaps } from "./feed-gaps";
import { createFeedWatch } from "./feed-watch";

/** A Wednesday noon, UTC. */
const NOW_MS = Date.UTC(2026, 0, 7, 12);
const at = (minutes: number) => NOW_MS + minutes * MINUTE_MS;
const iso = (minutes: number) => new Date(at(minutes)).toISOString();

/** Instruments that each follow one calendar; undefined for an instrument without one. */
function catalogueOf(...calendars: (Calendar | undefined)[]) {
  const listings = calendars.map((calendar, index) => ({ ticker: `T${index}`, calendar }));
  return {
    list: () => listings as never,
    calendar: (ticker: string) => listings.find((listing) => listing.ticker === ticker)?.calendar,
  };
}
const always = catalogueOf(compileCalendar({ kind: "always" }, []));

/** A watch that started a day before now and saw a tick in each minute except from..to-1, counted from now. */
function watched(...gaps: readonly (readonly [from: number, to: number])[]) {
  const watch = createFeedWatch(manualClock(NOW_MS), NOW_MS - DAY_MS);
  for (let minute = -1440; minute < 0; minute += 1)
    if (!gaps.some(([from, to]) => minute >= from && minute < to)) watch.tick(at(minute) + 59_999);
  return watch;
}

describe("feed gaps", () => {
  test("a feed with a tick in every minute has no gaps; the current minute does not count", () => {
    const gaps = feedGaps(watched().coverage, always, NOW_MS + 59_000);
    expect(gaps).toEqual({ since: iso(-1440), until: iso(0), threshold_s: 120, count: 0, total_s: 0, items: [] });
  });

  test("feed gaps are at least as long as the threshold and listed newest first", () => {
    expect(feedGaps(watched([-700, -690], [-500, -499], [-10, -8]).coverage, always, NOW_MS)).toMatchObject({
      count: 2,
      total_s: 720,
      items: [
        { starts_at: iso(-10), ends_at: iso(-8), length_s: 120 },
        { starts_at: iso(-700), ends_at: iso(-690), length_s: 600 },
      ],
    });
  });

  test("a feed gap lasts until the first tick", () => {
    const watch = watched([-5, 0]);
    expect(feedGaps(watch.coverage, always, NOW_MS).items).toEqual([{ starts_at: iso(-5), ends_at: null, length_s: 300 }]);
    watch.tick(NOW_MS + 10_000);
    expect(feedGaps(watch.coverage, always, NOW_MS + 20_000).items).toEqual([
      { starts_at: iso(-5), ends_at: iso(0), length_s: 300 },
    ]);
  });

  test("feed gaps count open time only: closed hours add nothing and do not split a gap", () => {
    const closed = { state: "closed", fromMs: at(-100), untilMs: at(-40) } as const;
    const calendar = compileCalendar({ kind: "always" }, [closed]);
    expect(feedGaps(watched([-100, -40]).coverage, catalogueOf(calendar), NOW_MS).count).toBe(0);
    expect(feedGaps(watched([-103, -38]).coverage, catalogueOf(calendar), NOW_MS).items).toEqual([
      { starts_at: iso(-103), ends_at: iso(-38), length_s: 300 },
    ]);
  });

  test("a feed gap needs an open market, and an unknown calendar does not count as open", () => {
    const { coverage } = watched([-100, -40]);
    const never = compileCalendar({ kind: "never" }, []);
    const unknown = compileCalendar(undefined, []);
    expect(feedGaps(coverage, catalogueOf(never, unknown, undefined), NOW_MS).count).toBe(0);
    const until = { state: "closed", fromMs: at(-70), untilMs: null } as const;
    const some = catalogueOf(never, compileCalendar({ kind: "always" }, [until]));
    expect(feedGaps(coverage, some, NOW_MS).items).toEqual([{ starts_at: iso(-100), ends_at: iso(-70), length_s: 1_800 }]);
  });

  test("feed gaps are listed up to a bound and counted past it", () => {
    const many = Array.from({ length: 60 }, (_, index) => [-1400 + index * 10, -1397 + index * 10] as const);
    const { count, total_s, items } = feedGaps(watched(...many).coverage, always, NOW_MS);
    expect([count, total_s, items.length]).toEqual([60, 60 * 180, FEED_GAPS_MAX_COUNT]);
    expect(items[0]?.starts_at).toBe(iso(-1400 + 59 * 10));
  });

  test("feed gaps start with the watch, or earlier when minutes are stored", () => {
    const watch = createFeedWatch(manualClock(NOW_MS), at(-10) + 1);
    expect(feedGaps(watch.coverage, always, NOW_MS)).toMatchObject({
      since: iso(-9),
      items: [{ starts_at: iso(-9), ends_at: null }],
    });
    watch.stored([at(-30) / 1000, at(-1) / 1000], at(-30));
    expect(feedGaps(watch.coverage, always, NOW_MS)).toMatchObject({
      since: iso(-30),
      items: [{ starts_at: iso(-29), ends_at: iso(-1) }],
    });
  });

  test("feed gaps of a recording with its own times start with its first tick", () => {
    const watch = createFeedWatch(manualClock(NOW_MS), null);
    expect(feedGaps(watch.coverage, always, NOW_MS)).toMatchObject({ since: iso(0), count: 0 });
    watch.tick(at(-60));
    expect(feedGaps(watch.coverage, always, NOW_MS)).toMatchObject({ since: iso(-60), total_s: 59 * 60 });
  });
});

describe("feed watch", () => {
  test("a feed watch drops minutes too old to report, however long it runs", () => {
    const watch = createFeedWatch(manualClock(NOW_MS), NOW_MS);
    for (let minute = 0; minute < 10_000; minute += 1) watch.tick(at(minute));
    const first = Math.floor(NOW_MS / MINUTE_MS);
    const kept = Array.from({ length: 10_000 }, (_, index) => first + index).filter(watch.coverage.ticked);
    expect(kept.length).toBeLessThanOrEqual(2 * 1442);
    expect(kept).toContain(first + 10_000 - 1441);
  });

  test("overlapping loads of history count as one, which ends with the last of them", async () => {
    const clock = manualClock(NOW_MS);
    const watch = createFeedWatch(clock, NOW_MS);
    watch.fill(3);
    watch.restored();
    watch.fill(2);
    watch.filled();
    expect(watch.coverage.filling()).toEqual({ tickers: 5, restored: 1, startedMs: NOW_MS, endedMs: null });
    await clock.advance(500);
    watch.filled();
    expect(watch.coverage.filling()).toMatchObject({ endedMs: NOW_MS + 500 });
    watch.fill(1);
    expect(watch.coverage.filling()).toEqual({ tickers: 1, restored: 0, startedMs: NOW_MS + 500, endedMs: null });
  });
});
