import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { LZMA_KLINES, LZMA_TICKS } from "#lib/testing/bi5";
import { at, readFile } from "#server/testing/import-rows";

const RAW = path.resolve(process.cwd(), "../shared/data/raw/dukascopy");

test.each(["data/EURUSD/2019/01/04/00h_ticks.bi5", "EURUSD_2019_01_04_00h_ticks.bi5"])(
  "ticks of %s are of the 4th of February: months count from 0",
  async (name) => {
    const file = await readFile(name, LZMA_TICKS, { pointDigits: 5, months: 0 });
    expect(file).toMatchObject({ format: "bi5-ticks", kind: "ticks", refusal: null, malformed: [] });
    expect(file.rows).toHaveLength(8);
    expect(file.rows[0]).toEqual({ timeMs: at("2019-02-04T00:00:00.994Z"), bid: 1.14543, ask: 1.14545, volume: 2.06 });
    expect(file.rows[7]).toEqual({ timeMs: at("2019-02-04T00:00:02.407Z"), bid: 1.14545, ask: 1.14547, volume: 1 });
  },
);

test("months counted from 1 are read as such, and without knowing how they are counted a file asks", async () => {
  const file = await readFile("EURUSD/2019/02/04/00h_ticks.bi5", LZMA_TICKS, { pointDigits: 5, months: 1 });
  expect(file.rows[0]).toMatchObject({ timeMs: at("2019-02-04T00:00:00.994Z") });
  await expect(readFile("EURUSD/2019/02/04/00h_ticks.bi5", LZMA_TICKS)).rejects.toThrow("set --months 0 or --months 1");
});

test("Dukascopy's bid candles become klines with their real volume in millions", async () => {
  const file = await readFile("EURUSD/2019/01/04/BID_candles_min_1.bi5", LZMA_KLINES, { pointDigits: 5, months: 0 });
  expect(file).toMatchObject({ format: "bi5-klines", kind: "klines", refusal: null, malformed: [] });
  expect(file.rows[0]).toEqual({
    timeMs: at("2019-02-04T00:00:00Z"),
    open: 1.14543,
    high: 1.1457,
    low: 1.14542,
    close: 1.14569,
    realVolume: 293.76,
  });
  expect(file.rows[3]).toMatchObject({ timeMs: at("2019-02-04T00:03:00Z"), realVolume: 0 });
  expect(file.sample).toMatchObject({ spacing: { timeframe: "M1" }, values: { hasVolume: true } });
});

test("the date comes from --date when the path has none, and is required when both are missing", async () => {
  const given = await readFile("x.bi5", LZMA_TICKS, { pointDigits: 5, dateMs: at("2020-03-01T05:00:00Z") });
  expect(given.rows[0]).toMatchObject({ timeMs: at("2020-03-01T05:00:00.994Z") });
  expect((await readFile("x.bi5", LZMA_TICKS)).refusal).toContain("--date");
  expect((await readFile("EURUSD/2019/12/04/00h_ticks.bi5", LZMA_TICKS, { months: 0 })).refusal).toContain("--date");
});

test("an empty file is an hour without ticks", async () => {
  expect(await readFile("EURUSD/2019/01/05/00h_ticks.bi5", "")).toMatchObject({ rows: [], malformed: [], refusal: null });
});

test("candles of ask prices and of longer timeframes are recognised and rejected", async () => {
  expect((await readFile("EURUSD_2019_01_04_ASK_candles_min_1.bi5", LZMA_KLINES)).refusal).toContain(
    "bid file".toUpperCase().slice(0, 3),
  );
  expect((await readFile("EURUSD_2019_01_BID_candles_hour_1.bi5", LZMA_KLINES)).refusal).toContain("klines of H1");
  expect((await readFile("EURUSD_2019_BID_candles_day_1.bi5", LZMA_KLINES)).refusal).toContain("klines of D1");
});

test("damaged data is rejected with the file name, and records outside their hour one by one", async () => {
  await expect(readFile("EURUSD_2019_01_04_00h_ticks.bi5", "certainly not LZMA", { months: 0 })).rejects.toThrow(
    "not a readable .bi5 file",
  );
  const file = await readFile("EURUSD_2019_01_04_00h_ticks.bi5", LZMA_KLINES, { pointDigits: 5, months: 0, format: "bi5-ticks" });
  expect(file.malformed.length).toBeGreaterThan(0);
});

describe.skipIf(!existsSync(RAW))("Dukascopy's own files (skipped where ../shared/data is absent)", () => {
  const read = (name: string) => readFile(name, readFileSync(path.join(RAW, name)), { pointDigits: 5, months: 0 });

  test.each([
    ["00h", 3_733],
    ["10h", 8_438],
    ["23h", 2_633],
  ])("the ticks of %s are all read", async (hour, count) => {
    const file = await read(`EURUSD_2019_01_04_${hour}_ticks.bi5`);
    expect(file.malformed).toEqual([]);
    expect(file.rows).toHaveLength(count);
  });

  test("a file of a day gives 1440 minutes, and a file of an empty hour none", async () => {
    expect((await read("EURUSD_2020_04_01_BID_candles_min_1.bi5")).rows).toHaveLength(1_440);
    expect((await read("empty.bi5")).rows).toEqual([]);
  });
});

const KLINE = {
  timeMs: at("2019-02-04T00:00:00Z"),
  open: 1.14543,
  high: 1.1457,
  low: 1.14542,
  close: 1.14569,
  realVolume: 293.76,
};
const TICK = { timeMs: at("2019-02-04T00:00:00.994Z"), bid: 1.14543, ask: 1.14545, volume: 2.06 };

test.each([
  ["Gmt time", "Gmt time,Open,High,Low,Close,Volume\n04.02.2019 00:00:00.000,1.14543,1.14570,1.14542,1.14569,293.76\n"],
  [
    "an offset",
    "Local time,Open,High,Low,Close,Volume\n04.02.2019 01:00:00.000 GMT+0100,1.14543,1.14570,1.14542,1.14569,293.76\n",
  ],
  ["Time (UTC)", "Time (UTC),Open,High,Low,Close,Volume \n2019.02.04 00:00:00,1.14543,1.14570,1.14542,1.14569,293.76\n"],
])("JForex klines with %s are read", async (_, text) => {
  const file = await readFile("EURUSD_Candlestick_1_M_BID_04.02.2019-04.02.2019.csv", text);
  expect(file).toMatchObject({ format: "jforex", kind: "klines", malformed: [], refusal: null });
  expect(file.rows).toEqual([KLINE]);
});

test("JForex ticks are read with ask before bid", async () => {
  const file = await readFile(
    "EURUSD_Ticks_04.02.2019.csv",
    "Gmt time,Ask,Bid,AskVolume,BidVolume\n04.02.2019 00:00:00.994,1.14545,1.14543,1,2.06\n",
  );
  expect(file).toMatchObject({ format: "jforex", kind: "ticks", malformed: [] });
  expect(file.rows).toEqual([TICK]);
});

test.each([
  [
    "klines",
    "eurusd-m1-bid-2019-02-04.csv",
    "timestamp,open,high,low,close,volume\n1549238400000,1.14543,1.1457,1.14542,1.14569,293.76\n",
    KLINE,
  ],
  [
    "ticks",
    "eurusd-tick-2019-02-04.csv",
    "timestamp,askPrice,bidPrice,askVolume,bidVolume\n1549238400994,1.14545,1.14543,1,2.06\n",
    TICK,
  ],
  [
    "formatted klines",
    "eurusd-m1-bid.csv",
    "timestamp,open,high,low,close,volume\n2019-02-04T00:00:00.000Z,1.14543,1.1457,1.14542,1.14569,293.76\n",
    KLINE,
  ],
])("dukascopy-node %s are read", async (_, name, text, row) => {
  const file = await readFile(name, text);
  expect(file).toMatchObject({ format: "dukascopy-node", malformed: [], refusal: null });
  expect(file.rows).toEqual([row]);
});

test.each(["EURUSD_Candlestick_1_M_ASK_04.02.2019.csv", "eurusd-m1-ask-2019.csv"])(
  "klines of ask prices are rejected by their file name %s",
  async (name) => {
    expect((await readFile(name, "timestamp,open,high,low,close,volume\n1549238400000,1.1,1.1,1.1,1.1,1\n")).refusal).toContain(
      "ask klines",
    );
  },
);

test.each([
  ["times without an offset", "2019-02-04 00:00:00,1.14543,1.1457,1.14542,1.14569,293.76", KLINE],
  ["Unix seconds", "1549238400,1.14543,1.1457,1.14542,1.14569,293760000", { ...KLINE, realVolume: 293_760_000 }],
])("the same header with %s is of another tool", async (_, row, kline) => {
  const file = await readFile("EURUSD.csv", `timestamp,open,high,low,close,volume\n${row}\n`);
  expect(file).toMatchObject({ format: "plain", malformed: [] });
  expect(file.rows).toEqual([kline]);
});

test("volumes under the same header that are whole numbers are numbers of quotes, as those of other tools", async () => {
  const file = await readFile(
    "EURUSD.csv",
    "timestamp,open,high,low,close,volume\n1549238400000,1.14543,1.1457,1.14542,1.14569,42\n",
  );
  const { realVolume: _, ...kline } = KLINE;
  expect(file).toMatchObject({ malformed: [], rows: [{ ...kline, tickVolume: 42 }] });
});
