import { describe, expect, test } from "vitest";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { DAY_S, HOUR_S } from "#lib/units";
import { type BlockMaker, makeBlocksHere } from "./block-maker";
import { createBlockStore } from "./block-store";
import { type BlockName, rowAt, rowsPerBlock } from "./blocks";
import { emptySum } from "./columns";
import { createSandboxPrices } from "./prices";

const FROM_S = Date.UTC(2025, 0, 1) / 1000;
const prices = createSandboxPrices({ catalogue: createSandboxCatalogue(), seed: 1 });
const inputsOf = (ticker: string) => prices.series(ticker)?.inputs ?? expect.fail(`${ticker} has no series`);
const EURUSD = inputsOf("EURUSD");

/** A store, and the blocks it had made. */
function scene(make: BlockMaker["make"] = makeBlocksHere().make) {
  const made: string[] = [];
  const store = createBlockStore({
    make(inputs, name: BlockName) {
      made.push(`${inputs.listing.ticker} ${name.grain} ${name.block}`);
      return make(inputs, name);
    },
  });
  const days = (ticker: string, from: number, count: number) =>
    store.open(inputsOf(ticker), "D1", rowAt("D1", FROM_S) + from, rowAt("D1", FROM_S) + from + count);
  return { store, made, days };
}

describe("kept rows", () => {
  test("sandbox rows are computed once, however often and by however many readers at once they are read", async () => {
    const { made, days } = scene();
    await Promise.all([days("EURUSD", 0, 90), days("EURUSD", 10, 90)]);
    await days("EURUSD", 0, 100);
    expect(made.length).toBeGreaterThanOrEqual(100 / rowsPerBlock("D1"));
    expect(new Set(made).size).toBe(made.length);
  });

  test("all trading days of all tickers since 2020 are kept at once", async () => {
    const { store, made } = scene(async (_, { grain }) => {
      const all = new Float64Array(rowsPerBlock(grain)).fill(1);
      return { open: all, high: all, low: all, close: all, spread: all, count: all };
    });
    const [from, to] = [rowAt("D1", Date.UTC(2020, 0, 1) / 1000), rowAt("D1", Date.UTC(2027, 0, 1) / 1000)];
    for (const ticker of prices.tickers()) await store.open(inputsOf(ticker), "D1", from, to);
    const count = made.length;
    for (const ticker of prices.tickers()) await store.open(inputsOf(ticker), "D1", from, to);
    expect(made).toHaveLength(count);
  });

  test("shorter rows are kept up to a bound of memory, and computed again after that", async () => {
    const { store, made } = scene(async (_, { grain }) => {
      const all = new Float64Array(rowsPerBlock(grain)).fill(1);
      return { open: all, high: all, low: all, close: all, spread: all, count: all };
    });
    const day = (index: number) => {
      const row = rowAt("M1", FROM_S + index * DAY_S);
      return store.open(EURUSD, "M1", row, row + 1);
    };
    await day(0);
    await day(0);
    expect(made).toHaveLength(1);
    for (let index = 1; index < 400; index++) await day(index);
    await day(0);
    expect(made).toHaveLength(401);
  });

  test("blocks without prices are skipped at once", async () => {
    const { store } = scene();
    const row = rowAt("H1", Date.UTC(2026, 2, 10) / 1000);
    const rows = await store.open(inputsOf("TESTSTALE"), "H1", row, row + 5_000);
    expect(rows.skipEmpty(row)).toBeGreaterThanOrEqual(row + 5_000);
    const sum = emptySum();
    rows.add(sum, row, row + 5_000);
    expect(sum).toEqual(emptySum());
  });

  test("a block that failed is computed again for the next reader", async () => {
    let failing = true;
    const { make } = makeBlocksHere();
    const { days, made } = scene(async (inputs, name) => {
      if (failing) throw new Error("no thread");
      return make(inputs, name);
    });
    await expect(days("EURUSD", 0, 1)).rejects.toThrow("no thread");
    failing = false;
    await days("EURUSD", 0, 1);
    expect(made).toHaveLength(2);
  });
});

describe("admission", () => {
  test("a reader is asked once for all days that must be computed, and not for those that are kept", async () => {
    const { store } = scene();
    const asked: number[] = [];
    const row = rowAt("H1", FROM_S);
    const block = Math.ceil(row / rowsPerBlock("H1")) * rowsPerBlock("H1");
    const read = () => store.open(EURUSD, "H1", block, block + (60 * DAY_S) / HOUR_S, (days) => asked.push(days));
    await read();
    await read();
    expect(asked).toEqual([64]);
  });

  test("nothing is computed for a reader that is not admitted", async () => {
    const { store, made } = scene();
    const refuse = () => {
      throw new Error("too much");
    };
    await expect(store.open(EURUSD, "D1", 20_000, 20_100, refuse)).rejects.toThrow("too much");
    expect(made).toEqual([]);
  });
});
