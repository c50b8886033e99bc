import { expect, test } from "vitest";
import { collectionsOf, NAME_MAX_CHARACTERS, readSaved, SAVED_MAX_COUNT, withSaved } from "./collections";
import { playOperations } from "./operations";

const [klines] = playOperations();
if (klines === undefined) throw new Error("There is no operation.");
const values = { ticker: "EURUSD", timeframe: "H1" };
const naming = { collection: "Backtests", name: "Euro" };

test("a request is kept under its name, replaces one of the same name, and never holds a key", () => {
  const once = withSaved([], klines, values, naming);
  const twice = withSaved(once as never, klines, { ...values, ticker: "sw_live_0123456789abcdefghijklmnopqrstuvwxyz" }, naming);
  expect(once).toEqual([{ ...naming, operationId: "klines", values }]);
  expect(twice).toEqual([{ ...naming, operationId: "klines", values: { timeframe: "H1" } }]);
});

test("names are required and limited, and so is the number of requests", () => {
  for (const name of ["", "  ", "x".repeat(NAME_MAX_CHARACTERS + 1)])
    expect(withSaved([], klines, values, { ...naming, name })).toHaveProperty("problem");
  const full = Array.from({ length: SAVED_MAX_COUNT }, (_, index) => ({
    ...naming,
    name: `n${index}`,
    operationId: "klines",
    values,
  }));
  expect(withSaved(full, klines, values, naming)).toEqual({ problem: expect.stringContaining(String(SAVED_MAX_COUNT)) });
  expect(withSaved(full, klines, values, { ...naming, name: "n5" })).toHaveLength(SAVED_MAX_COUNT);
});

test("what other code stored there is ignored", () => {
  const good = { ...naming, operationId: "klines", values };
  expect(readSaved([good, null, 5, { ...good, name: "" }, { ...good, name: "n", values: { ticker: 5 } }])).toEqual([
    good,
    { ...good, name: "n", values: {} },
  ]);
  expect(readSaved("text")).toEqual([]);
  expect(readSaved(Array(500).fill(good))).toHaveLength(SAVED_MAX_COUNT);
});

test("collections and their requests are in the order of their names", () => {
  const entry = (collection: string, name: string) => ({ collection, name, operationId: "klines", values });
  const found = collectionsOf([entry("B", "2"), entry("A", "x"), entry("B", "1")]);
  expect(found.map(([name, requests]) => [name, requests.map((one) => one.name)])).toEqual([
    ["A", ["x"]],
    ["B", ["1", "2"]],
  ]);
});
