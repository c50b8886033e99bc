import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Clock, manualClock, systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { isDatabaseAway } from "#lib/storage-errors";
import { proxyTo } from "#lib/testing/breakable-proxy";
import { reservePort } from "#lib/testing/ports";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { databaseTime, openDatabase } from "./db";

const SECRET = "hunter2-secret";

/** A clock on which every wait ends at once, as if its time had passed. */
function hurriedClock(): Clock & { waits: number[] } {
  const clock = manualClock(0);
  const waits: number[] = [];
  return {
    waits,
    now: clock.now,
    wait: async (ms) => {
      waits.push(ms);
      clock.set(clock.now() + ms);
    },
  };
}

/** Speaks just enough of PostgreSQL's protocol to accept any client, report these settings and answer every query with one row. */
async function fakeServer(answer: Readonly<Record<string, string>>, settings: Readonly<Record<string, string>>): Promise<number> {
  const int16 = (value: number) => Buffer.from([value >> 8, value & 255]);
  const int32 = (value: number) => Buffer.concat([int16(value >> 16), int16(value & 65_535)]);
  const message = (type: string, ...parts: (string | Buffer)[]) => {
    const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
    return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
  };
  const text = Buffer.concat([int32(0), int16(0), int32(25), int16(65_535), int32(-1), int16(0)]);
  const columns = Object.keys(answer).flatMap((name) => [`${name}\0`, text]);
  const cells = Object.values(answer).flatMap((cell) => [int32(cell.length), cell]);
  const reports = Object.entries(settings).map(([name, value]) => message("S", `${name}\0${value}\0`));
  const ready = message("Z", "I");
  const row = Buffer.concat([
    message("T", int16(Object.keys(answer).length), ...columns),
    message("D", int16(Object.keys(answer).length), ...cells),
    message("C", "SELECT 1\0"),
    ready,
  ]);
  const server = createServer((socket) => {
    socket.once("data", () => {
      socket.write(Buffer.concat([message("R", int32(0)), ...reports, ready]));
      socket.on("data", (bytes) => (bytes[0] === "X".charCodeAt(0) ? socket.end() : socket.write(row)));
    });
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function failure(url: string, clock: Clock, waitS = 60): Promise<Error> {
  const log = createLog("silent");
  return openDatabase({ url, poolSize: 2, waitS, clock, log }).then(
    () => expect.unreachable("it opened"),
    (error: Error) => error,
  );
}

describe("openDatabase", () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await testDatabase();
  });
  afterAll(() => db.close());

  test("openDatabase returns a pool and a Prisma client on the same connections", async () => {
    const plans = await db.prisma.plan.count();
    expect(plans).toBe(4);
    expect((await db.pool.query("SELECT count(*)::int AS count FROM plan")).rows).toEqual([{ count: plans }]);
    expect(db.pool.totalCount).toBe(1);
  });

  test("openDatabase retries with growing waits while the database is unavailable, then reports where it tried to connect and why it failed", async () => {
    const port = await reservePort();
    const clock = hurriedClock();
    const error = await failure(`postgresql://someone:${SECRET}@127.0.0.1:${port}/market?sslmode=disable`, clock);
    expect(error.message).toBe(
      `Could not reach PostgreSQL at 127.0.0.1:${port} within 60 s: connect ECONNREFUSED 127.0.0.1:${port}.`,
    );
    expect(clock.waits.length).toBeGreaterThan(10);
    expect(clock.waits.reduce((sum, wait) => sum + wait, 0)).toBeCloseTo(60_000);
    expect(Math.max(...clock.waits)).toBeLessThanOrEqual(5_000);
    expect(clock.waits[0]).toBeLessThan(201);
  });

  test("openDatabase connects when the database comes back in the meantime", async () => {
    const { url, open } = await proxyTo(db.url);
    const clock = hurriedClock();
    const opening: Clock = {
      now: clock.now,
      wait: async (ms) => {
        await clock.wait(ms);
        if (clock.waits.length === 3) await open();
      },
    };
    const opened = await openDatabase({ url, poolSize: 2, waitS: 60, clock: opening, log: createLog("silent") });
    expect(await opened.prisma.plan.count()).toBe(4);
    expect(clock.waits).toHaveLength(3);
    await opened.close();
  });

  test.each([
    ["a wrong password", (url: URL) => (url.password = SECRET)],
    ["a database that does not exist", (url: URL) => (url.pathname = "/nowhere")],
  ])("openDatabase does not retry on %s, and never prints the password", async (_what, spoil) => {
    const url = new URL(db.url);
    const { password } = url;
    spoil(url);
    const clock = hurriedClock();
    const error = await failure(url.href, clock);
    expect(error.message).toMatch(/^The database at 127\.0\.0\.1:\d+\/\w+ refuses the connection: /);
    expect(clock.waits).toEqual([]);
    const visible = `${error.message}${error.stack}${JSON.stringify(error)}${String(error.cause)}`;
    expect(visible).not.toContain(password);
    expect(visible).not.toContain(SECRET);
  });

  test("openDatabase refuses a server older than 15 and names both versions", async () => {
    const port = await fakeServer({ version: "140011", text: "14.11" }, { TimeZone: "UTC", DateStyle: "ISO, MDY" });
    const error = await failure(`postgresql://someone:${SECRET}@127.0.0.1:${port}/market`, hurriedClock());
    expect(error.message).toBe(`The database at 127.0.0.1:${port}/market is PostgreSQL 14.11; 15 or later is needed.`);
  });

  test.each([
    [{ TimeZone: "Europe/Athens", DateStyle: "ISO, MDY" }, "TimeZone is Europe/Athens instead of UTC"],
    [{ TimeZone: "UTC", DateStyle: "SQL, DMY" }, "DateStyle is SQL, DMY instead of ISO, MDY"],
    [{ DateStyle: "ISO, MDY" }, "TimeZone is unknown instead of UTC"],
  ])("openDatabase refuses a pooler that reports %j, and names the setting", async (settings, reason) => {
    const port = await fakeServer({ version: "160000", text: "16.0" }, settings);
    const error = await failure(`postgresql://someone:${SECRET}@127.0.0.1:${port}/market`, hurriedClock());
    expect(error.message).toContain(`The database at 127.0.0.1:${port}/market cannot be used: the pooler before it`);
    expect(error.message).toContain(`${reason}. Set it for the role: ALTER ROLE`);
  });

  test("openDatabase reports a host name that does not resolve", async () => {
    const error = await failure(`postgresql://someone:${SECRET}@no-such-host.invalid/market`, systemClock, 0);
    expect(error.message).toMatch(/^Could not reach PostgreSQL at no-such-host\.invalid:5432: /);
    expect(error.message).not.toContain(SECRET);
  });

  test("a connection that breaks while a transaction holds it fails the next query, and nothing else", async () => {
    const opened = await openDatabase({ url: db.url, poolSize: 2, waitS: 0, clock: systemClock, log: createLog("silent") });
    onTestFinished(() => opened.close());
    const held = await opened.pool.connect();
    const ended = new Promise((resolve) => held.once("end", resolve));
    await held.query("BEGIN");
    const { rows } = await held.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    // An error that nobody listens to would end the process, and this test run.
    await opened.pool.query("SELECT pg_terminate_backend($1)", [rows[0]?.pid]);
    await ended;
    await expect(held.query("SELECT 1")).rejects.toThrow();
    held.release(true);
    expect((await opened.pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  });
});

describe("isDatabaseAway", () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await testDatabase();
  });
  afterAll(() => db.close());

  test("isDatabaseAway recognizes a lost database through the pool and through Prisma, and nothing else", async () => {
    const { url, open, shut } = await proxyTo(db.url);
    await open();
    const opened = await openDatabase({ url, poolSize: 2, waitS: 0, clock: systemClock, log: createLog("silent") });
    onTestFinished(() => opened.close());
    const errorOf = (work: Promise<unknown>) =>
      work.then(
        () => undefined,
        (error: unknown) => error,
      );
    expect(isDatabaseAway(await errorOf(opened.prisma.$queryRaw`SELECT 1 FROM nowhere`))).toBe(false);
    expect(isDatabaseAway(await errorOf(opened.pool.query("SELECT 1 FROM nowhere")))).toBe(false);

    const broken = [errorOf(opened.prisma.$queryRaw`SELECT pg_sleep(60)`), errorOf(opened.pool.query("SELECT pg_sleep(60)"))];
    await expect
      .poll(async () => {
        const { rows } = await db.pool.query("SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'");
        return rows.length;
      })
      .toBe(2);
    shut();
    for (const error of await Promise.all(broken)) expect(isDatabaseAway(error), String(error)).toBe(true);
    const refused = [errorOf(opened.prisma.plan.count()), errorOf(opened.pool.query("SELECT 1"))];
    for (const error of await Promise.all(refused)) expect(isDatabaseAway(error), String(error)).toBe(true);
  });
});

describe("databaseTime", () => {
  test("databaseTime returns the server's clock in Unix milliseconds, and fails when the server is unavailable", async () => {
    const db = await testDatabase();
    onTestFinished(() => db.close());
    const before = Date.now();
    const time = await databaseTime(db);
    expect(time).toBeGreaterThan(before - 1);
    expect(time).toBeLessThan(Date.now() + 1);
    const { url, open, shut } = await proxyTo(db.url);
    await open();
    const opened = await openDatabase({ url, poolSize: 2, waitS: 0, clock: systemClock, log: createLog("silent") });
    onTestFinished(() => opened.close());
    shut();
    await expect(databaseTime(opened)).rejects.toThrow("ECONNREFUSED");
  });
});
