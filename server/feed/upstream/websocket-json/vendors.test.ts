import { describe, expect, test } from "vitest";
import { hasSharedData, SHARED_DATA_NOTICE, sharedText } from "#lib/testing/shared-data";
import { socketFarSide } from "#server/testing/far-side";
import { NOW_MS, type Said as Quoted, start, until } from "#server/testing/upstream-scene";
import { describeUpstream } from "#server/testing/upstream-suite";
import { socketUpstream } from ".";
import type { Vendor } from "./vendor";
import { massive, tiingo, traderMade, twelveData } from "./vendors";

const SECRET = "a1b2c3d4e5f6-marked";
const slashed = (ticker: string) => `${ticker.slice(0, 3)}/${ticker.slice(3)}`;

interface Speech {
  readonly vendor: Vendor;
  /** Speaks the vendor's part: what it answers to each message, by a word in it; what it says first. */
  readonly first?: string;
  readonly answers: readonly (readonly [word: string, answer: string, isReady: boolean])[];
  price(quoted: Quoted): string;
  readonly heartbeat: string;
  readonly unused: Readonly<Record<string, string>>;
}

const massiveQuote = (pair: string, timeMs: number, bid: unknown, ask: unknown) =>
  JSON.stringify([{ ev: "C", p: pair, x: 48, b: bid, a: ask, t: timeMs }]);
const tiingoQuote = (ticker: string, time: string, bid: unknown, ask: unknown) =>
  JSON.stringify({ messageType: "A", service: "fx", data: ["Q", ticker, time, 1e6, bid, 1, 1e6, ask] });
const twelveDataQuote = (symbol: string, timestamp: number, more: object) =>
  JSON.stringify({
    event: "price",
    symbol,
    currency_base: "a",
    currency_quote: "b",
    type: "Physical Currency",
    timestamp,
    price: 1,
    ...more,
  });
const traderMadeQuote = (symbol: string, ts: string, bid: unknown, ask: unknown) =>
  JSON.stringify({ symbol, ts, bid, ask, mid: 1 });

const SPEECHES: readonly Speech[] = [
  {
    vendor: massive,
    first: '[{"ev":"status","status":"connected","message":"Connected Successfully"}]',
    answers: [
      ['"auth"', '[{"ev":"status","status":"auth_success","message":"authenticated"}]', false],
      ['"subscribe"', '[{"ev":"status","status":"success","message":"subscribed to: C.EUR/USD"}]', true],
    ],
    price: ({ ticker, timeMs, bid, ask }) => massiveQuote(slashed(ticker), timeMs, bid, ask),
    heartbeat: '[{"ev":"status","status":"success","message":"subscribed to: C.EUR/USD"}]',
    unused: {
      "another symbol": massiveQuote("EUR/CHF", 1, 1.1, 1.2),
      "minus zero": massiveQuote("EUR/USD", 1, 1.5, 1.2).replace("1.5", "-0"),
      "one side": massiveQuote("EUR/USD", 1, undefined, 1.2),
      "an impossible price": massiveQuote("EUR/USD", 1, 1.1, 1.2).replace("1.1", "1e400"),
      "a text for a number": massiveQuote("EUR/USD", 1, "1.1", 1.2),
      "an aggregate": '{"ev":"CA","pair":"EUR/USD","o":1,"c":1,"h":1,"l":1,"v":20,"s":1539145740000}',
    },
  },
  {
    vendor: tiingo,
    answers: [
      ['"subscribe"', '{"messageType":"I","response":{"code":200,"message":"Success"},"data":{"subscriptionId":1}}', true],
    ],
    price: ({ ticker, timeMs, bid, ask }) =>
      tiingoQuote(ticker.toLowerCase(), new Date(timeMs).toISOString().replace("Z", "000+00:00"), bid, ask),
    heartbeat: '{"messageType":"H","response":{"code":200,"message":"HeartBeat"}}',
    unused: {
      "another symbol": tiingoQuote("eurchf", "2026-01-07T12:00:00+00:00", 1.1, 1.2),
      "one side": tiingoQuote("eurusd", "2026-01-07T12:00:00+00:00", null, 1.2),
      "no time": tiingoQuote("eurusd", "soon", 1.1, 1.2),
      "a price of zero": tiingoQuote("eurusd", "2026-01-07T12:00:00+00:00", -0, 1.2),
      "a text for a number": tiingoQuote("eurusd", "2026-01-07T12:00:00+00:00", "1.1", 1.2),
      "an impossible price": tiingoQuote("eurusd", "2026-01-07T12:00:00+00:00", 1.5, 1.2).replace("1.5", "1e400"),
      "another service": '{"messageType":"A","service":"iex","data":["T","a"]}',
    },
  },
  {
    vendor: twelveData,
    answers: [
      [
        '"subscribe"',
        '{"event":"subscribe-status","status":"ok","success":[{"symbol":"EUR/USD"}],"fails":[{"symbol":"XPT/USD"}]}',
        true,
      ],
    ],
    // Its times are whole seconds.
    price: ({ ticker, timeMs, bid, ask }) => twelveDataQuote(slashed(ticker), timeMs / 1_000, { bid, ask }),
    heartbeat: '{"event":"heartbeat","status":"ok"}',
    unused: {
      "no bid and ask": twelveDataQuote("EUR/USD", 1, {}),
      "texts for numbers": twelveDataQuote("EUR/USD", 1, { bid: "1.1", ask: "1.2" }),
      "an impossible price": twelveDataQuote("EUR/USD", 1, { bid: 1.5, ask: 1.2 }).replace("1.5", "1e400"),
      "minus zero": twelveDataQuote("EUR/USD", 1, { bid: 1.5, ask: 1.2 }).replace("1.5", "-0"),
      "another symbol": twelveDataQuote("EUR/CHF", 1, { bid: 1, ask: 1 }),
      "another event": '{"event":"reset-status","status":"ok"}',
    },
  },
  {
    vendor: traderMade,
    answers: [['"userKey"', "Connected", true]],
    price: ({ ticker, timeMs, bid, ask }) => traderMadeQuote(ticker, String(timeMs), bid, ask),
    heartbeat: "Connected",
    unused: {
      "another symbol": traderMadeQuote("EURCHF", "1", 1.1, 1.2),
      "no time": traderMadeQuote("EURUSD", "soon", 1.1, 1.2),
      "one side": traderMadeQuote("EURUSD", "1", null, 1.2),
      "a text for a number": traderMadeQuote("EURUSD", "1", "1.1", 1.2),
      "an impossible price": traderMadeQuote("EURUSD", "1", 1.5, 1.2).replace("1.5", "1e400"),
      "minus zero": traderMadeQuote("EURUSD", "1", 1.5, 1.2).replace("1.5", "-0"),
    },
  },
];

for (const { vendor, first, answers, price, heartbeat, unused } of SPEECHES)
  describeUpstream(vendor.name, {
    farSide: () =>
      socketFarSide((send, received, ready) => {
        received((message) => {
          const [, answer, isReady] = answers.find(([word]) => message.includes(word)) ?? [];
          if (answer !== undefined) send(answer);
          if (isReady) ready();
        });
        if (first !== undefined) send(first);
      }),
    upstream: ({ url }) => socketUpstream(vendor, { key: SECRET, url }),
    price,
    heartbeat,
    unused,
    secret: SECRET,
  });

describe("vendors", () => {
  test.each([
    [massive, '[{"ev":"status","status":"auth_failed","message":"authentication failed"}]', "MASSIVE_KEY"],
    [tiingo, '{"messageType":"E","response":{"code":401,"message":"no"}}', "TIINGO_TOKEN"],
    [twelveData, '{"event":"subscribe-status","status":"error","success":[],"fails":[{"symbol":"EUR/USD"}]}', "TWELVEDATA_KEY"],
    [traderMade, "User Key not valid", "TRADERMADE_KEY"],
  ] as const)("%o says which setting to check when the key is wrong", ({ read }, text, setting) => {
    const json: unknown = text.startsWith("U") ? undefined : JSON.parse(text);
    expect(read(text, json)).toContainEqual({ refused: expect.stringContaining(setting) });
  });

  test("Massive is asked for the other spelling after a connection without a price, and for the same one after one with prices", async () => {
    const asked: string[] = [];
    const far = await socketFarSide((send, received, ready) => {
      received((message) => {
        const { action, params } = JSON.parse(message) as { action: string; params: string };
        if (action === "auth") send('[{"ev":"status","status":"auth_success","message":"authenticated"}]');
        if (action !== "subscribe") return;
        asked.push(params);
        send('[{"ev":"status","status":"success","message":"subscribed"}]');
        ready();
      });
      send('[{"ev":"status","status":"connected","message":"Connected Successfully"}]');
    });
    far.script((peer) => peer.end());
    const running = start(socketUpstream(massive, { key: SECRET, url: far.url }));
    await until(() => running.problems.length === 1);
    far.script((peer) => {
      peer.send(massiveQuote("EUR/USD", NOW_MS, 1.1, 1.2));
      peer.end();
    });
    await running.clock.advance(2_000);
    await until(() => running.ticks.length === 1 && running.problems.length === 3);
    far.script((peer) => peer.send(massiveQuote("EUR/USD", NOW_MS + 1, 1.1, 1.2)));
    await running.clock.advance(5_000);
    await until(() => running.ticks.length === 2);
    expect(asked).toEqual(["C.EUR-USD,C.XAU-USD", "C.EUR/USD,C.XAU/USD", "C.EUR/USD,C.XAU/USD"]);
    running.stop.abort();
    await running.ended;
    await far.close();
  });

  test("pairs are the same however Massive writes them", () => {
    for (const pair of ["EUR/USD", "EUR-USD", "EURUSD"])
      expect(massive.read("", [{ ev: "C", p: pair, a: 1.2, b: 1.1, t: 5 }])).toEqual([
        { received: [{ symbol: "EUR/USD", timeMs: 5, bid: 1.1, ask: 1.2 }] },
      ]);
  });

  test.skipIf(!hasSharedData)(`recorded messages are understood${SHARED_DATA_NOTICE}`, () => {
    const count = { massive: 2, tiingo: 2, twelvedata: 1 };
    for (const vendor of [massive, tiingo, twelveData]) {
      const lines = sharedText(`upstreams/${vendor.name}/messages.jsonl`).split("\n").filter(Boolean);
      const said = lines.flatMap((line) => vendor.read(line, JSON.parse(line)));
      expect(said.filter((one) => one !== "alive" && "received" in one)).toHaveLength(count[vendor.name as keyof typeof count]);
    }
  });
});
