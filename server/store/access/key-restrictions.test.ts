import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KEY_LIFETIME_DEFAULT_S, KEY_TICKERS_MAX_COUNT, PLAN_DEFAULTS, PLAN_LIMIT_MAX } from "#lib/contract/limits";
import { DAY_MS, SECOND_MS } from "#lib/units";
import { openPortalSession } from "#server/testing/portal-session";
import { failed, TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { putAccount } from "./accounts";
import { editKey, rotateKey } from "./keys";

let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime();
  for (const ticker of ["EURUSD", "XAUUSD"]) t.markets.live.quote(ticker, 1.08543, 1.08551, TEST_START_MS);
});
afterAll(() => t.close());

const INSTRUMENTS = "/api/v1/market/instruments";
const quotes = (key: string, tickers: string) => t.ask(`/api/v1/market/quotes/latest?tickers=${tickers}`, { key });
const refused = (parameter: string, data: object = {}) =>
  expect.objectContaining({ id: "invalid_parameter", data: expect.objectContaining({ parameter, ...data }) });

describe("tickers of a key", () => {
  test("are the only ones it can request; others do not exist for it", async () => {
    const { text } = await t.issueKey({ tickers: ["EURUSD", "XAUUSD"], plan: "free" });
    expect((await quotes(text, "XAUUSD,EURUSD")).body.data.items).toHaveLength(2);
    const answer = await quotes(text, "EURUSD,GBPUSD,AAABBB");
    expect(answer.status).toBe(404);
    expect(answer).toMatchObject(failed("unknown_ticker", { parameter: "tickers", tickers: ["GBPUSD", "AAABBB"] }));
    const klines = await t.ask("/api/v1/market/klines?ticker=gbpusd&timeframe=M1", { key: text });
    expect(klines).toMatchObject(failed("unknown_ticker", { parameter: "ticker" }));
  });

  test("are the instruments it is shown, as far as its account may read them", async () => {
    const permissions = { kind: "tickers" as const, values: ["EURUSD", "USDJPY"] };
    const { text } = await t.issueKey({ tickers: ["GBPUSD", "EURUSD"], permissions });
    const { items } = (await t.ask(INSTRUMENTS, { key: text })).body.data;
    expect(items.map(({ ticker }: { ticker: string }) => ticker)).toEqual(["EURUSD"]);
    expect(await quotes(text, "GBPUSD")).toMatchObject(failed("unknown_ticker"));
  });

  test("are stored in one form, as many as a key may have, and its successor has them", async () => {
    const { record } = await t.issueKey({ tickers: [" eurusd", "EURUSD", "XAUUSD"] });
    expect(record.tickers).toEqual(["EURUSD", "XAUUSD"]);
    expect((await rotateKey(t.keyContext, record.id, "now")).record.tickers).toEqual(record.tickers);
    const tooMany = Array.from({ length: KEY_TICKERS_MAX_COUNT + 1 }, (_, index) => `AAA${index}`);
    await expect(t.issueKey({ tickers: tooMany })).rejects.toEqual(refused("tickers"));
  });

  test("bind the tokens of the playground too", async () => {
    const { record } = await t.issueKey({ tickers: ["EURUSD"] });
    const { accountId } = await t.db.prisma.apiKey.findUniqueOrThrow({ where: { id: record.id } });
    const session = await openPortalSession(t.db, accountId, t.clock.now());
    const { token } = t.access.mintPortalToken({ key: record.id, session, origin: "http://spotwire.test" });
    expect((await quotes(token, "EURUSD")).status).toBe(200);
    expect(await quotes(token, "XAUUSD")).toMatchObject(failed("unknown_ticker"));
  });

  test("must be instruments of the key's venue", async () => {
    const unknown = refused("tickers", { tickers: ["EURUSX", "TESTSTALE"] });
    await expect(t.issueKey({ tickers: ["EURUSX", "EURUSD", "TESTSTALE"] })).rejects.toEqual(unknown);
    const { record } = await t.issueKey({ venue: "sandbox", tickers: ["TESTSTALE"] });
    await expect(editKey(t.keyContext, record.id, { tickers: ["EURUSX"] })).rejects.toEqual(refused("tickers"));
  });

  test("count as soon as they are changed, and no longer when they are removed", async () => {
    const { text, record } = await t.issueKey();
    const outcomes = async () => [(await quotes(text, "EURUSD")).status, (await quotes(text, "XAUUSD")).status];
    expect(await outcomes()).toEqual([200, 200]);
    await editKey(t.keyContext, record.id, { tickers: ["XAUUSD"] });
    await t.settle();
    expect(await outcomes()).toEqual([404, 200]);
    await editKey(t.keyContext, record.id, { tickers: [] });
    await t.settle();
    expect(await outcomes()).toEqual([200, 200]);
  });
});

describe("limits of a key", () => {
  const call = (key: string) => t.ask(INSTRUMENTS, { key });

  test("refuse its calls before those of its account, which loses nothing", async () => {
    const { text } = await t.issueKey({ account: "two keys", plan: "free", restPerMinute: 5 });
    const { text: other } = await t.issueKey({ account: "two keys", plan: "free" });
    for (const left of [4, 3, 2, 1, 0]) expect((await call(text)).headers.get("ratelimit")).toBe(`"key";r=${left};t=60`);
    const answer = await call(text);
    expect(answer).toMatchObject(failed("rate_limited", { retry_after: 60 }));
    expect(answer.body.data.detail).toBe("The limit of this key is reached: 5 units per minute, 0 left. Try again in 60 s.");
    expect(answer.headers.get("ratelimit-policy")).toBe('"key";q=5;w=60');
    expect((await call(other)).headers.get("ratelimit")).toBe('"plan";r=114;t=60');
    await t.clock.advance(60_000);
    expect((await call(text)).status).toBe(200);
  });

  test("lose nothing when the account refuses", async () => {
    const { restBurst } = PLAN_DEFAULTS.free;
    const { text } = await t.issueKey({ account: "busy", plan: "free", restPerMinute: 50 });
    const { text: other } = await t.issueKey({ account: "busy", plan: "free" });
    for (let count = 0; count < restBurst; count += 1) await call(other);
    for (let count = 0; count < 60; count += 1) expect(await call(text)).toMatchObject(failed("rate_limited"));
    await t.clock.advance(60_000);
    expect((await call(text)).headers.get("ratelimit")).toBe('"key";r=49;t=60');
  });

  test("bound bursts, and calls that cost nothing, by their own size", async () => {
    const { text } = await t.issueKey({ plan: "free", restBurst: 2 });
    const outcomes = async (path: string) => {
      const answers = [];
      for (let count = 0; count < 3; count += 1) answers.push((await t.ask(path, { key: text })).status);
      return answers;
    };
    expect(await outcomes(INSTRUMENTS)).toEqual([200, 200, 429]);
    expect(await outcomes("/api/v1/key")).toEqual([200, 200, 429]);
    await t.clock.advance(500);
    expect((await call(text)).status).toBe(200);
  });

  test("must not be above those of the plan; when the plan shrinks, the plan's limit applies", async () => {
    for (const [limit, parameter] of [
      ["restPerMinute", "rest_per_minute"],
      ["restBurst", "rest_burst"],
      ["streamConnections", "stream_connections"],
      ["subscriptionsPerConnection", "subscriptions_per_connection"],
    ] as const) {
      const max = PLAN_DEFAULTS.free[limit];
      await expect(t.issueKey({ plan: "free", [limit]: max + 1 })).rejects.toEqual(refused(parameter, { max }));
      for (const wrong of [0, 1.5, PLAN_LIMIT_MAX + 1])
        await expect(t.issueKey({ [limit]: wrong })).rejects.toEqual(refused(parameter));
    }
    const { text, record } = await t.issueKey({ account: "shrinking", plan: "standard", restPerMinute: 300 });
    expect((await call(text)).headers.get("x-ratelimit-limit")).toBe("300");
    await putAccount(t.keyContext, "shrinking", { plan: "free" });
    await t.settle();
    expect((await call(text)).headers.get("x-ratelimit-limit")).toBe("120");
    await editKey(t.keyContext, record.id, { name: "another name" });
  });

  test("stay through a rotation, and end when they are removed", async () => {
    const { record } = await t.issueKey({ plan: "free", restPerMinute: 7, subscriptionsPerConnection: 3 });
    const rotated = await rotateKey(t.keyContext, record.id, "now");
    expect(rotated.record).toMatchObject({ restPerMinute: 7, restBurst: null, subscriptionsPerConnection: 3 });
    await editKey(t.keyContext, rotated.record.id, { restPerMinute: null });
    await t.settle();
    expect((await call(rotated.text)).headers.get("ratelimit-policy")).toBe('"plan";q=120;w=60');
  });
});

describe("a key with a time from which it is valid", () => {
  const inDays = (days: number) => new Date(t.clock.now() + days * DAY_MS);

  test("is refused before, with that time, and accepted from the instant on, without another look-up", async () => {
    const notBefore = new Date(t.clock.now() + 10 * SECOND_MS);
    const { text, record } = await t.issueKey({ notBefore });
    expect(record).toMatchObject({ state: "scheduled", notBefore });
    const at = notBefore.toISOString();
    const answer = await t.ask(INSTRUMENTS, { key: text });
    expect(answer.status).toBe(401);
    expect(answer).toMatchObject(failed("key_not_yet_valid", { not_before: at, detail: `This key is valid from ${at}.` }));
    await t.clock.advance(9_999);
    expect((await t.ask(INSTRUMENTS, { key: text })).status).toBe(401);
    await t.clock.advance(1);
    expect(t.access.verify(text, "203.0.113.7")).not.toBeInstanceOf(Promise);
    expect((await t.ask(INSTRUMENTS, { key: text })).status).toBe(200);
  });

  test("is refused again when the time is moved, also with a ticket, and keeps it through a rotation", async () => {
    const { text, record } = await t.issueKey({ scopes: ["market:read", "market:stream"] });
    const { ticket } = t.access.mintTicket(await t.access.verify(text, "203.0.113.7"), null);
    await editKey(t.keyContext, record.id, { notBefore: inDays(1) });
    await t.settle();
    expect(await t.ask(INSTRUMENTS, { key: text })).toMatchObject(failed("key_not_yet_valid"));
    await expect(t.access.redeemTicket(ticket, null, "203.0.113.7")).rejects.toMatchObject({ id: "key_not_yet_valid" });
    const rotated = await rotateKey(t.keyContext, record.id, "1h");
    expect(rotated.record).toMatchObject({ notBefore: inDays(1), state: "scheduled" });
    await editKey(t.keyContext, rotated.record.id, { notBefore: null });
    await t.settle();
    expect((await t.ask(INSTRUMENTS, { key: rotated.text })).status).toBe(200);
  });

  test("does not count as a failed authentication", async () => {
    const { text } = await t.issueKey({ notBefore: inDays(1) });
    const address = "192.0.2.77";
    for (let count = 0; count < 40; count += 1)
      expect(await t.ask(INSTRUMENTS, { key: text, address })).toMatchObject(failed("key_not_yet_valid"));
    expect(await t.ask(INSTRUMENTS, { key: "sw_live_garbage", address })).toMatchObject(failed("unauthorized"));
  });

  test("becomes valid before it expires: a year later by default", async () => {
    const { record } = await t.issueKey({ notBefore: inDays(30), expiresAt: undefined });
    expect(record.expiresAt).toEqual(new Date(inDays(30).getTime() + KEY_LIFETIME_DEFAULT_S * SECOND_MS));
    await expect(t.issueKey({ notBefore: inDays(2), expiresAt: inDays(2) })).rejects.toEqual(refused("not_before"));
    await expect(editKey(t.keyContext, record.id, { expiresAt: inDays(29) })).rejects.toEqual(refused("not_before"));
    await editKey(t.keyContext, record.id, { expiresAt: inDays(29), notBefore: inDays(28) });
  });
});
