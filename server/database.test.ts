import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { type TestDatabase, testDatabase } from "#lib/testing/database";
import { acquireDatabase, borrowDatabase } from "./database";

const log = createLog("silent");
const SETTINGS = { DATABASE_POOL_SIZE: 2, DATABASE_WAIT_S: 0 };

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

  it("starts the embedded database, migrated and seeded, and lets a command work beside it", async () => {
    const service = await acquireDatabase(embedded(), log, systemClock);
    expect(await service.db.prisma.plan.count()).toBe(4);
    await expect(acquireDatabase(embedded(), log, systemClock)).rejects.toThrow(/in use by process/);
    const command = await borrowDatabase(embedded(), log, systemClock);
    await command.db.prisma.plan.update({ where: { name: "free" }, data: { restPerMinute: 5 } });
    await command.release();
    expect(await service.db.prisma.plan.findUnique({ where: { name: "free" } })).toMatchObject({ restPerMinute: 5 });
    await service.release();
  });

  it("starts it for a command when no service runs, and stops it with the command", async () => {
    const command = await borrowDatabase(embedded(), log, systemClock);
    expect(await command.db.prisma.plan.count()).toBe(4);
    await command.release();
    const service = await acquireDatabase(embedded(), log, systemClock);
    await service.release();
  });

  it("uses DATABASE_URL when it is set, and leaves that server running", async () => {
    other = await testDatabase();
    const env = { ...SETTINGS, DATABASE_URL: other.url, DATA_DIR: path.join(folder, "unused") };
    const { db, release } = await acquireDatabase(env, log, systemClock);
    expect(await db.prisma.account.count()).toBe(1);
    await release();
    expect(await other.prisma.account.count()).toBe(1);
  });
});
