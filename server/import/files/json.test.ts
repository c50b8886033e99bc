import { expect, test } from "vitest";
import { at, readFile } from "#server/testing/import-rows";
import { isJson, jsonText } from "./json";

async function textOf(text: string, chunkBytes = 1 << 16): Promise<string> {
  const bytes = Buffer.from(text);
  async function* pieces() {
    for (let from = 0; from < bytes.length; from += chunkBytes) yield bytes.subarray(from, from + chunkBytes);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of jsonText(pieces())) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const NAME = "eurusd-m1-bid-2019-02-04.json";
const KLINE = {
  timeMs: at("2019-02-04T00:00:00Z"),
  open: 1.14543,
  high: 1.1457,
  low: 1.14542,
  close: 1.14569,
  realVolume: 293.76,
};
const NEXT = { ...KLINE, timeMs: KLINE.timeMs + 60_000, realVolume: 5.1 };
const TICK = { timeMs: at("2019-02-04T00:00:00.994Z"), bid: 1.14543, ask: 1.14545, volume: 2.06 };

const object = (timestamp: number | string, volume: number) =>
  `{"timestamp":${timestamp},"open":1.14543,"high":1.1457,"low":1.14542,"close":1.14569,"volume":${volume}}`;
const list = (timestamp: number, volume: number) => `[${timestamp},1.14543,1.1457,1.14542,1.14569,${volume}]`;

test.each([
  ["a list of objects", `[${object(1549238400000, 293.76)},${object(1549238460000, 5.1)}]`],
  ["a list of lists", `[${list(1549238400000, 293.76)},${list(1549238460000, 5.1)}]`],
  ["an indented list", JSON.stringify(JSON.parse(`[${object(1549238400000, 293.76)},${object(1549238460000, 5.1)}]`), null, 2)],
  ["objects line by line", `${object(1549238400000, 293.76)}\n${object(1549238460000, 5.1)}\n`],
  ["lists line by line", `\uFEFF${list(1549238400000, 293.76)}\r\n${list(1549238460000, 5.1)}\r\n`],
  ["written times", `[${object('"2019-02-04T00:00:00.000Z"', 293.76)},${object('"2019-02-04T00:01:00.000Z"', 5.1)}]`],
])("klines of dukascopy-node as %s are read, whatever the chunk boundaries", async (_, text) => {
  expect(isJson(Buffer.from(text))).toBe(true);
  for (const chunkBytes of [1, 7, 1 << 16]) {
    const file = await readFile(NAME, await textOf(text, chunkBytes));
    expect(file).toMatchObject({
      format: "dukascopy-node",
      kind: "klines",
      malformed: [],
      refusal: null,
      clock: { fixed: "UTC" },
    });
    expect(file.rows).toEqual([KLINE, NEXT]);
  }
});

test.each([
  ["objects", '[{"timestamp":1549238400994,"askPrice":1.14545,"bidPrice":1.14543,"askVolume":1,"bidVolume":2.06}]', TICK],
  ["lists", "[[1549238400994,1.14545,1.14543,1,2.06]]", TICK],
  ["lists without volumes", "[[1549238400994,1.14545,1.14543]]", { ...TICK, volume: undefined }],
  ["lists of other tools, with the bid first", "[[1549238400994,1.14543,1.14545]]", { ...TICK, volume: undefined }],
])("ticks as %s are read", async (_, text, { volume, ...tick }) => {
  const file = await readFile("eurusd-tick-2019-02-04.json", await textOf(text));
  expect(file).toMatchObject({ kind: "ticks", malformed: [] });
  expect(file.rows).toEqual([{ ...tick, ...(volume !== undefined && { volume }) }]);
});

test("klines without volumes are not taken for ticks, and a missing value stays unknown", async () => {
  const file = await readFile(NAME, await textOf("[[1549238400000,1.14543,1.1457,1.14542,1.14569]]"));
  expect(file).toMatchObject({ kind: "klines", malformed: [] });
  const partly = await textOf('[{"time":"2019-02-04T00:00:00Z","open":1,"high":1,"low":1,"close":1,"spread":null},{"time":"x"}]');
  expect(partly).toBe("time,open,high,low,close,spread\n2019-02-04T00:00:00Z,1,1,1,1,\nx,,,,,\n");
});

test("klines of ask prices are refused by the name of their file", async () => {
  expect((await readFile("eurusd-m1-ask-2019.json", await textOf(`[${object(1549238400000, 1.5)}]`))).refusal).toContain(
    "ask klines",
  );
});

test("text in values does not confuse the rows", async () => {
  expect(await textOf('[{"a":"]},{\\"[","b":1}]')).toBe('a,b\n"]},{ [",1\n');
});

test("an empty list has no rows", async () => {
  expect(await textOf("[ ]")).toBe("");
});

test.each([
  ["cut off between two rows", `[${list(1549238400000, 1)},`, "cut off after row 1"],
  ["cut off in a row", `[${list(1549238400000, 1)},[1549`, "cut off after row 1"],
  ["with a damaged row", '[{"a":1},{"a":]', "row 2 is not valid JSON"],
  ["with an object in a row", '[{"o":{"p":1}}]', "row 1 of its JSON has lists or objects in it"],
  ["with something else between its rows", "[{}, 5]", "something else than a row after row 1"],
  ["that ends twice", "[{}]]", "ends before it begins"],
  ["with a row without an end", `["${"x".repeat(20_000)}`, "row 1 of its JSON is longer than 16384 bytes"],
])("JSON %s is refused with the row", async (_, text, message) => {
  await expect(textOf(text, 4_096)).rejects.toThrow(message);
});

const OANDA = {
  candles: [
    {
      complete: true,
      volume: 15,
      time: "2020-02-21T21:58:00.000000000Z",
      bid: { o: "1.08472", h: "1.08472", l: "1.08447", c: "1.08467" },
      ask: { o: "1.08506", h: "1.08567", l: "1.08497", c: "1.08567" },
    },
    {
      complete: false,
      volume: 13,
      time: "2020-02-21T21:59:00.000000000Z",
      bid: { o: "1.08460", h: "1.08464", l: "1.08427", c: "1.08459" },
      ask: { o: "1.08560", h: "1.08560", l: "1.08488", c: "1.08488" },
    },
  ],
  instrument: "EUR_USD",
  granularity: "M1",
};

test.each([
  ["one response", JSON.stringify(OANDA)],
  ["an indented one", JSON.stringify(OANDA, null, 2)],
  ["the latest candles", JSON.stringify({ latestCandles: [OANDA] })],
  ["a response on each line", `${JSON.stringify({ ...OANDA, candles: [OANDA.candles[1]] })}\n${JSON.stringify(OANDA)}\n`],
])("candles of OANDA as %s are read with their spread, without the one that is not complete", async (_, json) => {
  for (const chunkBytes of [3, 1 << 16]) {
    const file = await readFile("candles.json", await textOf(json, chunkBytes));
    expect(file).toMatchObject({
      format: "plain",
      malformed: [],
      sample: { symbol: "EUR_USD", spacing: { timeframe: "M1", steady: true } },
    });
    expect(file.rows).toEqual([
      {
        timeMs: at("2020-02-21T21:58:00Z"),
        open: 1.08472,
        high: 1.08472,
        low: 1.08447,
        close: 1.08467,
        tickVolume: 15,
        spread: expect.closeTo(0.00034, 6),
        askOpen: 1.08506,
        askHigh: 1.08567,
        askLow: 1.08497,
        askClose: 1.08567,
      },
    ]);
  }
});

test("candles of OANDA without bid prices are refused, with what to ask for", async () => {
  const [{ bid: mid, ...candle }] = OANDA.candles as [(typeof OANDA.candles)[0]];
  const { ask: _, ...rest } = candle;
  await expect(textOf(JSON.stringify({ ...OANDA, candles: [{ ...rest, mid }] }))).rejects.toThrow(
    /candles of mid prices: .*price=BA/,
  );
});

test("aggregates of Massive are read, and an answer that is cut off is refused", async () => {
  const results = [1577854800000, 1577854860000].map((t) => ({
    v: 20,
    vw: 1.1212,
    o: 1.1211,
    c: 1.1213,
    h: 1.1214,
    l: 1.121,
    t,
    n: 20,
  }));
  const json = JSON.stringify({ ticker: "C:EURUSD", queryCount: 2, resultsCount: 2, adjusted: true, results, status: "OK" });
  const file = await readFile("aggs.json", await textOf(json));
  expect(file).toMatchObject({ malformed: [], sample: { symbol: "C:EURUSD" }, clock: { fixed: "UTC" } });
  expect(file.rows[0]).toEqual({ timeMs: 1577854800000, open: 1.1211, high: 1.1214, low: 1.121, close: 1.1213, tickVolume: 20 });
  await expect(textOf(json.slice(0, -40))).rejects.toThrow("not valid JSON, or cut off");
});
