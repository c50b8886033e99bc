import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type ManualClock, manualClock, systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import type { Repeating } from "#lib/repeat";
import { S3_CREDENTIALS, type S3Server, startS3Server } from "#lib/testing/s3-server";
import { HOUR_MS, MINUTE_MS } from "#lib/units";
import { backupName } from "#server/database/backup/name";
import { openPlace } from "#server/database/backup/place";
import { readEnv } from "#server/env";
import { lastBackups, recordBackup } from "#server/store/market/backup-runs";
import { BACKUP_NOW_MS, type BackupBench, backupBench, contentOf } from "#server/testing/backups";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { TEST_SECRET } from "#server/testing/runtime";
import { startBackups } from "./backups";

let bench: BackupBench;
let bucket: S3Server;
beforeAll(async () => {
  bench = await backupBench();
  bucket = await startS3Server();
});
afterAll(async () => {
  await bucket.close();
  await bench.close();
});

let db: TestDatabase;
let clock: ManualClock;
let data: string;
let folder: string;
const running: Repeating[] = [];

beforeEach(async () => {
  db = await testDatabase();
  clock = manualClock(BACKUP_NOW_MS);
  data = await mkdtemp(path.join(tmpdir(), "spotwire-backups-"));
  folder = await mkdtemp(path.join(tmpdir(), "spotwire-kept-"));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ stop }) => stop()));
  await db.close();
  for (const made of [data, folder]) await rm(made, { recursive: true });
});

const inFolder = () => ({ BACKUP_TO: `file://${folder}` });
const inBucket = () => ({
  BACKUP_TO: `s3://klines/${path.basename(folder)}?endpoint=${new URL(bucket.place.address).origin}`,
  AWS_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
});

const envOf = (where: Record<string, string>) =>
  readEnv({ DATA_DIR: data, DATABASE_URL: db.url, BACKUP_EVERY: "24", BACKUP_KEEP: "2", ...where });

/** Starts a node. */
function start(where: Record<string, string>): void {
  const started = startBackups({
    db,
    databaseUrl: db.url,
    clock,
    log: createLog("silent"),
    env: envOf(where),
    secret: TEST_SECRET,
  });
  if (started !== undefined) running.push(started);
}

const runs = () => db.prisma.backupRun.count();
/** Moves the clock on, minute by minute as the nodes look, until so many runs were recorded. */
async function runsAfter(ms: number, count: number): Promise<void> {
  await clock.advance(ms);
  await vi.waitFor(async () => {
    await clock.advance(MINUTE_MS);
    expect(await runs()).toBe(count);
  });
}

describe.each([
  ["a directory", inFolder],
  ["a bucket", inBucket],
])("backups of the service in %s", (_, where) => {
  const names = () => openPlace(envOf(where()).BACKUP_TO ?? expect.unreachable(), envOf(where()), systemClock).names();

  test("one is made at the first start, then each after its hours, and the newest are kept", async () => {
    start(where());
    await runsAfter(0, 1);
    const [first] = await names();
    await runsAfter(24 * HOUR_MS, 2);
    await runsAfter(24 * HOUR_MS, 3);
    await vi.waitFor(async () => expect(await names()).toHaveLength(2));
    expect(await names()).not.toContain(first);
    const { last, failed } = await lastBackups(db.pool);
    expect([last?.rows, failed]).toEqual([expect.any(Number), null]);
    expect(await readdir(data)).toEqual([]);
  });

  test("of several nodes one makes it", async () => {
    for (let node = 0; node < 3; node += 1) start(where());
    await runsAfter(0, 1);
    await clock.advance(HOUR_MS);
    expect([await runs(), (await names()).length]).toEqual([1, 1]);
  });
});

test("a stop ends a backup that waits for its bucket", async () => {
  // Nobody answers there, and the next try comes only when the clock moves.
  start({ ...inBucket(), BACKUP_TO: "s3://klines/?endpoint=http://127.0.0.1:1" });
  await vi.waitFor(async () => expect(await readdir(path.join(data, "backup-unsent"))).toHaveLength(1));
  await Promise.all(running.splice(0).map(({ stop }) => stop()));
  expect(await runs()).toBe(0);
});

test("a backup of the service can be restored", async () => {
  start(inFolder());
  await runsAfter(0, 1);
  const [name = ""] = await readdir(folder);
  const target = await bench.emptyDatabase();
  await bench.command("restore", target, path.join(folder, name));
  const { backup_run: run, ...content } = await contentOf(target);
  const { backup_run: later, ...source } = await contentOf(db.url);
  expect(content).toEqual(source);
  // The run is recorded when it has ended.
  expect(run).not.toEqual(later);
});

test("one that was made by hand counts, and files of other names stay", async () => {
  const at = new Date(BACKUP_NOW_MS - 23 * HOUR_MS).toISOString();
  await recordBackup(db.pool, { started_at: at, ended_at: at, bytes: 1, rows: 1, problem: null });
  const old = [backupName(0), backupName(1), `${backupName(2)}.part`];
  for (const name of [...old, "mine.backup"]) await writeFile(path.join(folder, name), "");
  start(inFolder());
  await clock.advance(30 * MINUTE_MS);
  expect(await runs()).toBe(1);
  await runsAfter(30 * MINUTE_MS, 2);
  await vi.waitFor(async () => expect(await readdir(folder)).not.toContain(old[0]));
  expect((await readdir(folder)).sort()).toEqual(["mine.backup", old[1], old[2], expect.stringMatching(/^spotwire-2026/)]);
});

test("a failure is recorded with its reason, and tried again an hour later", async () => {
  const gone = { ...inBucket(), BACKUP_TO: `s3://no-such-bucket?endpoint=${new URL(bucket.place.address).origin}` };
  start(gone);
  await runsAfter(0, 1);
  expect((await lastBackups(db.pool)).failed?.problem).toContain("The bucket of backups no-such-bucket");
  await clock.advance(50 * MINUTE_MS);
  expect(await runs()).toBe(1);
  await runsAfter(10 * MINUTE_MS, 2);
});

test("without BACKUP_EVERY none is made, and BACKUP_EVERY needs a place and the key of its bucket", () => {
  expect(
    startBackups({ db, databaseUrl: db.url, clock, log: createLog("silent"), env: readEnv({}), secret: "" }),
  ).toBeUndefined();
  expect(() => readEnv({ BACKUP_EVERY: "24" })).toThrow("BACKUP_TO");
  expect(() => readEnv({ BACKUP_EVERY: "0", BACKUP_TO: "file:///tmp" })).toThrow("BACKUP_EVERY");
  expect(() => readEnv({ BACKUP_TO: "s3://klines" })).toThrow(/AWS_ACCESS_KEY_ID.*BACKUP_TO/s);
  expect(() => readEnv({ BACKUP_TO: "file:///no/such/folder" })).toThrow("BACKUP_TO");
});
