import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "#lib/clock";
import { VENUES, type Venue } from "#lib/contract/primitives";
import { IDLE_REASONS } from "#lib/contract/service-status";
import { ready } from "#lib/http/operational";
import { createLog } from "#lib/log";
import { setRuntime } from "#lib/runtime";
import { proxyTo } from "#lib/testing/breakable-proxy";
import { collectingLog } from "#lib/testing/collecting-log";
import { HOUR_MS } from "#lib/units";
import type { RunningMarket } from "#server/market/market";
import { openDatabase } from "#server/store/database/db";
import { openRedis, type Redis } from "#server/store/database/redis";
import { createTestMarket } from "#server/testing/market";
import { ready as connectionOf, describeRedis, type RedisNodes } from "#server/testing/redis-nodes";
import { GUIDE_PREFIX, guideRights, redisUser } from "#server/testing/redis-user";
import { type TestRuntime, testRuntime } from "#server/testing/runtime";
import { startReadiness } from "./readiness";

const SOON = { interval: 20 };
/** A silent connection is closed after ten seconds. */
const SILENT = { interval: 50 };
const log = createLog("silent");

/** Venues in memory; every price of the sandbox is fresh. */
function marketsOf(service: TestRuntime, of: (venue: Venue) => Pick<RunningMarket, "feedProblem" | "away">) {
  const markets = VENUES.map((venue) => {
    const market = createTestMarket(venue, service.markets[venue].catalogue);
    if (venue === "sandbox")
      for (const { ticker } of market.catalogue.list()) market.quote(ticker, 1.1, 1.2, Date.now() + HOUR_MS);
    return [venue, { ...market, ...of(venue) }];
  });
  return Object.fromEntries(markets) as unknown as Record<Venue, RunningMarket>;
}

describe("readiness of a single node", () => {
  let service: TestRuntime;
  const problems: Partial<Record<Venue, string>> = {};
  let draining = false;
  let diskProblem: string | null = null;
  beforeAll(async () => {
    service = await testRuntime();
  });
  beforeEach(() => {
    for (const venue of VENUES) delete problems[venue];
    draining = false;
    diskProblem = null;
  });
  afterAll(() => service?.close());

  /** A node with its own proxy to the database, which can be shut. */
  async function start(redis?: Redis) {
    const door = await proxyTo(service.db.url);
    await door.open();
    const db = await openDatabase({ url: door.url, poolSize: 2, waitS: 0, clock: systemClock, log });
    onTestFinished(() => db.close());
    const markets = marketsOf(service, (venue) => ({ feedProblem: () => problems[venue] ?? null, away: () => null }));
    const disk = { problem: () => diskProblem };
    const history = { problem: () => null };
    const checks = startReadiness({ db, redis, markets, disk, history, draining: () => draining, clock: systemClock });
    onTestFinished(checks.stop);
    setRuntime({ ...service, ready: async () => checks.read() });
    onTestFinished(() => setRuntime(service));
    return door;
  }

  /** The live venue has no provider, and no tick came yet. */
  const IDLE = { feed_live: "not_bound", prices_live: "not_bound" };

  /** Status of /api/ready, its overall state, the checks that fail, and those that have nothing to judge. */
  async function asked() {
    const response = await ready(new Request("http://node/api/ready"));
    const body = (await response.json()) as { status: string; age_ms: number; checks: Record<string, string> };
    const { status, checks } = body;
    expect(body.age_ms).toBeGreaterThanOrEqual(0);
    const others = Object.entries(checks).filter(([, state]) => state !== "ok");
    const isIdle = (state: string) => IDLE_REASONS.some((reason) => reason === state);
    const wrong = Object.fromEntries(others.filter(([, state]) => !isIdle(state)));
    const idle = Object.fromEntries(others.filter(([, state]) => isIdle(state)));
    expect(response.headers.get("cache-control")).toBe("no-store");
    return { answer: [response.status, status], wrong, idle, names: Object.keys(checks).sort() };
  }

  describe("checks", () => {
    test("readiness reports every part of a node", async () => {
      await start();
      const names = ["disk", "feed_live", "feed_sandbox", "history", "prices_live", "prices_sandbox", "process", "store"];
      expect(await asked()).toEqual({ answer: [200, "ready"], wrong: {}, idle: IDLE, names });
    });

    test("a node whose database is unavailable or hangs stays in the load balancer, says so, and is ready again afterwards", async () => {
      const door = await start();
      const away = { answer: [200, "degraded"], wrong: { store: "the database does not answer" } };
      const isReady = async () => (await asked()).answer[1] === "ready";
      door.shut();
      await vi.waitFor(async () => expect(await asked()).toMatchObject(away), SOON);
      await door.open();
      await vi.waitUntil(isReady, SOON);
      door.silence();
      await vi.waitFor(async () => expect(await asked()).toMatchObject(away), SOON);
      await vi.waitUntil(isReady, SILENT);
    });

    test("a node whose disk is full stays in the load balancer and says so", async () => {
      await start();
      diskProblem = "200 MiB are free";
      expect(await asked()).toMatchObject({ answer: [200, "degraded"], wrong: { disk: "200 MiB are free" } });
    });

    test("a single node is not ready while the feed of open markets has a problem or while it drains", async () => {
      await start();
      problems.sandbox = "the feed does not answer";
      expect(await asked()).toMatchObject({ answer: [503, "not_ready"], wrong: { feed_sandbox: "the feed does not answer" } });
      delete problems.sandbox;
      // No market of this venue expects prices.
      problems.live = "the feed does not answer";
      expect(await asked()).toMatchObject({ answer: [200, "ready"], wrong: {} });
      delete problems.live;
      draining = true;
      expect(await asked()).toMatchObject({ answer: [503, "not_ready"], wrong: { process: "draining" } });
    });

    test("a node is not ready before its parts run", async () => {
      setRuntime(undefined);
      onTestFinished(() => setRuntime(service));
      expect((await asked()).answer).toEqual([503, "not_ready"]);
    });
  });
});

describeRedis("readiness of a node in a cluster", (nodes: RedisNodes) => {
  let service: TestRuntime;
  beforeAll(async () => {
    service = await testRuntime();
  });
  afterAll(() => service?.close());

  test("a node whose Redis user lacks a right says which, in the words of the log", async () => {
    const user = await redisUser(nodes, [...guideRights(), "resetchannels"]);
    const lines: Record<string, unknown>[] = [];
    const redis = openRedis({ url: user.url, prefix: GUIDE_PREFIX, log: collectingLog(lines, "warn") });
    onTestFinished(() => redis.close());
    const markets = marketsOf(service, () => ({ feedProblem: () => null, away: () => null }));
    const disk = { problem: () => null };
    const looked = startReadiness({ ...service, redis, markets, disk, history: disk, draining: () => false, clock: systemClock });
    onTestFinished(looked.stop);
    const problem = `Redis refuses the user of REDIS_URL the channel ${GUIDE_PREFIX}:control: see /docs/scaling#a-redis-user-of-its-own`;
    await vi.waitUntil(() => looked.read().checks.redis === problem, SOON);
    expect(lines).toMatchObject([{ level: 40, msg: problem }]);
    await user.set(...guideRights());
    await vi.waitUntil(() => looked.read().checks.redis === null, SOON);
  });

  test("a node of a cluster stays ready, marked as degraded, while shared parts are unavailable; only a draining node is not ready", async () => {
    const [database, way] = [await proxyTo(service.db.url), await proxyTo(nodes.server.url)];
    await Promise.all([database.open(), way.open()]);
    const db = await openDatabase({ url: database.url, poolSize: 2, waitS: 0, clock: systemClock, log });
    const redis = openRedis({ url: way.url, prefix: "ready", log });
    onTestFinished(async () => {
      redis.close();
      await db.close();
    });
    await connectionOf(redis);
    let problem: string | null = null;
    const markets = marketsOf(service, (venue) => {
      const wrong = () => (venue === "live" ? problem : null);
      return { feedProblem: wrong, away: wrong };
    });
    let draining = false;
    const disk = { problem: () => null };
    let away: string | null = null;
    const history = { problem: () => away };
    const looked = startReadiness({ db, redis, markets, disk, history, draining: () => draining, clock: systemClock });
    onTestFinished(looked.stop);
    setRuntime({ ...service, ready: async () => looked.read() });
    onTestFinished(() => setRuntime(service));
    const asked = async () => {
      const response = await ready(new Request("http://node/api/ready"));
      const { status, checks } = (await response.json()) as { status: string; checks: Record<string, string> };
      const wrong = Object.keys(checks).filter((name) => !["ok", "not_bound"].includes(checks[name] ?? ""));
      return [response.status, status, ...wrong.sort()];
    };

    expect(await asked()).toEqual([200, "ready"]);
    problem = "no events from an ingest node yet";
    expect(await asked()).toEqual([200, "degraded", "feed_live"]);
    problem = null;
    away = "The directory of stored klines cannot be used.";
    expect(await asked()).toEqual([200, "degraded", "history"]);
    away = null;
    way.shut();
    await vi.waitUntil(() => !redis.connected(), SOON);
    expect(await asked()).toEqual([200, "degraded", "redis"]);
    database.shut();
    await vi.waitFor(async () => expect(await asked()).toEqual([200, "degraded", "redis", "store"]), SOON);
    draining = true;
    expect(await asked()).toEqual([503, "not_ready", "process", "redis", "store"]);
    draining = false;
    await Promise.all([database.open(), way.open()]);
    await vi.waitUntil(async () => (await asked())[1] === "ready", SOON);
    draining = true;
    expect(await asked()).toEqual([503, "not_ready", "process"]);
  });
});
