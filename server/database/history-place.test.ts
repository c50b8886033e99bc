import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock as clock } from "#lib/clock";
import { emptyColumns } from "#lib/domain/columns";
import { createLog } from "#lib/log";
import { SegmentMissing, SegmentStoreAway } from "#lib/storage-errors";
import { S3_CREDENTIALS, startS3Server } from "#lib/testing/s3-server";
import { EnvError, readEnv } from "#server/env";
import type { Database } from "#server/store/database/db";
import { saidBy } from "#server/store/segments/segments";
import { backupBench } from "#server/testing/backups";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { acquireDatabase } from "./database";

const MARK = "spotwire-history";

let database: TestDatabase;
let root: string;
const releases: (() => Promise<void>)[] = [];
beforeEach(async () => {
  [database, root] = [await testDatabase(), await mkdtemp(path.join(tmpdir(), "spotwire-history-"))];
});
afterEach(async () => {
  for (const release of releases.splice(0)) await release();
  await database.close();
  await rm(root, { recursive: true });
});

const at = (name: string) => path.join(root, name);
const urlOf = (name: string) => `file://${at(name)}`;
const markOf = (name: string) => readFile(path.join(at(name), MARK), "utf8");

/** The database as a process opens it that has this HISTORY_URL. */
async function start(historyUrl = "", url = database.url): Promise<Database> {
  const key = { AWS_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId, AWS_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey };
  const env = readEnv({ DATABASE_URL: url, HISTORY_URL: historyUrl, ...key });
  const { db, release } = await acquireDatabase(env, createLog("silent"), clock);
  releases.push(release);
  return db;
}

async function refusalOf(historyUrl?: string, url?: string): Promise<string> {
  const thrown = await start(historyUrl, url).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(EnvError);
  return (thrown as Error).message;
}

let made = 0;
/** Stores a file of history, which a row names. */
async function storeFile(db: Database): Promise<string> {
  made += 60;
  const said = saidBy({ ...emptyColumns(1), time: Float64Array.of(made) }, 1, 1_000);
  const id = await db.segments.write(db.pool, said, { ticker: "EURUSD", timeframe: "M1" }, 5);
  const row =
    "INSERT INTO history_layer (ticker, timeframe, start, layer, content, rows, first, last) VALUES ('EURUSD', 'M1', $1, 1, $2, 1, $1, $1)";
  await db.pool.query(row, [made, id]);
  return id;
}

const forget = () => database.pool.query("DELETE FROM history_place");

async function folders(...names: string[]): Promise<void> {
  for (const name of names) await mkdir(at(name));
}

test("a service with HISTORY_URL keeps files of klines there, and none in the database", async () => {
  await folders("a");
  const id = await storeFile(await start(urlOf("a")));
  expect(await readdir(path.join(at("a"), id.slice(0, 2)))).toEqual([`${id}.parquet`]);
  expect((await database.pool.query("SELECT FROM history_content")).rowCount).toBe(0);
});

test("a process with another HISTORY_URL than the one with which files were stored is refused, and told where they lie", async () => {
  await folders("a", "b");
  const id = await storeFile(await start(urlOf("a")));
  expect(await refusalOf()).toContain(
    `HISTORY_URL is not set, but the files of history lie in ${urlOf("a")}. Set HISTORY_URL to that`,
  );
  expect(await refusalOf(urlOf("b"))).toMatch(
    new RegExp(`HISTORY_URL is ${urlOf("b")}, but this has no file ${MARK}\\..* lie in ${urlOf("a")}: set HISTORY_URL to that`),
  );
  expect(await readdir(at("b"))).toEqual([]);
  const again = await start(`${urlOf("a")}/`);
  expect((await again.segments.read(again.pool, [id])).size).toBe(1);
});

test("a process with a HISTORY_URL is refused where files lie in the database", async () => {
  await folders("a");
  await storeFile(await start());
  expect(await refusalOf(urlOf("a"))).toContain(
    `HISTORY_URL is ${urlOf("a")}, but the files of history lie in the database. Unset HISTORY_URL.`,
  );
  expect(await readdir(at("a"))).toEqual([]);
  await storeFile(await start());
});

test("a place may be changed until the first file is stored, but not while a node uses it, and a process that has the former writes nothing", async () => {
  await folders("a", "b");
  const first = await start(urlOf("a"));
  const second = await start(urlOf("b"));
  await expect(storeFile(first)).rejects.toThrow(
    `The files of history lie in ${urlOf("b")} now, not where HISTORY_URL of this process says`,
  );
  await database.pool.query(
    "INSERT INTO node_report (id, name, reported_at, report) VALUES (gen_random_uuid(), 'a', now(), '{}')",
  );
  expect(await refusalOf()).toContain("HISTORY_URL is not set");
  await database.pool.query("DELETE FROM node_report");
  await storeFile(second);
  expect(await refusalOf()).toContain("HISTORY_URL is not set");
});

test("a directory that was moved is the same place, and its former path is another one", async () => {
  await folders("a");
  const id = await storeFile(await start(urlOf("a")));
  await rename(at("a"), at("moved"));
  const moved = await start(urlOf("moved"));
  expect((await moved.segments.store.get(moved.pool, [id])).size).toBe(1);
  await folders("a");
  expect(await refusalOf()).toContain(`lie in ${urlOf("moved")}`);
  expect(await refusalOf(urlOf("a"))).toContain(`lie in ${urlOf("moved")}`);
});

test("an empty directory under the path of the recorded one is refused, as with a disk that is not mounted, until its mark is back", async () => {
  await folders("a");
  await storeFile(await start(urlOf("a")));
  await rename(at("a"), at("unmounted"));
  await folders("a");
  expect(await refusalOf(urlOf("a"))).toContain(
    `HISTORY_URL is ${urlOf("a")}, but this has no file ${MARK}. Mount its disk, or put its files back.`,
  );
  await writeFile(path.join(at("a"), MARK), "of another database\n");
  expect(await refusalOf(urlOf("a"))).toContain(`this has another file ${MARK}. Mount its disk`);
  await writeFile(path.join(at("a"), MARK), await markOf("unmounted"));
  await start(urlOf("a"));
});

test("a disk that is unmounted while a process runs is away: its files are not missing, and none is written to the directory below it", async () => {
  await folders("a");
  const db = await start(urlOf("a"));
  const id = await storeFile(db);
  await rename(at("a"), at("unmounted"));
  await folders("a");
  const reading = db.segments.store.get(db.pool, [id]);
  await expect(reading).rejects.toThrow(`its file ${MARK} is gone, as when its disk is not mounted`);
  await expect(reading).rejects.toThrow(SegmentStoreAway);
  await expect(storeFile(db)).rejects.toThrow(SegmentStoreAway);
  expect(await readdir(at("a"))).toEqual([]);
  await rm(at("a"), { recursive: true });
  await rename(at("unmounted"), at("a"));
  await storeFile(db);
  await rm(path.join(at("a"), id.slice(0, 2)), { recursive: true });
  await expect(db.segments.store.get(db.pool, [id])).rejects.toThrow(SegmentMissing);
});

test("a database of the release before, which has recorded no place, records the one that has its files", async () => {
  await folders("a", "b");
  const id = await storeFile(await start(urlOf("a")));
  await forget();
  await rm(path.join(at("a"), MARK));
  expect(await refusalOf()).toContain(
    "HISTORY_URL is not set, but of 1 files of history that the database names, 0 are in the database. Set HISTORY_URL to where they lie",
  );
  expect(await refusalOf(urlOf("b"))).toContain(
    `HISTORY_URL is ${urlOf("b")}, but of 1 files of history that the database names, 0 are there.`,
  );
  const db = await start(urlOf("a"));
  expect((await db.segments.read(db.pool, [id])).size).toBe(1);
  expect(await refusalOf()).toContain(`lie in ${urlOf("a")}`);
  await forget();
  // The files are lost, and an operator says so.
  await writeFile(path.join(at("b"), MARK), "new\n");
  await storeFile(await start(urlOf("b")));
  expect(await markOf("b")).toBe("new\n");
});

test("files in the database of the release before are recorded too", async () => {
  await folders("a");
  await storeFile(await start());
  await forget();
  expect(await refusalOf(urlOf("a"))).toContain("unset it if that is the database");
  await start();
  expect(await refusalOf(urlOf("a"))).toContain("lie in the database");
});

test("a database that names no files is refused the place of another one, whose files its sweep would delete", async () => {
  await folders("a");
  await storeFile(await start(urlOf("a")));
  const other = await testDatabase();
  expect(await refusalOf(urlOf("a"), other.url)).toContain(
    `HISTORY_URL is ${urlOf("a")}, which has files of history that this database does not name`,
  );
  await rm(path.join(at("a"), MARK));
  expect(await refusalOf(urlOf("a"), other.url)).toContain("that this database does not name");
  await other.close();
});

test("a mark that a start left which failed before it was recorded keeps nobody away", async () => {
  await folders("a");
  await writeFile(path.join(at("a"), MARK), "unrecorded\n");
  await storeFile(await start(urlOf("a")));
  expect(await markOf("a")).not.toContain("unrecorded");
  await start(urlOf("a"));
});

test("of processes that start at the same moment, all have the place of the first", async () => {
  await folders("a");
  const nodes = await Promise.all([start(urlOf("a")), start(urlOf("a")), start(`${urlOf("a")}/`)]);
  for (const db of nodes) await storeFile(db);
  await cp(at("a"), at("copy"), { recursive: true });
  await start(urlOf("copy"));
});

test("a bucket has a mark as well: it is the same by another spelling, and another prefix is another place", async () => {
  const { place, close } = await startS3Server();
  const endpoint = place.address.slice(0, -place.bucket.length - 1);
  const bucket = (prefix: string, more = "") => `s3://${place.bucket}/${prefix}?endpoint=${endpoint}${more}`;
  const id = await storeFile(await start(bucket("a")));
  const again = await start(bucket("a/", "/"));
  expect((await again.segments.store.get(again.pool, [id])).size).toBe(1);
  expect(await refusalOf(bucket("b"))).toContain(`this has no file ${MARK}`);
  expect(await refusalOf()).toContain(`lie in s3://${place.bucket}/a?endpoint=${encodeURIComponent(endpoint)}.`);
  await close();
  // Quotes and streams need no history: a node starts, and reads it once the bucket is back.
  await start(bucket("a"));
  expect(await refusalOf(bucket("b"))).toMatch(/lie in s3:.* The bucket of stored klines .* cannot be used/);
});

test("a restore says where the files lie that are not in the backup, and the restored database knows them", async () => {
  await folders("a");
  const id = await storeFile(await start(urlOf("a")));
  const bench = await backupBench();
  const file = bench.at("history.backup");
  await bench.command("backup", database.url, "--to", file);
  const target = await bench.emptyDatabase();
  expect(await bench.command("restore", target, file)).toContain(
    `The files of history are not in the backup: they lie in ${urlOf("a")}`,
  );
  expect(await refusalOf("", target)).toContain(`lie in ${urlOf("a")}`);
  const restored = await start(urlOf("a"), target);
  expect((await restored.segments.read(restored.pool, [id])).size).toBe(1);
  releases.push(bench.close);
});
