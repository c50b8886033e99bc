import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "#lib/clock";
import { emptyColumns } from "#lib/domain/columns";
import { SegmentDamaged, SegmentMissing } from "#lib/storage-errors";
import { collectingLog } from "#lib/testing/collecting-log";
import { type WatchedClock, watchedClock } from "#lib/testing/watched-clock";
import type { Database } from "#server/store/database/db";
import { settleHistoryPlace } from "#server/store/history/place";
import { createDirectoryStore } from "#server/store/segments/directory-store";
import { objectName } from "#server/store/segments/object-name";
import { createSegments, saidBy } from "#server/store/segments/segments";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { startDamageWatch, startPlaceWatch } from "./history-watch";

const LOOK_MS = 10_000;

let database: TestDatabase;
let root: string;
let folder: string;
let db: Pick<Database, "pool" | "segments">;
let watched: WatchedClock;
let clock: WatchedClock;
/** Looks that have ended: the wait for the next one has begun. */
let ended: number;
let logged: Record<string, unknown>[];
let stop = async () => {};
beforeEach(async () => {
  [database, root] = [await testDatabase(), await mkdtemp(path.join(tmpdir(), "spotwire-history-"))];
  folder = path.join(root, "history");
  await mkdir(folder);
  db = open();
  await settleHistoryPlace(db);
  [watched, logged, ended] = [watchedClock(0), [], 0];
  clock = {
    ...watched,
    wait(ms, signal) {
      ended += 1;
      return watched.wait(ms, signal);
    },
  };
});
afterEach(async () => {
  await stop();
  await database.close();
  await rm(root, { recursive: true });
});

/** The history as a process has it that has read nothing yet. */
function open(): typeof db {
  return { pool: database.pool, segments: createSegments(createDirectoryStore({ folder, clock: systemClock }), 8) };
}

/** Waits until a look has ended, then lets the next one begin and end. */
async function look(): Promise<void> {
  await vi.waitUntil(() => clock.waits.length > 0);
  const before = ended;
  await clock.advance(LOOK_MS);
  await vi.waitUntil(() => ended > before);
}

async function store(time: number, isNamed = true): Promise<string> {
  const said = saidBy({ ...emptyColumns(1), time: Float64Array.of(time) }, 1, 1_000);
  const id = await db.segments.write(db.pool, said, { ticker: "EURUSD", timeframe: "M1" }, 5);
  const row =
    "INSERT INTO history_layer (ticker, timeframe, start, layer, content, rows, first, last) VALUES ('EURUSD', 'M1', $1, 1, $2, 1, $1, $1)";
  if (isNamed) await db.pool.query(row, [time, id]);
  return id;
}

test("a directory whose disk is unmounted is reported until it is back, in words that name it", async () => {
  const watch = startPlaceWatch({ db, clock, log: collectingLog(logged, "info") });
  stop = watch.stop;
  await look();
  expect(watch.problem()).toBeNull();
  await rename(folder, `${folder}-away`);
  await look();
  expect(watch.problem()).toContain(`The directory of stored klines ${folder} cannot be used: ENOENT`);
  await mkdir(folder);
  await look();
  expect(watch.problem()).toContain("but this has no file spotwire-history. Mount its disk");
  await look();
  await rm(folder, { recursive: true });
  await rename(`${folder}-away`, folder);
  await look();
  expect(watch.problem()).toBeNull();
  expect(logged.map(({ msg }) => msg)).toEqual([
    "the files of history cannot be used",
    "the files of history cannot be used",
    "the files of history can be used again",
  ]);
});

/** @returns how the damaged files are counted */
function watchDamage(of: typeof db): () => number {
  let count = () => Number.NaN;
  const metrics = {
    damagedHistory(read: () => number) {
      count = read;
    },
  };
  stop = startDamageWatch({ db: of, metrics, clock, log: collectingLog(logged, "info") }).stop;
  return count;
}

test("damaged and missing files are counted and named in the log once, until they can be read again", async () => {
  const [altered, gone, right] = [await store(60), await store(120), await store(180)];
  const fresh = open();
  const count = watchDamage(fresh);
  const file = (id: string) => path.join(folder, objectName(id));
  const bytes = new Map([
    [altered, await readFile(file(altered))],
    [gone, await readFile(file(gone))],
  ]);
  await writeFile(file(altered), "other bytes");
  await rm(file(gone));
  await expect(fresh.segments.read(db.pool, [altered])).rejects.toThrow(SegmentDamaged);
  await expect(fresh.segments.read(db.pool, [right, gone])).rejects.toThrow(SegmentMissing);
  await look();
  await look();
  expect(count()).toBe(2);
  expect(logged.map(({ file, level }) => [file, level]).sort()).toEqual(
    [
      [altered, 50],
      [gone, 50],
    ].sort(),
  );
  for (const [id, content] of bytes) await writeFile(file(id), content);
  await look();
  expect(count()).toBe(0);
});

test("a file that was replaced while it was read is not missing, and one that is replaced later no longer is", async () => {
  const [replaced, named] = [await store(60, false), await store(120)];
  const fresh = open();
  const count = watchDamage(fresh);
  await rm(folder, { recursive: true });
  await mkdir(folder);
  await expect(fresh.segments.read(db.pool, [replaced, named])).rejects.toThrow(SegmentMissing);
  await look();
  expect(count()).toBe(1);
  await db.pool.query("DELETE FROM history_layer");
  await look();
  expect(count()).toBe(0);
  expect(logged).toHaveLength(1);
});
