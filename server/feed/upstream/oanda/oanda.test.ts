import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "#lib/clock";
import { hasSharedData, SHARED_DATA_NOTICE, sharedText } from "#lib/testing/shared-data";
import { lineFarSide } from "#server/testing/far-side";
import { start, until } from "#server/testing/upstream-scene";
import { describeUpstream } from "#server/testing/upstream-suite";
import type { Minute } from "../port";
import { oandaUpstream } from ".";
import { Candles, readCandles, readLine } from "./wire";

const SECRET = "a1b2c3d4e5f6-marked";
const INSTRUMENTS = [
  { name: "EU50_EUR", displayPrecision: 1 },
  { name: "EUR_USD", displayPrecision: 5 },
  { name: "XAU_USD", displayPrecision: 3 },
];
const bucket = (price: number | null) => (price === null ? [] : [{ price: String(price), liquidity: 1_000_000 }]);
const symbolOf = (ticker: string) => `${ticker.slice(0, 3)}_${ticker.slice(3)}`;
const price = (symbol: string, timeMs: number, bid: number | null, ask: number | null, more: object = {}) =>
  JSON.stringify({
    type: "PRICE",
    time: new Date(timeMs).toISOString().replace("Z", "999999Z"),
    bids: bucket(bid),
    asks: bucket(ask),
    closeoutBid: "1",
    closeoutAsk: "2",
    status: "tradeable",
    tradeable: true,
    instrument: symbol,
    ...more,
  });

describeUpstream("OANDA", {
  farSide: () => lineFarSide({ "/instruments": { instruments: INSTRUMENTS } }),
  upstream: ({ url }) => oandaUpstream({ token: SECRET, account: "101-004-1-001", environment: "practice", url }),
  price: ({ ticker, timeMs, bid, ask }) => price(symbolOf(ticker), timeMs, bid, ask),
  heartbeat: '{"type":"HEARTBEAT","time":"2026-01-07T12:00:00.064294036Z"}',
  secret: SECRET,
  unused: {
    closed: price("EUR_USD", 0, 1, 2, { status: "non-tradeable", tradeable: false }),
    "closed, as in 2016": price("EUR_USD", 0, 1, 2, { status: "halted", tradeable: undefined }),
    "an empty side": price("EUR_USD", 1, null, 1.2),
    "another symbol": price("EUR_CHF", 1, 1.1, 1.2),
    "an impossible price": price("EUR_USD", 1, 1.1, 1.2).replace('"1.1"', "1e400"),
    "minus zero": price("EUR_USD", 1, -0, 1.2),
    "no time": price("EUR_USD", 1, 1.1, 1.2).replace(/"time":"[^"]*"/, '"time":"soon"'),
    "null for a side": price("EUR_USD", 1, 1.1, 1.2).replace(/"asks":\[[^\]]*\]/, '"asks":null'),
    "another type": '{"type":"NEWS","time":"2026-01-07T12:00:00Z"}',
  },
});

describe("a line of OANDA's stream", () => {
  test("the best price counts, not the first", () => {
    const [bids, asks] = [
      ["1.10", "1.12"],
      ["1.14", "1.13"],
    ].map((prices) => prices.map((one) => ({ price: one })));
    const line = JSON.stringify({ type: "PRICE", instrument: "EUR_USD", time: "2026-01-07T12:00:00.123456789Z", bids, asks });
    expect(readLine(line)).toEqual({
      received: { symbol: "EUR_USD", timeMs: Date.UTC(2026, 0, 7, 12, 0, 0, 123), bid: 1.12, ask: 1.13 },
    });
  });

  test.skipIf(!hasSharedData)(`recorded streams are read to their last line${SHARED_DATA_NOTICE}`, () => {
    for (const name of ["stream-hootnot-2016", "stream-hootnot-2017", "stream-issue-btoandav20-32", "stream-readme-2016"]) {
      const lines = sharedText(`upstreams/oanda/${name}.jsonl`).split("\n").filter(Boolean).map(readLine);
      expect(lines.filter((line) => line !== "heartbeat" && !("received" in line))).toEqual([]);
      expect(lines.length).toBeGreaterThan(1);
    }
  });
});

describe("an answer 400", () => {
  test.each([
    ["Invalid value specified for 'accountID'", /refuses the connection.*Check OANDA_ACCOUNT/],
    ["Invalid value specified for 'instruments'", /refuses the connection.*Check FEED_SYMBOLS/],
    ["Invalid value specified for 'snapshot'", /failed; restarting it/],
  ])("says what its words name: %s", async (errorMessage, expected) => {
    const far = await lineFarSide({ "/instruments": { instruments: INSTRUMENTS } });
    far.refuse({ status: 400, body: JSON.stringify({ errorMessage }) });
    const account = { token: SECRET, account: "101-004-1-001", environment: "practice", url: far.url } as const;
    const { problems, lines, stop, ended } = start(oandaUpstream(account));
    await until(() => problems.length === 1);
    expect(problems[0]).toMatch(expected);
    expect(JSON.stringify(lines)).toContain(errorMessage);
    stop.abort();
    await ended;
    await far.close();
  });
});

describe("candles", () => {
  const text = (value: number) => value.toFixed(4);
  const side = (price: number) => ({ o: text(price), h: text(price + 0.001), l: text(price - 0.001), c: text(price) });
  const candle = (time: number, complete = true) => ({
    complete,
    volume: 7,
    time: new Date(time * 1000).toISOString().replace("Z", "000000Z"),
    bid: side(1.1),
    ask: side(1.1002),
  });

  test("the closed minutes of a range come page by page, each once, and a minute that is not complete is left out", async () => {
    const from = Date.UTC(2026, 0, 7) / 1000;
    const all = Array.from({ length: 5_020 }, (_, index) => candle(from + index * 60, index < 5_019));
    const asked: URLSearchParams[] = [];
    const server = createServer((request, response) => {
      const { pathname, searchParams: query } = new URL(request.url ?? "", "http://far.side");
      expect([pathname, request.headers.authorization]).toEqual(["/v3/instruments/EUR_USD/candles", `Bearer ${SECRET}`]);
      asked.push(query);
      const startMs = Date.parse(query.get("from") ?? "");
      const later = all.filter(({ time }) =>
        query.get("includeFirst") === "true" ? Date.parse(time) >= startMs : Date.parse(time) > startMs,
      );
      response.end(
        JSON.stringify({ instrument: "EUR_USD", granularity: "M1", candles: later.slice(0, Number(query.get("count"))) }),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const upstream = oandaUpstream({ token: SECRET, account: "101-004-1-001", environment: "practice", url });
    const link = { signal: new AbortController().signal, clock: systemClock };
    const minutes: Minute[] = [];
    for await (const page of upstream.minutes?.("EUR_USD", from, from + 600_000, link) ?? []) minutes.push(...page);
    expect(minutes.map(({ time }) => time)).toEqual(Array.from({ length: 5_019 }, (_, index) => from + index * 60));
    expect(minutes[0]).toEqual({
      time: from,
      open: 1.1,
      high: 1.101,
      low: 1.099,
      close: 1.1,
      volume: 7,
      spread: expect.closeTo(0.0002, 9),
    });
    expect(asked.map((query) => [query.get("price"), query.get("count"), query.get("includeFirst")])).toEqual([
      ["BA", "5000", "true"],
      ["BA", "5000", "false"],
    ]);
    const few: Minute[] = [];
    for await (const page of upstream.minutes?.("EUR_USD", from + 60, from + 180, link) ?? []) few.push(...page);
    expect(few.map(({ time }) => time)).toEqual([from + 60, from + 120]);
    expect(asked[2]?.get("count")).toBe("2");
  });

  test("a spread is the smaller one of the first and the last quote, and prices that are no numbers are refused", () => {
    const bid = { o: "1.1", h: "1.2", l: "1.0", c: "1.15" };
    const ask = { o: "1.1003", h: "1.2", l: "1.0", c: "1.1502" };
    const page = (one: object) =>
      Candles.safeParse({ candles: [{ time: "2026-01-07T12:00:00.000000000Z", complete: true, volume: 1, ...one }] });
    const read = page({ bid, ask });
    expect(read.success && readCandles(read.data).minutes[0]?.spread).toBeCloseTo(0.0002, 9);
    const alone = page({ bid });
    expect(alone.success && readCandles(alone.data).minutes[0]?.spread).toBeNull();
    expect(page({ bid: { ...bid, o: "soon" } }).success).toBe(false);
  });

  test.skipIf(!hasSharedData)(`recorded candles are read${SHARED_DATA_NOTICE}`, () => {
    const [latest] = JSON.parse(sharedText("upstreams/oanda/latest-candles-2020.json")).latestCandles;
    const { minutes } = readCandles(Candles.parse(latest));
    expect(minutes.map(({ time, close, spread }) => [time, close, Number(spread?.toFixed(5))])).toEqual([
      [Date.UTC(2020, 1, 21, 21, 58) / 1000, 1.08467, 0.00034],
      [Date.UTC(2020, 1, 21, 21, 59) / 1000, 1.08459, 0.00029],
    ]);
    const mid = Candles.parse(JSON.parse(sharedText("upstreams/oanda/candles-hootnot-ments_instrument_candles-0.json")));
    expect(readCandles(mid)).toEqual({ minutes: [], last: Date.UTC(2016, 9, 17, 19, 55) / 1000 });
  });
});
