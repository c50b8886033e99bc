import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { migrate } from "#prisma/migrate";
import { seed } from "#prisma/seed";
import { withConnection } from "#server/database/backup/connection";
import { type Database, openDatabase } from "#server/store/database/db";
import { testServerUrl } from "#server/testing/database";
import { execute, onDatabase } from "#server/testing/database-server";

const ZONE = "SELECT current_setting('TimeZone') AS zone, current_setting('DateStyle') AS style";
const log = createLog("silent");

let server: string;
let name: string;
let url: string;
const opened: Database[] = [];
beforeEach(async () => {
  server = await testServerUrl();
  name = `session_${randomBytes(6).toString("hex")}`;
  url = onDatabase(server, name);
  await execute(server, `CREATE DATABASE ${name}`);
});
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
  await execute(server, `DROP DATABASE ${name} WITH (FORCE)`);
  await execute(server, `DROP ROLE IF EXISTS ${name}`);
});

async function open(at: string): Promise<Database> {
  const db = await openDatabase({ url: at, poolSize: 2, waitS: 0, clock: systemClock, log });
  opened.push(db);
  return db;
}

/** The URL for a role of its own. */
async function asRole(rights: string): Promise<string> {
  await execute(server, `CREATE ROLE ${name} LOGIN PASSWORD 'secret'`);
  await execute(url, rights);
  const own = new URL(url);
  Object.assign(own, { username: name, password: "secret" });
  return own.href;
}

describe("a session", () => {
  test.each([
    ["the database", async () => void (await execute(server, `ALTER DATABASE ${name} SET timezone = 'America/New_York'`))],
    ["the date style", async () => void (await execute(server, `ALTER DATABASE ${name} SET datestyle = 'SQL, DMY'`))],
    ["the URL", async () => `${url}?options=${encodeURIComponent("-c timezone=Asia/Tokyo -c datestyle=German")}`],
  ])("is in UTC and writes ISO dates, whatever %s sets", async (_, set) => {
    const at = (await set()) ?? url;
    await migrate(at);
    const db = await open(at);
    const wanted = [{ zone: "UTC", style: "ISO, MDY" }];
    expect((await db.pool.query(ZONE)).rows).toEqual(wanted);
    expect(await db.prisma.$queryRawUnsafe(ZONE)).toEqual(wanted);
    const client = db.client();
    await client.connect();
    expect((await client.query(ZONE)).rows).toEqual(wanted);
    await client.end();
    expect(await withConnection(at, async (each) => (await each.query(ZONE)).rows)).toEqual(wanted);
  });

  test("a time that Prisma writes is the one that SQL reads, in a database of Kathmandu", async () => {
    await execute(server, `ALTER DATABASE ${name} SET timezone = 'Asia/Kathmandu'`);
    await migrate(url);
    const db = await open(url);
    await seed(db);
    const at = new Date("2026-03-08T07:30:00.123Z");
    const { id } = await db.prisma.account.create({ data: { name: "a", createdAt: at } });
    const { rows } = await db.pool.query(
      "SELECT extract(epoch FROM created_at)::float8 * 1000 AS ms FROM account WHERE id = $1",
      [id],
    );
    expect(rows).toEqual([{ ms: at.getTime() }]);
    await db.pool.query("UPDATE account SET created_at = to_timestamp(1772955000.5) WHERE id = $1", [id]);
    expect((await db.prisma.account.findUniqueOrThrow({ where: { id } })).createdAt).toEqual(new Date(1_772_955_000_500));
  });
});

describe("a schema of the role's own", () => {
  const tables = "SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')";

  test.each([
    ["by its name", () => `CREATE SCHEMA AUTHORIZATION ${name}`],
    ["by search_path", () => `CREATE SCHEMA market AUTHORIZATION ${name}; ALTER ROLE ${name} SET search_path = market`],
  ])("has all tables, %s, and public none", async (_, rights) => {
    const own = await asRole(rights());
    await migrate(own);
    const db = await open(own);
    await seed(db);
    expect(await db.prisma.plan.count()).toBe(4);
    expect((await db.pool.query(tables)).rows).toEqual([{ schemaname: rights().includes("market") ? "market" : name }]);
  });

  test("may be named by the URL as well, but not another one", async () => {
    await open(`${url}?schema=public`);
    await expect(open(`${url}?schema=market`)).rejects.toThrow(
      "DATABASE_URL names the schema market, but this role works in public. Set it for the role instead: ALTER ROLE … SET search_path = market",
    );
  });

  test("that does not exist is refused before anything is made", async () => {
    const own = await asRole(`ALTER ROLE ${name} SET search_path = nowhere`);
    await expect(open(own)).rejects.toThrow("has no schema for this role");
  });
});
