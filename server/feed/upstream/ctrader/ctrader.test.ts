import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSealer } from "#lib/access/sealer";
import { type Clock, manualClock } from "#lib/clock";
import { hasSharedData, SHARED_DATA_NOTICE, sharedText } from "#lib/testing/shared-data";
import { DAY_MS } from "#lib/units";
import { createKeptSecrets } from "#server/feed/upstream/kept-secrets";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { type FarSide, socketFarSide } from "#server/testing/far-side";
import { LAST, NOW_MS, start, tickOf, until } from "#server/testing/upstream-scene";
import { describeUpstream } from "#server/testing/upstream-suite";
import { ctraderUpstream } from ".";
import { readMessage } from "./wire";

const SECRET = "a1b2c3d4e5f6-marked";
const ACCOUNT = 712_345;
const SYMBOLS = [
  { symbolId: 14, symbolName: "EURUSD", enabled: true },
  { symbolId: 41, symbolName: "XAUUSD.r", enabled: true },
  { symbolId: 50, symbolName: "XAUUSD", enabled: false },
];
const IDS = { EURUSD: 14, XAUUSD: 41 };

type Question = { payloadType: number; payload: Record<string, unknown> };
type Answers = Readonly<Record<number, (payload: Record<string, unknown>) => [number, object] | undefined>>;

const message = (payloadType: number, payload: object) => JSON.stringify({ payloadType, payload });
const error = (errorCode: string, more: object = {}): [number, object] => [2142, { errorCode, ...more }];
const spot = (symbolId: number, more: object) => message(2131, { ctidTraderAccountId: ACCOUNT, symbolId, ...more });
const parts = (price: number | null) => (price === null ? undefined : Math.round(price * 100_000));

/** The Open API; `more` answers some questions otherwise. */
const farSide = (more: Answers = {}, received: Question[] = []) =>
  socketFarSide((send, hear, ready) => {
    const usual: Answers = {
      2100: () => [2101, {}],
      2102: () => [2103, { ctidTraderAccountId: ACCOUNT }],
      2114: () => [2115, { ctidTraderAccountId: ACCOUNT, symbol: SYMBOLS }],
      2127: () => [2128, { ctidTraderAccountId: ACCOUNT }],
    };
    hear((text) => {
      const question = JSON.parse(text) as Question;
      received.push(question);
      const { payloadType, payload } = question;
      const [type, answer] = (more[payloadType] ?? usual[payloadType])?.(payload) ?? [];
      if (type === undefined || answer === undefined) return;
      send(JSON.stringify({ clientMsgId: "x", payloadType: type, payload: answer }));
      if (type === 2128) ready();
    });
  }, "ready");

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

const upstream = ({ url }: FarSide, more: Partial<Parameters<typeof ctraderUpstream>[0]> = {}) =>
  ctraderUpstream({
    clientId: "34Rsd",
    clientSecret: "client-secret",
    accessToken: SECRET,
    refreshToken: undefined,
    account: ACCOUNT,
    environment: "demo",
    times: "source",
    url,
    kept: createKeptSecrets(db.pool, createSealer("the installation's secret", "provider secrets")),
    ...more,
  });

const priced = (symbolId: number, more: object = {}) =>
  spot(symbolId, { bid: 110_000, ask: 110_010, timestamp: NOW_MS, ...more });
describeUpstream("cTrader", {
  farSide: () => farSide(),
  upstream: (far) => upstream(far),
  price: ({ ticker, timeMs, bid, ask }) =>
    spot(IDS[ticker], { bid: parts(bid), ask: parts(ask), timestamp: timeMs, sessionClose: 109_000 }),
  heartbeat: message(51, {}),
  secret: SECRET,
  unused: {
    "another symbol": priced(99),
    "a price of zero": spot(14, { bid: 0, timestamp: NOW_MS }),
    "minus zero": spot(14, { ask: -0, timestamp: NOW_MS }).replace('"ask":0', '"ask":-0'),
    "an impossible price": priced(14).replace("110000", "1e400"),
    "a fraction": priced(14, { bid: 1.1 }),
    "a text for a number": priced(14, { bid: "1.1" }),
    "no side": spot(14, { timestamp: NOW_MS }),
    "no symbol": spot(14, { bid: 1, ask: 2 }).replace('"symbolId":14,', ""),
    "another type": message(2155, { symbolId: 14 }),
  },
});

describe("prices of cTrader", () => {
  test("the side that did not change is kept", async () => {
    const far = await farSide();
    far.script((peer) => {
      peer.send(spot(14, { bid: 109_995, ask: 110_015, timestamp: NOW_MS }));
      peer.send(spot(14, { ask: 110_016, timestamp: NOW_MS + 1 }));
      peer.send(spot(14, { bid: 109_996, timestamp: NOW_MS + 2 }));
    });
    const { ticks, stop, ended } = start(upstream(far));
    await until(() => ticks.length === 3);
    expect(ticks.map(({ bid, ask }) => [bid, ask])).toEqual([
      [1.09995, 1.10015],
      [1.09995, 1.10016],
      [1.09996, 1.10016],
    ]);
    stop.abort();
    await ended;
    await far.close();
  });

  test.each([
    ["no time", {}],
    ["seconds", { timestamp: Math.floor(NOW_MS / 1_000) }],
    ["another month", { timestamp: NOW_MS - 40 * DAY_MS }],
  ])("a price with %s is no tick, which the log says, unless the operator chose the time of arrival", async (_, time) => {
    const far = await farSide();
    far.script((peer) => {
      peer.send(spot(14, { bid: 109_995, ask: 110_015, ...time }));
      peer.send(spot(41, { bid: 400_000_000, ask: 400_010_000, timestamp: NOW_MS }));
    });
    const strict = start(upstream(far));
    await until(() => strict.ticks.length === 1);
    expect(strict.ticks).toMatchObject([{ ticker: "XAUUSD", bid: 4_000, ask: 4_000.1 }]);
    expect(strict.lines).toContainEqual(expect.objectContaining({ reason: "no_time" }));
    strict.stop.abort();
    const stamped = start(upstream(far, { times: "arrival" }));
    await until(() => stamped.ticks.length === 2);
    expect(stamped.ticks[0]).toMatchObject({ ticker: "EURUSD", time_msc: NOW_MS });
    expect(stamped.lines.map(({ msg }) => msg)).toContain("feed sends no times; its ticks get the time at which they arrive");
    stamped.stop.abort();
    await Promise.all([strict.ended, stamped.ended]);
    await far.close();
  });

  test("times and timestamps are asked for, of all symbols at once; one that is refused does not stop the others", async () => {
    const received: Question[] = [];
    const refuses = (payload: Record<string, unknown>) => (payload.symbolId as number[]).includes(14);
    const far = await farSide({ 2127: (payload) => (refuses(payload) ? error("SYMBOL_NOT_FOUND") : [2128, {}]) }, received);
    far.script((peer) => peer.send(priced(41)));
    const running = start(upstream(far));
    await until(() => received.some(({ payloadType }) => payloadType === 2127));
    for (let step = 0; running.ticks.length === 0 && step < 200; step += 1) {
      await running.clock.advance(25);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => running.ticks.length === 1);
    const asked = received.filter(({ payloadType }) => payloadType === 2127).map(({ payload }) => payload);
    expect(asked.map(({ symbolId }) => symbolId)).toEqual([[14, 41], [14], [41]]);
    expect(asked[0]).toMatchObject({ subscribeToSpotTimestamp: true, ctidTraderAccountId: ACCOUNT });
    expect(running.lines).toContainEqual(expect.objectContaining({ reason: "refused_symbol", text: "EURUSD: SYMBOL_NOT_FOUND" }));
    running.stop.abort();
    await running.ended;
    await far.close();
  });

  test("a heartbeat is sent at least every ten seconds", async () => {
    const received: Question[] = [];
    const far = await farSide({}, received);
    far.script((peer) => peer.send(priced(14)));
    const { clock, ticks, stop, ended } = start(upstream(far));
    await until(() => ticks.length === 1);
    const beats = () => received.filter(({ payloadType }) => payloadType === 51).length;
    await clock.advance(10_000);
    await until(() => beats() > 0);
    stop.abort();
    await ended;
    await far.close();
  });
});

describe("errors of cTrader", () => {
  test.each([
    [2100, "CH_CLIENT_AUTH_FAILURE", "CTRADER_CLIENT_SECRET"],
    [2102, "CH_ACCESS_TOKEN_INVALID", "CTRADER_ACCESS_TOKEN"],
    [2102, "CH_CTID_TRADER_ACCOUNT_NOT_FOUND", "CTRADER_ACCOUNT"],
    [2102, "CANT_ROUTE_REQUEST", "CTRADER_ENVIRONMENT"],
  ])("a refusal says which setting to check (%i, %s)", async (type, code, setting) => {
    const far = await farSide({ [type]: () => error(code, { description: `not good: ${SECRET}` }) });
    const { problems, lines, stop, ended } = start(upstream(far));
    await until(() => problems.length === 1);
    expect(problems[0]).toMatch(new RegExp(`refuses the connection: ${code}.*Check .*${setting}`));
    expect(JSON.stringify([problems, lines])).not.toContain(SECRET);
    stop.abort();
    await ended;
    await far.close();
  });

  test.each([
    [error("REQUEST_FREQUENCY_EXCEEDED"), 1_000],
    [error("BLOCKED_PAYLOAD_TYPE", { retryAfter: 40 }), 40_000],
    [error("SERVER_IS_UNDER_MAINTENANCE", { maintenanceEndTimestamp: NOW_MS / 1_000 + 600 }), 600_000],
    [[50, { errorCode: "SERVER_IS_UNDER_MAINTENANCE", maintenanceEndTimestamp: NOW_MS + 600_000 }], 600_000],
  ] as const)("%j is waited for", ([payloadType, payload], waitMs) => {
    const said = readMessage(message(payloadType, payload), NOW_MS);
    expect(said).toMatchObject({ failure: { problem: { name: "Upset", retryAfterMs: waitMs } } });
  });

  test("a question that came too soon is asked again on the same connection", async () => {
    let count = 0;
    const far = await farSide({
      2127: () => {
        count += 1;
        return count === 1 ? error("REQUEST_FREQUENCY_EXCEEDED") : [2128, {}];
      },
    });
    far.script((peer) => peer.send(priced(14)));
    const { clock, ticks, problems, stop, ended } = start(upstream(far));
    await until(() => count === 1);
    for (let step = 0; ticks.length === 0 && step < 50; step += 1) {
      await clock.advance(100);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await until(() => ticks.length === 1);
    expect(problems).toEqual([null]);
    stop.abort();
    await ended;
    await far.close();
  });

  test.each([
    [2147, { ctidTraderAccountIds: [ACCOUNT], reason: "Access Token is expired or recalled" }],
    [2148, { reason: "The application access was blocked" }],
    [2164, { ctidTraderAccountId: ACCOUNT }],
  ])("message %i ends the session, and it is opened again", async (type, payload) => {
    const far = await farSide();
    far.script((peer) => {
      peer.send(message(type, payload));
      far.script((next) => next.send(spot(14, { bid: 120_000, ask: 120_010, timestamp: LAST.timeMs })));
    });
    const { clock, ticks, problems, stop, ended } = start(upstream(far));
    await until(() => problems.length === 1);
    await clock.advance(2_000);
    await until(() => ticks.length === 1);
    expect(ticks).toEqual([tickOf(LAST)]);
    stop.abort();
    await ended;
    await far.close();
  });
});

describe("history of cTrader", () => {
  const DAY_S = DAY_MS / 1_000;
  const TO_S = NOW_MS / 1_000;

  /** A broker that has these minutes (Unix seconds), and answers the newest ones of a request. */
  async function minutesOf(times: readonly number[], chunkRows: number, from: number, to: number) {
    const asked: { fromTimestamp: number; toTimestamp: number }[] = [];
    const far = await farSide({
      2137: (payload) => {
        const { fromTimestamp, toTimestamp } = payload as { fromTimestamp: number; toTimestamp: number };
        asked.push({ fromTimestamp, toTimestamp });
        const all = times.filter((time) => time * 1_000 >= fromTimestamp && time * 1_000 <= toTimestamp);
        const trendbar = all.slice(-chunkRows).map((time) => {
          const bar = { volume: 9, low: 109_950, deltaOpen: 50, deltaClose: 125, deltaHigh: 225 };
          return { ...bar, utcTimestampInMinutes: time / 60 };
        });
        return [2138, { ctidTraderAccountId: ACCOUNT, period: 1, trendbar, hasMore: all.length > chunkRows }];
      },
    });
    const clock = manualClock(NOW_MS);
    const link = { signal: new AbortController().signal, clock: eager(clock) };
    const found = [];
    for await (const page of upstream(far).minutes?.("EURUSD", from, to, link) ?? []) found.push(...page);
    await far.close();
    return { found, asked };
  }
  /** A clock whose short waits are over at once. */
  const eager = (clock: Clock): Clock => ({
    now: clock.now,
    wait: (ms, signal) => (ms < 1_000 ? Promise.resolve() : clock.wait(ms, signal)),
  });

  test("bars are minutes of bid prices without a spread", async () => {
    const { found, asked } = await minutesOf([TO_S - 120], 10, TO_S - 600, TO_S);
    expect(found).toEqual([{ time: TO_S - 120, open: 1.1, high: 1.10175, low: 1.0995, close: 1.10075, volume: 9, spread: null }]);
    expect(asked).toEqual([{ fromTimestamp: NOW_MS - 600_000, toTimestamp: NOW_MS - 1 }]);
  });

  test("ten days come in windows of three and a half, each from its newest part backwards, every minute once and ascending", async () => {
    const from = TO_S - 10 * DAY_S;
    const times = Array.from({ length: (10 * DAY_S) / 60 }, (_, at) => from + at * 60).filter((_, at) => at % 3 !== 0);
    const { found, asked } = await minutesOf(times, 1_000, from, TO_S);
    expect(found.map(({ time }) => time)).toEqual(times);
    for (const { fromTimestamp, toTimestamp } of asked) expect(toTimestamp - fromTimestamp).toBeLessThan(302_400_000);
    expect(asked).toHaveLength(11);
  });

  test("the running minute is left out", async () => {
    const { found } = await minutesOf([TO_S - 60, TO_S], 10, TO_S - 600, TO_S + 60);
    expect(found.map(({ time }) => time)).toEqual([TO_S - 60]);
  });
});

describe("tokens of cTrader", () => {
  const stored = async () => (await db.pool.query<{ sealed: Uint8Array }>("SELECT sealed FROM provider_secret")).rows;
  const tokenFarSide = (received: Question[], accepts: () => string) =>
    farSide(
      {
        2102: ({ accessToken }) => (accessToken === accepts() ? [2103, {}] : error("CH_ACCESS_TOKEN_INVALID")),
        2173: ({ refreshToken }) =>
          refreshToken === "refresh-0"
            ? [2174, { accessToken: "access-1", refreshToken: "refresh-1", expiresIn: 2_628_000, tokenType: "bearer" }]
            : error("ACCESS_DENIED"),
      },
      received,
    );

  test("an expired token is renewed once; the new one is stored, encrypted, before it is used, and used after a restart", async () => {
    const received: Question[] = [];
    const order: number[] = [];
    const far = await tokenFarSide(received, () => "access-1");
    far.script((peer) => peer.send(priced(14)));
    const kept = createKeptSecrets(db.pool, createSealer("the installation's secret", "provider secrets"));
    const watched = {
      ...kept,
      async change(name: string, make: Parameters<typeof kept.change>[1]) {
        const next = await kept.change(name, make);
        order.push(received.filter(({ payload }) => payload.accessToken === "access-1").length);
        return next;
      },
    };
    const settings = { accessToken: "access-0", refreshToken: "refresh-0" };
    const one = upstream(far, { ...settings, kept: watched });
    expect(one.expiresAt?.()).toBeNull();
    const run = start(one);
    await until(() => run.ticks.length === 1);
    expect(order).toEqual([0]);
    expect(received.filter(({ payloadType }) => payloadType === 2173)).toHaveLength(1);
    expect(one.expiresAt?.()).toBe(NOW_MS + 2_628_000_000);
    expect(one.secrets).toEqual(["client-secret", "access-1", "refresh-1"]);
    const rows = await stored();
    expect(rows).toHaveLength(1);
    expect(Buffer.from(rows[0]?.sealed ?? []).toString("latin1")).not.toContain("refresh-1");
    run.stop.abort();
    await run.ended;

    const again = start(upstream(far, settings));
    await until(() => again.ticks.length === 1);
    expect(received.filter(({ payloadType }) => payloadType === 2173)).toHaveLength(1);
    expect(received.filter(({ payload }) => payload.accessToken === "access-0")).toHaveLength(1);
    again.stop.abort();
    await again.ended;
    await far.close();
  });

  test("tokens of changed settings replace those that are stored", async () => {
    const received: Question[] = [];
    const far = await tokenFarSide(received, () => "access-7");
    far.script((peer) => peer.send(priced(14)));
    const run = start(upstream(far, { accessToken: "access-7", refreshToken: "refresh-7" }));
    await until(() => run.ticks.length === 1);
    expect(received.some(({ payload }) => payload.accessToken === "access-1")).toBe(false);
    run.stop.abort();
    await run.ended;
    await far.close();
  });

  test("two processes renew one token once, and both use the new one", async () => {
    await db.pool.query("DELETE FROM provider_secret");
    const received: Question[] = [];
    const far = await tokenFarSide(received, () => "access-1");
    far.script((peer) => peer.send(priced(14)));
    const runs = [0, 1].map(() => start(upstream(far, { accessToken: "access-0", refreshToken: "refresh-0" })));
    await until(() => runs.every(({ ticks }) => ticks.length === 1));
    expect(received.filter(({ payloadType }) => payloadType === 2173)).toHaveLength(1);
    for (const { stop, ended } of runs) {
      stop.abort();
      await ended;
    }
    await far.close();
  });

  test("a token that is still valid needs no database", async () => {
    const far = await tokenFarSide([], () => "access-0");
    far.script((peer) => peer.send(priced(14)));
    const away = () => Promise.reject(new Error("the database is away"));
    const run = start(upstream(far, { accessToken: "access-0", refreshToken: "refresh-0", kept: { read: away, change: away } }));
    await until(() => run.ticks.length === 1);
    expect(run.problems.filter((problem) => problem !== null)).toEqual([]);
    run.stop.abort();
    await run.ended;
    await far.close();
  });

  test("a token that could not be stored is stored before the next use", async () => {
    await db.pool.query("DELETE FROM provider_secret");
    const received: Question[] = [];
    const far = await tokenFarSide(received, () => "access-1");
    far.script((peer) => peer.send(priced(14)));
    const kept = createKeptSecrets(db.pool, createSealer("the installation's secret", "provider secrets"));
    let failures = 1;
    const flaky: typeof kept = {
      ...kept,
      change: (name, make) =>
        kept.change(name, async (before) => {
          const next = await make(before);
          failures -= 1;
          if (failures === 0) throw new Error("the database is away");
          return next;
        }),
    };
    const run = start(upstream(far, { accessToken: "access-0", refreshToken: "refresh-0", kept: flaky }));
    await until(() => run.problems.length === 1);
    expect(received.some(({ payload }) => payload.accessToken === "access-1")).toBe(false);
    await run.clock.advance(2_000);
    await until(() => run.ticks.length === 1);
    expect(received.filter(({ payloadType }) => payloadType === 2173)).toHaveLength(1);
    expect(await stored()).toHaveLength(1);
    run.stop.abort();
    await run.ended;
    await far.close();
  });
});

test.skipIf(!hasSharedData)(`the messages of the documentation are understood${SHARED_DATA_NOTICE}`, () => {
  const lines = sharedText("upstreams/ctrader/json-messages.jsonl").trim().split("\n");
  expect(lines.map((line) => readMessage(line, 1_710_000_200_500))).toEqual([
    { answer: 2100, payload: expect.anything() },
    { answer: 2128, payload: { ctidTraderAccountId: ACCOUNT } },
    { received: { symbol: "14", timeMs: 1_710_000_200_000, bid: 1.09995, ask: 1.10015 } },
    "heartbeat",
  ]);
});
