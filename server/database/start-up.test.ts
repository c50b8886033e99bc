import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Clock, systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { type BreakableProxy, proxyTo } from "#lib/testing/breakable-proxy";
import { reservePort } from "#lib/testing/ports";
import { holdMigrations, migrate } from "#prisma/migrate";
import { testServerUrl } from "#server/testing/database";
import { execute, onDatabase } from "#server/testing/database-server";
import { acquireDatabase } from "./database";

const PASSWORD = "hunter2-secret";
const WAIT_S = 60;
const log = createLog("silent");

let server: string;
let name: string;
let url: string;
const clients: pg.Client[] = [];
beforeEach(async () => {
  server = await testServerUrl();
  name = `start_${randomBytes(6).toString("hex")}`;
  url = onDatabase(server, name);
  await execute(server, `CREATE DATABASE ${name}`);
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.end();
  await execute(server, `DROP DATABASE ${name} WITH (FORCE)`);
});

/** A clock whose waits return at once and advance the time; `onWait` runs in each wait. */
function hurriedClock(onWait: () => unknown = () => undefined): Clock & { waits: () => number } {
  let now = 0;
  let waits = 0;
  return {
    waits: () => waits,
    now: () => now,
    async wait(ms, signal) {
      // The control channel waits too, with a signal.
      if (signal !== undefined) return systemClock.wait(ms, signal);
      waits += 1;
      now += ms;
      await onWait();
    },
  };
}

function start(through: string, clock: Clock) {
  const env = { DATABASE_URL: through, DATA_DIR: "unused", DATABASE_POOL_SIZE: 2, DATABASE_WAIT_S: WAIT_S };
  return acquireDatabase(env, log, clock);
}

/** Runs a complete start, with migrations and seed. */
async function expectStarted(starting: ReturnType<typeof start>): Promise<void> {
  const { db, release } = await starting;
  expect(await db.prisma.plan.count()).toBe(4);
  await release();
}

/** A separate connection, directly to the database. */
async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  clients.push(client);
  return client;
}

async function openProxy(): Promise<BreakableProxy> {
  const proxy = await proxyTo(url);
  await proxy.open();
  return proxy;
}

/** Resolves when a connection to the database runs such a query, or ran it last. */
async function queried(like: string): Promise<void> {
  const text = "SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND query LIKE $2 AND pid <> pg_backend_pid()";
  const client = await connect();
  await expect.poll(async () => (await client.query(text, [name, like])).rowCount, { timeout: 60_000 }).toBeGreaterThan(0);
}

/** Blocks a start in the middle of its migrations, which make this table; returns a function that unblocks it. */
async function holdUpMigrate(): Promise<() => Promise<unknown>> {
  const holder = await connect();
  await holder.query("BEGIN; CREATE TABLE _prisma_migrations (id integer)");
  return () => holder.query("ROLLBACK");
}

/** Blocks a start in the middle of its seed. */
async function holdUpSeed(): Promise<() => Promise<unknown>> {
  await migrate(url);
  const holder = await connect();
  await holder.query("BEGIN; LOCK TABLE plan");
  return () => holder.query("ROLLBACK");
}

test("a start waits for a database that becomes available late", async () => {
  const proxy = await proxyTo(url);
  const clock = hurriedClock(() => clock.waits() === 3 && proxy.open());
  await expectStarted(start(proxy.url, clock));
  expect(clock.waits()).toBe(3);
});

test.each([
  ["migrate", holdUpMigrate, "CREATE TABLE%_prisma_migrations%"],
  ["seed", holdUpSeed, "%FROM plan%"],
])("a start continues when the connection breaks in the middle of the %s", async (_, holdUp, query) => {
  const proxy = await openProxy();
  const letGo = await holdUp();
  const clock = hurriedClock(async () => {
    if (clock.waits() > 1) return;
    await letGo();
    await proxy.open();
  });
  const starting = start(proxy.url, clock);
  await queried(query);
  proxy.shut();
  await expectStarted(starting);
  expect(clock.waits()).toBeGreaterThan(0);
});

test("a start continues when the network stalls in the middle of the seed", async () => {
  const proxy = await openProxy();
  const letGo = await holdUpSeed();
  const clock = hurriedClock(async () => {
    await letGo();
    proxy.speak();
  });
  const starting = start(proxy.url, clock);
  await queried("%FROM plan%");
  proxy.fallSilent();
  await expectStarted(starting);
});

test("the error of a start that loses the database in the middle of the seed names host and port", async () => {
  const proxy = await openProxy();
  await holdUpSeed();
  const clock = hurriedClock();
  const starting = start(proxy.url, clock);
  const failed = expect(starting).rejects.toThrow(
    new RegExp(`^Could not reach PostgreSQL at ${new URL(proxy.url).host} within ${WAIT_S} s: .*ECONNREFUSED`),
  );
  await queried("%FROM plan%");
  proxy.shut();
  await failed;
  expect(clock.now()).toBeCloseTo(WAIT_S * 1000);
});

/** Another process is migrating. */
async function holdLock(): Promise<() => Promise<unknown>> {
  const holder = await connect();
  await holder.query("BEGIN");
  expect(await holdMigrations(holder)).toBe(true);
  return () => holder.query("ROLLBACK");
}

test("a start waits until another process has migrated the database", async () => {
  const letGo = await holdLock();
  const clock = hurriedClock(() => clock.waits() === 3 && letGo());
  await expectStarted(start(url, clock));
  expect(clock.waits()).toBe(3);
});

test("a start that waits in vain for another process to migrate names it", async () => {
  await holdLock();
  const holder = clients[0] as unknown as { processID: number };
  await expect(start(url, hurriedClock())).rejects.toThrow(
    new RegExp(
      `^Could not use PostgreSQL at .* within ${WAIT_S} s: another process migrates it \\(process ${holder.processID} from 127.0.0.1 since \\d{4}-.*Z\\)\\.$`,
    ),
  );
});

test("the error of a start without a database names host, port and reason, and no password", async () => {
  const port = await reservePort();
  const error: Error = await start(`postgresql://someone:${PASSWORD}@127.0.0.1:${port}/market`, hurriedClock()).then(
    () => expect.unreachable("it started"),
    (thrown) => thrown,
  );
  expect(error.message).toBe(
    `Could not reach PostgreSQL at 127.0.0.1:${port} within ${WAIT_S} s: connect ECONNREFUSED 127.0.0.1:${port}.`,
  );
  expect(`${error.stack}${JSON.stringify(error)}`).not.toContain(PASSWORD);
});
