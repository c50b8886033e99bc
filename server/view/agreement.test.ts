import pino from "pino";
import { expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { createAlignment } from "#lib/domain/timeframe";
import { createMetrics } from "#lib/metrics";
import { memoryFiles } from "#lib/testing/memory-files";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { MINUTE_MS } from "#lib/units";
import type { KlineEvent } from "#server/events/event";
import { makeBlocksHere } from "#server/feed/sandbox/block-maker";
import { createBlockStore } from "#server/feed/sandbox/block-store";
import { sandboxFeed } from "#server/feed/sandbox/feed";
import { createSandboxKlines } from "#server/feed/sandbox/klines";
import { createSandboxPrices } from "#server/feed/sandbox/prices";
import { startMarket } from "#server/market/market";

/** Shortly before 17:00 in New York, so that trading day, H4, H1 and all below close on the way. */
const START_MS = Date.UTC(2026, 6, 14, 20, 52);
const RUN_MINUTES = 12;

test("a closed sandbox kline that is pushed equals the computed row, byte for byte, for every ticker and timeframe", async () => {
  const clock = manualClock(START_MS);
  const catalogue = createSandboxCatalogue();
  const prices = createSandboxPrices({ catalogue, seed: 1 });
  const store = createSandboxKlines({ prices, clock, alignment: createAlignment(), blocks: createBlockStore(makeBlocksHere()) });
  const feed = {
    name: "sandbox",
    open: () => sandboxFeed({ prices, clock, startMs: START_MS }),
    keepsTime: true,
    startMs: START_MS - 1,
  };
  const log = pino({ level: "silent" });
  const metrics = createMetrics();
  const market = await startMarket({
    files: memoryFiles(),
    venue: "sandbox",
    catalogue,
    store,
    feed,
    acceptsPush: false,
    provider: "sandbox",
    clock,
    log,
    metrics,
  });
  const closed: KlineEvent[] = [];
  market.follow((events) => {
    for (const event of events) if (event.type === "kline" && event.closed) closed.push(event);
  });
  await clock.advance(RUN_MINUTES * MINUTE_MS);
  await market.stop();

  const timeframes = new Set(closed.map(({ record }) => record.timeframe));
  expect([...timeframes].sort()).toEqual(["D1", "H1", "H4", "M1", "M15", "M30", "M5"]);
  for (const { record } of closed) {
    const { ticker, timeframe, time } = record;
    const [row] = await store.read({ ticker, timeframe, from: time, to: time + 1, limit: 1, end: "oldest" });
    expect(JSON.stringify(row), `${ticker} ${timeframe} ${time}`).toBe(JSON.stringify(record));
  }
});
