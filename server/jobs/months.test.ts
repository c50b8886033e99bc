import { afterAll, beforeAll, expect, test } from "vitest";
import type { CallCount } from "#lib/access/usage/counts";
import { monthStartMs } from "#lib/domain/month";
import { DAY_MS, HOUR_MS } from "#lib/units";
import { putAccount } from "#server/store/access/accounts";
import { billingCsv, billingReport } from "#server/store/usage/billing";
import { closeMonths, monthReport } from "#server/store/usage/months";
import { writeCalls, writeStreams } from "#server/store/usage/store";
import { createMember } from "#server/testing/portal-session";
import { type TestRuntime, testRuntime } from "#server/testing/runtime";
import { startMonths } from "./months";

let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

const JANUARY_MS = monthStartMs("2026-01");
const FEBRUARY_MS = monthStartMs("2026-02");

const calls = (accountId: string, atMs: number, count: number, units: number, operation = "klines"): CallCount => ({
  accountId,
  keyId: accountId,
  operation,
  code: 0,
  atMs,
  calls: count,
  units,
  latency: [],
});
const streams = (accountId: string, atMs: number, messages: number) => ({
  accountId,
  keyId: accountId,
  atMs,
  connections: 1,
  subscriptions: 1,
  messages,
  merged: 0,
});
const accountOn = async (name: string, plan: string) => (await putAccount(t.keyContext, name, { plan })).id;

/** What the daily buckets have of the calls of a month. */
async function metered(fromMs: number, toMs: number) {
  const { rows } = await t.db.pool.query(
    `SELECT sum(calls)::float8 AS calls, sum(units)::float8 AS units FROM usage_bucket WHERE grain = 'day' AND at >= $1 AND at < $2`,
    [new Date(fromMs), new Date(toMs)],
  );
  return rows[0];
}

test("a month has what was metered, split where the plan changed, is closed once, and never changes after that", async () => {
  const [ada, bob] = [await accountOn("ada", "free"), await accountOn("=bob", "pro")];
  await writeCalls(t.db.pool, [
    calls(ada, JANUARY_MS, 3, 7),
    calls(ada, JANUARY_MS + DAY_MS, 1, 2, "ticks"),
    calls(bob, FEBRUARY_MS - 1, 5, 5),
  ]);
  await writeStreams(t.db.pool, [streams(ada, JANUARY_MS + HOUR_MS, 40)]);
  await t.db.prisma.account.update({ where: { id: ada }, data: { planName: "standard" } });
  await writeCalls(t.db.pool, [calls(ada, FEBRUARY_MS - 1, 2, 20), calls(bob, FEBRUARY_MS, 9, 9)]);

  const open = await billingReport(t.db.pool, "2026-01");
  expect(open).toMatchObject({ closed_at: null, total: { calls: 11, units: 34, connections: 1, messages: 40 } });
  expect(open.items.map(({ account, plan, units }) => [account, plan, units])).toEqual([
    ["=bob", "pro", 5],
    ["ada", "free", 9],
    ["ada", "standard", 20],
  ]);
  expect(await metered(JANUARY_MS, FEBRUARY_MS)).toEqual({ calls: 11, units: 34 });

  t.clock.set(FEBRUARY_MS + HOUR_MS - 1);
  await closeMonths(t.db.pool, t.clock);
  expect((await billingReport(t.db.pool, "2026-01")).closed_at).toBeNull();
  t.clock.set(FEBRUARY_MS + HOUR_MS);
  // Two nodes at the same moment.
  await Promise.all([closeMonths(t.db.pool, t.clock), closeMonths(t.db.pool, t.clock)]);
  const closed = await billingReport(t.db.pool, "2026-01");
  expect(closed).toEqual({ ...open, closed_at: new Date(FEBRUARY_MS + HOUR_MS).toISOString() });

  // Usage that comes after it goes with the month that is open.
  await writeCalls(t.db.pool, [calls(bob, FEBRUARY_MS - 1, 1, 100)]);
  expect(await billingReport(t.db.pool, "2026-01")).toEqual(closed);
  expect((await billingReport(t.db.pool, "2026-02")).total).toMatchObject({ calls: 10, units: 109 });
  for (const statement of ["UPDATE closed_month_usage SET units = 0", "DELETE FROM closed_month", "TRUNCATE closed_month_usage"])
    await expect(t.db.pool.query(statement)).rejects.toThrow("a closed month does not change");
  t.clock.set(monthStartMs("2026-04") + HOUR_MS);
  await closeMonths(t.db.pool, t.clock);
  expect((await billingReport(t.db.pool, "2026-02")).total).toMatchObject({ calls: 10, units: 109 });
  expect(await billingReport(t.db.pool, "2026-03")).toMatchObject({ closed_at: expect.any(String), items: [] });

  const [head, first, ...others] = (await billingCsv(t.db.pool, "2026-01")).trimEnd().split("\r\n");
  expect(head).toBe("month,closed_at,account_id,account,plan,operation,calls,units,connections,messages");
  // A program of tables must not take a name for a formula.
  expect(first).toBe(`2026-01,${closed.closed_at},${bob},'=bob,pro,klines,5,5,0,0`);
  expect(others).toHaveLength(4);
});

test("an account sees the units of its month day by day, added up, until today, and a past month whole", async () => {
  const may = monthStartMs("2026-05");
  t.clock.set(may + 2 * DAY_MS + HOUR_MS);
  await t.db.prisma.plan.update({ where: { name: "pro" }, data: { monthUnits: 1_000, monthHard: true } });
  const [kim, lou] = [await accountOn("kim", "pro"), await accountOn("lou", "pro")];
  await writeCalls(t.db.pool, [
    calls(kim, may - 1, 1, 100),
    calls(kim, may, 2, 30),
    calls(kim, may + HOUR_MS, 1, 5, "ticks"),
    calls(kim, may + 2 * DAY_MS, 1, 7),
    calls(lou, may, 1, 500),
  ]);
  const days = async (month: string) => (await monthReport(t.db.pool, kim, month, t.clock.now())).items;
  expect(await monthReport(t.db.pool, kim, "2026-05", t.clock.now())).toMatchObject({
    quota: 1_000,
    hard: true,
    first_month: "2026-05",
    current_month: "2026-05",
  });
  expect((await days("2026-05")).map(({ units, total }) => [units, total])).toEqual([
    [35, 35],
    [0, 35],
    [7, 42],
  ]);
  expect(await days("2026-04")).toHaveLength(30);
  expect((await days("2026-04")).at(-1)).toEqual({ at: "2026-04-30T00:00:00.000Z", units: 100, total: 100 });
  expect(await days("2026-06")).toEqual([]);
});

test("the webhooks of operators, and no others, are told once that a month was closed", async () => {
  const [boss, eva] = [await accountOn("boss", "free"), await accountOn("eva", "free")];
  const { id } = await createMember(t.db, boss, { email: "boss@example.com" });
  await t.db.prisma.user.update({ where: { id }, data: { operator: true } });
  for (const accountId of [boss, eva])
    await t.db.prisma.webhook.create({
      data: { accountId, url: "https://a.example.com", secret: new Uint8Array(1), createdAt: new Date(0) },
    });
  t.clock.set(monthStartMs("2026-06") + HOUR_MS);
  const run = () => startMonths(t).stop();
  await Promise.all([run(), run()]);
  await run();
  const sent = await t.db.prisma.webhookDelivery.findMany({ include: { webhook: true } });
  const told = sent.map(({ type, body, webhook }) => [webhook.accountId, type, JSON.parse(body).data.month]).sort();
  expect(told).toEqual([
    [boss, "usage.month_closed", "2026-04"],
    [boss, "usage.month_closed", "2026-05"],
  ]);
});
