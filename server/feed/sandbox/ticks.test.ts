import fc from "fast-check";
import { expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { foldQuote, type Kline } from "#lib/domain/kline";
import { toQuote } from "#lib/domain/quote";
import { createAlignment } from "#lib/domain/timeframe";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { makeBlocksHere } from "./block-maker";
import { createBlockStore } from "./block-store";
import { createSandboxKlines } from "./klines";
import { createSandboxPrices } from "./prices";

const FIRST_MINUTE = Date.UTC(2020, 0, 1) / 60_000;
const LAST_MINUTE = Date.UTC(2036, 0, 1) / 60_000;

const anyListing = fc.constantFrom(...SANDBOX_LISTINGS);
const anyMinute = fc.integer({ min: FIRST_MINUTE, max: LAST_MINUTE - 1 });

const prices = createSandboxPrices({ catalogue: createSandboxCatalogue(), seed: 7 });
const store = createSandboxKlines({
  prices,
  clock: manualClock(LAST_MINUTE * 60_000),
  alignment: createAlignment(),
  blocks: createBlockStore(makeBlocksHere()),
});

test("the ticks of a sandbox minute aggregate to exactly its kline, and a minute without a kline has no ticks", async () => {
  await fc.assert(
    fc.asyncProperty(anyListing, anyMinute, async ({ ticker, digits }, minute) => {
      const time = minute * 60;
      const rows = await store.read({ ticker, timeframe: "M1", from: time, to: time + 60, limit: 2, end: "oldest" });
      let folded: Kline | undefined;
      for (const tick of prices.series(ticker)?.ticks(minute) ?? [])
        folded = foldQuote(folded, toQuote(tick, digits), undefined, "M1", time);
      expect(rows).toEqual(folded === undefined ? [] : [folded]);
    }),
    { numRuns: 400 },
  );
});

test("sandbox ticks have distinct, rising milliseconds within their minute", () => {
  fc.assert(
    fc.property(anyListing, anyMinute, ({ ticker }, minute) => {
      let last = minute * 60_000 - 1;
      for (const { time_msc } of prices.series(ticker)?.ticks(minute) ?? []) {
        expect(time_msc).toBeGreaterThan(last);
        last = time_msc;
      }
      expect(last).toBeLessThan((minute + 1) * 60_000);
    }),
    { numRuns: 200 },
  );
});

test("sandbox bids and asks are already rounded to the listing's digits, with the ask above the bid", () => {
  fc.assert(
    fc.property(anyListing, anyMinute, ({ ticker, digits }, minute) => {
      for (const tick of prices.series(ticker)?.ticks(minute) ?? []) {
        const { bid, ask } = toQuote(tick, digits);
        expect(tick).toEqual({ ticker, time_msc: tick.time_msc, bid, ask });
        expect(ask).toBeGreaterThan(bid);
      }
    }),
    { numRuns: 200 },
  );
});
