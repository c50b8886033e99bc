import { expect, test } from "vitest";
import { at, readFile } from "#server/testing/import-rows";

const LINES = "EUR/USD,20200102 00:00:00.123,1.12125,1.12130\nEUR/USD,20200102 00:00:00.123,1.12126,1.12131\n";

test("TrueFX ticks are read with their symbol, and ticks with equal times are kept", async () => {
  const file = await readFile("anything.csv", LINES);
  expect(file).toMatchObject({ format: "truefx", kind: "ticks", malformed: [], sample: { symbol: "EUR/USD" } });
  expect(file.rows).toEqual([
    { timeMs: at("2020-01-02T00:00:00.123Z"), bid: 1.12125, ask: 1.1213 },
    { timeMs: at("2020-01-02T00:00:00.123Z"), bid: 1.12126, ask: 1.12131 },
  ]);
});

test("a row of another symbol is rejected", async () => {
  const file = await readFile("anything.csv", `${LINES}GBP/USD,20200102 00:00:01.000,1.3,1.4\n`);
  expect(file.rows).toHaveLength(2);
  expect(file.malformed).toEqual([{ line: 3, reason: "GBP/USD in a file of EUR/USD" }]);
});
