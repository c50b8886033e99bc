import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { HOUR_MS } from "#lib/units";
import { at, readFile } from "#server/testing/import-rows";

const DATA = path.resolve(process.cwd(), "../shared/data");
const TICK = { timeMs: at("2014-05-04T21:00:00.462Z"), bid: 1.387, ask: 1.38745 };
const KLINE = { timeMs: at("2014-05-01T00:00:00Z"), open: 1.38676, high: 1.38686, low: 1.38669, close: 1.38686 };

test.each([
  ["time_msc", "time_msc,bid,ask\n1399237200462,1.387,1.38745\n"],
  ["Unix seconds", "time,bid,ask\n1399237200.462,1.387,1.38745\n"],
  ["Z", "time,bid,ask\n2014-05-04T21:00:00.462Z,1.387,1.38745\n"],
  ["an offset", "time;ask;bid\n2014-05-04T23:00:00.462+02:00;1.38745;1.387\n"],
  ["no offset", "time,bid,ask\n2014-05-04 21:00:00.462,1.387,1.38745\n"],
  ["quotation marks and blanks", '"time", "bid", "ask"\r\n"2014-05-04 21:00:00.462", "1.387", "1.38745"\r\n'],
])("ticks with %s are read", async (_, text) => {
  const file = await readFile("x.csv", text);
  expect(file).toMatchObject({ format: "plain", kind: "ticks", malformed: [] });
  expect(file.rows).toEqual([TICK]);
});

test("plain klines need no volumes and no spread, and accept spreads in price units or points", async () => {
  const plain = await readFile("x.csv", "time,open,high,low,close\n2014-05-01T00:00:00Z,1.38676,1.38686,1.38669,1.38686\n");
  expect(plain.rows).toEqual([KLINE]);
  const header = "time,open,high,low,close,tick_volume,real_volume,spread\n";
  const units = await readFile("x.csv", `${header}2014-05-01T00:00:00Z,1.38676,1.38686,1.38669,1.38686,7,,0.0001\n`);
  expect(units).toMatchObject({ sample: { wholeSpreads: false }, rows: [{ ...KLINE, tickVolume: 7, spread: 0.0001 }] });
  const points = await readFile("x.csv", `${header}2014-05-01T00:00:00Z,1.38676,1.38686,1.38669,1.38686,7,,10\n`, {
    spreadDigits: 5,
  });
  expect(points).toMatchObject({ sample: { wholeSpreads: true }, rows: [{ ...KLINE, tickVolume: 7, spread: 0.0001 }] });
});

test("quote klines give bid prices and the smaller spread of their first and last quote", async () => {
  const header = "time,bid_open,bid_high,bid_low,bid_close,ask_open,ask_high,ask_low,ask_close\n";
  const file = await readFile(
    "x.csv",
    `${header}2014-05-01T00:00:00Z,1.38676,1.38686,1.38669,1.38686,1.38686,1.38697,1.38680,1.38695\n`,
  );
  expect(file.rows).toHaveLength(1);
  expect(file.rows[0]).toMatchObject(KLINE);
  expect(file.rows[0]?.spread).toBeCloseTo(0.00009, 10);
});

test("whole-number prices are detected, even in a file of one row without a line end", async () => {
  expect(
    (await readFile("x.csv", "time,open,high,low,close\n2014-05-01T00:00:00Z,138676,138686,138669,138686")).sample.wholePrices,
  ).toBe(true);
  expect((await readFile("x.csv", "time,open,high,low,close\n2014-05-01T00:00:00Z,1.3,1.4,1.2,1.3")).sample).toMatchObject({
    wholePrices: false,
    decimals: 1,
  });
});

test("--tz overrules a wrong offset in the times", async () => {
  const file = await readFile("x.csv", "time,bid,ask\n2014-05-04T21:00:00.462Z,1.387,1.38745\n", {
    overrulesOffset: true,
    toUtcMs: (ms) => ms - HOUR_MS,
  });
  expect(file.rows[0]).toMatchObject({ timeMs: at("2014-05-04T20:00:00.462Z") });
});

test("an unknown format is rejected with the first line of the file", async () => {
  await expect(readFile("x.csv", "hello,world\n1,2\n")).rejects.toThrow('a first line of "hello,world"');
  await expect(readFile("x.csv", Buffer.from([0, 1, 2, 3]))).rejects.toThrow("binary data");
  await expect(readFile("x.csv", "")).rejects.toThrow("the file is empty");
  await expect(readFile("x.csv", "time,bid,ask\n1,1,1\n", { format: "truefx" })).rejects.toThrow("which is not TrueFX ticks");
});

const FILES = [
  ["permissive/eurusd_ticks_oanda_20140504_20140509.csv.gz", "ticks", 248_039],
  ["permissive/xauusd_m1_quote_oanda_20140501_20140515.csv.gz", "klines", 15_222],
  ["permissive/eurusd_m1_dukascopy_20190204.csv.gz", "klines", 1_440],
  ["copyleft/gbpusd_m1_quote_fxcm_201202.csv.gz", "klines", 30_117],
  ["nolicence/eurusd_m1_mt5_nikoaganev_202210_202212.csv.gz", "klines", 60_000],
] as const;

describe.skipIf(!existsSync(DATA))("normalised files (skipped where ../shared/data is absent)", () => {
  test.each(FILES)("%s is read without loss", async (name, kind, count) => {
    const file = await readFile(name.replace(/\.gz$/, ""), gunzipSync(readFileSync(path.join(DATA, name))));
    expect(file).toMatchObject({ format: "plain", kind, malformed: [], withoutQuote: [] });
    expect(file.rows).toHaveLength(count);
  });
});
