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
  expect(units).toMatchObject({
    sample: { values: { spread: { stated: 1, broken: 1 } } },
    rows: [{ ...KLINE, tickVolume: 7, spread: 0.0001 }],
  });
  const points = await readFile("x.csv", `${header}2014-05-01T00:00:00Z,1.38676,1.38686,1.38669,1.38686,7,,10\n`, {
    spreadDigits: 5,
  });
  expect(points).toMatchObject({
    sample: { values: { spread: { broken: 0 } } },
    rows: [{ ...KLINE, tickVolume: 7, spread: 0.0001 }],
  });
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

/** The kline of 2014-05-01 as tools and spreadsheets write it. */
const WRITTEN: [what: string, text: string, given?: { columns?: string[]; dateOrder?: "ymd" | "dmy" | "mdy" }][] = [
  ["date and time columns", "Date,Time,Open,High,Low,Close\n2014.05.01,00:00,1.38676,1.38686,1.38669,1.38686\n"],
  [
    "a compact date and time",
    "<DATE>;<TIME>;Open;High;Low;Close\n20140501;000000;1.38676;1.38686;1.38669;1.38686\n".replace(/[<>]/g, ""),
  ],
  ["one compact number", "time,open,high,low,close\n20140501000000,1.38676,1.38686,1.38669,1.38686\n"],
  ["a compact number without seconds", "time,open,high,low,close\n201405010000,1.38676,1.38686,1.38669,1.38686\n"],
  ["tabs", "time\topen\thigh\tlow\tclose\n2014-05-01 00:00\t1.38676\t1.38686\t1.38669\t1.38686\n"],
  ["decimal commas", "time;open;high;low;close\n2014-05-01 00:00;1,38676;1,38686;1,38669;1,38686\n"],
  ["quoted decimal commas", 'time,open,high,low,close\n2014-05-01 00:00,"1,38676","1,38686","1,38669","1,38686"\n'],
  ["microseconds", "time,open,high,low,close\n1398902400000000,1.38676,1.38686,1.38669,1.38686\n"],
  ["nanoseconds", "time,open,high,low,close\n1398902400000000000,1.38676,1.38686,1.38669,1.38686\n"],
  ["no header line", "2014-05-01 00:00,1.38676,1.38686,1.38669,1.38686\n", { columns: ["time", "open", "high", "low", "close"] }],
  [
    "columns to skip, in another order",
    "EUR;1,38686;1,38676;1,38669;1,38686;01.05.2014 00:00\n",
    { columns: ["-", "high", "open", "low", "close", "time"], dateOrder: "dmy" },
  ],
  [
    "a header line that --columns overrides",
    "a,b,c,d,e\n5/1/2014 12:00 AM,1.38676,1.38686,1.38669,1.38686\n",
    { columns: ["time", "open", "high", "low", "close"], dateOrder: "mdy" },
  ],
  ["years of two digits", "date,time,open,high,low,close\n1.5.14,0:00,1.38676,1.38686,1.38669,1.38686\n", { dateOrder: "dmy" }],
  ["US dates", "time,open,high,low,close\n05/01/2014 00:00:00,1.38676,1.38686,1.38669,1.38686\n", { dateOrder: "mdy" }],
];

test.each(WRITTEN)("klines with %s are read", async (_, text, given = {}) => {
  const file = await readFile("x.csv", text, given);
  expect(file).toMatchObject({ format: "plain", malformed: [], sample: { wholePrices: false, decimals: 5 } });
  expect(file.rows).toEqual([KLINE]);
});

// Columns of cBots that export bars and ticks of cTrader.
test("exports of cTrader are on UTC, with the instrument and the timeframe of their columns", async () => {
  const bars =
    "DateTimeUTC,Instrument,Granularity,Open,High,Low,Close,Spread(pips),Volume\r\n2014-05-01 00:00:00.000,EURUSD,M1,1.38676,1.38686,1.38669,1.38686,0.2,42\r\n";
  const file = await readFile("x.csv", bars);
  expect(file).toMatchObject({
    format: "plain",
    malformed: [],
    clock: { fixed: "UTC" },
    sample: { symbol: "EURUSD", spacing: { timeframe: "M1" } },
  });
  expect(file.rows).toEqual([{ ...KLINE, tickVolume: 42 }]);
  expect((await readFile("x.csv", bars.replaceAll("M1", "h1"))).sample.spacing.timeframe).toBe("H1");
  const ticks =
    "DateTimeUTC,Instrument,Granularity,Bid,Ask,Spread(pips),Volume\n2014-05-01 00:00:00.292,EURUSD,Tick,1.38676,1.38686,1,0\n";
  expect(await readFile("x.csv", ticks)).toMatchObject({ kind: "ticks", malformed: [], clock: { fixed: "UTC" } });
});

test("a thousand with separators is one price", async () => {
  const text = 'time,open,high,low,close,volume\n2024-01-02 00:00,"1,900.00","1,901.50","1,899.00","1,900","1,234"\n';
  const file = await readFile("XAUUSD.csv", text);
  expect(file).toMatchObject({ malformed: [], sample: { wholePrices: false, decimals: 2 } });
  expect(file.rows).toMatchObject([{ open: 1900, high: 1901.5, low: 1899, close: 1900, tickVolume: 1234 }]);
});

test("day and month are told apart by the first row that can be read in one order only, and asked for otherwise", async () => {
  const rows = (...dates: string[]) => dates.map((date) => `${date} 00:00,1.3,1.3,1.3,1.3\n`).join("");
  const header = "time,open,high,low,close\n";
  const times = async (text: string) =>
    (await readFile("x.csv", header + text)).rows.map(({ timeMs = 0 }) => new Date(timeMs).toISOString().slice(0, 10));
  expect(await times(rows("04/03/2024", "13/03/2024"))).toEqual(["2024-03-04", "2024-03-13"]);
  expect(await times(rows("03/04/2024", "03/13/2024"))).toEqual(["2024-03-04", "2024-03-13"]);
  expect(await times(rows("3.4.2024", "3.13.2024"))).toEqual(["2024-03-04", "2024-03-13"]);
  const unsure = expect.objectContaining({
    name: "Unsure",
    message: expect.stringContaining("--date-format DMY or --date-format MDY"),
  });
  await expect(times(rows("04/03/2024", "05/03/2024"))).rejects.toThrow(unsure);
  await expect(times(rows("04.03.2024"))).rejects.toThrow(unsure);
  await expect(times(rows("13/03/2024", "03/13/2024"))).rejects.toThrow(unsure);
  await expect(times(rows("31/01/20"))).rejects.toThrow(unsure);
});

test.each([
  ["tick_volume,volume", "42,1.5", { tickVolume: 42, realVolume: 1.5 }],
  ["volume,real_volume", "42,1.5", { tickVolume: 42, realVolume: 1.5 }],
  ["volume", "42", { tickVolume: 42 }],
  ["volume", "42.5", { realVolume: 42.5 }],
  ["vol", "293760000", { realVolume: 293_760_000 }],
])("the columns %s with %s are the volumes that their names and values say", async (names, values, volumes) => {
  const file = await readFile(
    "x.csv",
    `time,open,high,low,close,${names}\n2014-05-01T00:00:00Z,1.38676,1.38686,1.38669,1.38686,${values}\n`,
  );
  expect(file.rows).toEqual([{ ...KLINE, ...volumes }]);
});

test("hours in date and time columns are not taken for days, also with the newest first", async () => {
  const rows = ["2014.05.01,02:00", "2014.05.01,01:00", "2014.05.01,00:00"].map((time) => `${time},1.3,1.3,1.3,1.3\n`);
  for (const order of [rows, rows.toReversed()])
    expect((await readFile("x.csv", `Date,Time,Open,High,Low,Close\n${order.join("")}`)).sample.spacing.timeframe).toBe("H1");
});

test("a file whose columns have no names asks for them", async () => {
  const unsure = expect.objectContaining({
    name: "Unsure",
    message: expect.stringContaining("--columns time,open,high,low,close"),
  });
  await expect(readFile("x.csv", "2014-05-01 00:00;1,38676;1,38686;1,38669;1,38686\n")).rejects.toThrow(unsure);
  await expect(readFile("x.csv", "a,b\n1,2\n", { columns: ["open", "high"] })).rejects.toThrow(
    "--columns open,high names no time",
  );
  await expect(readFile("x.csv", "EUR/USD,20200102 00:00:00.123,1.1,1.2\n", { dateOrder: "dmy" })).rejects.toThrow("are YMD");
});

test("a time that the clock skips is reported, not moved", async () => {
  const file = await readFile("x.csv", "time,bid,ask\n2024-03-31 02:30,1.1,1.2\n", { toUtcMs: () => Number.NaN });
  expect(file).toMatchObject({ rows: [], malformed: [{ line: 2, reason: expect.stringContaining("does not exist") }] });
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

test.each([
  ["a day-first table", "Datum;Zeit;Eröffnung;Hoch;Tief;Schluss;Volumen\n05.03.2024;09:30;1,08472;1,08480;1,08447;1,08467;15\n"],
  [
    "an hour of the day",
    "Datum;Uhrzeit;Eröffnungskurs;Höchstkurs;Tiefstkurs;Schlusskurs\n05.03.2024;09:30:00;1,08472;1,08480;1,08447;1,08467\n",
  ],
  ["another encoding", "Datum;Uhrzeit;Er\uFFFDffnung;Hoch;Tief;Schlusskurs\n05.03.2024;9:30;1,08472;1,08480;1,08447;1,08467\n"],
])("German headers with decimal commas are read: %s", async (_, text) => {
  const file = await readFile("EURUSD.csv", text);
  expect(file).toMatchObject({ format: "plain", kind: "klines", malformed: [] });
  expect(file.rows[0]).toMatchObject({
    timeMs: at("2024-03-05T09:30:00Z"),
    open: 1.08472,
    high: 1.0848,
    low: 1.08447,
    close: 1.08467,
  });
});

test("a German header in the encoding of Windows is read", async () => {
  const text = Buffer.from(
    "Datum;Zeit;Eröffnung;Hoch;Tief;Schluss\r\n13.03.2024;09:30;1,08472;1,08480;1,08447;1,08467\r\n",
    "latin1",
  );
  expect(await readFile("EURUSD.csv", text)).toMatchObject({ format: "plain", malformed: [], rows: [{ open: 1.08472 }] });
});

test.each([
  [
    "English",
    '"Date","Price","Open","High","Low","Vol.","Change %"\n"03/15/2024","1.0887","1.0882","1.0900","1.0871","118.32K","0.05%"\n"03/14/2024","1.0882","1.0946","1.0955","1.0880","","-0.59%"\n',
  ],
  [
    "older English",
    '"Date","Price","Open","High","Low","Change %"\n"Mar 15, 2024","1.0887","1.0882","1.0900","1.0871","0.05%"\n"Mar 14, 2024","1.0882","1.0946","1.0955","1.0880","-0.59%"\n',
  ],
  [
    "German",
    '"Datum","Zuletzt","Eröffn.","Hoch","Tief","Vol.","+/- %"\n"15.03.2024","1,0887","1,0882","1,0900","1,0871","","0,05%"\n"14.03.2024","1,0882","1,0946","1,0955","1,0880","","-0,59%"\n',
  ],
])("days of investing.com are read, in %s", async (_, text) => {
  const file = await readFile("EUR_USD Historical Data.csv", text);
  expect(file).toMatchObject({ format: "plain", kind: "klines", malformed: [] });
  expect(file.rows).toEqual([
    { timeMs: at("2024-03-15T00:00:00Z"), open: 1.0882, high: 1.09, low: 1.0871, close: 1.0887 },
    { timeMs: at("2024-03-14T00:00:00Z"), open: 1.0946, high: 1.0955, low: 1.088, close: 1.0882 },
  ]);
});
