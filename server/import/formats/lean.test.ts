import { expect, test } from "vitest";
import { at, readFile } from "#server/testing/import-rows";

// Rows of Data/forex and Data/cfd of QuantConnect/Lean, Apache-2.0.
const MINUTES =
  "0,1.38676,1.38686,1.38669,1.38686,0,1.38686,1.38697,1.38680,1.38697,0\n60000,1.38688,1.38688,1.38685,1.38685,0,1.38700,1.38700,1.38696,1.38698,0\n";
const DAY = "forex/oanda/minute/eurusd/20140501_quote/20140501_eurusd_minute_quote.csv";
const FIRST = { timeMs: at("2014-05-01T00:00:00Z"), open: 1.38676, high: 1.38686, low: 1.38669, close: 1.38686 };

test("minutes are quotes of the day in the name of their file, with the spread of their first and last quote", async () => {
  const file = await readFile(DAY, MINUTES);
  expect(file).toMatchObject({
    format: "lean",
    kind: "klines",
    malformed: [],
    refusal: null,
    sample: { spacing: { timeframe: "M1" } },
  });
  expect(file.rows[0]).toMatchObject(FIRST);
  expect(file.rows[0]?.spread).toBeCloseTo(0.0001, 9);
  expect(file.rows[1]).toMatchObject({ timeMs: FIRST.timeMs + 60_000, close: 1.38685 });
});

test("ticks with parts of milliseconds are read", async () => {
  const file = await readFile(
    "cfd/oanda/tick/xauusd/20140501_quote/20140501_xauusd_tick_quote.csv",
    "43.142,1291.677,1292.033\n86394432.862,1284.027,1284.354\n",
  );
  expect(file).toMatchObject({ format: "lean", kind: "ticks", malformed: [], refusal: null });
  expect(file.rows).toEqual([
    { timeMs: FIRST.timeMs + 43, bid: 1291.677, ask: 1292.033 },
    { timeMs: at("2014-05-01T23:59:54.432Z"), bid: 1284.027, ask: 1284.354 },
  ]);
});

test.each([
  [DAY, { fixed: "UTC" }],
  ["forex/fxcm/minute/eurusd/20140501_quote/20140501_eurusd_minute_quote.csv", { fixed: "-05:00" }],
  ["cfd/fxcm/minute/xauusd/20140501_quote/20140501_xauusd_minute_quote.csv", { fixed: "UTC" }],
  ["20140501_quote/20140501_eurusd_minute_quote.csv", { detect: { likely: ["UTC", "-05:00"] } }],
])("the clock of %s is that of Lean's market hours database for its market, open without a market", async (path, clock) => {
  expect(await readFile(path, MINUTES)).toMatchObject({ format: "lean", clock });
});

test("the day comes from --date when the name has none, and is asked for when both are missing", async () => {
  const name = "oanda/minute/eurusd/rows.csv";
  expect((await readFile(name, MINUTES, { dateMs: at("2014-05-01T00:00:00Z") })).rows[0]).toMatchObject(FIRST);
  expect((await readFile(name, MINUTES)).refusal).toContain("--date 2014-05-01");
  expect((await readFile("oanda/minute/eurusd/20140541_quote.csv", MINUTES)).refusal).toContain("no valid date");
});

test("hours and days are recognised as such, and seconds and trades are refused", async () => {
  const rows = (...times: string[]) => times.map((time) => `${time},1.33,1.34,1.32,1.33,0,1.33,1.34,1.32,1.33,0\n`).join("");
  const hours = await readFile("forex/fxcm/hour/eurusd/eurusd.csv", rows("20070330 00:00", "20070330 01:00", "20070330 02:00"));
  expect(hours).toMatchObject({
    format: "lean",
    malformed: [],
    clock: { fixed: "-05:00" },
    sample: { spacing: { timeframe: "H1" } },
  });
  const days = await readFile("forex/oanda/daily/eurusd/eurusd.csv", rows("20070330 00:00", "20070401 00:00", "20070402 00:00"));
  expect(days).toMatchObject({ format: "lean", malformed: [], sample: { spacing: { timeframe: "D1" } } });
  const second = "forex/oanda/second/eurusd/20140501_quote/20140501_eurusd_second_quote.csv";
  expect((await readFile(second, MINUTES)).refusal).toContain("import the tick or the minute files");
  expect((await readFile(DAY.replaceAll("_quote", "_trade"), MINUTES)).refusal).toContain("import the _quote file");
});

test("a time past midnight is refused with its line", async () => {
  const file = await readFile(DAY, `${MINUTES}86400000,1.3,1.3,1.3,1.3,0,1.3,1.3,1.3,1.3,0\n`);
  expect(file.malformed).toEqual([{ line: 3, reason: "no valid time" }]);
});
