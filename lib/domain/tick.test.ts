import fc from "fast-check";
import { expect, test } from "vitest";
import { TICK_MAX_AHEAD_MS } from "#lib/contract/limits";
import { createRecentTicks, judgeTick, type RecentTicks, type Tick } from "./tick";

const NOW = Date.parse("2026-01-14T12:00:30Z");

function tickAt(time_msc: number, bid = 1.08543, ask = 1.08551): Tick {
  return { ticker: "EURUSD", time_msc, bid, ask };
}

function remembering(...ticks: Tick[]): RecentTicks {
  const recent = createRecentTicks();
  for (const tick of ticks) recent.add(tick);
  return recent;
}

test("a current tick is accepted, and so is the first ever", () => {
  expect(judgeTick(undefined, tickAt(NOW), NOW)).toBeNull();
  expect(judgeTick(createRecentTicks(), tickAt(NOW), NOW)).toBeNull();
  expect(judgeTick(remembering(tickAt(NOW - 1)), tickAt(NOW), NOW)).toBeNull();
});

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e12, 1e300])(
  "a price of %d is bad_price",
  (price) => {
    expect(judgeTick(undefined, tickAt(NOW, price, 1.1), NOW)).toBe("bad_price");
    expect(judgeTick(undefined, tickAt(NOW, 1.1, price), NOW)).toBe("bad_price");
  },
);

test("a bid above the ask is crossed_quote, an equal one is not", () => {
  expect(judgeTick(undefined, tickAt(NOW, 1.2, 1.1), NOW)).toBe("crossed_quote");
  expect(judgeTick(undefined, tickAt(NOW, 1.1, 1.1), NOW)).toBeNull();
});

test("a tick may be ahead of the clock by the maximum of the contract", () => {
  expect(judgeTick(undefined, tickAt(NOW + TICK_MAX_AHEAD_MS), NOW)).toBeNull();
  expect(judgeTick(undefined, tickAt(NOW + TICK_MAX_AHEAD_MS + 1), NOW)).toBe("in_future");
});

test("a tick is too_late from the moment its M1 kline closes on the clock", () => {
  const minuteEnd = Date.parse("2026-01-14T12:01:00Z");
  expect(judgeTick(undefined, tickAt(minuteEnd - 1), minuteEnd + 1_999)).toBeNull();
  expect(judgeTick(undefined, tickAt(minuteEnd - 1), minuteEnd + 2_000)).toBe("too_late");
  expect(judgeTick(undefined, tickAt(minuteEnd - 60_000), minuteEnd + 2_000)).toBe("too_late");
  expect(judgeTick(undefined, tickAt(minuteEnd), minuteEnd + 2_000)).toBeNull();
});

test("a tick older than the last accepted one is out_of_order, one in the same millisecond with another price is not", () => {
  const recent = remembering(tickAt(NOW));
  expect(judgeTick(recent, tickAt(NOW - 1), NOW)).toBe("out_of_order");
  expect(judgeTick(recent, tickAt(NOW, 1.08544), NOW)).toBeNull();
});

test("every tick of a repeated batch is a duplicate, however late it is repeated", () => {
  const batch = fc.array(
    fc.record({ wait: fc.integer({ min: 0, max: 3 }), bid: fc.integer({ min: 1, max: 4 }), ask: fc.integer({ min: 4, max: 6 }) }),
    { maxLength: 100 },
  );
  fc.assert(
    fc.property(batch, fc.integer({ min: 0, max: 600_000 }), (steps, laterMs) => {
      let time = NOW;
      const ticks = steps.map(({ wait, bid, ask }) => {
        time += wait;
        return tickAt(time, bid, ask);
      });
      const recent = createRecentTicks();
      const judge = (nowMs: number) => (tick: Tick) => {
        const reason = judgeTick(recent, tick, nowMs);
        if (reason === null) recent.add(tick);
        return reason;
      };
      const first = ticks.map(judge(time));
      expect(first.every((reason) => reason === null || reason === "duplicate")).toBe(true);
      expect(ticks.map(judge(time + laterMs)).every((reason) => reason === "duplicate")).toBe(true);
    }),
  );
});

test("finds every tick that it keeps and no other, even when many share an instant and look alike", () => {
  // Ticks of an instant whose prices differ by these have the same mark.
  const bid = fc.constantFrom(1, 1 + 4_096e-6, 1 + 8_192e-6, 2);
  const ask = fc.constantFrom(3, 3 + 4_096e-5, 4);
  const steps = fc.array(fc.record({ wait: fc.integer({ min: 0, max: 1 }), bid, ask, back: fc.integer({ min: 0, max: 4 }) }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 16 }), (given, capacity) => {
      const recent = createRecentTicks(capacity);
      let time = NOW;
      const added: Tick[] = [];
      for (const { wait, bid, ask, back } of given) {
        time += wait;
        const tick = tickAt(time, bid, ask);
        const kept = added.slice(-capacity);
        for (const asked of [tick, tickAt(time - back, bid, ask)])
          expect(recent.has(asked)).toBe(
            kept.some((other) => other.time_msc === asked.time_msc && other.bid === bid && other.ask === ask),
          );
        recent.add(tick);
        added.push(tick);
      }
      expect(added.slice(-capacity).every((tick) => recent.has(tick))).toBe(true);
    }),
  );
});

test("the duplicate check is bounded: a dropped tick is out_of_order, then too_late, never accepted twice", () => {
  const recent = createRecentTicks(4);
  for (let index = 0; index < 10; index += 1) recent.add(tickAt(NOW + index));
  expect([5, 6, 9].map((index) => judgeTick(recent, tickAt(NOW + index), NOW))).toEqual([
    "out_of_order",
    "duplicate",
    "duplicate",
  ]);
  expect(judgeTick(recent, tickAt(NOW), NOW + 60_000)).toBe("too_late");
  expect(recent.newestMs()).toBe(NOW + 9);
});
