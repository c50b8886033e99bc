import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { MINUTE_MS } from "#lib/units";
import { makeBlocksHere } from "./block-maker";
import { startBlockThread } from "./block-thread";
import { type Grain, rowAt, rowsPerBlock } from "./blocks";
import { createSandboxPrices } from "./prices";

const catalogue = createSandboxCatalogue();
catalogue.override("metals", [{ state: "closed", fromMs: Date.UTC(2025, 4, 5, 3), untilMs: Date.UTC(2025, 4, 6, 9) }]);
const prices = createSandboxPrices({ catalogue, seed: 1 });
const inputsOf = (ticker: string) => prices.series(ticker)?.inputs ?? expect.fail(`${ticker} has no series`);

const clock = manualClock(0);
const here = makeBlocksHere();
const thread = startBlockThread(clock);
afterAll(() => thread.close());

const anyGrain = fc.constantFrom<Grain>("M1", "M5", "M15", "M30", "H1", "D1");
const anyTicker = fc.constantFrom("EURUSD", "XAUUSD", "USDJPY", "TESTGAP", "TESTFX", "TESTMETAL", "TESTFLIP", "TESTSTALE");
const anyInstantS = fc.integer({ min: Date.UTC(2020, 0, 1) / 1000, max: Date.UTC(2030, 0, 1) / 1000 });
const block = (grain: Grain, atS: number) => ({ grain, block: Math.floor(rowAt(grain, atS) / rowsPerBlock(grain)) });

describe("the thread of the sandbox", () => {
  test("the thread computes exactly the rows that are computed here, for any ticker, length and time", async () => {
    await fc.assert(
      fc.asyncProperty(anyTicker, anyGrain, anyInstantS, async (ticker, grain, atS) => {
        const name = block(grain, atS);
        expect(await thread.make(inputsOf(ticker), name)).toEqual(await here.make(inputsOf(ticker), name));
      }),
      { numRuns: 60 },
    );
  });

  test("the thread follows an operator's override of a calendar", async () => {
    const name = block("M1", Date.UTC(2025, 4, 5, 12) / 1000);
    const rows = (await thread.make(inputsOf("TESTMETAL"), name)) ?? expect.fail("no prices");
    expect(rows.count.findLastIndex((count) => count > 0)).toBe(3 * 60 - 1);
  });

  test("more blocks than may wait are refused with service_unavailable and a delay, and those that wait are made", async () => {
    const small = startBlockThread(clock, 2);
    const make = (month: number) => small.make(inputsOf("EURUSD"), block("H1", Date.UTC(2025, month, 15) / 1000));
    const waiting = [make(0), make(1)];
    await expect(make(2)).rejects.toMatchObject({ id: "service_unavailable", data: { retry_after: 1 } });
    for (const rows of await Promise.all(waiting)) expect(rows?.count.length).toBe(rowsPerBlock("H1"));
    expect(await make(2)).toBeDefined();
    await small.close();
  });

  test("a block that cannot be computed fails alone", async () => {
    const definition = { kind: "weekly", zone: "Nowhere/Else", week: [], holidays: [], earlyCloses: {}, lateOpens: {} } as const;
    const rules = { definition: { ...definition, coveredUntil: "2030-01-01" }, overrides: [] };
    const name = block("D1", Date.UTC(2025, 4, 5) / 1000);
    const broken = thread.make({ ...inputsOf("TESTFX"), key: "broken", rules }, name);
    const whole = thread.make(inputsOf("TESTFX"), name);
    await expect(broken).rejects.toThrow("Nowhere/Else");
    expect(await whole).toBeDefined();
  });

  test("the thread ends after a minute without blocks, and the next block starts it again", async () => {
    const own = startBlockThread(clock);
    const name = block("D1", Date.UTC(2025, 4, 5) / 1000);
    const started = once(process, "worker");
    await own.make(inputsOf("EURUSD"), name);
    const [worker] = (await started) as [Worker];
    const ended = once(worker, "exit");
    await clock.advance(MINUTE_MS);
    await ended;
    expect(await own.make(inputsOf("EURUSD"), name)).toBeDefined();
    await own.close();
  });

  test("blocks that wait fail when the thread ends, and the next block starts it again", async () => {
    const own = startBlockThread(clock);
    const name = block("D1", Date.UTC(2025, 4, 5) / 1000);
    const waiting = own.make(inputsOf("EURUSD"), name);
    const failed = expect(waiting).rejects.toThrow("the thread of the sandbox exited");
    await own.close();
    await failed;
    expect(await own.make(inputsOf("EURUSD"), name)).toBeDefined();
    await own.close();
  });
});
