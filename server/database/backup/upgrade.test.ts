import { text } from "node:stream/consumers";
import { to as copyTo } from "pg-copy-streams";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEFAULT_BRAND } from "#lib/brand";
import { type ManualClock, manualClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { createMetrics } from "#lib/metrics";
import { HOUR_MS } from "#lib/units";
import { migrate, migrationNames } from "#prisma/migrate";
import { readEnv } from "#server/env";
import { createAccess } from "#server/store/access/create-access";
import { type Database, openDatabase } from "#server/store/database/db";
import { createKlineStore } from "#server/store/klines/kline-store";
import { overridesOf } from "#server/store/market/calendar-admin";
import { usagePoints } from "#server/store/usage/query";
import { checkSignIn } from "#server/store/users/sign-in";
import { acceptTotp, totpOf } from "#server/store/users/totp-code";
import { type BackupBench, backupBench, contentOf, query, shapeOf } from "#server/testing/backups";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { TEST_SECRET } from "#server/testing/runtime";
import { startUsers } from "#server/users";
import { withConnection } from "./connection";
import { End, Part, Sum } from "./format";
import { openBackup } from "./open";

/** A database that Spotwire 0.1.0 made, filled and backed up; the README beside it says how. */
const BACKUP = "lib/testing/fixtures/release-0.1.0.backup";
/** The time of the backup. */
const NOW_MS = Date.UTC(2026, 10, 23, 10, 49);
/** What the backup knows only hashes of. */
const KEYS = {
  reader: "sw_live_1V1483t5w0JQvKrCeKZikpNb12ebnL3WdC1U",
  feeder: "sw_live_qOTee6Eln2Mg6eWIVvxtXLBAsJ5F2Q4Qj5IO",
  bound: "sw_test_4TQrI4SMVBJj8rQleymDVxo7LdwGs52W1EZV",
  revoked: "sw_live_dluNsjAEpyqVzqSXJ4vPmlxIn7VHCY3SZb1w",
  rotated: "sw_live_Vd4hvvWdngDIRp2RRDMjkPvUdBokez3HfwIf",
};
const AUTHENTICATOR_SECRET = "EHKTNZCJHH4VEMS6RIIIEJKXZ73JJAET";
/** A restore empties these: sessions, and links in emails. */
const VOIDED = new Set(["portal_session", "one_time_token"]);

let bench: BackupBench;
let url: string;
let db: Database;
let clock: ManualClock;
beforeAll(async () => {
  bench = await backupBench();
  url = await bench.emptyDatabase();
  await bench.command("restore", url, BACKUP);
  clock = manualClock(NOW_MS);
  db = await openDatabase({ url, poolSize: 3, waitS: 0, clock, log: createLog("silent") });
});
afterAll(async () => {
  await db?.close();
  await bench.close();
});

/** Each table of the backup: its columns, and its rows as COPY writes them, sorted. */
async function tablesOfBackup(): Promise<(Part & { rows: string[] })[]> {
  const { reader, close } = await openBackup(BACKUP, { secret: TEST_SECRET, unverified: false, passphrase: undefined });
  const tables: (Part & { rows: string[] })[] = [];
  for (;;) {
    const part = await reader.line(Part.or(End));
    if (!("table" in part)) break;
    tables.push({ ...part, rows: sorted(await text(reader.rows())) });
    await reader.line(Sum);
  }
  close();
  return tables;
}
const sorted = (rows: string) => rows.split("\n").filter(Boolean).sort();

test("a database of 0.1.0 has every migration of this version, and the tables of a new one", async () => {
  const fresh: TestDatabase = await testDatabase();
  const { partitions: _, migrations, indexes, ...shape } = await shapeOf(url);
  const wanted = await shapeOf(fresh.url);
  await fresh.close();
  expect(migrations.map(({ migration_name }) => migration_name)).toEqual(await migrationNames());
  expect(shape).toMatchObject({ columns: expect.any(Array), functions: wanted.functions });
  const lasting = (rows: readonly Record<string, unknown>[], key: string) =>
    rows.filter((row) => !/^kline_y\d/.test(String(row[key])));
  expect(lasting(shape.columns, "table_name")).toEqual(lasting(wanted.columns, "table_name"));
  expect(lasting(shape.constraints, "table")).toEqual(lasting(wanted.constraints, "table"));
  expect(indexes.length).toBeGreaterThanOrEqual(wanted.indexes.length);
});

test("every row of 0.1.0 is there in every column, but those that open the portal", async () => {
  const tables = await tablesOfBackup();
  const counts = Object.fromEntries(tables.map(({ table, rows }) => [table, rows.length]));
  // What makes the comparison worth something.
  expect(counts).toMatchObject({
    account: 5,
    api_key: 7,
    audit_entry: 28,
    kline_y2026: 322,
    kline_previous: 20,
    usage_bucket: 12,
  });
  await withConnection(url, async (client) => {
    for (const { table, columns, rows } of tables) {
      const list = columns.map((column) => `"${column}"`).join(", ");
      const stored = sorted(await text(client.query(copyTo(`COPY (SELECT ${list} FROM "${table}") TO STDOUT`))));
      expect(stored, table).toEqual(VOIDED.has(table) ? [] : rows);
    }
  });
});

test("keys of 0.1.0 verify with what they may do, and a revoked one does not", async () => {
  const access = createAccess({
    db,
    clock,
    env: readEnv({}),
    secret: TEST_SECRET,
    log: createLog("silent"),
    metrics: createMetrics(),
    controlConnected: () => true,
  });
  const verify = (name: keyof typeof KEYS) => access.verify(KEYS[name], "203.0.113.5");
  expect(await verify("reader")).toMatchObject({ venue: "live", scopes: ["market:read", "market:stream"], liveAccess: true });
  expect(await verify("feeder")).toMatchObject({ venue: "live", scopes: ["market:ingest"], liveAccess: true });
  expect(await verify("bound")).toMatchObject({
    venue: "sandbox",
    scopes: ["market:read"],
    origins: ["https://app.example.com"],
  });
  await expect(async () => verify("revoked")).rejects.toMatchObject({ id: "unauthorized" });
  // Rotated, with seven days of grace.
  expect(await verify("rotated")).toMatchObject({ venue: "live" });
  await access.stop();
});

test("users of 0.1.0 sign in with their password and their authenticator app", async () => {
  const { users, stop } = startUsers({
    env: readEnv({}),
    brand: DEFAULT_BRAND,
    db,
    clock,
    log: createLog("silent"),
    secret: TEST_SECRET,
    send: () => undefined,
  });
  const ada = await db.prisma.user.findUniqueOrThrow({ where: { email: "ada@example.com" } });
  const visitor = { address: "203.0.113.5", userAgent: "", base: "" };
  const signIn = (password: string) => checkSignIn(users, { email: ada.email, password }, visitor);
  expect(await signIn("a long password of Ada")).toBe(ada.id);
  expect(await signIn("another password")).toBeUndefined();
  const code = totpOf(AUTHENTICATOR_SECRET, ada.email, "Spotwire").generate({ timestamp: clock.now() });
  expect(await acceptTotp(users, ada, code)).toBeGreaterThan(ada.totpStep);
  await stop();
});

test("klines, usage and overrides of 0.1.0 are read as they were", async () => {
  const store = createKlineStore(db);
  const minute = Date.UTC(2026, 9, 14, 12) / 1000;
  const at = async (offset: number) => (await store.klinesAt("EURUSD", "M1", [minute + offset * 60])).get(minute + offset * 60);
  expect(await at(0)).toMatchObject({ open: 1.085, high: 1.0852, low: 1.0848, close: 1.0851 });
  // The import that had overwritten it was undone; that of the next one was not.
  expect(await at(60)).toMatchObject({ open: 1.085 + 20e-5 });
  expect(await at(120)).toMatchObject({ open: 1.0853 });
  const account = await db.prisma.account.findUniqueOrThrow({ where: { name: "acme" } });
  const dayMs = Date.UTC(2026, 10, 23);
  const span = { grain: "day", fromMs: dayMs, toMs: dayMs + 24 * HOUR_MS, keyId: null, operation: null } as const;
  expect(await usagePoints(db.pool, account.id, span)).toMatchObject([{ calls: 7, errors: 1 }]);
  expect(await overridesOf({ db, clock }, "always")).toMatchObject([
    { state: "closed", starts_at: "2030-01-02T00:00:00.000Z", note: "A holiday of ours" },
    { state: "open", ends_at: null },
  ]);
});

test("a second start on the upgraded database changes nothing", async () => {
  const before = await contentOf(url);
  expect(await migrate(url)).toEqual([]);
  expect(await contentOf(url)).toEqual(before);
  expect(await query(url, "SELECT count(*)::int AS count FROM listing")).toEqual([{ count: 119 }]);
});

test("a restore with --replace goes back from a database of a newer version", async () => {
  const newer = await bench.emptyDatabase();
  await bench.command("restore", newer, BACKUP);
  await query(
    newer,
    "INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('x', 'x', '9999_later', now())",
  );
  await query(newer, "CREATE TABLE of_a_later_release (id int)");
  await expect(migrate(newer)).rejects.toThrow("newer Spotwire");
  await bench.command("restore", newer, BACKUP, "--replace");
  expect(await migrate(newer)).toEqual([]);
  expect(await query(newer, "SELECT to_regclass('of_a_later_release') AS made")).toEqual([{ made: null }]);
});
