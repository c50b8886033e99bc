import { expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import type { Timeframe } from "#lib/contract/primitives";
import type { Side } from "#lib/domain/columns";
import { foldQuote, type Kline } from "#lib/domain/kline";
import { toQuote } from "#lib/domain/quote";
import { createAlignment } from "#lib/domain/timeframe";
import type { Fault } from "#lib/fault";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { DAY_S, HOUR_S, SECOND_MS } from "#lib/units";
import { makeBlocksHere } from "./block-maker";
import { createBlockStore } from "./block-store";
import { createSandboxKlines } from "./klines";
import { createSandboxPrices } from "./prices";

const NOW_MS = Date.UTC(2026, 10, 21, 5, 13, 27, 500);
const alignment = createAlignment();
const catalogue = createSandboxCatalogue();
const store = createSandboxKlines({
  prices: createSandboxPrices({ catalogue, seed: 1 }),
  clock: manualClock(NOW_MS),
  alignment,
  blocks: createBlockStore(makeBlocksHere()),
});

/** The klines of all ticks of a range, by the naive way. */
async function naive(ticker: string, timeframe: Timeframe, from: number, to: number, price: Side): Promise<Kline[]> {
  const range = { from: from * SECOND_MS, to: to * SECOND_MS, limit: 1_000_000, end: "oldest" } as const;
  const { time, bid, ask } = await store.readTicks({ ticker, ...range });
  const klines = new Map<number, Kline>();
  for (const [row, time_msc] of time.entries()) {
    const digits = catalogue.find(ticker)?.digits ?? 0;
    const quote = toQuote({ ticker, time_msc, bid: bid[row] as number, ask: ask[row] as number }, digits);
    const open = alignment.openTime(timeframe, Math.floor(time_msc / SECOND_MS));
    klines.set(open, foldQuote(klines.get(open), { ...quote, bid: quote[price] }, undefined, timeframe, open));
  }
  return [...klines.values()];
}

test.each(["ask", "mid"] as const)("klines of %s are those of all their ticks", async (price) => {
  for (const [ticker, timeframe, hours] of [
    ["EURUSD", "M1", 3],
    ["XAUUSD", "M15", 12],
    ["TESTGAP", "H1", 24],
  ] as const) {
    const from = Date.UTC(2026, 9, 13, 22) / 1_000;
    const to = from + hours * HOUR_S;
    const read = await store.read({ ticker, timeframe, from, to, limit: 5_000, end: "oldest", price });
    expect(read).toEqual(await naive(ticker, timeframe, from, to, price));
  }
});

test("more days than are computed at once are refused, and days are admitted before they are", async () => {
  const to = Math.floor(NOW_MS / 1_000);
  const query = { ticker: "EURUSD", timeframe: "D1", to, limit: 5_000, end: "newest", price: "ask" } as const;
  for (const [timeframe, end] of [
    ["W1", "newest"],
    ["MN1", "oldest"],
  ] as const) {
    const many = { ...query, timeframe, end, from: to - 1_200 * DAY_S };
    const fault = await store.read(many).catch((error: unknown) => error);
    expect(fault).toMatchObject({ id: "invalid_parameter", data: { parameter: "limit" } });
    const { max, suggestion } = (fault as Fault).data as { max: number; suggestion: string };
    expect(suggestion).toBe(String(max));
    // The suggestion is what may be asked for.
    expect(await store.read({ ...many, limit: max })).toHaveLength(max);
  }
  let days = 0;
  const admitDays = (count: number) => {
    days += count;
  };
  await store.read({ ...query, timeframe: "M1", from: to - 2 * HOUR_S, admitDays });
  expect(days).toBeGreaterThan(0);
});
