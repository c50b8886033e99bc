import { describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { foldQuote, type Kline } from "#lib/domain/kline";
import { toQuote } from "#lib/domain/quote";
import { createAlignment } from "#lib/domain/timeframe";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#lib/units";
import { makeBlocksHere } from "./block-maker";
import { createBlockStore } from "./block-store";
import { createSandboxKlines, HISTORY_START_S } from "./klines";
import { createSandboxPrices } from "./prices";

const NOW_MS = Date.UTC(2026, 10, 21, 5, 13, 27, 500);
const prices = createSandboxPrices({ catalogue: createSandboxCatalogue(), seed: 1 });
const store = createSandboxKlines({
  prices,
  clock: manualClock(NOW_MS),
  alignment: createAlignment(),
  blocks: createBlockStore(makeBlocksHere()),
});
const read = store.readTicks;
const ALL = { ticker: "EURUSD", limit: 1_000_000, end: "oldest" } as const;

describe("the ticks of the sandbox", () => {
  test("make its klines, over the end of a day", async () => {
    const [from, to] = [Date.UTC(2026, 9, 13, 23), Date.UTC(2026, 9, 14, 1)];
    const { time, bid, ask } = await read({ ...ALL, from, to });
    const made = new Map<number, Kline>();
    for (const [row, time_msc] of time.entries()) {
      const quote = toQuote({ ticker: "EURUSD", time_msc, bid: bid[row] as number, ask: ask[row] as number }, 5);
      const open = Math.floor(time_msc / MINUTE_MS) * 60;
      made.set(open, foldQuote(made.get(open), quote, undefined, "M1", open));
    }
    const range = { from: from / 1_000, to: to / 1_000, limit: 1_000, end: "oldest" } as const;
    expect([...made.values()]).toEqual(await store.read({ ticker: "EURUSD", timeframe: "M1", ...range }));
  });

  test("end with the clock, and begin with the history", async () => {
    const { time } = await read({ ...ALL, from: NOW_MS - HOUR_MS, to: NOW_MS + DAY_MS });
    expect(time.at(-1)).toBeLessThanOrEqual(NOW_MS);
    expect(time.at(-1)).toBeGreaterThan(NOW_MS - MINUTE_MS);
    const early = await read({ ...ALL, from: 0, to: NOW_MS, limit: 1 });
    expect(early.time[0]).toBeGreaterThanOrEqual(HISTORY_START_S * 1_000);
    expect(early.time[0]).toBeLessThan(HISTORY_START_S * 1_000 + DAY_MS);
  });

  test("from either end are the same, in the same order", async () => {
    const range = { ticker: "XAUUSD", from: NOW_MS - 3 * HOUR_MS, to: NOW_MS - HOUR_MS };
    const all = await read({ ...ALL, ...range });
    const newest = await read({ ...ALL, ...range, limit: 100, end: "newest" });
    expect(newest.time).toEqual(all.time.subarray(-100));
    expect(newest.ask).toEqual(all.ask.subarray(-100));
  });

  test("days of the past are admitted before they are computed, a ticker without prices has none", async () => {
    let days = 0;
    const admitDays = (count: number) => {
      days += count;
      if (days > 2) throw new Error("enough");
    };
    await expect(read({ ...ALL, from: NOW_MS - 9 * DAY_MS, to: NOW_MS, admitDays })).rejects.toThrow("enough");
    expect((await read({ ...ALL, ticker: "TESTNONE", from: 0, to: NOW_MS })).time.length).toBe(0);
    expect((await read({ ...ALL, ticker: "NOSUCH", from: 0, to: NOW_MS })).time.length).toBe(0);
  });
});
