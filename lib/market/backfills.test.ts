import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { BACKFILL_SILENT_S, BACKFILLS_LISTED_COUNT, BACKFILLS_MAX_COUNT } from "#lib/contract/portal-admin";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { type BackfillProgress, beginBackfill, listBackfills, noteBackfill } from "./backfills";

const clock = manualClock(Date.UTC(2026, 0, 7, 12));
const BEGUN: BackfillProgress = {
  ...{
    state: "running",
    files: 4,
    filesDone: 0,
    filesFailed: 0,
    file: "",
    step: "",
    share: 0,
    rows: 0,
    readMs: 0,
    problem: null,
  },
};

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

test("a backfill is reported with its progress and its rate", async () => {
  const id = await beginBackfill({ db, clock }, "live", BEGUN);
  expect(await listBackfills(db, clock)).toMatchObject([{ id, state: "running", share: 0, rows_per_s: null }]);
  await clock.advance(2_000);
  const further = { ...BEGUN, filesDone: 1, file: "EURUSD.csv", step: "importing", share: 0.3, rows: 9_000, readMs: 1_500.4 };
  await noteBackfill({ db, clock }, id, further);
  expect(await listBackfills(db, clock)).toEqual([
    {
      ...{ id, venue: "live", state: "running", files: 4, files_done: 1, files_failed: 0, file: "EURUSD.csv", step: "importing" },
      ...{ share: 0.3, rows: 9_000, rows_per_s: 6_000, problem: null },
      ...{ started_at: "2026-01-07T12:00:00.000Z", updated_at: "2026-01-07T12:00:02.000Z" },
    },
  ]);
});

test("a running backfill that stops reporting is lost, a finished one is not", async () => {
  const [running] = await listBackfills(db, clock);
  const id = running?.id ?? "";
  await clock.advance(BACKFILL_SILENT_S * 1_000);
  expect((await listBackfills(db, clock))[0]?.state).toBe("running");
  await clock.advance(1);
  expect((await listBackfills(db, clock))[0]?.state).toBe("lost");
  await noteBackfill({ db, clock }, id, { ...BEGUN, state: "done" });
  await clock.advance(BACKFILL_SILENT_S * 2_000);
  expect((await listBackfills(db, clock))[0]?.state).toBe("done");
});

test("long paths and problems are shortened", async () => {
  const long = { ...BEGUN, file: `${"x".repeat(900)}/EURUSD.csv`, problem: `cannot be read: ${"y".repeat(900)}` };
  await beginBackfill({ db, clock }, "live", long);
  const [{ file, problem } = { file: "", problem: "" }] = await listBackfills(db, clock);
  expect([file.length, problem?.length]).toEqual([500, 500]);
  expect(file).toMatch(/EURUSD\.csv$/);
  expect(problem).toMatch(/^cannot be read/);
});

test("the newest backfills are listed, a bounded number is kept, and progress of a deleted one is ignored", async () => {
  const first = await beginBackfill({ db, clock }, "live", BEGUN);
  for (let count = 0; count < BACKFILLS_MAX_COUNT; count += 1) {
    await clock.advance(1);
    await beginBackfill({ db, clock }, "live", { ...BEGUN, files: count });
  }
  expect(await db.prisma.backfill.count()).toBe(BACKFILLS_MAX_COUNT);
  const listed = await listBackfills(db, clock);
  expect(listed.map(({ files }) => files)).toEqual(Array.from({ length: BACKFILLS_LISTED_COUNT }, (_, index) => 99 - index));
  await noteBackfill({ db, clock }, first, BEGUN);
  expect(await db.prisma.backfill.count({ where: { id: first } })).toBe(0);
});
