import { afterAll, beforeAll, expect, test } from "vitest";
import type { CallCount } from "#lib/access/usage/counts";
import type { BillingSums } from "#lib/contract/portal-billing";
import { type Month, monthStartMs } from "#lib/domain/month";
import { DAY_MS, HOUR_MS } from "#lib/units";
import { putAccount } from "#server/store/access/accounts";
import { billingCsv, billingReport } from "#server/store/usage/billing";
import { closeMonths, monthReport } from "#server/store/usage/months";
import { writeCalls, writeStreams } from "#server/store/usage/store";
import { signedInBrowser } from "#server/testing/portal-browser";
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
const streams = (accountId: string, atMs: number, connections: number, messages: number) => ({
  accountId,
  keyId: accountId,
  atMs,
  connections,
  subscriptions: 1,
  messages,
  merged: 0,
});
const accountOn = async (name: string, plan: string) => (await putAccount(t.keyContext, name, { plan })).id;

/** What the daily buckets have of a month. */
async function metered(fromMs: number, toMs: number): Promise<BillingSums> {
  const { rows } = await t.db.pool.query(
    `SELECT (SELECT sum(calls)::float8 FROM usage_bucket WHERE grain = 'day' AND at >= $1 AND at < $2) AS calls,
            (SELECT sum(units)::float8 FROM usage_bucket WHERE grain = 'day' AND at >= $1 AND at < $2) AS units,
            (SELECT sum(connections)::float8 FROM stream_usage_bucket WHERE grain = 'day' AND at >= $1 AND at < $2) AS connections,
            (SELECT sum(messages)::float8 FROM stream_usage_bucket WHERE grain = 'day' AND at >= $1 AND at < $2) AS messages`,
    [new Date(fromMs), new Date(toMs)],
  );
  return rows[0];
}

/** The sums of the lines of a month's CSV. */
async function summedCsv(month: Month): Promise<BillingSums> {
  const [head = "", ...lines] = (await billingCsv(t.db.pool, month)).trimEnd().split("\r\n");
  const at = (name: string) => head.split(",").indexOf(name);
  const sum = (name: string) => lines.reduce((total, line) => total + Number(line.split(",")[at(name)]), 0);
  return { calls: sum("calls"), units: sum("units"), connections: sum("connections"), messages: sum("messages") };
}

test("a month has what was metered, split where the plan changed, is closed once, and never changes after that", async () => {
  const [ada, bob] = [await accountOn("ada", "free"), await accountOn("=bob", "pro")];
  await writeCalls(t.db.pool, [
    calls(ada, JANUARY_MS, 3, 7),
    calls(ada, JANUARY_MS + DAY_MS, 1, 2, "ticks"),
    calls(bob, FEBRUARY_MS - 1, 5, 5),
  ]);
  await writeStreams(t.db.pool, [
    streams(ada, JANUARY_MS + HOUR_MS, 1, 40),
    streams(ada, JANUARY_MS + DAY_MS, 2, 300),
    streams(bob, FEBRUARY_MS - 1, 4, 5_000),
    streams(bob, FEBRUARY_MS, 8, 60_000),
  ]);
  await t.db.prisma.account.update({ where: { id: ada }, data: { planName: "standard" } });
  await writeCalls(t.db.pool, [calls(ada, FEBRUARY_MS - 1, 2, 20), calls(bob, FEBRUARY_MS, 9, 9)]);

  await writeStreams(t.db.pool, [streams(ada, FEBRUARY_MS - HOUR_MS, 16, 7)]);

  const open = await billingReport(t.db.pool, "2026-01");
  expect(open).toMatchObject({ closed_at: null, total: { calls: 11, units: 34, connections: 23, messages: 5_347 } });
  expect(open.items.map(({ account, plan, units }) => [account, plan, units])).toEqual([
    ["=bob", "pro", 5],
    ["ada", "free", 9],
    ["ada", "standard", 20],
  ]);
  const january = await metered(JANUARY_MS, FEBRUARY_MS);
  expect([open.total, await summedCsv("2026-01")]).toEqual([january, january]);

  t.clock.set(FEBRUARY_MS + HOUR_MS - 1);
  await closeMonths(t.db.pool, t.clock);
  expect((await billingReport(t.db.pool, "2026-01")).closed_at).toBeNull();
  t.clock.set(FEBRUARY_MS + HOUR_MS);
  // Two nodes at the same moment.
  await Promise.all([closeMonths(t.db.pool, t.clock), closeMonths(t.db.pool, t.clock)]);
  const closed = await billingReport(t.db.pool, "2026-01");
  expect(closed).toEqual({ ...open, closed_at: new Date(FEBRUARY_MS + HOUR_MS).toISOString() });
  expect(await metered(JANUARY_MS, FEBRUARY_MS)).toEqual(january);
  expect(await summedCsv("2026-01")).toEqual(january);

  // Usage that comes after it goes with the month that is open.
  await writeCalls(t.db.pool, [calls(bob, FEBRUARY_MS - 1, 1, 100)]);
  await writeStreams(t.db.pool, [streams(bob, FEBRUARY_MS - 1, 32, 800_000)]);
  expect(await billingReport(t.db.pool, "2026-01")).toEqual(closed);
  const february = { calls: 10, units: 109, connections: 40, messages: 860_000 };
  expect((await billingReport(t.db.pool, "2026-02")).total).toEqual(february);
  expect(await summedCsv("2026-02")).toEqual(february);
  const all = await metered(JANUARY_MS, FEBRUARY_MS + DAY_MS);
  expect(Object.entries(all).map(([name, sum]) => [name, sum - january[name as keyof BillingSums]])).toEqual(
    Object.entries(february),
  );
  for (const statement of ["UPDATE closed_month_usage SET units = 0", "DELETE FROM closed_month", "TRUNCATE closed_month_usage"])
    await expect(t.db.pool.query(statement)).rejects.toThrow("a closed month does not change");
  t.clock.set(monthStartMs("2026-04") + HOUR_MS);
  await closeMonths(t.db.pool, t.clock);
  expect((await billingReport(t.db.pool, "2026-02")).total).toEqual(february);
  expect(await billingReport(t.db.pool, "2026-03")).toMatchObject({ closed_at: expect.any(String), items: [] });

  const [head, first, ...others] = (await billingCsv(t.db.pool, "2026-01")).trimEnd().split("\r\n");
  expect(head).toBe("month,closed_at,account_id,account,plan,operation,calls,units,connections,messages");
  // A program of tables must not take a name for a formula.
  expect(first).toBe(`2026-01,${closed.closed_at},${bob},'=bob,pro,klines,5,5,0,0`);
  expect(others).toHaveLength(6);
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

test("a customer who deletes the account is billed under its name, for all that was metered, open and closed", async () => {
  const july = monthStartMs("2026-07");
  t.clock.set(july + DAY_MS);
  const { accountId, browser } = await signedInBrowser(t, "leaving", { plan: "standard" });
  await writeCalls(t.db.pool, [calls(accountId, july, 3, 7)]);
  await writeStreams(t.db.pool, [streams(accountId, july, 2, 50)]);
  const open = await billingReport(t.db.pool, "2026-07");
  expect(open.items).toMatchObject([{ account: "leaving", plan: "standard", calls: 3, units: 7, connections: 2, messages: 50 }]);
  expect((await browser.send("DELETE /account", { body: { confirm: `${accountId}@example.com` } })).status).toBe(200);
  expect(await billingReport(t.db.pool, "2026-07")).toEqual(open);

  // What a process had counted before, and wrote after that.
  await writeCalls(t.db.pool, [calls(accountId, july + HOUR_MS, 1, 10)]);
  const later = await billingReport(t.db.pool, "2026-07");
  expect(later.total).toMatchObject({ calls: 4, units: 17 });
  expect(new Set(later.items.map(({ account }) => account))).toEqual(new Set(["leaving"]));
  t.clock.set(monthStartMs("2026-08") + HOUR_MS);
  await closeMonths(t.db.pool, t.clock);
  const { closed_at, ...closed } = await billingReport(t.db.pool, "2026-07");
  expect({ ...closed, closed_at: null }).toEqual(later);
  expect(closed_at).not.toBeNull();
});
