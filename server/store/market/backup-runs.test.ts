import { afterEach, beforeEach, expect, test } from "vitest";
import { BACKUP_PROBLEM_MAX_CHARACTERS, BACKUP_RUNS_MAX_COUNT, type BackupRun } from "#lib/contract/portal-health";
import { HOUR_MS } from "#lib/units";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { lastBackups, recordBackup } from "./backup-runs";

const START_MS = Date.UTC(2026, 0, 1);

let db: TestDatabase;
beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.close());

const run = (hour: number, problem: string | null = null): BackupRun => ({
  started_at: new Date(START_MS + hour * HOUR_MS).toISOString(),
  ended_at: new Date(START_MS + hour * HOUR_MS + 90_000).toISOString(),
  bytes: problem === null ? 5_000_000_000 : null,
  rows: problem === null ? 70 : null,
  problem,
});
const record = (...run_: readonly BackupRun[]) =>
  run_.reduce((before, each) => before.then(() => recordBackup(db.pool, each)), Promise.resolve());

test("without a backup there is none", async () => {
  expect(await lastBackups(db.pool)).toEqual({ last: null, failed: null });
});

test("the last backup is the newest that succeeded, and a failure counts until the next success", async () => {
  await record(run(2), run(1));
  expect(await lastBackups(db.pool)).toEqual({ last: run(2), failed: null });
  await record(run(3, "The disk is full."));
  expect(await lastBackups(db.pool)).toEqual({ last: run(2), failed: run(3, "The disk is full.") });
  await record(run(4));
  expect(await lastBackups(db.pool)).toEqual({ last: run(4), failed: null });
});

test("the newest runs are kept, and the last success whatever came after it; a long reason is cut", async () => {
  await record(run(0), run(1));
  for (let hour = 2; hour <= BACKUP_RUNS_MAX_COUNT + 5; hour += 1) await record(run(hour, "x".repeat(2_000)));
  expect(await db.prisma.backupRun.count()).toBe(BACKUP_RUNS_MAX_COUNT + 1);
  const { last, failed } = await lastBackups(db.pool);
  expect(last).toEqual(run(1));
  expect(failed?.problem).toHaveLength(BACKUP_PROBLEM_MAX_CHARACTERS);
});
