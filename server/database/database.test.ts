import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "#lib/clock";
import type { ControlMessage } from "#lib/control";
import { createLog } from "#lib/log";
import { reservePort } from "#lib/testing/ports";
import { findRedis, startRedis } from "#lib/testing/redis-server";
import { listenOn } from "#server/store/database/listener";
import { openRedis } from "#server/store/database/redis";
import { createRedisChannel } from "#server/store/database/redis-channel";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { describeRedis } from "#server/testing/redis-nodes";
import { guideRights, redisUser } from "#server/testing/redis-user";
import { acquireDatabase, borrowDatabase, borrowSource } from "./database";

const log = createLog("silent");
const redisProgram = findRedis();
const SETTINGS = { DATABASE_POOL_SIZE: 2, DATABASE_WAIT_S: 0, REDIS_PREFIX: "test" };

describe("acquireDatabase", () => {
  let folder: string;
  let other: TestDatabase | undefined;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "spotwire database "));
  });
  afterEach(async () => {
    await other?.close();
    other = undefined;
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  const embedded = () => ({ ...SETTINGS, DATABASE_URL: undefined, DATA_DIR: folder });

  test("acquireDatabase starts the embedded database, migrated and seeded, and a command can work beside it", async () => {
    const service = await acquireDatabase(embedded(), log, systemClock);
    expect(await service.db.prisma.plan.count()).toBe(4);
    await expect(acquireDatabase(embedded(), log, systemClock)).rejects.toThrow(/in use by process/);
    const command = await borrowDatabase(embedded(), log, systemClock);
    await command.db.prisma.plan.update({ where: { name: "free" }, data: { restPerMinute: 5 } });
    await command.release();
    expect(await service.db.prisma.plan.findUnique({ where: { name: "free" } })).toMatchObject({ restPerMinute: 5 });
    await service.release();
  });

  test("neither a command nor a service in a copied folder changes the database of the original, and both say what to do", async () => {
    const service = await acquireDatabase(embedded(), log, systemClock);
    const copied = { ...embedded(), DATA_DIR: `${folder} copy` };
    onTestFinished(() => rm(copied.DATA_DIR, { recursive: true, force: true, maxRetries: 10 }));
    execFileSync("cp", ["-a", folder, copied.DATA_DIR]);
    const words = /is a copy of .+, which process \d+ is using.*Nothing was changed.*delete .*restore a backup/s;
    await expect(borrowDatabase(copied, log, systemClock)).rejects.toThrow(words);
    await expect(borrowSource(copied, log)).rejects.toThrow(words);
    await expect(acquireDatabase(copied, log, systemClock)).rejects.toThrow(words);
    expect(await service.db.prisma.plan.count()).toBe(4);
    await service.release();
  });

  test("a command starts the embedded database when no service runs, and stops it at its end", async () => {
    const command = await borrowDatabase(embedded(), log, systemClock);
    expect(await command.db.prisma.plan.count()).toBe(4);
    await command.release();
    const service = await acquireDatabase(embedded(), log, systemClock);
    await service.release();
  });

  test("acquireDatabase uses DATABASE_URL when it is set, and leaves that server running", async () => {
    other = await testDatabase();
    const env = { ...SETTINGS, DATABASE_URL: other.url, DATA_DIR: path.join(folder, "unused") };
    const { db, release } = await acquireDatabase(env, log, systemClock);
    expect(await db.prisma.account.count()).toBe(1);
    await release();
    expect(await other.prisma.account.count()).toBe(1);
  });
});

describe("notifications of a command", () => {
  let other: TestDatabase;
  beforeAll(async () => {
    other = await testDatabase();
  });
  afterAll(() => other.close());

  /** Resolves with the first control message. */
  function ear() {
    let hear = (_: ControlMessage): void => undefined;
    const heard = new Promise<ControlMessage>((resolve) => (hear = resolve));
    return { heard, hear: (message: ControlMessage) => hear(message) };
  }

  /** Runs a command that changes the calendars, and returns its warnings. */
  async function change(redisUrl?: string): Promise<string[]> {
    const warned: string[] = [];
    const env = { ...SETTINGS, DATABASE_URL: other.url, DATA_DIR: "unused", REDIS_URL: redisUrl };
    const { db, release } = await borrowDatabase(env, log, systemClock, (line) => warned.push(line));
    await db.control.publish({ kind: "calendars" });
    await release();
    return warned;
  }

  test("a command notifies running nodes through the database without REDIS_URL", async () => {
    const { heard, hear } = ear();
    const listener = await other.control.listen(hear);
    onTestFinished(() => listener.stop());
    expect(await change()).toEqual([]);
    expect(await heard).toEqual({ kind: "calendars" });
  });

  test.skipIf(redisProgram === undefined)(
    "a command notifies running nodes through Redis with REDIS_URL (skipped without a Redis program)",
    async () => {
      const server = await startRedis(redisProgram as string);
      onTestFinished(() => server.stop());
      const redis = openRedis({ url: server.url, prefix: SETTINGS.REDIS_PREFIX, log });
      onTestFinished(() => redis.close());
      const channel = createRedisChannel(redis);
      const { heard, hear } = ear();
      const listener = await listenOn({ channel, onMessage: hear, clock: systemClock, log });
      onTestFinished(() => listener.stop());
      expect(await change(server.url)).toEqual([]);
      expect(await heard).toEqual({ kind: "calendars" });
    },
  );

  describeRedis("with a Redis user of its own", (nodes) => {
    test("a command succeeds, and says in one line that its user may not announce the change", async () => {
      const user = await redisUser(nodes, [...guideRights(), "~*", "resetchannels"]);
      const [line, ...others] = await change(user.url);
      expect(line).toContain(
        "were not notified. Redis refuses the user of REDIS_URL the channel test:control: see /docs/scaling#a-redis-user-of-its-own. ",
      );
      expect(others).toEqual([]);
    });
  });

  test("a command succeeds and prints one warning line when Redis is unavailable", async () => {
    const warned = await change(`redis://127.0.0.1:${await reservePort()}`);
    expect(warned).toEqual([expect.stringMatching(/^WARNING: the change is stored, .*\. Redis does not answer\. .*\n$/)]);
  });
});
