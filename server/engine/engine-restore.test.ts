import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TIMEFRAMES } from "#lib/contract/primitives";
import type { Listing } from "#lib/domain/instrument";
import type { Kline } from "#lib/domain/kline";
import { toQuote } from "#lib/domain/quote";
import { type DayState, foldDay } from "#lib/domain/snapshot";
import type { Tick } from "#lib/domain/tick";
import { createAlignment } from "#lib/domain/timeframe";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import type { MarketEvent } from "#server/events/event";
import { createEngine } from "./engine";

const alignment = createAlignment();
/** A Thursday, 22:00 UTC, when the trading day opens. */
const DAY_MS = Date.UTC(2026, 0, 15, 22);
const DAYS_MS = 24 * 3_600_000;
const LISTING: Listing = { ...(createSandboxCatalogue().find("EURUSD") as Listing), timeframes: TIMEFRAMES };
const tickAt = (timeMs: number, bid = 1.2): Tick => ({ ticker: "EURUSD", time_msc: timeMs, bid, ask: bid + 0.0002 });
const restored = { ticker: "EURUSD", lastQuote: undefined, openKlines: [] as Kline[], day: undefined as DayState | undefined };

function open(timeframes: Listing["timeframes"] = TIMEFRAMES) {
  const listing = { ...LISTING, timeframes };
  return createEngine({ listingOf: () => listing, calendarOf: () => undefined, alignment, epoch: "test" });
}

const nameOf = ({ timeframe, time }: Kline) => `${timeframe} ${time}`;
const klinesIn = (events: readonly MarketEvent[]) => events.flatMap((event) => (event.type === "kline" ? [event.record] : []));
const snapshotIn = (events: readonly MarketEvent[]) => events.find((event) => event.type === "snapshot")?.record;

describe("restoring a running ticker", () => {
  test("exactly the klines that are restored stay open, whichever they are, and each closes once", () => {
    // Of most timeframes two are open: one was followed before it was due to close.
    const times = [DAY_MS - 1_000, DAY_MS + 500];
    const running = open();
    const states = times.flatMap((timeMs) => klinesIn(running.ingest(tickAt(timeMs))));
    const klines = [...new Map(states.map((kline) => [nameOf(kline), kline])).values()];
    fc.assert(
      fc.property(fc.subarray(klines), fc.boolean(), (stay, runs) => {
        const engine = open();
        if (runs) for (const timeMs of times) engine.ingest(tickAt(timeMs));
        const shown = engine.restore({ ...restored, openKlines: stay });
        expect(klinesIn(shown)).toEqual(stay);
        expect(shown.every((event) => event.type === "kline" && !event.closed)).toBe(true);
        const ended = klinesIn(engine.advance(DAY_MS + 60 * DAYS_MS));
        expect(ended.map(nameOf).sort()).toEqual(stay.map(nameOf).sort());
      }),
    );
  });

  test("a kline that was dropped begins anew with the next tick, also where none was running", () => {
    const engine = open();
    engine.ingest(tickAt(DAY_MS, 1.3));
    engine.advance(DAY_MS + 62_000);
    engine.restore(restored);
    const klines = klinesIn(engine.ingest(tickAt(DAY_MS + 70_000)));
    expect(klines.map(({ timeframe }) => timeframe)).toEqual(TIMEFRAMES);
    for (const kline of klines)
      expect(kline).toMatchObject({ tick_volume: 1, high: 1.2, time: alignment.openTime(kline.timeframe, DAY_MS / 1_000 + 70) });
  });

  test("klines of timeframes that are not listed are not restored", () => {
    const engine = open(["M1"]);
    const klines = klinesIn(open().ingest(tickAt(DAY_MS)));
    const shown = engine.restore({ ...restored, openKlines: klines });
    expect([shown.length, klinesIn(shown).map(({ timeframe }) => timeframe)]).toEqual([1, ["M1"]]);
  });

  const dayOf = (timeMs: number) => foldDay(undefined, toQuote(tickAt(timeMs), 5), alignment, undefined);
  const [before, today, after] = [-DAYS_MS, 0, DAYS_MS].map((offsetMs) => dayOf(DAY_MS + offsetMs)) as [
    DayState,
    DayState,
    DayState,
  ];
  const stored = { ...today, open: 1.1, askHigh: null, askLow: null };

  test.each<[string, DayState | undefined, DayState | undefined, object]>([
    ["a day that no kline gives stays when the quote is of it", today, undefined, { open: 1.2, ask_high: 1.2002 }],
    ["an older day than the quote's does not replace it", today, before, { open: 1.2, ask_high: 1.2002 }],
    ["a day with the same bids keeps the asks that ticks gave", today, stored, { open: 1.1, ask_high: 1.2002, ask_low: 1.2002 }],
    [
      "a day with another high has unknown asks",
      today,
      { ...stored, bidHigh: 1.3 },
      { bid_high: 1.3, ask_high: null, ask_low: null },
    ],
    [
      "a day with another low has unknown asks",
      today,
      { ...stored, bidLow: 1.1 },
      { bid_low: 1.1, ask_high: null, ask_low: null },
    ],
    ["a later day that was imported goes with its import", after, stored, { open: 1.1, ask_high: null }],
    ["a later day that was imported goes even if no other is left", after, undefined, { open: null, ask_high: null }],
    ["where no day was known, the stored one is shown", undefined, stored, { open: 1.1, ask_high: null }],
  ])("%s", (_, known, day, expected) => {
    const engine = open();
    // The quote comes first, at the instant the day opens; then what was known of the day.
    engine.restore({ ...restored, lastQuote: { ...tickAt(DAY_MS), ask_high: null, ask_low: null }, day: known });
    const events = engine.restore({ ...restored, day });
    const seen = snapshotIn(events) ?? snapshotIn(engine.ingest(tickAt(DAY_MS + 1)));
    expect(seen).toMatchObject(expected);
  });

  test("a day of a later import is known only as imported: its asks are not those of another day with the same bids", () => {
    const engine = open();
    engine.ingest(tickAt(DAY_MS));
    engine.restore({ ...restored, day: { ...after, askHigh: null, askLow: null } });
    expect(
      snapshotIn(
        engine.restore({
          ...restored,
          lastQuote: { ...tickAt(DAY_MS + DAYS_MS), ask_high: null, ask_low: null },
          day: { ...after, askHigh: null, askLow: null },
        }),
      ),
    ).toMatchObject({ ask_high: null, ask_low: null });
  });

  test("a snapshot is shown again only when the day of its quote changed", () => {
    const engine = open();
    for (const day of [today, undefined, today]) expect(engine.restore({ ...restored, day })).toEqual([]);
    engine.ingest(tickAt(DAY_MS + 1));
    expect(engine.restore(restored)).toEqual([]);
    expect(engine.restore({ ...restored, day: { ...today, bidHigh: 1.4 } }).map(({ type }) => type)).toEqual(["snapshot"]);
  });

  test("a ticker continues from its last quote, and refuses the ticks up to it that it had taken", () => {
    const engine = open();
    const ticks = [0, 1_000, 2_000, 3_000].map((afterMs) => tickAt(DAY_MS + afterMs));
    const [first, second, last, later] = ticks as [Tick, Tick, Tick, Tick];
    const twin = { ...last, bid: 1.1 };
    const lastQuote = { ...last, ask_high: null, ask_low: null };
    const events = engine.restore({ ...restored, lastQuote, recent: [first, second, twin, later, { ...later, bid: 1.1 }] });
    expect(events).toMatchObject([
      { type: "quote", record: { time_msc: last.time_msc, bid: 1.2, mid: 1.2001 }, seq: 1 },
      { type: "snapshot", record: { time_msc: last.time_msc, bid: 1.2 }, seq: 1 },
    ]);
    const judged = [...ticks, twin].map((tick) => engine.judge(tick, DAY_MS + 4_000));
    expect(judged).toEqual(["duplicate", "duplicate", "duplicate", null, "duplicate"]);
    expect(engine.judge(tickAt(DAY_MS + 1_000, 1.1), DAY_MS + 4_000)).toBe("out_of_order");
  });
});
