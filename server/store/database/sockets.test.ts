import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { collectingLog } from "#lib/testing/collecting-log";
import { findRedis, startRedis } from "#lib/testing/redis-server";
import { startEmbeddedPostgres } from "#server/database/embedded/embedded-postgres";
import { readEnv } from "#server/env";
import { ready } from "#server/testing/redis-nodes";
import { openDatabase } from "./db";
import { openRedis } from "./redis";

test("PostgreSQL is reached at a socket, in each form of an address", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "spotwire-socket-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  // Run by root, the server belongs to another user, who makes the socket here.
  await chmod(folder, 0o777);
  const settings = { unix_socket_directories: folder };
  const server = await startEmbeddedPostgres({ dataDir: path.join(folder, "data"), log: createLog("silent"), settings });
  onTestFinished(() => server.stop());
  const { username, password, port, pathname } = new URL(server.url);
  const name = pathname.slice(1);
  const [user, directory] = [`${username}:${password}`, encodeURIComponent(folder)];
  const addresses = [
    `postgresql:///${name}?host=${folder}&port=${port}&user=${username}&password=${password}`,
    `postgresql://${user}@/${name}?host=${folder}&port=${port}`,
    `postgresql://${user}@${directory}:${port}/${name}`,
    `socket://${user}@${folder}?db=${name}&port=${port}`,
  ];
  for (const address of addresses) {
    const { DATABASE_URL: url = "" } = readEnv({ DATABASE_URL: address });
    const db = await openDatabase({ url, poolSize: 1, waitS: 0, clock: systemClock, log: createLog("silent") });
    const { rows } = await db.pool.query("SELECT inet_server_addr() AS address, current_database() AS name");
    await db.close();
    // A connection by TCP has an address.
    expect(rows).toEqual([{ address: null, name }]);
  }
});

const program = findRedis();

test.skipIf(program === undefined)("Redis is reached at a socket, in the database of the address", async () => {
  const server = await startRedis(program as string);
  onTestFinished(() => server.stop());
  const { REDIS_URL: url = "" } = readEnv({ DATABASE_URL: "postgresql://db/x", REDIS_URL: `unix://${server.socket}?db=3` });
  const lines: Record<string, unknown>[] = [];
  const redis = openRedis({ url, prefix: "test", log: collectingLog(lines, "info") });
  onTestFinished(() => redis.close());
  await ready(redis);
  await redis.client.set("a", "1");
  expect(await redis.client.info("keyspace")).toContain("db3:keys=1");
  expect(lines).toEqual([]);
});
