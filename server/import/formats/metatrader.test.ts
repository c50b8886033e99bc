import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { at, readFile } from "#server/testing/import-rows";

const RAW = path.resolve(process.cwd(), "../shared/data/raw/mt5");
const KLINES_HEADER = "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\r\n";
const TICKS_HEADER = "<DATE>\t<TIME>\t<BID>\t<ASK>\t<LAST>\t<VOLUME>\t<FLAGS>\r\n";
const KLINE = {
  timeMs: at("2024-03-04T02:01:00Z"),
  open: 1.08,
  high: 1.0812,
  low: 1.0799,
  close: 1.0811,
  tickVolume: 42,
  realVolume: 0,
  spread: 0.00007,
};

test("klines exported by MetaTrader 5 are read with spreads in points", async () => {
  const file = await readFile(
    "EURUSD_M1.csv",
    `${KLINES_HEADER}2024.03.04\t02:01:00\t1.08000\t1.08120\t1.07990\t1.08110\t42\t0\t7\r\n`,
    { spreadDigits: 5 },
  );
  expect(file).toMatchObject({
    format: "mt5",
    kind: "klines",
    malformed: [],
    sample: { decimals: 5, values: { spread: { broken: 0 } } },
  });
  expect(file.rows).toEqual([KLINE]);
});

test("an empty price of a tick repeats the row before, and rows without bid and ask are not quotes", async () => {
  const lines = ["\t1.08002\t\t\t4", "1.08000\t\t\t\t2", "\t1.08003\t\t\t4", "1.08001\t\t\t\t2", "\t\t1.08002\t1\t24"];
  const file = await readFile(
    "EURUSD.csv",
    TICKS_HEADER + lines.map((rest, i) => `2024.03.04\t02:01:00.${100 + i}\t${rest}\r\n`).join(""),
  );
  expect(file).toMatchObject({ format: "mt5", kind: "ticks", malformed: [], withoutQuote: [2, 6] });
  expect(file.rows.map(({ timeMs, bid, ask }) => [timeMs, bid, ask])).toEqual([
    [at("2024-03-04T02:01:00.101Z"), 1.08, 1.08002],
    [at("2024-03-04T02:01:00.102Z"), 1.08, 1.08003],
    [at("2024-03-04T02:01:00.103Z"), 1.08001, 1.08003],
  ]);
});

test.each([
  ["little-endian", "\uFEFF", false],
  ["big-endian", "\uFEFF", true],
  ["little-endian without a mark", "", false],
  ["big-endian without a mark", "", true],
])("an export saved as UTF-16, %s, is read like any other", async (_, mark, isBig) => {
  const text = `${mark}${KLINES_HEADER}2024.03.04\t02:01:00\t1.08000\t1.08120\t1.07990\t1.08110\t42\t0\t7\r\n`;
  const bytes = Buffer.from(text, "utf16le");
  for (const chunkBytes of [1, 101])
    expect(
      (await readFile("EURUSD_M1.csv", isBig ? Buffer.from(bytes).swap16() : bytes, { spreadDigits: 5, chunkBytes })).rows,
    ).toEqual([KLINE]);
});

test.each([
  [
    "an index column",
    ",time,open,high,low,close,tick_volume,spread,real_volume\n0,2024-03-04 02:01:00,1.08,1.0812,1.0799,1.0811,42,7,0\n",
  ],
  [
    "no index column",
    "time,open,high,low,close,tick_volume,spread,real_volume\n2024-03-04 02:01:00,1.08,1.0812,1.0799,1.0811,42,7,0\n",
  ],
  ["raw times", ",time,open,high,low,close,tick_volume,spread,real_volume\n0,1709517660,1.08,1.0812,1.0799,1.0811,42,7,0\n"],
  [
    "binary noise",
    ",time,open,high,low,close,tick_volume,spread,real_volume\n0,2024-03-04 02:01:00,1.0800000000000001,1.0812,1.0799,1.0811,42,7,0\n",
  ],
])("copy_rates with %s is read", async (_, text) => {
  const file = await readFile("EURUSD_M1.csv", text, { spreadDigits: 5 });
  expect(file).toMatchObject({ format: "mt5-python", kind: "klines", malformed: [], sample: { decimals: 4 } });
  expect(file.rows).toEqual([KLINE]);
});

test.each([
  [",time,bid,ask,last,volume,flags,time_msc,volume_real", "0,1709517660,1.08,1.0801,0.0,0,6,1709517660123,0.0"],
  ["time,bid,ask,last,volume,time_msc,flags,volume_real", "1709517660,1.08,1.0801,0.0,0,1709517660123,6,0.0"],
])("ticks of copy_ticks are read with milliseconds, on the clock of the server: %s", async (header, row) => {
  const file = await readFile("EURUSD.csv", `${header}\n${row}\n`);
  expect(file).toMatchObject({
    format: "mt5-python",
    kind: "ticks",
    clock: { detect: { likely: expect.arrayContaining(["EET"]) } },
  });
  expect(file.rows).toEqual([{ timeMs: 1_709_517_660_123, bid: 1.08, ask: 1.0801, volume: 0 }]);
});

test("longer timeframes are recognised by the steps between rows", async () => {
  const rows = (times: string[]) => times.map((time) => `2024.03.0${time}\t1.08\t1.09\t1.07\t1.08\t42\t0\t7\r\n`).join("");
  const of = async (times: string[]) => (await readFile("x.csv", KLINES_HEADER + rows(times))).sample.spacing.timeframe;
  expect(await of(["4\t00:00:00", "4\t00:01:00", "4\t01:00:00"])).toBe("M1");
  expect(await of(["4\t00:00:00", "4\t01:00:00", "4\t04:00:00"])).toBe("H1");
  expect(await of(["4\t00:00:00", "4\t04:00:00", "5\t00:00:00"])).toBe("H4");
  expect(await of(["4\t00:07:00", "4\t01:11:00", "4\t03:59:00"])).toBe("M1");
});

describe.skipIf(!existsSync(RAW))("MetaTrader's own files (skipped where ../shared/data is absent)", () => {
  test.each([
    ["EURUSD_H4_201801_201912301600.csv", "mt5", "H4", 3_000],
    ["EURUSD_Monthly_197101010000_201912010000.csv", "mt5", "MN1", 588],
    ["EURUSD_M1_copy_rates.csv", "mt5-python", "M1", 2_999],
  ])("%s is read as %s %s", async (name, format, timeframe, count) => {
    const file = await readFile(name, readFileSync(path.join(RAW, name)));
    expect(file).toMatchObject({ format, malformed: [], sample: { spacing: { timeframe } } });
    expect(file.rows).toHaveLength(count);
  });
});
