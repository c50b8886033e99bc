import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HEALTH_RETENTION_S } from "#lib/contract/uptime";
import { createLog } from "#lib/log";
import { quietSince } from "#lib/market/status";
import { collectingLog } from "#lib/testing/collecting-log";
import { type WatchedClock, watchedClock } from "#lib/testing/watched-clock";
import { HOUR_MS, MINUTE_MS } from "#lib/units";
import { createTestMarket } from "#server/testing/market";
import { TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { type HealthRecorder, type ProbeResult, recordHealth, type WatchedMarket } from "./health";
import { readHealth } from "./health-history";
import { createHealthReport } from "./health-report";

const BUCKET_MS = 900_000;
const WELL: ProbeResult = { rest: true, stream: true, stored: true };
/** The largest number of pending samples, in minutes of two venues. */
const PENDING_MAX_MINUTES = 720;

let t: TestRuntime;
let clock: WatchedClock;
let doors: ProbeResult;
let away: boolean;
/** What is wrong with the live feed. */
let lost: string | null;
const running: HealthRecorder[] = [];
let logged: Record<string, unknown>[];

beforeAll(async () => {
  t = await testRuntime();
});
beforeEach(async () => {
  clockAt(TEST_START_MS);
  doors = WELL;
  away = false;
  lost = null;
  logged = [];
  await t.db.pool.query("DELETE FROM health_sample");
});
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ stop }) => stop()));
});
afterAll(() => t.close());

/** The live venue with a data provider. */
const markets = (): Record<"live" | "sandbox", WatchedMarket> => ({
  live: { ...t.markets.live, provider: "push", feedProblem: () => lost },
  sandbox: { ...t.markets.sandbox, feedProblem: () => null },
});

/** Sets the clock before anything waits for it. */
function clockAt(ms: number): void {
  clock = watchedClock();
  clock.set(ms);
}

/**
 * Records until the test ends, each recorder with its own clock; `minutes` advances them, and resolves when every sample has
 * been passed to the database.
 */
async function record(watched = markets(), knock = async () => doors) {
  const query = (...args: Parameters<typeof t.db.pool.query>) =>
    away ? Promise.reject(new Error("away")) : t.db.pool.query(...args);
  const pool = { query } as unknown as typeof t.db.pool;
  running.push(recordHealth({ pool, markets: watched, probe: knock, clock, log: collectingLog(logged, "warn") }));
  const untilNext = () => MINUTE_MS - (clock.now() % MINUTE_MS);
  await clock.waitingFor(untilNext());
  return {
    async minutes(count: number) {
      for (let passed = 0; passed < count; passed += 1) {
        await clock.advance(untilNext());
        await clock.waitingFor(MINUTE_MS);
      }
    },
  };
}

/** Rows of one venue, oldest first. */
async function rowsOf(venue: string) {
  const { rows } = await t.db.pool.query(
    "SELECT at, rest, stream, stored, state, away, expected, fresh, lag_ms::float8 FROM health_sample WHERE venue = $1 ORDER BY at",
    [venue],
  );
  return rows;
}

const quoteAll = (atMs: number) => {
  for (const { ticker } of t.markets.live.catalogue.list()) t.markets.live.quote(ticker, 1.1, 1.2, atMs);
};

test("a venue has no fresh price since its newest tick, or since markets opened without one, and one fresh price is enough", () => {
  const { live } = t.markets;
  const bound = { ...live, provider: "push" };
  const lastMs = TEST_START_MS + HOUR_MS + 7_000;
  quoteAll(lastMs - 1_000);
  live.quote("EURUSD", 1.1, 1.2, lastMs);
  expect(quietSince(bound, lastMs + 30_000)).toBe(null);
  expect(quietSince(bound, lastMs + 10 * MINUTE_MS)).toBe(lastMs);
  live.quote("EURUSD", 1.1, 1.2, lastMs + 10 * MINUTE_MS);
  expect(quietSince(bound, lastMs + 10 * MINUTE_MS)).toBe(null);
  // Nobody misses a price at a weekend. Forex opens on Sunday at 22:00.
  quoteAll(Date.UTC(2026, 0, 9, 21, 59, 58));
  expect(quietSince(bound, Date.UTC(2026, 0, 10, 12))).toBe(null);
  expect(quietSince(bound, Date.UTC(2026, 0, 12, 12))).toBe(Date.UTC(2026, 0, 11, 22));
  // One that fails on Friday afternoon fails since then.
  quoteAll(Date.UTC(2026, 0, 16, 15));
  expect(quietSince(bound, Date.UTC(2026, 0, 19, 12))).toBe(Date.UTC(2026, 0, 16, 15));
});

describe("health samples", () => {
  test("a health sample is taken at start and at each full minute, for both venues", async () => {
    clockAt(TEST_START_MS + 20_000);
    quoteAll(TEST_START_MS + 15_000);
    const { minutes } = await record();
    expect(await rowsOf("live")).toEqual([
      { at: new Date(TEST_START_MS), ...WELL, state: "operational", away: false, expected: 54, fresh: 54, lag_ms: 5_000 },
    ]);
    doors = { ...WELL, rest: false };
    await minutes(2);
    const rows = await rowsOf("live");
    expect(rows.map(({ at, rest }) => [at.getTime() - TEST_START_MS, rest])).toEqual([
      [0, true],
      [MINUTE_MS, false],
      [2 * MINUTE_MS, false],
    ]);
    expect((await rowsOf("sandbox")).length).toBe(3);
  });

  test("a health sample expects no ticks from a closed market, a venue without a provider, or test tickers", async () => {
    clockAt(Date.UTC(2026, 0, 10, 12));
    await record();
    expect(await rowsOf("live")).toMatchObject([{ expected: 0, fresh: 0 }]);
    // The sandbox of this test has no ticks: ticks are expected of its ordinary tickers, not of its test tickers.
    // Before the first one, nothing can be judged.
    expect(await rowsOf("sandbox")).toMatchObject([{ state: "no_data", expected: 54, fresh: 0, lag_ms: null }]);
  });

  test("health samples wait while the database is unavailable, up to a bound, and the newest are kept", async () => {
    const { minutes } = await record();
    away = true;
    await minutes(PENDING_MAX_MINUTES + 5);
    away = false;
    expect((await rowsOf("live")).length).toBe(1);
    await minutes(1);
    const rows = await rowsOf("live");
    expect(rows.length).toBe(1 + PENDING_MAX_MINUTES);
    expect(rows.at(-1).at.getTime()).toBe(TEST_START_MS + (PENDING_MAX_MINUTES + 6) * MINUTE_MS);
    expect(rows[1].at.getTime()).toBe(TEST_START_MS + 7 * MINUTE_MS);
  });

  test("a health sample is deleted after its retention time", async () => {
    const { minutes } = await record();
    const laterMs = TEST_START_MS + HEALTH_RETENTION_S * 1_000 + MINUTE_MS;
    clock.set(laterMs);
    await minutes(1);
    expect((await rowsOf("live")).map(({ at }) => at.getTime())).toEqual([laterMs]);
  });

  test("of two processes' health samples, the healthy one counts", async () => {
    doors = { ...WELL, rest: false };
    await record();
    clockAt(TEST_START_MS);
    doors = { ...WELL, stream: false };
    await record();
    expect(await rowsOf("sandbox")).toMatchObject([{ rest: true, stream: true }]);
  });

  test.each([
    ["two healthy samples", [10, 10], [12, 12], [12, 12]],
    ["the healthy sample counts", [12, 7], [10, 10], [10, 10]],
    ["of two samples with missed instruments, the one that missed fewer counts", [54, 50], [54, 52], [54, 52]],
  ])("health samples of two processes that expect different instruments merge: %s", async (_, one, other, merged) => {
    const { catalogue } = t.markets.live;
    const ordinary = catalogue.list().filter(({ assetClass }) => assetClass !== "test");
    for (const [expected = 0, fresh = 0] of [one, other, one]) {
      clockAt(TEST_START_MS);
      const live = createTestMarket("live", { ...catalogue, list: () => ordinary.slice(0, expected) });
      for (const { ticker } of ordinary.slice(0, fresh)) live.quote(ticker, 1.1, 1.2, clock.now());
      await record({ ...markets(), live: { ...markets().live, ...live, provider: "push" } });
    }
    expect(await rowsOf("live")).toMatchObject([{ expected: merged[0], fresh: merged[1] }]);
  });

  test("a venue without a provider, a closed market, a provider that offers nothing and a lost feed are told apart", async () => {
    const live = (given: Partial<WatchedMarket>) => record({ ...markets(), live: { ...markets().live, ...given } });
    const stateAt = async (ms: number) => (await rowsOf("live")).find(({ at }) => at.getTime() === ms)?.state;
    quoteAll(TEST_START_MS);
    await live({ provider: null });
    expect(await stateAt(TEST_START_MS)).toBe("not_bound");
    // Of two processes, the one with a provider knows better.
    clockAt(TEST_START_MS);
    await live({ feedProblem: () => "connection lost" });
    expect(await rowsOf("live")).toMatchObject([{ state: "down", away: true, expected: 54, fresh: 54 }]);
    clockAt(TEST_START_MS + MINUTE_MS);
    await live({ isOffered: () => false });
    expect(await stateAt(TEST_START_MS + MINUTE_MS)).toBe("no_data");
    const saturdayMs = Date.UTC(2026, 0, 10, 12);
    clockAt(saturdayMs);
    await live({ feedProblem: () => "connection lost" });
    expect(await stateAt(saturdayMs)).toBe("closed");
  });

  test("a failed health sample leaves its minute out, and the next one is taken", async () => {
    let broken = true;
    const knock = () => (broken ? Promise.reject(new Error("no such address")) : Promise.resolve(doors));
    const { minutes } = await record(markets(), knock);
    expect(await rowsOf("live")).toEqual([]);
    expect(logged).toMatchObject([{ level: 50, err: { message: "no such address" } }]);
    broken = false;
    await minutes(1);
    expect((await rowsOf("live")).map(({ at }) => at.getTime())).toEqual([TEST_START_MS + MINUTE_MS]);
  });

  test("a health sample is stored for both venues or for none", async () => {
    let broken = true;
    const { live, sandbox } = markets();
    const timeAt = (wallMs: number) => {
      if (broken) throw new Error("no such time");
      return wallMs;
    };
    const { minutes } = await record({ live, sandbox: { ...sandbox, timeAt } });
    expect([await rowsOf("live"), await rowsOf("sandbox")]).toEqual([[], []]);
    broken = false;
    await minutes(1);
    expect([(await rowsOf("live")).length, (await rowsOf("sandbox")).length]).toEqual([1, 1]);
  });

  test("a health sample in the future, written while the clock ran ahead, is deleted", async () => {
    clockAt(TEST_START_MS + 5 * MINUTE_MS);
    await record();
    const { history, checked } = await readHealth(t.db.pool, TEST_START_MS);
    expect([history.rest.at(-1), checked]).toEqual([{ minutes: 0, well: 0 }, null]);
    await Promise.all(running.splice(0).map(({ stop }) => stop()));
    clockAt(TEST_START_MS);
    await record();
    expect((await rowsOf("live")).map(({ at }) => at.getTime())).toEqual([TEST_START_MS]);
  });
});

describe("health history", () => {
  test("health history shows unhealthy minutes, and a gap where the service did not run", async () => {
    quoteAll(TEST_START_MS);
    const { minutes } = await record();
    await minutes(14);
    doors = { ...WELL, rest: false };
    await minutes(1);
    // A service that was down for half an hour runs as another process.
    await Promise.all(running.splice(0).map(({ stop }) => stop()));
    clockAt(TEST_START_MS + 3 * BUCKET_MS);
    doors = WELL;
    await record();
    const { history, checked } = await readHealth(t.db.pool, clock.now());
    expect(history.from_ms).toBe(TEST_START_MS + 3 * BUCKET_MS - 95 * BUCKET_MS);
    expect(history.rest.length).toBe(96);
    expect(history.rest.slice(-5)).toEqual([
      { minutes: 0, well: 0 },
      { minutes: 15, well: 15 },
      { minutes: 1, well: 0 },
      { minutes: 0, well: 0 },
      { minutes: 1, well: 1 },
    ]);
    expect(history.stream.at(-3)).toEqual({ minutes: 1, well: 1 });
    // Quotes are fresh for a minute after they arrive.
    expect(history.feeds.live.at(-4)).toEqual({ minutes: 15, well: 2, idle: 0, not_bound: 0, down: 13, lag_ms: 14 * MINUTE_MS });
    expect(checked).toEqual({ at_ms: clock.now(), rest: true, stream: true });
  });

  test("health history returns the latest sample for three minutes", async () => {
    await record();
    const { checked } = await readHealth(t.db.pool, TEST_START_MS + 3 * MINUTE_MS);
    expect(checked).toEqual({ at_ms: TEST_START_MS, rest: true, stream: true });
    expect((await readHealth(t.db.pool, TEST_START_MS + 3 * MINUTE_MS + 1)).checked).toBeNull();
  });
});

describe("health report", () => {
  test("the health report lists every instrument of both venues by calendar, and requests share one database read", async () => {
    let reads = 0;
    const db = {
      pool: {
        query: (...args: Parameters<typeof t.db.pool.query>) => {
          reads += 1;
          return t.db.pool.query(...args);
        },
      },
    };
    const report = createHealthReport();
    const sources = { markets: t.markets, db: db as unknown as Pick<typeof t.db, "pool">, clock, log: t.log, ready: t.ready };
    const answers = await Promise.all(Array.from({ length: 50 }, () => report(sources)));
    expect(reads).toBe(4);
    const [live, sandbox] = answers[0]?.venues ?? [];
    const tickers = live?.groups.flatMap(({ instruments }) => instruments.map(({ ticker }) => ticker));
    expect(tickers).toEqual(t.markets.live.catalogue.list().map(({ ticker }) => ticker));
    expect(live?.groups.map(({ calendar, sessions }) => [calendar, sessions?.length])).toEqual([
      ["forex", 2],
      ["metals", 8],
    ]);
    const states = (groups: typeof live) =>
      new Set(groups?.groups.flatMap(({ instruments }) => instruments.map(({ state }) => state)));
    expect([...states(live)]).toEqual(["not_bound"]);
    expect(states(sandbox).has("not_bound")).toBe(false);
    const flip = sandbox?.groups.find(({ calendar }) => calendar === "flip");
    expect([flip?.sessions, flip?.sessions_count]).toEqual([[], expect.any(Number)]);
    expect(sandbox?.groups.find(({ calendar }) => calendar === null)).toMatchObject({
      sessions: null,
      calendar_state: "unknown",
    });
    expect(JSON.stringify(answers[0]).length).toBeLessThan(40_000);
  });

  test("the health report omits history while the database is unavailable", async () => {
    const pool = { query: () => Promise.reject(new Error("away")) } as unknown as typeof t.db.pool;
    const report = await createHealthReport()({
      markets: t.markets,
      db: { pool },
      clock,
      log: createLog("silent"),
      ready: async () => ({ checks: { store: "the database does not answer", disk: null }, idle: {} }),
    });
    expect(report.failing).toEqual(["store"]);
    expect(report).toMatchObject({
      history: null,
      incidents: null,
      checked: null,
      venues: [{ venue: "live" }, { venue: "sandbox" }],
    });
  });
});
