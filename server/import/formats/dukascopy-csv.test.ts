import { expect, test } from "vitest";
import { at, readFile } from "#server/testing/import-rows";

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
  [
    "volumes that are numbers of quotes",
    "1549238400000,1.14543,1.1457,1.14542,1.14569,42",
    { ...KLINE, realVolume: undefined, tickVolume: 42 },
  ],
  ["times without an offset", "2019-02-04 00:00:00,1.14543,1.1457,1.14542,1.14569,293.76", KLINE],
  ["Unix seconds", "1549238400,1.14543,1.1457,1.14542,1.14569,293760000", { ...KLINE, realVolume: 293_760_000 }],
])("the same header with %s is of another tool", async (_, row, { realVolume, ...kline }) => {
  const file = await readFile("EURUSD.csv", `timestamp,open,high,low,close,volume\n${row}\n`);
  expect(file).toMatchObject({ format: "plain", malformed: [] });
  expect(file.rows).toEqual([{ ...kline, ...(realVolume !== undefined && { realVolume }) }]);
});
