import { expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import type { Tick } from "#lib/domain/tick";
import type { Outcome } from "#lib/market/ports";
import { createMetrics } from "#lib/metrics";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { MINUTE_MS, SECOND_MS } from "#lib/units";
import { createFeedFilter } from "#server/feed/filter/feed-filter";
import { createJudge } from "./judge";

/** A Wednesday, when all markets are open. */
const START_MS = Date.UTC(2026, 0, 7, 12);
const tick = (second: number, bid: number): Tick => {
  return { ticker: "EURUSD", time_msc: START_MS + second * SECOND_MS, bid, ask: bid + 0.0001 };
};

/** A judge before an engine that takes everything. */
function createScene() {
  const clock = manualClock(START_MS);
  const [counted, decided, ingested]: [Outcome[], unknown[], number[]] = [[], [], []];
  const { judge, expire } = createJudge({
    engine: {
      judge: () => null,
      ingest({ bid }, events = []) {
        ingested.push(bid);
        return events;
      },
    },
    publish: () => undefined,
    nowMs: clock.now,
    wallMs: clock.now,
    decided: ({ bid }, outcome, receivedMs) => decided.push([bid, outcome, receivedMs - START_MS]),
    count: (outcomes) => counted.push(...outcomes),
    filter: createFeedFilter({ name: () => "push", off: [], metrics: createMetrics() }),
    catalogue: createSandboxCatalogue(),
    view: { quote: () => undefined, recentKlines: () => [] },
  });
  judge(Array.from({ length: 20 }, (_, second) => tick(second, 1.1)));
  for (const list of [counted, decided, ingested]) list.splice(0);
  return { clock, judge, expire, counted, decided, ingested };
}

test("a jump that nothing confirms is decided once it is given up, with the time at which it came, and each tick is counted once", async () => {
  const { clock, judge, expire, counted, decided, ingested } = createScene();
  expect(judge([tick(21, 1.2)])).toEqual(["spike"]);
  expect([counted, decided]).toEqual([[], []]);
  await clock.advance(100);
  expect(judge([tick(21, 1.2), tick(22, 1.1)])).toEqual(["spike", null]);
  expect(decided).toEqual([
    [1.2, "spike", 100],
    [1.2, "spike", 0],
    [1.1, null, 100],
  ]);
  expect(counted).toEqual(["spike", "spike", null]);
  expect(ingested).toEqual([1.1]);
  judge([tick(23, 1.2)]);
  expire(clock.now() + MINUTE_MS);
  expect(counted).toHaveLength(4);
  expect(decided.at(-1)).toEqual([1.2, "spike", 100]);
});

test("a jump that the next ticks confirm is taken with the last of them, in order, and each tick is counted once", () => {
  const { judge, counted, decided, ingested } = createScene();
  expect(judge([1.2, 1.2001, 1.2002].map((bid, at) => tick(21 + at, bid)))).toEqual(["spike", "spike", null]);
  expect(ingested).toEqual([1.2, 1.2001, 1.2002]);
  expect(decided.map((one) => (one as unknown[])[1])).toEqual([null, null, null]);
  expect(counted).toEqual([null, null, null]);
});
