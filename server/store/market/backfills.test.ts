import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { BACKFILL_SILENT_S, BACKFILLS_LISTED_COUNT, BACKFILLS_MAX_COUNT } from "#lib/contract/portal-admin";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { BEGUN_IMPORT } from "#server/testing/imports";
import { storeLayer } from "#server/testing/layered";
import { testKline } from "#server/testing/market";
import { type BackfillProgress, beginBackfill, forgetImports, listBackfills, noteBackfill } from "./backfills";

const clock = manualClock(Date.UTC(2026, 0, 7, 12));
const BEGUN: BackfillProgress = { ...BEGUN_IMPORT, files: 4 };

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

test("a backfill is reported with its progress and its rate", async () => {
  const { id, number } = await beginBackfill({ db, clock }, "live", BEGUN);
  expect(await listBackfills(db, clock)).toMatchObject([{ id, state: "running", share: 0, rows_per_s: null }]);
  await clock.advance(2_000);
  const further = { ...BEGUN, filesDone: 1, file: "EURUSD.csv", step: "importing", share: 0.3, rows: 9_000, readMs: 1_500.4 };
  await noteBackfill({ db, clock }, id, further);
  expect(await listBackfills(db, clock)).toEqual([
    {
      id,
      number,
      venue: "live",
      state: "running",
      files: 4,
      files_done: 1,
      files_failed: 0,
      file: "EURUSD.csv",
      step: "importing",
      share: 0.3,
      rows: 9_000,
      rows_per_s: 6_000,
      problem: null,
      doubts: [],
      started_at: "2026-01-07T12:00:00.000Z",
      updated_at: "2026-01-07T12:00:02.000Z",
      pending: false,
      undone_at: null,
      series: [],
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
  await db.pool.query("DELETE FROM backfill");
  const first = await beginBackfill({ db, clock }, "live", { ...BEGUN, state: "done" });
  await db.pool.query(
    `INSERT INTO backfill (id, venue, state, files, files_done, files_failed, file, step, share, rows, read_ms, started_at, updated_at)
      SELECT gen_random_uuid(), 'live', 'done', n, 0, 0, '', '', 1, 0, 0, $1::timestamptz + n * interval '1 ms', $1
      FROM generate_series(1, $2) AS n`,
    [new Date(clock.now()), BACKFILLS_MAX_COUNT],
  );
  await forgetImports(db);
  expect(await db.prisma.backfill.count()).toBe(BACKFILLS_MAX_COUNT);
  const listed = await listBackfills(db, clock);
  const files = Array.from({ length: BACKFILLS_LISTED_COUNT }, (_, index) => BACKFILLS_MAX_COUNT - index);
  expect(listed.map((backfill) => backfill.files)).toEqual(files);
  await noteBackfill({ db, clock }, first.id, BEGUN);
  expect(await db.prisma.backfill.count({ where: { id: first.id } })).toBe(0);
});

test("an import is kept as long as anything of it is stored, whatever its age, also when it is undone", async () => {
  await db.pool.query("DELETE FROM backfill");
  const old = await beginBackfill({ db, clock }, "live", { ...BEGUN, state: "done" });
  await storeLayer(db, {
    ticker: "EURUSD",
    timeframe: "M1",
    layer: old.number,
    klines: [testKline("EURUSD", "M1", 60)],
    knownMs: 1,
  });
  // Its klines were dropped by the retention, and its ticks would show again without it.
  const ticked = await beginBackfill({ db, clock }, "live", { ...BEGUN, state: "done" });
  await db.pool.query(
    `INSERT INTO tick_segment (ticker, kind, day, layer, part, content, rows, bytes, first, last)
      VALUES ('EURUSD', 'taken', 0, $1, 0, 'content', 1, 1, 0, 0)`,
    [ticked.number],
  );
  await db.pool.query("UPDATE backfill SET undone_at = now()");
  await db.pool.query(
    `INSERT INTO backfill (id, venue, state, files, files_done, files_failed, file, step, share, rows, read_ms, started_at, updated_at)
      SELECT gen_random_uuid(), 'live', 'done', n, 0, 0, '', '', 1, 0, 0, now(), now() FROM generate_series(1, $1) AS n`,
    [BACKFILLS_MAX_COUNT + 1],
  );
  await forgetImports(db);
  expect(await db.prisma.backfill.count()).toBe(BACKFILLS_MAX_COUNT + 2);
  expect(await db.prisma.backfill.count({ where: { number: { in: [old.number, ticked.number] } } })).toBe(2);
});
