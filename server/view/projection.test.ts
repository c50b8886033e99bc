import { describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { klineExample } from "#lib/contract/kline";
import { FEED_GAPS_HOURS } from "#lib/contract/portal-admin";
import { quoteExample } from "#lib/contract/quote";
import { snapshotExample } from "#lib/contract/snapshot";
import type { KlineStore } from "#lib/market/ports";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { HOUR_MS, MINUTE_MS, MINUTE_S } from "#lib/units";
import type { MarketEvent } from "#server/events/event";
import { eventOf, TEST_EPOCH } from "#server/testing/events";
import { testKline } from "#server/testing/market";
import { createMemoryKlines } from "#server/testing/memory-klines";
import { createProjection } from "./projection";

/** In the middle of a minute. */
const NOW_MS = Date.UTC(2026, 0, 7, 12) + 30_000;
const quoteAt = (timeMs: number) => eventOf({ ...quoteExample, time_msc: timeMs });

function open({
  store = createMemoryKlines(),
  sinceMs = NOW_MS,
  remembers,
}: {
  store?: KlineStore;
  sinceMs?: number | null;
  remembers?: boolean;
} = {}) {
  const catalogue = createSandboxCatalogue();
  return createProjection({
    catalogue,
    store,
    clock: manualClock(NOW_MS),
    epoch: TEST_EPOCH,
    sinceMs,
    ...(remembers !== undefined && { remembers }),
  });
}

describe("a node's state of a venue", () => {
  test("a follower finds each event in the newest records and among the recent events", () => {
    const projection = open();
    const found: unknown[] = [];
    const stop = projection.follow(([event]) =>
      found.push([projection.view.quote("EURUSD"), projection.recent.since("quote:EURUSD", TEST_EPOCH, 0), event]),
    );
    const event = quoteAt(NOW_MS);
    projection.apply([event]);
    expect(found).toEqual([[event.record, [event], event]]);
    stop();
    projection.apply([event]);
    expect(found).toHaveLength(1);
  });

  test("where recent events are never requested, none are kept", () => {
    const projection = open({ remembers: false });
    projection.apply([quoteAt(NOW_MS)]);
    expect(projection.view.quote("EURUSD")).toBeDefined();
    expect(projection.recent.seq("quote:EURUSD")).toBe(0);
  });

  test("only quotes that came live show that a minute had ticks", () => {
    const projection = open();
    const minuteOf = (hours: number) => NOW_MS - hours * HOUR_MS;
    const events: [MarketEvent, boolean][] = [
      [quoteAt(minuteOf(1)), true],
      [{ ...quoteAt(minuteOf(2)), restored: true } as MarketEvent, false],
      [eventOf({ ...snapshotExample, time_msc: minuteOf(3) }), false],
      [eventOf({ ...klineExample, time: minuteOf(4) / 1_000 }), false],
    ];
    projection.apply(events.map(([event]) => event));
    expect([1, 2, 3, 4].map((hours) => projection.watch.coverage.ticked(Math.floor(minuteOf(hours) / MINUTE_MS)))).toEqual(
      events.map(([, ticked]) => ticked),
    );
  });

  test("forgetting drops outdated klines of one ticker or of all, and each time the revision of the history rises", () => {
    const shown = (ticker: string | undefined) => {
      const projection = open();
      for (const name of ["EURUSD", "GBPUSD"]) projection.apply([60, 120].map((time) => eventOf(testKline(name, "M1", time))));
      projection.forget(ticker, ({ time }) => time > 60);
      const revision = projection.historyRevision();
      projection.forget(ticker, () => true);
      expect([revision, projection.historyRevision()]).toEqual([1, 2]);
      return ["EURUSD", "GBPUSD"].map((name) => projection.view.recentKlines(name, "M1").map(({ time }) => time));
    };
    expect(open().historyRevision()).toBe(0);
    expect(shown(undefined)).toEqual([[120], [120]]);
    expect(shown("GBPUSD")).toEqual([[60, 120], [120]]);
  });
});

describe("looking back", () => {
  const FIRST_S = Math.floor((NOW_MS - FEED_GAPS_HOURS * HOUR_MS) / MINUTE_MS) * MINUTE_S;
  const minutes = (...times: number[]) => createMemoryKlines(times.map((time) => testKline("EURUSD", "M1", time)));
  const ticked = ({ watch }: ReturnType<typeof open>, ...times: number[]) =>
    times.map((time) => watch.coverage.ticked(time / MINUTE_S));

  test("of a venue with older history, everything of the last day is known, from a whole minute on", async () => {
    const projection = open({ store: minutes(FIRST_S - MINUTE_S, FIRST_S + 2 * MINUTE_S, FIRST_S + 5 * MINUTE_S) });
    await projection.lookBack(NOW_MS);
    expect(projection.watch.coverage.sinceMs).toBe(FIRST_S * 1_000);
    const times = [-1, 0, 2, 5].map((minute) => FIRST_S + minute * MINUTE_S);
    expect(ticked(projection, ...times)).toEqual([false, false, true, true]);
  });

  test("of a venue whose history begins within the day, nothing is known before its first minute", async () => {
    const projection = open({ store: minutes(FIRST_S + 5 * MINUTE_S, FIRST_S + 7 * MINUTE_S) });
    await projection.lookBack(NOW_MS);
    expect(projection.watch.coverage.sinceMs).toBe((FIRST_S + 5 * MINUTE_S) * 1_000);
    expect(ticked(projection, FIRST_S + 5 * MINUTE_S, FIRST_S + 6 * MINUTE_S)).toEqual([true, false]);
  });

  test.each([
    ["has no minutes", minutes()],
    ["cannot tell them", { ...minutes(FIRST_S), stored: null }],
  ])("where the store %s, nothing is known before the start", async (_, store) => {
    const projection = open({ store });
    await projection.lookBack(NOW_MS);
    expect(projection.watch.coverage.sinceMs).toBe(NOW_MS);
  });

  test("a recording that has not started looks back at nothing", async () => {
    const projection = open({ store: minutes(0, 60), sinceMs: null });
    await projection.lookBack(FEED_GAPS_HOURS * HOUR_MS - 1);
    expect(projection.watch.coverage.sinceMs).toBe(Number.POSITIVE_INFINITY);
    await projection.lookBack(FEED_GAPS_HOURS * HOUR_MS);
    expect(projection.watch.coverage.sinceMs).toBe(0);
  });
});
