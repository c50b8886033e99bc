import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TIMEFRAMES } from "#lib/contract/primitives";
import type { Listing } from "#lib/domain/instrument";
import { aggregate, foldQuote, isClosed, type Kline } from "#lib/domain/kline";
import { toQuote } from "#lib/domain/quote";
import type { Tick } from "#lib/domain/tick";
import { createAlignment } from "#lib/domain/timeframe";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import type { MarketEvent } from "#server/events/event";
import { topicName } from "#server/events/topic";
import { createEngine } from "./engine";

const alignment = createAlignment();
/** A Thursday, 21:57 UTC: three minutes before the trading day ends. */
const START_MS = Date.UTC(2026, 0, 15, 21, 57);
const LISTING: Listing = { ...(createSandboxCatalogue().find("EURUSD") as Listing), timeframes: TIMEFRAMES };
const nameOf = ({ timeframe, time }: Kline) => `${timeframe} ${time}`;

/** The klines of ticks by a plain aggregation. */
function klinesOf(ticks: readonly Tick[]): Kline[] {
  const minutes = new Map<number, Kline>();
  for (const tick of ticks) {
    const time = alignment.openTime("M1", Math.floor(tick.time_msc / 1000));
    minutes.set(time, foldQuote(minutes.get(time), toQuote(tick, LISTING.digits), undefined, "M1", time));
  }
  const rows = [...minutes.values()];
  return TIMEFRAMES.flatMap((timeframe) => (timeframe === "M1" ? rows : aggregate(rows, timeframe, alignment)));
}

/** A tick that is ahead of the clock, a look at the clock, or an edited listing, after some milliseconds. */
const steps = fc.array(
  fc.record({
    afterMs: fc.oneof(fc.nat(1_500), fc.nat(90_000)),
    kind: fc.constantFrom("tick", "tick", "look", "edit"),
    aheadMs: fc.nat(150_000),
    points: fc.integer({ min: 100_000, max: 120_000 }),
  }),
  { maxLength: 40 },
);

describe("the clock of an engine", () => {
  test("closes every kline once, in its last state, at the first look two seconds after its end, however far its ticks are ahead", () => {
    fc.assert(
      fc.property(steps, (script) => {
        let listing = LISTING;
        const engine = createEngine({ listingOf: () => listing, calendarOf: () => undefined, alignment, epoch: "test" });
        const ticks: Tick[] = [];
        const closed = new Set<string>();
        let nowMs = START_MS;
        const look = () => {
          const due = klinesOf(ticks).filter((kline) => isClosed(kline, nowMs, alignment) && !closed.has(nameOf(kline)));
          for (const kline of due) closed.add(nameOf(kline));
          const events = engine.advance(nowMs);
          expect(events.every((event) => event.type === "kline" && event.closed)).toBe(true);
          const shown = new Map(events.map(({ record }) => [nameOf(record as Kline), record]));
          expect(shown).toEqual(new Map(due.map((kline) => [nameOf(kline), kline])));
          expect(events).toHaveLength(due.length);
        };
        for (const { afterMs, kind, aheadMs, points } of script) {
          nowMs += afterMs;
          if (kind === "edit") listing = { ...listing };
          if (kind !== "tick") look();
          else {
            // A tick of a kline that was closed would be refused; so is one that is older than the last.
            look();
            const timeMs = Math.max(nowMs + aheadMs, ticks.at(-1)?.time_msc ?? 0);
            const tick = { ticker: LISTING.ticker, time_msc: timeMs, bid: points / 100_000, ask: points / 100_000 };
            ticks.push(tick);
            engine.ingest(tick);
          }
        }
        for (let minute = 0; minute < 5; minute += 1) {
          nowMs += 60_000;
          look();
        }
        nowMs += 40 * 24 * 3_600_000;
        look();
      }),
    );
  });

  test("counts the records of each topic from one, across edits of the listing and corrections", () => {
    let listing = LISTING;
    const engine = createEngine({ listingOf: () => listing, calendarOf: () => undefined, alignment, epoch: "test" });
    const tick = (afterMs: number) => ({ ticker: LISTING.ticker, time_msc: START_MS + afterMs, bid: 1.1, ask: 1.2 });
    const events: MarketEvent[] = [...engine.ingest(tick(0)), ...engine.ingest(tick(70_000))];
    const minute = events.find((event) => event.type === "kline" && event.record.timeframe === "M1")?.record as Kline;
    listing = { ...LISTING };
    events.push(...engine.advance(START_MS + 62_000), ...engine.correct([{ kline: minute }]), ...engine.ingest(tick(80_000)));
    const counts = new Map<string, number>();
    for (const { type, topic, record, epoch, seq } of events) {
      counts.set(topic, (counts.get(topic) ?? 0) + 1);
      expect([topic, epoch, seq]).toEqual([
        topicName(type, record.ticker, type === "kline" ? record.timeframe : undefined),
        "test",
        counts.get(topic),
      ]);
    }
    expect([counts.get("quote:EURUSD"), counts.get("snapshot:EURUSD"), counts.get("kline:EURUSD:M1")]).toEqual([3, 3, 5]);
  });

  test("a correction is the next record of its kline, and says whether the kline is gone; others than those of listed timeframes are not told", () => {
    const listing = { ...LISTING, timeframes: ["M1", "M5"] as const };
    const engine = createEngine({
      listingOf: (ticker) => (ticker === "EURUSD" ? listing : undefined),
      calendarOf: () => undefined,
      alignment,
      epoch: "test",
    });
    const klines = klinesOf([{ ticker: "EURUSD", time_msc: START_MS, bid: 1.1, ask: 1.2 }]);
    const of = (timeframe: string) => klines.find((kline) => kline.timeframe === timeframe) as Kline;
    const strange = { ...of("M1"), ticker: "XAUUSD" };
    const found = engine.correct([
      { kline: of("M1") },
      { kline: of("H1") },
      { kline: strange },
      { kline: of("M5"), removed: true },
      { kline: of("M1") },
    ]);
    const common = { type: "kline", epoch: "test", closed: true, corrected: true };
    expect(found).toEqual([
      { ...common, topic: "kline:EURUSD:M1", record: of("M1"), seq: 1 },
      { ...common, topic: "kline:EURUSD:M5", record: of("M5"), seq: 1, removed: true },
      { ...common, topic: "kline:EURUSD:M1", record: of("M1"), seq: 2 },
    ]);
  });

  test("nothing is shown of a ticker that was retired, and its ticks are refused as those of an unknown one", () => {
    let listing: Listing | undefined = LISTING;
    const engine = createEngine({ listingOf: () => listing, calendarOf: () => undefined, alignment, epoch: "test" });
    const tick = { ticker: LISTING.ticker, time_msc: START_MS, bid: 1.1, ask: 1.2 };
    for (const known of [true, false]) {
      if (known) engine.ingest(tick);
      listing = undefined;
      expect(engine.judge(tick, START_MS)).toBe("unknown_ticker");
      expect(engine.ingest({ ...tick, ticker: known ? tick.ticker : "NOSUCH" })).toEqual([]);
      expect(engine.restore({ ticker: tick.ticker, lastQuote: undefined, openKlines: klinesOf([tick]), day: undefined })).toEqual(
        [],
      );
      expect(engine.correct(klinesOf([tick]).map((kline) => ({ kline })))).toEqual([]);
    }
  });
});
