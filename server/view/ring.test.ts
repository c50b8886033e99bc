import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { klineExample } from "#lib/contract/kline";
import { STREAM_RESUME_MAX_AGE_S, STREAM_RESUME_MAX_RECORDS } from "#lib/contract/limits";
import { quoteExample } from "#lib/contract/quote";
import { snapshotExample } from "#lib/contract/snapshot";
import { eventOf, TEST_EPOCH } from "#server/testing/events";
import { createRing } from "./ring";

const EURUSD = "quote:EURUSD";
const AGE_MS = STREAM_RESUME_MAX_AGE_S * 1000;
const quote = (seq: number, ticker = "EURUSD") => eventOf({ ...quoteExample, ticker }, { seq });
const quotes = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => quote(from + index));

function createScene() {
  const clock = manualClock(1_000_000);
  const ring = createRing(clock, TEST_EPOCH);
  const since = (seq: number, topic = EURUSD) => ring.since(topic, TEST_EPOCH, seq)?.map((event) => event.seq);
  return { clock, ring, since };
}

describe("the ring of recent events", () => {
  test("the ring returns exactly the events after a sequence, in order", () => {
    const { ring, since } = createScene();
    ring.apply(quotes(1, 5));
    expect([0, 1, 4, 5].map((seq) => since(seq))).toEqual([[1, 2, 3, 4, 5], [2, 3, 4, 5], [5], []]);
    expect(ring.since(EURUSD, TEST_EPOCH, 4)).toEqual([quote(5)]);
  });

  test("the ring answers unknown for another epoch and for a sequence that was never reached", () => {
    const { ring, since } = createScene();
    ring.apply(quotes(1, 5));
    expect(since(6)).toBeUndefined();
    expect(ring.since(EURUSD, "other", 5)).toBeUndefined();
    expect(ring.since(EURUSD, "other", 3)).toBeUndefined();
  });

  test("nothing was missed in a topic without events", () => {
    const { ring, since } = createScene();
    expect(ring.seq(EURUSD)).toBe(0);
    expect(since(0)).toEqual([]);
    expect(since(1)).toBeUndefined();
    expect(ring.since(EURUSD, "other", 0)).toBeUndefined();
  });

  test("the ring keeps topics apart", () => {
    const { ring, since } = createScene();
    const kline = eventOf({ ...klineExample, timeframe: "M1" }, { seq: 1 });
    ring.apply([quote(1), quote(1, "GBPUSD"), quote(2), kline]);
    expect([since(0), since(0, "quote:GBPUSD"), since(0, "kline:EURUSD:M1")]).toEqual([[1, 2], [1], [1]]);
    expect(["quote:EURUSD", "quote:GBPUSD", "kline:EURUSD:M1", "snapshot:EURUSD"].map(ring.seq)).toEqual([2, 1, 1, 0]);
  });

  test("the ring returns every event as it was, with all fields of its record in their order", () => {
    const { ring } = createScene();
    const records = [
      quoteExample,
      snapshotExample,
      { ...snapshotExample, last: 1, last_high: 2, last_low: 3, close: null, change: null, change_pct: null },
      klineExample,
      { ...klineExample, real_volume: 17.25, spread: null },
    ];
    const events = records.flatMap((record, index) => {
      const event = eventOf(record, { seq: 8 * index + 1, closed: index % 2 === 0 });
      const later = (n: number, more: object) => ({ ...event, ...more, seq: event.seq + n });
      const some = [event, later(1, { merged: 3 }), later(2, { restored: true }), later(3, { closed: true, corrected: true })];
      return event.type === "kline" ? [...some, later(4, { closed: true, corrected: true, removed: true })] : some.slice(0, 3);
    });
    for (const event of events) {
      const before = { ...event, seq: event.seq - 1 };
      ring.apply([before as typeof event, event as typeof before]);
      expect(JSON.stringify(ring.since(event.topic, TEST_EPOCH, before.seq)?.map(({ record }) => record))).toBe(
        JSON.stringify([event.record]),
      );
      expect(ring.since(event.topic, TEST_EPOCH, before.seq)).toEqual([event]);
    }
  });

  test("the ring keeps a thousand records per topic, and sequences forever", () => {
    const { ring, since } = createScene();
    ring.apply(quotes(1, STREAM_RESUME_MAX_RECORDS));
    expect(since(0)).toHaveLength(STREAM_RESUME_MAX_RECORDS);
    ring.apply([quote(STREAM_RESUME_MAX_RECORDS + 1)]);
    expect(since(0)).toBeUndefined();
    expect(since(1)).toHaveLength(STREAM_RESUME_MAX_RECORDS);
    ring.apply(quotes(STREAM_RESUME_MAX_RECORDS + 2, 10_000));
    expect(since(10_000 - STREAM_RESUME_MAX_RECORDS)).toHaveLength(STREAM_RESUME_MAX_RECORDS);
    expect(since(10_000 - STREAM_RESUME_MAX_RECORDS - 1)).toBeUndefined();
    expect(ring.seq(EURUSD)).toBe(10_000);
  });

  test("the ring keeps records for five minutes, and sequences forever", async () => {
    const { clock, ring, since } = createScene();
    ring.apply([quote(1)]);
    await clock.advance(1);
    ring.apply([quote(2)]);
    await clock.advance(AGE_MS - 1);
    expect(since(0)).toEqual([1, 2]);
    await clock.advance(1);
    expect(since(0)).toBeUndefined();
    expect(since(1)).toEqual([2]);
    await clock.advance(AGE_MS);
    expect(since(1)).toBeUndefined();
    expect(since(2)).toEqual([]);
    expect(ring.seq(EURUSD)).toBe(2);
  });

  test("the ring returns everything that was missed or answers unknown, for any events at any time", () => {
    const step = fc.record({
      // Few events, so that a circle which is partly dropped fills up and grows, or many.
      count: fc.oneof(fc.nat(12), fc.nat(400)),
      waitMs: fc.constantFrom(0, 1, 30_000, AGE_MS / 2, AGE_MS + 1),
      ask: fc.nat(1_500),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const { clock, ring, since } = createScene();
        const times: number[] = [];
        const expectAnswer = (ask: number) => {
          const seq = Math.max(0, times.length - ask);
          const missed = times.length - seq;
          const known = missed <= STREAM_RESUME_MAX_RECORDS && (missed === 0 || clock.now() - (times[seq] ?? 0) <= AGE_MS);
          expect(since(seq)).toEqual(known ? Array.from({ length: missed }, (_, index) => seq + 1 + index) : undefined);
        };
        for (const { count, waitMs, ask } of steps) {
          clock.set(clock.now() + waitMs);
          expectAnswer(ask);
          const first = times.length + 1;
          ring.apply(quotes(first, first + count - 1));
          for (let index = 0; index < count; index += 1) times.push(clock.now());
          expectAnswer(ask);
          expectAnswer(count);
        }
      }),
    );
  });

  const merged = (seq: number, count: number) => ({ ...quote(seq), merged: count });

  test("an event that replaces others closes the gap for clients that missed no more than these", () => {
    const { ring, since } = createScene();
    ring.apply([quote(1), quote(2), merged(6, 3), quote(7)]);
    expect([0, 1, 2].map((seq) => since(seq))).toEqual([
      [1, 2, 6, 7],
      [2, 6, 7],
      [6, 7],
    ]);
    // A client that has one of the replaced events has an older state of the same topic.
    expect([3, 4, 5].map((seq) => since(seq))).toEqual([
      [6, 7],
      [6, 7],
      [6, 7],
    ]);
    expect([6, 7, 8].map((seq) => since(seq))).toEqual([[7], [], undefined]);
  });

  test("a jump without a merged count is a gap: the ring knows nothing before it and everything after it", () => {
    const { ring, since } = createScene();
    ring.apply([quote(1), quote(2), quote(6), merged(9, 2)]);
    expect([2, 3, 4].map((seq) => since(seq))).toEqual([undefined, undefined, undefined]);
    expect([5, 6, 7, 9].map((seq) => since(seq))).toEqual([[6, 9], [9], [9], []]);
  });

  test("the ring starts with its first kept event, including those it replaces", () => {
    const { ring, since } = createScene();
    ring.apply([merged(10, 4), quote(11)]);
    expect([4, 5, 9, 10].map((seq) => since(seq))).toEqual([undefined, [10, 11], [10, 11], [11]]);
  });

  test("the ring returns everything from a sequence on or answers unknown, for any merged or missing events", () => {
    const step = fc.record({ skipped: fc.nat(4), announced: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
        const { ring, since } = createScene();
        const events: ReturnType<typeof quote>[] = [];
        for (const { skipped, announced } of steps) {
          const seq = (events.at(-1)?.seq ?? 0) + skipped + 1;
          events.push(announced && skipped > 0 ? merged(seq, skipped) : quote(seq));
        }
        ring.apply(events);
        const last = events.at(-1)?.seq ?? 0;
        for (let seq = 0; seq <= last; seq += 1) {
          const missed = events.filter((event) => event.seq > seq);
          // Events are contiguous: each starts no later than right after the previous one.
          const [first] = missed;
          const whole = first === undefined || first.seq - (first.merged ?? 0) <= seq + 1;
          expect(since(seq)).toEqual(whole ? missed.map((event) => event.seq) : undefined);
        }
      }),
    );
  });

  test("a topic that is known to have gone further continues from nothing older, and from its new sequence on", () => {
    const { ring, since } = createScene();
    ring.apply(quotes(1, 5));
    ring.reach(TEST_EPOCH, EURUSD, 5);
    expect(since(3)).toEqual([4, 5]);
    ring.reach(TEST_EPOCH, EURUSD, 9);
    expect([ring.seq(EURUSD), since(5), since(9)]).toEqual([9, undefined, []]);
    ring.apply([quote(10)]);
    expect([ring.seq(EURUSD), since(9), since(5)]).toEqual([10, [10], undefined]);
    ring.reach(TEST_EPOCH, EURUSD, 4);
    expect(ring.seq(EURUSD)).toBe(10);
    ring.reach("next", "quote:GBPUSD", 7);
    expect([ring.epoch(), ring.seq(EURUSD), ring.seq("quote:GBPUSD")]).toEqual(["next", 0, 7]);
  });
});
