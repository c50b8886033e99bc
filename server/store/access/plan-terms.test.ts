import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { oldestOf } from "#lib/market/oldest";
import { DAY_MS } from "#lib/units";
import { type AccountChange, putAccount } from "#server/store/access/accounts";
import { createUsage } from "#server/store/usage/create-usage";
import { type Answer, failed, TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { ENDLESS_PLAN } from "#server/testing/stream-keys";

let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

let plans = 0;
/** A key of a new account on a new plan. */
async function keyOn(terms: object): Promise<{ key: string; plan: string }> {
  plans += 1;
  const plan = `terms-${plans}`;
  await t.db.prisma.plan.create({ data: { ...ENDLESS_PLAN, name: plan, ...terms } });
  return { key: (await t.issueKey({ plan })).text, plan };
}

const INSTRUMENTS = "/api/v1/market/instruments";
const FILE = "/api/v1/market/files/klines-EURUSD-2026-10";
const get = (key: string, path = INSTRUMENTS) => t.ask(path, { key });
const left = ({ headers }: Answer) => Number(headers.get("x-ratelimit-remaining"));
const monthOf = async (key: string) => (await get(key, "/api/v1/key")).body.data.month;

describe("a monthly quota", () => {
  test("a hard quota is what its account can use, and what it refuses says when it begins again and costs nothing", async () => {
    const { key, plan } = await keyOn({ monthUnits: 5, monthHard: true });
    for (let call = 0; call < 4; call += 1) expect((await get(key)).status).toBe(200);
    const klines = "/api/v1/market/klines?ticker=EURUSD&timeframe=H1&limit=2000";
    const refused = await get(key, klines);
    expect(refused).toMatchObject(failed("quota_exceeded", { resets_at: "2026-02-01T00:00:00.000Z", max: 5 }));
    expect(refused.body.data.detail).toBe(`The plan "${plan}" has 5 units a month, of which 1 are left. This call costs 2.`);
    const seconds = (Date.UTC(2026, 1) - t.clock.now()) / 1_000;
    expect(refused.headers.get("retry-after")).toBe(String(Math.ceil(seconds)));
    // Neither of the month, nor of the minute.
    expect(refused.headers.get("x-ratelimit-cost")).toBe("0");
    const last = await get(key);
    expect(last.status).toBe(200);
    expect(left(refused) - left(last)).toBe(1);
    expect((await get(key)).status).toBe(429);
    expect(await monthOf(key)).toEqual({ units: 5, hard: true, used: 5, remaining: 0, resets_at: "2026-02-01T00:00:00.000Z" });
  });

  test("a file that costs more than is left of a hard quota is refused, and takes the unit of its request alone", async () => {
    const { key, plan } = await keyOn({ monthUnits: 5, monthHard: true });
    // Each costs three.
    const [file, refused] = [await get(key, FILE), await get(key, FILE)];
    expect([file.status, file.headers.get("x-ratelimit-cost")]).toEqual([200, "3"]);
    expect(refused).toMatchObject(failed("quota_exceeded"));
    expect(refused.body.data.detail).toBe(`The plan "${plan}" has 5 units a month, of which 2 are left. This call costs 3.`);
    expect([refused.headers.get("x-ratelimit-cost"), left(file) - left(refused)]).toEqual(["1", 1]);
    expect(await monthOf(key)).toMatchObject({ used: 4, remaining: 1 });
  });

  test("a soft quota refuses nothing, and a plan without one has no month", async () => {
    const { key } = await keyOn({ monthUnits: 1 });
    for (let call = 0; call < 3; call += 1) expect((await get(key)).status).toBe(200);
    expect(await monthOf(key)).toMatchObject({ units: 1, hard: false, used: 3, remaining: 0 });
    expect(await monthOf((await keyOn({})).key)).toBeNull();
  });

  test("it counts what other processes have written, and is not forgotten by a restart", async () => {
    const { key } = await keyOn({ monthUnits: 10, monthHard: true });
    await get(key);
    const principal = await t.access.verify(key, "203.0.113.7");
    const other = createUsage({ pool: t.db.pool, clock: t.clock, log: t.log, metrics: t.metrics });
    other.count(principal, "klines", 0, 1, 7);
    await other.stop();
    await t.usage.flush();
    expect(await monthOf(key)).toMatchObject({ used: 8 });
    const restarted = createUsage({ pool: t.db.pool, clock: t.clock, log: t.log, metrics: t.metrics });
    t.access.apply({ kind: "everything" });
    const again = await t.access.verify(key, "203.0.113.7");
    expect(restarted.months.use(again).units).toBe(8);
    restarted.months.require(again, 2);
    expect(() => restarted.months.require(again, 3)).toThrow("of which 2 are left");
    await restarted.stop();
  });

  test("the next month begins with nothing used", async () => {
    const { key } = await keyOn({ monthUnits: 1, monthHard: true });
    expect([(await get(key)).status, (await get(key)).status]).toEqual([200, 429]);
    t.clock.set(Date.UTC(2026, 1));
    expect([(await get(key)).status, (await get(key)).status]).toEqual([200, 429]);
    t.clock.set(TEST_START_MS);
  });
});

describe("the days of history", () => {
  test("history is whole UTC days before today", () => {
    expect(oldestOf(null, TEST_START_MS)).toBe(0);
    expect(new Date(oldestOf(2, TEST_START_MS)).toISOString()).toBe("2026-01-05T00:00:00.000Z");
  });

  test("data from before it is refused with the earliest time, however it is asked for", async () => {
    const { key } = await keyOn({ historyDays: 30 });
    const oldestMs = oldestOf(30, TEST_START_MS);
    const [early, oldest] = [(oldestMs - DAY_MS) / 1_000, oldestMs / 1_000];
    const klines = "/api/v1/market/klines?ticker=EURUSD&timeframe=D1";
    for (const path of [
      `${klines}&from=${early}`,
      `${klines}&to=${early}`,
      `${klines}&from=${early}&format=csv`,
      `${klines}&as_of=${early}`,
      `${klines}&from=${early}&price=ask`,
      `/api/v1/market/ticks?ticker=EURUSD&from=${oldestMs - 1}`,
      `/api/v1/market/ticks?ticker=EURUSD&to=${oldestMs - 1}`,
      `/api/v1/market/ticks?ticker=EURUSD&cursor=${oldestMs - 1}.0`,
      `/api/v1/market/files?ticker=EURUSD&type=klines&from=${early}`,
      "/api/v1/market/files/klines-EURUSD-2025-11",
    ]) {
      const answer = await get(key, path);
      if (!path.includes("cursor"))
        expect(answer, path).toMatchObject(failed("not_in_plan", { oldest: new Date(oldestMs).toISOString() }));
      else expect(answer.status, path).toBeGreaterThanOrEqual(400);
    }
    expect((await get(key, `${klines}&from=${oldest}`)).status).toBe(200);
    expect((await get(key, `${klines}&limit=5000`)).body.data.from).toBeGreaterThanOrEqual(oldest);
  });
});

test("an account reads no more history than its plan and its own number of days both include", async () => {
  const { text } = await t.issueKey({ account: "bounded" });
  const plan = `terms-${++plans}`;
  await t.db.prisma.plan.create({ data: { ...ENDLESS_PLAN, name: plan, historyDays: 30 } });
  const daysOf = async (change: AccountChange) => {
    await putAccount(t.keyContext, "bounded", change);
    await t.settle();
    return (await get(text, "/api/v1/key")).body.data.history_days;
  };
  expect(await daysOf({})).toBeNull();
  expect(await daysOf({ historyDays: 7 })).toBe(7);
  expect(await daysOf({ plan })).toBe(7);
  const early = (oldestOf(7, TEST_START_MS) - DAY_MS) / 1_000;
  expect(await get(text, `/api/v1/market/klines?ticker=EURUSD&timeframe=D1&from=${early}`)).toMatchObject(
    failed("not_in_plan", {}),
  );
  expect(await daysOf({ historyDays: 90 })).toBe(30);
  expect(await daysOf({ historyDays: null })).toBe(30);
});

test("an instrument is readable when the plan and the account both permit it", async () => {
  const { key, plan } = await keyOn({ permissions: { kind: "asset_classes", values: ["metals"] } });
  const tickers = async (text: string) => (await get(text)).body.data.items.map(({ ticker }: { ticker: string }) => ticker);
  expect(await tickers(key)).toContain("XAUUSD");
  expect(await tickers(key)).not.toContain("EURUSD");
  const permissions = { kind: "tickers" as const, values: ["EURUSD", "XAGUSD"] };
  expect(await tickers((await t.issueKey({ plan, permissions })).text)).toEqual(["XAGUSD"]);
});
