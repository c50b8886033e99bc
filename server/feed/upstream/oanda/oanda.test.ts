import { describe, expect, test } from "vitest";
import { hasSharedData, SHARED_DATA_NOTICE, sharedText } from "#lib/testing/shared-data";
import { lineFarSide } from "#server/testing/far-side";
import { describeUpstream } from "#server/testing/upstream-suite";
import { oandaUpstream } from ".";
import { readLine } from "./wire";

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
    ...{ type: "PRICE", time: new Date(timeMs).toISOString().replace("Z", "999999Z"), bids: bucket(bid), asks: bucket(ask) },
    ...{ closeoutBid: "1", closeoutAsk: "2", status: "tradeable", tradeable: true, instrument: symbol, ...more },
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
      heard: { symbol: "EUR_USD", timeMs: Date.UTC(2026, 0, 7, 12, 0, 0, 123), bid: 1.12, ask: 1.13 },
    });
  });

  test.skipIf(!hasSharedData)(`recorded streams are read to their last line${SHARED_DATA_NOTICE}`, () => {
    for (const name of ["stream-hootnot-2016", "stream-hootnot-2017", "stream-issue-btoandav20-32", "stream-readme-2016"]) {
      const lines = sharedText(`upstreams/oanda/${name}.jsonl`).split("\n").filter(Boolean).map(readLine);
      expect(lines.filter((line) => line !== "heartbeat" && !("heard" in line))).toEqual([]);
      expect(lines.length).toBeGreaterThan(1);
    }
  });
});
