import { expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import type { Listing } from "#lib/domain/instrument";
import type { Tick } from "#lib/domain/tick";
import { SECOND_MS } from "#lib/units";
import { createRefusals, reportInterruption } from "./interruptions";

const START_MS = Date.UTC(2026, 0, 7, 12);
const tick = (ticker: string): Tick => ({ ticker, time_msc: START_MS, bid: 1, ask: 2 });

test("tickers whose pushes were refused for long lack ticks once they are taken again; short refusals are sent again", () => {
  const told: unknown[] = [];
  const find = (ticker: string) => (ticker === "NOBODY" ? undefined : ({} as Listing));
  const { refused, taken } = createRefusals({ find }, (...lack) => void told.push(lack));
  refused([tick("EURUSD"), "malformed_line", tick("NOBODY")], START_MS);
  refused([tick("EURUSD"), tick("XAUUSD")], START_MS + 5 * SECOND_MS);
  const againMs = START_MS + 10 * SECOND_MS;
  taken([tick("EURUSD"), "malformed_line", tick("XAUUSD"), tick("GBPUSD"), tick("EURUSD")], againMs);
  expect(told).toEqual([[["EURUSD"], START_MS, againMs, "refused"]]);
  taken([tick("EURUSD"), tick("NOBODY")], againMs + 60 * SECOND_MS);
  expect(told).toHaveLength(1);
});

test("what nobody took before a start lacks: any time of a feed, of pushes what feeders may not send again", () => {
  const lastMs = START_MS - 9 * SECOND_MS;
  const quote = (ticker: string) => (ticker === "EURUSD" ? { time_msc: lastMs } : undefined);
  const report = (changes: object, nowMs = START_MS) => {
    const told: unknown[] = [];
    const started = {
      acceptsPush: false,
      start: {},
      clock: manualClock(nowMs),
      projection: { view: { quote } },
      catalogue: { list: () => [{ ticker: "EURUSD" }, { ticker: "XAUUSD" }] },
      ...changes,
    } as unknown as Parameters<typeof reportInterruption>[0];
    reportInterruption(started, (...lack) => told.push(lack));
    return told;
  };
  const all = ["EURUSD", "XAUUSD"];
  expect(report({ feed: { keepsTime: false } })).toEqual([[all, lastMs, START_MS, "stopped"]]);
  expect(report({ feed: { keepsTime: false }, start: { fromMs: START_MS - 5 } })).toEqual([
    [all, START_MS - 5, START_MS, "stopped"],
  ]);
  expect(report({ feed: { keepsTime: true } })).toEqual([]);
  expect(report({ acceptsPush: true })).toEqual([]);
  expect(report({ acceptsPush: true }, START_MS + SECOND_MS)).toEqual([[all, lastMs, START_MS + SECOND_MS, "stopped"]]);
  expect(report({})).toEqual([]);
  for (const nowMs of [lastMs, lastMs - 1]) expect(report({ feed: { keepsTime: false } }, nowMs)).toEqual([]);
  expect(report({ feed: { keepsTime: false }, projection: { view: { quote: () => undefined } } })).toEqual([]);
});
