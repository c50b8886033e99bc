import { expect, test } from "vitest";
import { at, readFile } from "#server/testing/import-rows";

/** Prices of one minute, and what they are read as. */
const PRICES = "1.09045,1.09050,1.09040,1.09048";
const KLINE = { timeMs: at("2024-01-08T08:00:00Z"), open: 1.09045, high: 1.0905, low: 1.0904, close: 1.09048 };
const QUOTED = `${PRICES},1.09048,1.09058`;

test.each([
  ["a day and a timestamp", `Date,Timestamp,Open,High,Low,Close\n20240108,08:00:00,${PRICES}\n`],
  ["a day and an opening time", `date,open time,open,high,low,close\n2024-01-08,08:00,${PRICES}\n`],
  ["a time in front of its day", `Time,Date,Open,High,Low,Close\n8:00 AM,2024-01-08,${PRICES}\n`],
  ["a day and a time in UTC", `Date,Time (UTC),Open,High,Low,Close\n2024-01-08,0800,${PRICES}\n`],
  ["a separator for spreadsheets", `sep=;\ntime;open;high;low;close\n2024-01-08T08:00:00Z;${PRICES.replaceAll(",", ";")}\n`],
  ["a separator in quotation marks", `"sep=,"\r\ntime,open,high,low,close\r\n2024-01-08T08:00:00Z,${PRICES}\r\n`],
  [
    "comments",
    `# EURUSD, M1, exported 2024-01-09, 12 rows\n// by a tool\n\ntime,open,high,low,close\n2024-01-08T08:00:00Z,${PRICES}\n`,
  ],
  ["a title", `EURUSD one minute bid\n\ntime,open,high,low,close\n2024-01-08T08:00:00Z,${PRICES}\n`],
  ["a comment in its rows", `time,open,high,low,close\n# first day\n2024-01-08T08:00:00Z,${PRICES}\n`],
  ["an index without a name", `,open,high,low,close\n2024-01-08 08:00:00+00:00,${PRICES}\n`],
  ["an index that pandas named", `Unnamed: 0,open,high,low,close\n2024-01-08 08:00,${PRICES}\n`],
  ["an index in semicolons", `"";"open";"high";"low";"close"\n"2024-01-08 08:00:00";${PRICES.replaceAll(",", ";")}\n`],
  ["a counter and a time", `index,time,open,high,low,close\n0,2024-01-08T08:00:00Z,${PRICES}\n`],
  [
    "three header lines of yfinance",
    "Price,Close,High,Low,Open\nTicker,EURUSD=X,EURUSD=X,EURUSD=X,EURUSD=X\nDatetime,,,,\n2024-01-08 08:00:00+00:00,1.09048,1.09050,1.09040,1.09045\n",
  ],
  ["a line of units", `time,open,high,low,close\nUTC,USD,USD,USD,USD\n2024-01-08T08:00:00Z,${PRICES}\n`],
  ["a line of indicators above its names", `,Bid,Bid,Bid,Bid\ntime,open,high,low,close\n2024-01-08T08:00:00Z,${PRICES}\n`],
])("klines with %s are read", async (_, text) => {
  const file = await readFile("EURUSD_M1.csv", text);
  expect(file).toMatchObject({ format: "plain", kind: "klines", malformed: [] });
  expect(file.rows).toEqual([KLINE]);
});

test.each([
  ["bid.o,bid.h,bid.l,bid.c,ask.o,ask.c"],
  ["open_bid,high_bid,low_bid,close_bid,open_ask,close_ask"],
  ["Bid.Open,Bid.High,Bid.Low,Bid.Close,Ask.Open,Ask.Close"],
  ["OpenBid,HighBid,LowBid,CloseBid,OpenAsk,CloseAsk"],
])("prices of both sides are read under the names %s", async (names) => {
  const file = await readFile("x.csv", `time,${names}\n2024-01-08T08:00:00Z,${PRICES},1.09055,1.09059\n`);
  expect(file.rows).toHaveLength(1);
  expect(file.rows[0]).toMatchObject(KLINE);
  expect(file.rows[0]?.spread).toBeCloseTo(0.0001, 10);
});

test.each([
  ["bid, ask", QUOTED],
  ["ask, bid", `${PRICES},1.09058,1.09048`],
  ["Bid Price, Ask Price", QUOTED],
])("klines with %s beside them are klines with a spread, or ticks where the operator says so", async (names, row) => {
  const text = `time,open,high,low,close,${names}\n2024-01-08T08:00:00Z,${row}\n`;
  const klines = await readFile("EURUSD.csv", text);
  expect(klines).toMatchObject({ kind: "klines", malformed: [], rows: [KLINE] });
  expect(klines.rows[0]?.spread).toBeCloseTo(0.0001, 10);
  expect(await readFile("EURUSD.csv", text, { kind: "ticks" })).toMatchObject({
    kind: "ticks",
    rows: [{ bid: 1.09048, ask: 1.09058 }],
  });
});

test("a kline without a quote beside it has no spread", async () => {
  const text = `time,open,high,low,close,bid,ask\n2024-01-08T08:00:00Z,${PRICES},,\n`;
  expect(await readFile("EURUSD.csv", text)).toMatchObject({ malformed: [], rows: [KLINE] });
});

test.each([
  ["Clock", "08:00", "09:00"],
  ["HHMM", "0800", "0900"],
  ["hhmmss", "080000", "090000"],
  ["Hora", "8:00 AM", "9:00 AM"],
])("a time of day in a column %s is not left out: the file is refused with the names to say", async (name, first, second) => {
  const rows = [first, second].map((time) => `2024-01-08,${time},${PRICES},7\n`);
  const text = `Date,${name},Open,High,Low,Close,Trades\n${rows.join("")}`;
  const columns = "date,time,open,high,low,close,-";
  await expect(readFile("EURUSD.csv", text)).rejects.toThrow(`its column "${name}" has times of day`);
  await expect(readFile("EURUSD.csv", text)).rejects.toThrow(`--columns ${columns}`);
  const file = await readFile("EURUSD.csv", text, { columns: columns.split(",") });
  expect(file.rows).toMatchObject([KLINE, { timeMs: at("2024-01-08T09:00:00Z") }]);
});

test.each([
  [
    "instruments",
    "Price,Close,Close,High,High,Low,Low,Open,Open\nTicker,EURUSD=X,GBPUSD=X,EURUSD=X,GBPUSD=X,EURUSD=X,GBPUSD=X,EURUSD=X,GBPUSD=X\nDatetime,,,,,,,,\n",
  ],
  ["unnamed blocks", "time,open,high,low,close,open,high,low,close\n"],
])("a table of several %s needs --columns", async (_, header) => {
  const row = `2024-01-08 08:00:00+00:00,${PRICES},${PRICES}\n`;
  await expect(readFile("EURUSD.csv", header + row)).rejects.toThrow("of several instruments or sides");
});

test("a line above the names says which side the prices are of", async () => {
  const row = `2024-01-08T08:00:00Z,1.09055,1.09060,1.09050,1.09059,${PRICES}\n`;
  const both = await readFile(
    "EURUSD.csv",
    `,ask,ask,ask,ask,bid,bid,bid,bid\ntime,open,high,low,close,open,high,low,close\n${row}`,
  );
  expect(both.rows).toHaveLength(1);
  expect(both.rows[0]).toMatchObject(KLINE);
  expect(both.rows[0]?.spread).toBeCloseTo(0.0001, 10);
  const ask = `,ask,ask,ask,ask\ntime,open,high,low,close\n2024-01-08T08:00:00Z,${PRICES}\n`;
  await expect(readFile("EURUSD.csv", ask)).rejects.toThrow("no column is named as its");
});

test("beside bid prices, open to close are those of another side", async () => {
  const names = "open,high,low,close,bid_open,bid_high,bid_low,bid_close,ask_open,ask_close";
  const file = await readFile("EURUSD.csv", `time,${names}\n2024-01-08T08:00:00Z,1.2,1.3,1.1,1.2,${PRICES},1.09055,1.09058\n`);
  expect(file.rows).toMatchObject([KLINE]);
});

test("a column of pairs is that of the instrument, whatever its name", async () => {
  const text = `pair,time,open,high,low,close\nNZD/USD,2024-01-08T08:00:00Z,${PRICES}\nAUD/USD,2024-01-08T08:01:00Z,${PRICES}\n`;
  expect(await readFile("EURUSD.csv", text)).toMatchObject({
    rows: [KLINE],
    sample: { symbol: "NZD/USD" },
    malformed: [{ line: 3, reason: "AUD/USD in a file of NZD/USD" }],
  });
});

test.each([["638403048000000000"], ["133491744000000000"]])("times such as %s are no nanoseconds", async (time) => {
  await expect(readFile("EURUSD.csv", `time,bid,ask\n${time},1.09,1.0901\n`)).rejects.toThrow(
    "count from another year than 1970",
  );
});

test("comments between rows are left out, and -1 is no volume", async () => {
  const text = `time,open,high,low,close,volume\n2024-01-08T08:00:00Z,${PRICES},-1\n# the end\n`;
  expect(await readFile("EURUSD.csv", text)).toMatchObject({ malformed: [], rows: [KLINE] });
});

test("numbers in a column that is not read are no times of day", async () => {
  const rows = ["1200", "1215"].map((count, day) => `2024-01-0${8 + day},${PRICES},${count}\n`);
  expect((await readFile("EURUSD.csv", `Date,Open,High,Low,Close,Trades\n${rows.join("")}`)).rows).toHaveLength(2);
});

test("the form of the times is that of most rows, not of the first", async () => {
  const text = `n/a,${PRICES}\n1704700800000,${PRICES}\n1704700860000,${PRICES}\n`;
  const file = await readFile("EURUSD.csv", `time,open,high,low,close\n${text}`);
  expect(file.rows).toMatchObject([KLINE, { timeMs: KLINE.timeMs + 60_000 }]);
});

test("times of ends are read as those of starts, where the operator says so", async () => {
  const text = `time,open,high,low,close\n2024-01-08T08:01:00Z,${PRICES}\n`;
  expect((await readFile("EURUSD.csv", text, { lateMs: 60_000 })).rows).toEqual([KLINE]);
});
