import { afterAll, beforeAll, expect, test } from "vitest";
import { PLAN_DEFAULTS } from "#lib/contract/limits";
import { SCOPES } from "#lib/contract/primitives";
import { operations } from "#lib/operations/declarations";
import { KeyInfo } from "#lib/operations/key/declaration";
import { HOUR_MS } from "#lib/units";
import { rotateKey } from "#server/store/access/keys";
import { openPortalSession } from "#server/testing/portal-session";
import { DEMO_KEY, failed, freshAddress, type TestRuntime, testRuntime } from "#server/testing/runtime";

const PATH = operations.key.path;
const QUOTES = "/api/v1/market/instruments";
const BURST = PLAN_DEFAULTS.free.restBurst;
let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

const infoOf = async (key: string, address = freshAddress()) => (await t.ask(PATH, { key, address })).body.data;

test("a key can read its venue, scopes, origins, expiry, limits and remaining quota", async () => {
  const expiresAt = new Date(t.clock.now() + HOUR_MS);
  const settings = { venue: "sandbox", scopes: ["market:read"], origins: ["https://a.example.com"], expiresAt, plan: "free" };
  const addresses = ["203.0.113.0/24"];
  const { text } = await t.issueKey({ ...settings, addresses });
  for (const _ of [1, 2]) await t.ask(QUOTES, { key: text });
  const answer = await t.ask(PATH, { key: text });
  expect(answer.body.data).toEqual({
    prefix: text.slice(0, 12),
    last4: text.slice(-4),
    venue: "sandbox",
    scopes: ["market:read"],
    origins: ["https://a.example.com"],
    addresses,
    tickers: [],
    not_before: null,
    expires_at: expiresAt.toISOString(),
    plan: "free",
    limits: { rest_per_minute: 120, rest_burst: 40, stream_connections: 2, subscriptions_per_connection: 50 },
    key_limits: { rest_per_minute: null, rest_burst: null, stream_connections: null, subscriptions_per_connection: null },
    quota: { remaining: 118, reset_s: 60 },
    month: null,
    history_days: null,
    streams: true,
  });
  expect(KeyInfo.parse(answer.body.data)).toEqual(answer.body.data);
  expect(answer.headers.get("ratelimit")).toBe('"plan";r=118;t=60');
  expect(answer.headers.get("cache-control")).toBe("no-store");
});

test.each(SCOPES)("a key with the scope %s alone can read what it may do, and never its text", async (scope) => {
  const { text } = await t.issueKey({ scopes: [scope] });
  const answer = await t.ask(PATH, { key: text });
  expect(answer.body.data).toMatchObject({ scopes: [scope], venue: "live", origins: [], addresses: [], expires_at: null });
  expect(answer.text).not.toContain(text.slice(12, -4));
});

test("a key can read its tickers, its own limits, when it became valid, and the quota of whichever limit has less left", async () => {
  const notBefore = new Date(t.clock.now());
  const settings = { plan: "free", account: "limited", tickers: ["EURUSD"], notBefore };
  const { text } = await t.issueKey({ ...settings, restPerMinute: 10, streamConnections: 1 });
  const { text: other } = await t.issueKey(settings);
  await t.ask(QUOTES, { key: text });
  const info = await infoOf(text);
  expect(info).toMatchObject({
    tickers: ["EURUSD"],
    not_before: notBefore.toISOString(),
    limits: { rest_per_minute: 120, stream_connections: 2 },
    key_limits: { rest_per_minute: 10, rest_burst: null, stream_connections: 1, subscriptions_per_connection: null },
    quota: { remaining: 9 },
  });
  expect(KeyInfo.parse(info)).toEqual(info);
  expect(await infoOf(other)).toMatchObject({ quota: { remaining: 119 } });
});

test("a rotated key can read the end of its grace period", async () => {
  const { text, record } = await t.issueKey();
  const { replaced } = await rotateKey(t.keyContext, record.id, "1h");
  await t.settle();
  expect(await infoOf(text)).toMatchObject({ expires_at: replaced.graceUntil?.toISOString() });
});

test("the demo key can read that every origin may use it, and the quota of the client's address", async () => {
  const [here, there] = [freshAddress(), freshAddress()];
  await t.ask(QUOTES, { key: DEMO_KEY, address: here });
  expect(await infoOf(DEMO_KEY, here)).toMatchObject({
    prefix: DEMO_KEY.slice(0, 12),
    last4: DEMO_KEY.slice(-4),
    venue: "sandbox",
    origins: ["*"],
    expires_at: null,
    plan: "demo",
    quota: { remaining: 59 },
  });
  expect(await infoOf(DEMO_KEY, there)).toMatchObject({ quota: { remaining: 60 } });
});

test("a token of the playground can read what its key may do", async () => {
  const { record } = await t.issueKey({ scopes: ["market:stream"] });
  const { accountId } = await t.db.prisma.apiKey.findUniqueOrThrow({ where: { id: record.id } });
  const session = await openPortalSession(t.db, accountId, t.clock.now());
  const { token } = t.access.mintPortalToken({ key: record.id, session, origin: "http://spotwire.test" });
  expect(await infoOf(token)).toMatchObject({ last4: record.last4, scopes: ["market:stream"] });
});

test("a call costs nothing of the quota, even with the quota used up", async () => {
  const { text: key } = await t.issueKey({ plan: "free" });
  for (let count = 0; count < BURST; count += 1) expect((await t.ask(QUOTES, { key })).status).toBe(200);
  expect(await t.ask(QUOTES, { key })).toMatchObject(failed("rate_limited"));
  for (let count = 0; count < BURST; count += 1) expect(await infoOf(key)).toMatchObject({ quota: { remaining: 120 - BURST } });
});

test("calls are bounded like other calls, over all keys of an account, and take nothing from them", async () => {
  const [first, second] = [
    await t.issueKey({ account: "asker", plan: "free" }),
    await t.issueKey({ account: "asker", plan: "free" }),
  ];
  for (let count = 0; count < BURST; count += 1) expect((await t.ask(PATH, { key: first.text })).status).toBe(200);
  const refused = await t.ask(PATH, { key: second.text });
  expect(refused).toMatchObject(failed("rate_limited", { retry_after: 1 }));
  expect(refused.headers.get("ratelimit")).toBe('"plan";r=120;t=60');
  expect((await t.ask(QUOTES, { key: first.text })).status).toBe(200);
  await t.clock.advance(1_000);
  expect((await t.ask(PATH, { key: second.text })).status).toBe(200);
});
