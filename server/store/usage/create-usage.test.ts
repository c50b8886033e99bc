import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Principal } from "#lib/access/principal";
import { createUsageCounts } from "#lib/access/usage/counts";
import { createStreamCounts } from "#lib/access/usage/stream-use";
import type { LoggedRequest } from "#lib/access/usage/usage";
import { manualClock } from "#lib/clock";
import { REQUEST_LOG_RETENTION_S, USAGE_RETENTION_S } from "#lib/contract/portal";
import { monthOf } from "#lib/domain/month";
import { testPrincipal } from "#lib/testing/principal";
import { DAY_S, HOUR_S, MINUTE_MS } from "#lib/units";
import type { MintedKey } from "#server/store/access/keys";
import { createLastUsed } from "#server/store/access/last-used";
import { makeLink } from "#server/testing/links";
import { type Ask, DEMO_KEY, failed, TEST_SECRET, TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { billingReport } from "./billing";
import { createUsage } from "./create-usage";
import { usageCsv } from "./csv";
import { closeMonths, monthReport } from "./months";
import { UsageQuery, usageReport, usageSpan } from "./query";
import { createRequestLog, createRequestLogStore } from "./request-log";
import { listRequests } from "./request-log-query";
import { deleteExpiredUsage } from "./retention";

const QUOTES = "/api/v1/market/instruments";

let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

async function accountOf(keyId: string): Promise<string> {
  return (await t.db.prisma.apiKey.findUniqueOrThrow({ where: { id: keyId } })).accountId;
}

/** The usage of an account in the last hour, by the minute. */
async function lastHour(accountId: string, filter: Partial<UsageQuery> = {}) {
  const to = new Date(t.clock.now() + MINUTE_MS).toISOString();
  const from = new Date(t.clock.now() - 60 * MINUTE_MS).toISOString();
  const span = usageSpan(UsageQuery.parse({ from, to, grain: "minute", ...filter }), t.clock);
  const report = await usageReport(t.db.pool, accountId, span);
  return { ...report, csv: await usageCsv(t.db.pool, accountId, span), used: report.items.filter(({ calls }) => calls > 0) };
}

describe("requests", () => {
  test("requests count for their key, operation and code, in their minute, hour and day, with their latency", async () => {
    const { text: key, record } = await t.issueKey();
    const accountId = await accountOf(record.id);
    await t.ask(QUOTES, { key });
    await t.ask(QUOTES, { key });
    expect(await t.ask("/api/v1/market/quotes/latest?tickers=", { key })).toMatchObject(failed("missing_parameter"));
    await t.usage.flush();
    await t.clock.advance(MINUTE_MS);
    await t.ask(QUOTES, { key });
    await t.usage.flush();

    const { used, by, csv } = await lastHour(accountId);
    expect(used.map(({ calls, errors }) => [calls, errors])).toEqual([
      [3, 1],
      [1, 0],
    ]);
    for (const { p50_ms, p95_ms } of used) expect(p50_ms).toBeLessThanOrEqual(p95_ms ?? 0);
    expect(by).toEqual({
      keys: [{ key_id: record.id, calls: 4, units: 4, errors: 1 }],
      operations: [
        { operation: "instruments", calls: 3, units: 3, errors: 0 },
        { operation: "latestQuotes", calls: 1, units: 1, errors: 1 },
      ],
      codes: [
        { code: 0, calls: 3, units: 3, errors: 0 },
        { code: 40002, calls: 1, units: 1, errors: 1 },
      ],
    });
    expect(
      csv
        .split("\r\n")
        .slice(1, -1)
        .map((line) => line.split(",").slice(1, 6).join(" ")),
    ).toEqual([
      `${record.id} test instruments 0 2`,
      `${record.id} test latestQuotes 40002 1`,
      `${record.id} test instruments 0 1`,
    ]);
    const grains = await t.db.prisma.usageBucket.groupBy({ by: ["grain"], where: { accountId }, _sum: { calls: true } });
    expect(Object.fromEntries(grains.map(({ grain, _sum }) => [grain, Number(_sum.calls)]))).toEqual({
      minute: 4,
      hour: 4,
      day: 4,
    });
    const rows = await t.db.prisma.usageBucket.findMany({ where: { accountId } });
    for (const { calls, latency } of rows) expect(latency.reduce((sum, count) => sum + count, 0n)).toBe(calls);
  });

  test("units are what responses said that they cost: over time, by key, by operation, in the CSV and in the billed month", async () => {
    const plan = { name: "27 a minute", restPerMinute: 27, restBurst: 27, streamConnections: 1, subscriptionsPerConnection: 1 };
    await t.db.prisma.plan.create({ data: plan });
    const issue = () => t.issueKey({ account: "spends", plan: plan.name, scopes: ["market:read", "market:ingest"] });
    const [first, second] = [await issue(), await issue()];
    const accountId = await accountOf(first.record.id);
    const { token } = await makeLink({ ...t.keyContext, secret: TEST_SECRET }, second.record.id);
    /** What the headers said, by key, by operation, and in all. */
    const said: Record<string, number> = { all: 0 };
    const statuses = new Set<number>();
    async function spend({ text: key, record }: MintedKey, operation: string, path: string, more: Ask = {}): Promise<number> {
      const { status, headers } = await t.ask(`/api/v1/${path}`, { key, ...more });
      // Pushed ticks count as ticks.
      const cost = operation === "ingestTicks" ? 0 : Number(headers.get("x-ratelimit-cost"));
      for (const part of [record.id, operation, "all"]) said[part] = (said[part] ?? 0) + cost;
      statuses.add(status);
      return status;
    }
    const klines = "market/klines?ticker=EURUSD&timeframe=M1&limit=";
    const file = "market/files/klines-EURUSD-2026-10";
    await spend(first, "klines", `${klines}5000`);
    await spend(first, "file", file);
    await spend(first, "file", file, { method: "HEAD" });
    await spend(second, "latestQuotes", "market/quotes/latest?tickers=EURUSD");
    await spend(second, "latestQuotes", "market/quotes/latest?tickers=");
    await spend(second, "key", "key");
    await spend(second, "link", `link?token=${token}`, { key: null });
    await spend(second, "ingestTicks", "ingest/ticks", { method: "POST", body: "" });
    await spend(second, "klines", `${klines}3000`);
    await spend(second, "instruments", "market/instruments", { headers: { origin: "https://elsewhere.example" } });
    await t.clock.advance(2 * MINUTE_MS);
    let status = await spend(first, "klines", `${klines}2000`);
    while (status === 200) status = await spend(first, "klines", `${klines}5000`);
    await t.usage.flush();
    expect([...statuses].sort()).toEqual([200, 400, 403, 429, 503]);

    const { items, by, csv } = await lastHour(accountId);
    const operations = by.operations.map(({ operation, units }) => [operation, units] as const);
    const ofKeys = by.keys.map(({ key_id, units }) => [key_id, units] as const);
    expect({ ...Object.fromEntries([...ofKeys, ...operations]), all: said.all }).toEqual(said);
    expect(operations.slice(0, 2).map(([operation]) => operation)).toEqual(["klines", "file"]);
    const sum = (units: readonly number[]) => units.reduce((all, one) => all + one, 0);
    expect(sum(items.map(({ units }) => units))).toBe(said.all);
    const [head = "", ...lines] = csv.trimEnd().split("\r\n");
    const column = head.split(",").indexOf("units");
    expect(sum(lines.map((line) => Number(line.split(",")[column])))).toBe(said.all);

    const month = monthOf(t.clock.now());
    const days = await monthReport(t.db.pool, accountId, month, t.clock.now());
    expect(days.items.at(-1)?.total).toBe(said.all);
    const billed = (await billingReport(t.db.pool, month)).items.find((item) => item.account_id === accountId);
    expect(billed?.units).toBe(said.all);
    expect(billed?.operations.map(({ operation, units }) => [operation, units]).sort()).toEqual([...operations].sort());
  });

  test("usage is filtered by key and operation", async () => {
    const first = await t.issueKey({ account: "two keys" });
    const second = await t.issueKey({ account: "two keys" });
    await t.ask(QUOTES, { key: first.text });
    await t.ask(QUOTES, { key: second.text });
    await t.ask("/api/v1/market/status?tickers=EURUSD", { key: second.text });
    await t.usage.flush();
    const accountId = await accountOf(first.record.id);
    const calls = async (filter: Partial<UsageQuery>) => (await lastHour(accountId, filter)).used.map((point) => point.calls);
    expect(await calls({})).toEqual([3]);
    expect(await calls({ key_id: second.record.id })).toEqual([2]);
    expect(await calls({ key_id: second.record.id, operation: "marketStatus" })).toEqual([1]);
  });

  test("failed requests with a valid key count and are logged, and those without a valid key are not", async () => {
    const { text: key, record } = await t.issueKey({ scopes: ["market:stream"] });
    expect(await t.ask(QUOTES, { key })).toMatchObject(failed("insufficient_scope"));
    const before = await t.db.prisma.requestLog.count();
    expect(await t.ask(QUOTES, { key: `${key}x` })).toMatchObject(failed("unauthorized"));
    await t.usage.flush();
    expect(await t.db.prisma.requestLog.count()).toBe(before + 1);
    const { items } = await listRequests(t.db.pool, await accountOf(record.id), {});
    const detail = expect.stringContaining("market:read");
    expect(items).toMatchObject([{ key_id: record.id, operation: "instruments", status: 403, code: 40301, detail }]);
  });

  test("a request that a limit refused is logged with the limit, what was left of it, and what the request costs", async () => {
    const { text: key, record } = await t.issueKey({ plan: "free" });
    const klines = (limit: number) => t.ask(`/api/v1/market/klines?ticker=EURUSD&timeframe=M1&limit=${limit}`, { key });
    for (let index = 0; index < 19; index += 1) expect((await klines(2_000)).status).toBe(200);
    const refused = await klines(5_000);
    const detail =
      'The burst limit of the plan "free" is reached; 82 of 120 units are left this minute. This request costs 5. Try again in 2 s.';
    expect(refused).toMatchObject(failed("rate_limited", { detail }));
    await t.usage.flush();
    const { items } = await listRequests(t.db.pool, await accountOf(record.id), { status: "429" });
    expect(items).toMatchObject([{ operation: "klines", code: 42901, detail, cost: 0, limit: 120, remaining: 82 }]);
    const served = await listRequests(t.db.pool, await accountOf(record.id), { status: "200" });
    expect(served.items[0]).toMatchObject({ cost: 2, limit: 120, remaining: 82 });
  });

  test("a method that a path does not have is logged for the key, and refused the same without one", async () => {
    const { text: key, record } = await t.issueKey({});
    const refused = await t.ask(QUOTES, { key, method: "DELETE", headers: { "x-request-id": "deleted" } });
    expect(refused).toMatchObject({ status: 405, ...failed("method_not_allowed") });
    const before = await t.db.prisma.requestLog.count();
    for (const other of [null, `${key}x`])
      expect(await t.ask(QUOTES, { key: other, method: "DELETE" })).toMatchObject({
        status: 405,
        ...failed("method_not_allowed"),
      });
    await t.usage.flush();
    expect(await t.db.prisma.requestLog.count()).toBe(before + 1);
    const { items } = await listRequests(t.db.pool, await accountOf(record.id), {});
    expect(items).toMatchObject([
      {
        request_id: "deleted",
        operation: "instruments",
        method: "DELETE",
        code: 40501,
        detail: "This path does not accept DELETE.",
      },
    ]);
  });

  test("requests are logged as sent, except for text that looks like a key", async () => {
    const { text: key, record } = await t.issueKey({ origins: ["https://app.example.com"] });
    const headers = {
      origin: "https://app.example.com",
      "user-agent": `curl/8 ${key} ${"x".repeat(300)}`,
      "x-request-id": "my-request-1",
    };
    await t.ask(`${QUOTES}?api_key=${key}&encoded=${key.replaceAll("_", "%5F")}&hidden=%73%77_live_abc`, { key, headers });
    await t.usage.flush();
    const { items } = await listRequests(t.db.pool, await accountOf(record.id), {});
    expect(items).toMatchObject([
      {
        method: "GET",
        request_id: "my-request-1",
        status: 200,
        code: 0,
        address: "203.0.113.7",
        origin: "https://app.example.com",
      },
    ]);
    expect(items[0]?.user_agent).toHaveLength(200);
    expect(JSON.stringify(items)).not.toContain(key.slice(8, 20));
  });

  test("requests of the demo key count and are not logged", async () => {
    await t.ask(QUOTES, { key: DEMO_KEY });
    await t.usage.flush();
    expect(await t.db.prisma.usageBucket.count({ where: { keyId: "demo" } })).toBe(3);
    expect(await t.db.prisma.requestLog.count({ where: { keyId: "demo" } })).toBe(0);
  });
});

describe("expired usage", () => {
  test("usage of each grain and logged requests are deleted at their age, and a day not before its month is closed", async () => {
    const { text: key, record } = await t.issueKey();
    const where = { accountId: await accountOf(record.id) };
    await t.ask(QUOTES, { key });
    await t.usage.flush();
    const grains = async () => (await t.db.prisma.usageBucket.findMany({ where })).map(({ grain }) => grain).sort();
    const startMs = t.clock.now();
    const at = async (seconds: number) => {
      t.clock.set(startMs + seconds * 1_000);
      await deleteExpiredUsage(t.db.pool, t.clock);
      return grains();
    };
    expect(await at(0)).toEqual(["day", "hour", "minute"]);
    expect(await at(USAGE_RETENTION_S.minute + 60)).toEqual(["day", "hour"]);
    expect(await t.db.prisma.requestLog.count({ where })).toBe(1);
    expect(await at(REQUEST_LOG_RETENTION_S + 60)).toEqual(["day", "hour"]);
    expect(await t.db.prisma.requestLog.count({ where })).toBe(0);
    expect(await at(USAGE_RETENTION_S.hour + HOUR_S)).toEqual(["day"]);
    expect(await at(USAGE_RETENTION_S.day + DAY_S)).toEqual(["day"]);
    await closeMonths(t.db.pool, t.clock);
    expect(await at(USAGE_RETENTION_S.day + DAY_S)).toEqual([]);
    t.clock.set(startMs);
  });
});

const ACCOUNT = "00000000-0000-7000-8000-000000000001";

function principal(keyId: string, accountId = ACCOUNT): Principal {
  return testPrincipal({ keyId, accountId });
}

function line(requestId: string, accountId = ACCOUNT): LoggedRequest {
  const request = {
    operation: "klines",
    method: "GET",
    path: "/",
    status: 200,
    code: 0,
    detail: null,
    cost: 1,
    limit: 120,
    remaining: 119,
    latencyMs: 1,
    origin: null,
  };
  return { ...request, accountId, keyId: "k", atMs: TEST_START_MS, requestId, address: "203.0.113.7", userAgent: "" };
}

describe("while the database is unavailable", () => {
  /** A pool that can be disconnected from the database. */
  function cuttable() {
    const state = { away: false };
    const query = ((...args: Parameters<typeof t.db.pool.query>) =>
      state.away
        ? Promise.reject(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }))
        : t.db.pool.query(...args)) as typeof t.db.pool.query;
    return { state, pool: { query } };
  }

  test("without the database, calls, streams and requests wait, and each is written once when it is back", async () => {
    const { state, pool } = cuttable();
    const clock = manualClock(TEST_START_MS);
    const usage = createUsage({ pool, clock, log: t.log, metrics: t.metrics });
    const who = principal("away", "00000000-0000-7000-8000-0000000000aa");
    state.away = true;
    usage.count(who, "klines", 0, 1, 1);
    usage.log(line("waits", who.accountId));
    const stream = usage.connected(who);
    stream.sent(3);
    await usage.flush();
    usage.count(who, "klines", 0, 1, 1);
    stream.sent(4);
    await usage.flush();
    expect(await t.db.prisma.usageBucket.count({ where: { keyId: "away" } })).toBe(0);
    state.away = false;
    await usage.stop();
    const where = { keyId: "away", grain: "minute" };
    expect(await t.db.prisma.usageBucket.findMany({ where })).toMatchObject([{ calls: 2n }]);
    expect(await t.db.prisma.streamUsageBucket.findMany({ where })).toMatchObject([{ connections: 1n, messages: 7n }]);
    expect(await t.db.prisma.requestLog.count({ where: { requestId: "waits" } })).toBe(1);
  });

  test("a count that the database rejects is logged and does not affect other counts", async () => {
    t.logged.length = 0;
    const usage = createUsage({ pool: t.db.pool, clock: manualClock(TEST_START_MS), log: t.log, metrics: t.metrics });
    for (const keyId of ["fits 1", "not\u0000fit", "fits 2"]) usage.count(principal(keyId), "klines", 0, 1, 1);
    await usage.stop();
    expect(await t.db.prisma.usageBucket.count({ where: { grain: "day", keyId: { startsWith: "fits" } } })).toBe(2);
    expect(await t.metrics.registry.metrics()).toContain('spotwire_usage_dropped_total{what="calls"} 1');
    expect(t.logged).toMatchObject([{ msg: "database rejected a usage record; dropping it", what: "calls" }]);
  });

  test("calls of minutes without room count for the minute before, and past its limit calls of new keys are dropped", async () => {
    const clock = manualClock(TEST_START_MS);
    const counts = createUsageCounts(clock, 2);
    counts.add(principal("a"), "klines", 0, 1, 1);
    counts.turn();
    await clock.advance(MINUTE_MS);
    counts.add(principal("a"), "klines", 0, 1, 1);
    counts.turn();
    await clock.advance(MINUTE_MS);
    counts.add(principal("a"), "klines", 0, 1, 1);
    counts.add(principal("b"), "klines", 0, 1, 1);
    counts.turn();
    await clock.advance(MINUTE_MS);
    counts.add(principal("a"), "klines", 0, 1, 1);
    expect(counts.add(principal("c"), "klines", 0, 1, 1)).toBe(false);
    expect([counts.dropped(), counts.dropped()]).toEqual([1, 0]);
    counts.turn();
    const taken = () => counts.take(10).map(({ keyId, atMs, calls }) => [keyId, atMs - TEST_START_MS, calls]);
    expect(taken()).toEqual([
      ["a", 0, 1],
      ["a", MINUTE_MS, 1],
    ]);
    counts.turn();
    expect(taken()).toEqual([
      ["a", 2 * MINUTE_MS, 2],
      ["b", 2 * MINUTE_MS, 1],
    ]);
  });

  test("streams past the maximum number of keys are dropped and counted, and waiting ones are written in batches", () => {
    const streams = createStreamCounts(manualClock(TEST_START_MS), 2);
    for (const keyId of ["a", "b", "c", "a"]) streams.connected(principal(keyId)).closed();
    expect([streams.dropped(), streams.dropped()]).toEqual([1, 0]);
    const [first = [], second = [], third] = [streams.take(1), streams.take(1), streams.take(1)];
    expect([...first, ...second].map(({ keyId, connections }) => [keyId, connections])).toEqual([
      ["a", 2],
      ["b", 1],
    ]);
    expect(third).toEqual([]);
    streams.connected(principal("c"));
    streams.giveBack([...first, ...second]);
    expect(streams.dropped()).toBe(1);
    expect(streams.take(9).map(({ keyId }) => keyId)).toEqual(["c", "a"]);
  });

  test("the last use of keys past the maximum number is not recorded, however often writing fails", async () => {
    const { state, pool } = cuttable();
    const clock = manualClock(TEST_START_MS);
    const keys = await Promise.all([1, 2, 3].map(async () => (await t.issueKey()).record.id));
    const used = createLastUsed({ pool, clock, log: t.log, table: "api_key", pendingMax: 2 });
    state.away = true;
    for (const key of keys) {
      used.note(key, clock.now(), "203.0.113.7");
      await used.flush();
    }
    state.away = false;
    await used.flush();
    const rows = await t.db.prisma.apiKey.findMany({ where: { id: { in: keys } } });
    expect(rows.filter(({ lastUsedAt }) => lastUsedAt !== null).map(({ id }) => id)).toEqual(
      expect.arrayContaining(keys.slice(0, 2)),
    );
    expect(rows.filter(({ lastUsedAt }) => lastUsedAt !== null)).toHaveLength(2);
  });

  test("the oldest requests are dropped for new ones, and counted", () => {
    const log = createRequestLog(3);
    for (const id of ["1", "2", "3"]) log.add(line(id));
    const taken = log.take(3);
    log.add(line("4"));
    log.giveBack(taken);
    expect(log.dropped()).toBe(1);
    expect(log.take(3).map(({ requestId }) => requestId)).toEqual(["2", "3", "4"]);
  });
});

describe("the request log", () => {
  test("the request log accepts a limited number of requests per account between two flushes, shared by its keys", () => {
    const counts = createUsageCounts(manualClock(TEST_START_MS), 100, 2);
    const logged = (keyId: string, accountId = ACCOUNT) => counts.add(principal(keyId, accountId), "klines", 0, 1, 1);
    expect([logged("a"), logged("b"), logged("a"), logged("b"), logged("c", "another")]).toEqual([
      true,
      true,
      false,
      false,
      true,
    ]);
    counts.turn();
    expect(logged("a")).toBe(true);
    expect(counts.take(10).reduce((sum, { calls }) => sum + calls, 0)).toBe(5);
  });

  test("the request log keeps the newest requests of an account up to its maximum", async () => {
    const store = createRequestLogStore(t.db.pool, 2);
    const [mine, other] = ["00000000-0000-7000-8000-0000000000c1", "00000000-0000-7000-8000-0000000000c2"];
    await store.write([...["1", "2", "3", "4"].map((id) => line(id, mine)), line("5", other)]);
    await store.trim("grown");
    expect(await t.db.prisma.requestLog.count({ where: { accountId: mine } })).toBe(4);
    await store.trim("all");
    const ids = async (accountId: string) => (await listRequests(t.db.pool, accountId, {})).items.map((item) => item.request_id);
    expect([await ids(mine), await ids(other)]).toEqual([["4", "3"], ["5"]]);
  });
});

describe("the period of a query", () => {
  const span = (query: Partial<UsageQuery>) => usageSpan(UsageQuery.parse(query), t.clock);

  test("the period of a query is widened to whole buckets, with a point for each", async () => {
    const query = { from: "2026-01-07T00:30:00+02:00", to: "2026-01-07T01:10:00Z" };
    const { items } = await usageReport(t.db.pool, ACCOUNT, span(query));
    expect(items.map(({ at }) => at.slice(11, 16))).toEqual(["22:00", "23:00", "00:00", "01:00"]);
  });

  test.each([
    ["from", { from: "2026-01-07T00:00:00Z", to: "2026-01-07T00:00:00Z" }],
    ["grain", { from: "2026-01-01T00:00:00Z", to: "2026-01-07T00:00:00Z", grain: "minute" as const }],
    ["grain", { from: "2020-01-01T00:00:00Z", to: "2026-01-07T00:00:00Z", grain: "day" as const }],
  ])("an empty or too long period is rejected, naming %s: %j", (parameter, query) => {
    expect(() => span(query)).toThrow(
      expect.objectContaining({ id: "invalid_parameter", data: expect.objectContaining({ parameter }) }),
    );
  });
});
