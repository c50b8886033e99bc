import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { asRoot, missing } from "#lib/testing/packages";
import { reservePort } from "#lib/testing/ports";
import { testServerUrl } from "#server/testing/database";
import { execute, onDatabase } from "#server/testing/database-server";
import { acquireDatabase } from "./database";

const absent = missing("pgbouncer");
const tests = test.skipIf(absent !== null);

let server: string;
let name: string;
let url: string;
beforeEach(async () => {
  server = await testServerUrl();
  name = `pooled_${randomBytes(6).toString("hex")}`;
  url = onDatabase(server, name);
  await execute(server, `CREATE DATABASE ${name}`);
  await execute(server, `ALTER DATABASE ${name} SET timezone = 'America/New_York'`);
});
afterEach(() => execute(server, `DROP DATABASE ${name} WITH (FORCE)`));

/** Resolves when something listens at the port. */
async function listening(port: number): Promise<void> {
  const connect = () =>
    new Promise<boolean>((resolve) => {
      const socket = createConnection(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
      socket.on("close", () => undefined).end();
    });
  await expect.poll(connect).toBe(true);
}

/** The database behind a pgbouncer as its package leaves it, but for where it listens and how it pools. */
async function pooled(mode: "session" | "transaction"): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "spotwire-pooler-"));
  await chmod(folder, 0o755);
  const port = await reservePort();
  const { hostname, port: serverPort, username, password } = new URL(server);
  const file = join(folder, "pgbouncer.ini");
  await writeFile(
    file,
    `[databases]
* = host=${hostname} port=${serverPort} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
`,
  );
  // It refuses to run as root.
  const child = spawn("pgbouncer", [...(asRoot ? ["-u", "nobody"] : []), file], { stdio: "ignore" });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true });
  });
  await listening(port);
  return `postgresql://anyone@127.0.0.1:${port}/${name}`;
}

const start = (env: { readonly DATABASE_URL: string; readonly DATABASE_DIRECT_URL?: string }) =>
  acquireDatabase({ DATA_DIR: "unused", DATABASE_POOL_SIZE: 4, DATABASE_WAIT_S: 0, ...env }, createLog("silent"), systemClock);

/** Uses a started database as a node does: transactions, several connections at once, notifications. */
async function use({ db, release }: Awaited<ReturnType<typeof start>>): Promise<void> {
  const zones = await Promise.all(
    [1, 2, 3, 4].map(() => db.pool.query("SELECT current_setting('TimeZone') AS zone, pg_sleep(0.01)")),
  );
  expect(zones.flatMap(({ rows }) => rows.map(({ zone }) => zone))).toEqual(["UTC", "UTC", "UTC", "UTC"]);
  expect(await db.prisma.$transaction(async (inside) => [await inside.plan.count(), await inside.listing.count()])).toEqual([
    4,
    expect.any(Number),
  ]);
  let hear = (_: unknown): void => undefined;
  const heard = new Promise((resolve) => {
    hear = resolve;
  });
  const listener = await db.control.listen((message) => hear(message));
  await expect.poll(() => listener.connected()).toBe(true);
  await db.control.publish({ kind: "everything" });
  expect(await heard).toEqual({ kind: "everything" });
  await listener.stop();
  await release();
}

tests("a transaction pooler alone is refused before anything is made, with the setting that helps", async () => {
  const through = await pooled("transaction");
  await expect(start({ DATABASE_URL: through })).rejects.toThrow(
    /^The pooler at .* gives each transaction another session .*Set DATABASE_DIRECT_URL to the address of the database itself/,
  );
  await use(await start({ DATABASE_URL: url }));
});

tests("a service behind a transaction pooler works with a direct address beside it, at each of its starts", async () => {
  const env = { DATABASE_URL: await pooled("transaction"), DATABASE_DIRECT_URL: url };
  await use(await start(env));
  await use(await start(env));
  await use(await start({ DATABASE_URL: url }));
});

tests("a service behind a session pooler needs no other address", async () => {
  const env = { DATABASE_URL: await pooled("session") };
  await use(await start(env));
  await use(await start(env));
});
