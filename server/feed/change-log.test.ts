import { expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import type { PrecedenceChange } from "#lib/contract/portal-feeds";
import { createChangeLog } from "./change-log";

const START_MS = Date.UTC(2026, 0, 7, 12);
const away = { from: "oanda", to: "tiingo", reason: "lost", wellMs: START_MS } as const;
const back = { from: "tiingo", to: "oanda", reason: "back", wellMs: START_MS } as const;

function createScene() {
  const clock = manualClock(START_MS);
  const reported: PrecedenceChange[] = [];
  const log = createChangeLog(clock, (change) => reported.push(change));
  return { clock, reported, log };
}

test("a change of a hundred tickers within ten seconds is reported once, with their number and the first ten", async () => {
  const { clock, reported, log } = createScene();
  for (let n = 0; n < 100; n++) {
    log.add({ ...away, ticker: `T${n}`, wellMs: START_MS - n });
    if (n % 20 === 19) await clock.advance(1_000);
    log.flush();
  }
  expect(reported).toEqual([]);
  await clock.advance(5_000);
  log.flush();
  log.flush();
  const some = Array.from({ length: 10 }, (_, n) => `T${n}`);
  expect(reported).toEqual([
    { at: new Date(START_MS).toISOString(), from: "oanda", to: "tiingo", reason: "lost", tickers: 100, some },
  ]);
});

test("another change is another entry; the newest twenty are kept, and none is lost at the end", async () => {
  const { clock, reported, log } = createScene();
  for (let n = 0; n < 15; n++) {
    log.add({ ...away, ticker: "EURUSD" });
    log.add({ ...back, ticker: "EURUSD" });
    if (n < 14) await clock.advance(20_000);
    log.flush();
  }
  expect(reported).toHaveLength(28);
  expect(log.list()).toHaveLength(20);
  log.end();
  expect(reported).toHaveLength(30);
  expect(log.list()[0]).toMatchObject({ reason: "back" });
});
