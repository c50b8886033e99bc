import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { MailMessage } from "#lib/mail/messages";
import type { Repeating } from "#lib/repeat";
import { collectingLog } from "#lib/testing/collecting-log";
import { type WatchedClock, watchedClock } from "#lib/testing/watched-clock";
import { HOUR_MS, MINUTE_MS } from "#lib/units";
import { putAccount, takeLiveRequests } from "#server/store/access/accounts";
import { recordBackup } from "#server/store/market/backup-runs";
import { listNodes } from "#server/store/market/node-reports";
import { takeWarnings, warningsSince } from "#server/store/market/operator-warnings";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { createMember } from "#server/testing/portal-session";
import { startWarnings } from "./warnings";

const NOW_MS = Date.UTC(2026, 10, 23, 12);
const PORTAL = "https://portal.example.com";

let db: TestDatabase;
let clock: WatchedClock;
let away: boolean;
let mails: MailMessage[];
const running: Repeating[] = [];

beforeAll(async () => {
  db = await testDatabase();
});
beforeEach(async () => {
  clock = watchedClock();
  clock.set(NOW_MS);
  away = false;
  mails = [];
  for (const table of ["operator_warning", "node_report", "backup_run", "webhook", "status_event"])
    await db.pool.query(`DELETE FROM ${table}`);
  const at = new Date(NOW_MS).toISOString();
  await recordBackup(db.pool, { started_at: at, ended_at: at, bytes: 1, rows: 1, problem: null });
  await report({});
});
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ stop }) => stop()));
});
afterAll(() => db.close());

/** What the only node says of its checks. */
async function report(checks: Readonly<Record<string, string>>, quietSinceMs: number | null = null): Promise<void> {
  await db.pool.query("DELETE FROM node_report");
  const report = { version: "1", role: "all", started_ms: 0, checks, rates: null, connections: 0, disk: null };
  const quiet_since_ms = { live: quietSinceMs, sandbox: null };
  const more = { lag_ms: { live: null, sandbox: null }, quiet_since_ms, memory_bytes: 1, loop_lag_ms: 1 };
  await db.pool.query("INSERT INTO node_report (id, name, reported_at, report) VALUES (gen_random_uuid(), 'a', now(), $1)", [
    JSON.stringify({ ...report, ...more }),
  ]);
}

/** Runs the job as a node does, after it looked once. @returns lets minutes pass */
async function start(emails = ["ops@example.com"]) {
  const query = (...args: Parameters<typeof db.pool.query>) =>
    away ? Promise.reject(new Error("away")) : db.pool.query(...args);
  const options = { clock, log: collectingLog([], "warn"), send: (mail: MailMessage) => void mails.push(mail), portal: PORTAL };
  const pool = { query } as unknown as typeof db.pool;
  running.push(startWarnings({ ...options, db: { pool }, env: { ALERT_EMAIL: emails, BACKUP_MAX_AGE_DAYS: 7 } }));
  await clock.waitingFor(MINUTE_MS);
  return async (count: number) => {
    for (let passed = 0; passed < count; passed += 1) {
      await clock.advance(MINUTE_MS);
      await clock.waitingFor(MINUTE_MS);
    }
  };
}
const subjects = () => mails.map(({ subject }) => subject);

test("sends one email with the cause and the next step when a problem lasts, and one when it is over", async () => {
  await report({ feed_live: "The provider refused the login." });
  const minutes = await start(["ops@example.com", "boss@example.com"]);
  await minutes(2);
  expect(mails).toEqual([]);
  await minutes(60);
  expect(mails.map(({ to, subject }) => [to, subject])).toEqual([
    ["ops@example.com", "Problem: Live feed"],
    ["boss@example.com", "Problem: Live feed"],
  ]);
  expect(mails[0]?.text).toContain("Live feed: The provider refused the login.\nSince 2026-11-23 12:00 UTC");
  expect(mails[0]?.text).toContain(`Check the feed: ${PORTAL}/admin/feeds`);
  await report({});
  mails = [];
  await minutes(9);
  expect(mails).toEqual([]);
  await minutes(30);
  expect(subjects()).toEqual(["Over: Live feed", "Over: Live feed"]);
});

test("sends nothing for a problem that passes, and one email for a problem that comes and goes", async () => {
  await report({ disk: "1 MiB are free" });
  const minutes = await start();
  await report({});
  await minutes(30);
  expect(mails).toEqual([]);
  for (let times = 0; times < 6; times += 1) {
    await report({ disk: "1 MiB are free" });
    await minutes(1);
    await report({});
    await minutes(4);
  }
  expect(subjects()).toEqual(["Problem: Disk"]);
  await minutes(20);
  expect(subjects()).toEqual(["Problem: Disk", "Over: Disk"]);
});

const since = async () => warningsSince(db.pool, await listNodes(db.pool));
const at = (minute: number) => new Date(NOW_MS + minute * MINUTE_MS).toISOString();

test("a problem begins anew once a look found it well, also where operators are told once of both", async () => {
  await report({ disk: "1 MiB are free" });
  const minutes = await start();
  expect(await since()).toEqual({ disk: at(0) });
  await report({});
  await minutes(4);
  expect(await since()).toEqual({});
  await report({ disk: "1 MiB are free" });
  await minutes(4);
  expect(mails).toMatchObject([{ subject: "Problem: Disk", text: expect.stringContaining("Since 2026-11-23 12:05 UTC") }]);
  await report({});
  await minutes(3);
  await report({ disk: "1 MiB are free" });
  await minutes(2);
  expect(await since()).toEqual({ disk: at(12) });
  await report({});
  await minutes(20);
  expect(subjects()).toEqual(["Problem: Disk", "Over: Disk"]);
  // Its end is told of the start that was told.
  expect(mails[1]?.text).toContain("Since 2026-11-23 12:05 UTC, over since 2026-11-23 12:13 UTC.");
});

test("a feed and its prices fail since the last fresh price of the venue, not since a look saw it", async () => {
  const minutes = await start();
  // One instrument is late: others have prices, so that only looks know since when.
  await report({ prices_live: "1 of 2 open instruments have no fresh price: XAUUSD" });
  await minutes(2);
  expect(await since()).toEqual({ prices_live: at(1) });
  await report({ feed_live: "connection lost", prices_live: "All 2 open instruments have no fresh price" }, NOW_MS + 90_000);
  const lastPrice = new Date(NOW_MS + 90_000).toISOString();
  // No look saw it yet.
  expect(await since()).toEqual({ feed_live: lastPrice, prices_live: lastPrice });
  await minutes(4);
  expect(await since()).toEqual({ feed_live: lastPrice, prices_live: lastPrice });
  for (const { text } of mails) expect(text).toContain("Since 2026-11-23 12:01 UTC");
  expect(subjects()).toEqual(["Problem: Live prices", "Problem: Live feed"]);
});

test("reports an outdated backup and problems that begin together in one email", async () => {
  await db.pool.query("DELETE FROM backup_run");
  await report({ store: "the database does not answer" });
  const minutes = await start();
  await minutes(10);
  expect(subjects()).toHaveLength(1);
  expect(mails[0]?.text).toContain("Backup: No backup yet.");
  expect(mails[0]?.text).toContain("Database: the database does not answer");
});

test("sends one email when the database does not answer, and one when it is back", async () => {
  const minutes = await start();
  away = true;
  await minutes(30);
  expect(subjects()).toEqual(["Problem: Database"]);
  // No page of the portal opens now, except those of the docs.
  expect(mails[0]?.text).toContain(`Find the cause: ${PORTAL}/docs/operate#when-the-database-is-unavailable`);
  away = false;
  await minutes(30);
  expect(subjects()).toEqual(["Problem: Database", "Over: Database"]);
});

test("of several nodes one tells each warning", async () => {
  const failing = [{ name: "disk", problems: ["only 1.0 GiB free"], began: null }];
  const take = async (nowMs: number) => {
    const taken = await Promise.all([takeWarnings(db.pool, nowMs, failing), takeWarnings(db.pool, nowMs, failing)]);
    return taken.flat();
  };
  expect(await take(NOW_MS)).toEqual([]);
  expect(await take(NOW_MS + 3 * MINUTE_MS)).toMatchObject([{ name: "disk", until: null }]);
  expect(await take(NOW_MS + 4 * MINUTE_MS)).toEqual([]);
  const over = (await Promise.all([0, 1].map(() => takeWarnings(db.pool, NOW_MS + HOUR_MS, [])))).flat();
  expect(over).toMatchObject([{ name: "disk", until: new Date(NOW_MS + 4 * MINUTE_MS) }]);
});

test("sends the events to webhooks of operators, and to no others", async () => {
  for (const [name, operator] of [
    ["boss", true],
    ["eva", false],
  ] as const) {
    const { id: accountId } = await putAccount({ db, clock }, name);
    const { id } = await createMember(db, accountId, { email: `${name}@example.com` });
    await db.prisma.user.update({ where: { id }, data: { operator } });
    const url = `https://${name}.example.com`;
    await db.prisma.webhook.create({ data: { accountId, url, secret: new Uint8Array(1), createdAt: new Date(0) } });
  }
  await report({ feed_live: "connection lost" });
  const minutes = await start([]);
  await minutes(5);
  await report({});
  await minutes(15);
  const told = await db.prisma.webhookDelivery.findMany({ include: { webhook: true }, orderBy: { createdAt: "asc" } });
  expect(told.map(({ type, webhook }) => [type, webhook.url])).toEqual([
    ["warning.opened", "https://boss.example.com"],
    ["warning.resolved", "https://boss.example.com"],
  ]);
  expect(JSON.parse(told[0]?.body ?? "")).toMatchObject({
    data: { check: "feed_live", problem: "connection lost", ends_at: null },
  });
  expect(mails).toEqual([]);
});

test("tells ALERT_EMAIL which accounts ask for live access, each once and at most every ten minutes", async () => {
  const asks = (name: string, more: object = {}) =>
    db.prisma.account.create({ data: { name, liveAskedAt: new Date(clock.now()), ...more } });
  await asks("granted already", { liveAccess: true });
  await asks("Acme");
  const minutes = await start();
  await minutes(1);
  expect(mails).toMatchObject([{ to: "ops@example.com", subject: "An account asks for live access" }]);
  expect(mails[0]?.text).toContain(`  Acme\n\nGrant or decline it: ${PORTAL}/admin/accounts?waiting=true\n`);
  mails = [];
  for (let n = 10; n < 35; n += 1) await asks(`bulk ${n}`);
  await minutes(8);
  expect(mails).toEqual([]);
  await minutes(3);
  expect(subjects()).toEqual(["25 accounts ask for live access"]);
  expect(mails[0]?.text).toContain("  bulk 29\n  and 5 more\n");
  await minutes(30);
  expect(mails.length).toBe(1);
  // Whoever asks again after a decision is named again. Of two nodes, one takes it.
  await db.prisma.account.update({ where: { name: "Acme" }, data: { liveAskedAt: new Date(clock.now()) } });
  const taken = await Promise.all([takeLiveRequests(db.pool, clock.now()), takeLiveRequests(db.pool, clock.now())]);
  expect(taken.flat()).toEqual(["Acme"]);
});
