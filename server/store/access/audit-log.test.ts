import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createAttempts } from "#lib/access/limits/attempts";
import { manualClock } from "#lib/clock";
import { AUDIT_RETENTION_S } from "#lib/contract/portal";
import { collectingLog } from "#lib/testing/collecting-log";
import { NO_PLAN_TERMS } from "#lib/testing/plan";
import { MINUTE_MS } from "#lib/units";
import { deleteExpiredEntries } from "#server/store/usage/retention";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { AuditSearchQuery, audit, COMMAND_LINE, NOT_SIGNED_IN } from "./audit";
import { createAuditEvents } from "./audit-events";
import { putPlan } from "./plan-admin";

/** Entries of strangers are stored off the request. */
const STORED = { timeout: 60_000 };
const ACCOUNT = "01890000-0000-7000-8000-000000000001";
const clock = manualClock(Date.UTC(2026, 0, 7, 12));
let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

const written = (action: string) => db.prisma.auditEntry.findMany({ where: { action }, orderBy: { id: "asc" } });
const write = (action: string) => audit(db.prisma, { ...COMMAND_LINE, accountId: null, action, target: "x" });

test.each([
  ["UPDATE audit_entry SET actor = 'somebody else'"],
  ["DELETE FROM audit_entry"],
  ["TRUNCATE audit_entry"],
  ["SET session_replication_role = replica; DELETE FROM audit_entry"],
])("the audit log only grows: %s is refused", async (statement) => {
  await write("test.kept");
  const before = await db.prisma.auditEntry.count();
  const client = await db.pool.connect();
  try {
    await expect(client.query(statement)).rejects.toMatchObject({ code: "42501", message: "the audit log is append-only" });
  } finally {
    client.release(true);
  }
  expect(await db.prisma.auditEntry.count()).toBe(before);
});

test("entries are deleted when their time is over, and cannot be before", async () => {
  const { access, change } = AUDIT_RETENTION_S;
  const insert = (action: string, ageS: number) =>
    db.pool.query(
      `INSERT INTO audit_entry (id, at, actor, action, target) VALUES (gen_random_uuid(), now() - make_interval(secs => $2), 'x', $1, 'x')`,
      [action, ageS],
    );
  await Promise.all([insert("access.old", access + 60), insert("access.young", access - 60)]);
  await Promise.all([insert("change.old", change + 60), insert("change.young", change - 60)]);
  for (const young of ["access.young", "change.young"])
    await expect(db.pool.query("DELETE FROM audit_entry WHERE action = $1", [young])).rejects.toMatchObject({ code: "42501" });
  await deleteExpiredEntries(db.pool);
  const left = await db.prisma.auditEntry.findMany({ where: { action: { endsWith: "ld" } } });
  expect(left).toEqual([]);
  expect([...(await written("access.young")), ...(await written("change.young"))]).toHaveLength(2);
});

test("a change whose entry cannot be written is not made", async () => {
  await db.pool.query("ALTER TABLE audit_entry ADD CONSTRAINT refused CHECK (action <> 'plan.change')");
  const form = { rest_per_minute: 1, rest_burst: 1, stream_connections: 1, subscriptions_per_connection: 1, live_access: false };
  await expect(putPlan({ db }, "unaudited", { ...form, ...NO_PLAN_TERMS, revision: null })).rejects.toThrow();
  expect(await db.prisma.plan.count({ where: { name: "unaudited" } })).toBe(0);
  await db.pool.query("ALTER TABLE audit_entry DROP CONSTRAINT refused");
});

let logged: Record<string, unknown>[];
let events: ReturnType<typeof createAuditEvents>;
beforeEach(() => {
  logged = [];
  events = createAuditEvents({ db, clock, attempts: createAttempts(clock), log: collectingLog(logged, "warn") });
});
const seen = (action: string, address = "192.0.2.1", accountId: string | null = null) => ({
  actor: NOT_SIGNED_IN,
  accountId,
  action,
  target: "x",
  address,
});

test("of the same events within a quarter of an hour the 1st, 10th and 100th are written, with their number", async () => {
  for (let time = 0; time < 120; time += 1) await events.note(seen("access.repeated"));
  expect((await written("access.repeated")).map(({ after }) => after)).toEqual([null, { times: 10 }, { times: 100 }]);
  await events.note(seen("access.repeated", "192.0.2.2"));
  await clock.advance(15 * MINUTE_MS);
  await events.note(seen("access.repeated"));
  expect(await written("access.repeated")).toHaveLength(5);
});

test("a flood of strangers adds few entries, the next one counts the rest, and it hides no account", async () => {
  const flood = (count: number) => {
    for (let n = 0; n < count; n += 1) events.noteStranger(seen("access.flood", `198.51.${n >> 8}.${n & 255}`));
  };
  const counting = async (count: number) => {
    await expect.poll(async () => (await written("access.flood")).length, STORED).toBe(count);
    const saying = (await written("access.flood")).filter(({ after }) => after !== null);
    return saying.map(({ accountId, after }) => ({ accountId, after }));
  };
  flood(1_000);
  events.noteStranger(seen("access.flood", "192.0.2.9", ACCOUNT));
  const first = { accountId: ACCOUNT, after: { left_out: 990 } };
  expect(await counting(11)).toEqual([first]);
  events.noteStranger(seen("access.flood", "203.0.113.1"));
  await clock.advance(MINUTE_MS);
  events.noteStranger(seen("access.flood", "203.0.113.2"));
  expect(await counting(12)).toEqual([first, { accountId: null, after: { left_out: 1 } }]);
  expect(logged).toEqual([]);
});

test("operators can filter for changes of incident notes", () => {
  expect(AuditSearchQuery.parse({ kind: "incident" })).toMatchObject({ kind: "incident" });
});
