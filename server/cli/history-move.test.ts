import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Clock, systemClock } from "#lib/clock";
import type { Kline } from "#lib/domain/kline";
import { createLog } from "#lib/log";
import { SegmentStoreAway } from "#lib/storage-errors";
import { type HeldRequest, type HeldServer, holdRequests } from "#lib/testing/held-server";
import { S3_CREDENTIALS, startS3Server } from "#lib/testing/s3-server";
import { acquireDatabase } from "#server/database/database";
import { EnvError, readEnv } from "#server/env";
import type { Database } from "#server/store/database/db";
import { placeProblem } from "#server/store/history/place";
import { sealTails } from "#server/store/history/tail";
import { inTransaction } from "#server/store/history/transaction";
import { createKlineStore } from "#server/store/klines/kline-store";
import { objectName } from "#server/store/segments/object-name";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { mountTestDisk } from "#server/testing/disk";
import { IMPORT_NOW_MS, importCommand, storedKlines } from "#server/testing/import-command";
import { openMinutes } from "#server/testing/import-rows";
import { storeLayer, storeTail } from "#server/testing/layered";
import { commandOutcome } from "#server/testing/terminal";
import { historyCommand } from "./history";

const KEY = { AWS_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId, AWS_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey };
const MARK = "spotwire-history";

let database: TestDatabase;
let root: string;
const releases: (() => Promise<void>)[] = [];
beforeEach(async () => {
  [database, root] = [await testDatabase(), await mkdtemp(path.join(tmpdir(), "spotwire-move-"))];
});
afterEach(async () => {
  for (const release of releases.splice(0)) await release();
  await database.close();
  await rm(root, { recursive: true });
});

const at = (name: string) => path.join(root, name);
const urlOf = (name: string) => `file://${at(name)}`;
const variablesOf = (historyUrl: string, url = database.url) => ({ DATABASE_URL: url, HISTORY_URL: historyUrl, ...KEY });

async function folders(...names: string[]): Promise<void> {
  for (const name of names) await mkdir(at(name));
}

/** The database as a process has it that starts with this HISTORY_URL. */
async function start(historyUrl = "", url = database.url): Promise<TestDatabase> {
  const env = readEnv(variablesOf(historyUrl, url));
  const { db, release } = await acquireDatabase(env, createLog("silent"), systemClock);
  releases.push(release);
  return { ...database, ...db };
}

/** A clock whose pauses between attempts take no time; what may last longer is timed as always. */
const hurried: Clock = { ...systemClock, wait: (ms, signal) => systemClock.wait(ms === 1_000 ? 0 : ms, signal) };
/** Runs a command of history in a process of its own setting. */
async function history(from: string, words: readonly string[], options: Parameters<typeof commandOutcome>[2] = {}) {
  const db = await start(from);
  return commandOutcome(historyCommand, words, { db, clock: hurried, variables: variablesOf(from), ...options });
}
const move = (from: string, to: string, options?: Parameters<typeof history>[2]) => history(from, ["move", to], options);

/** Imports an hour of each of some months. */
async function importMonths(db: Database, name: string, ticker: string, months: readonly string[], price = 1.1): Promise<string> {
  const rows = months
    .flatMap((month) => openMinutes(`${month}-05T10:00Z`, 60))
    .map((time) => `${new Date(time * 1_000).toISOString()},${price},${price},${price},${price},5`);
  await writeFile(at(name), ["time,open,high,low,close,volume", ...rows].join("\n"));
  const { exitCode, text } = await importCommand(db, ["--ticker", ticker, at(name)]);
  return `${exitCode} ${text}`;
}

const MONTHS = ["2025-02", "2025-03", "2025-05"];
const eurusd = (db: TestDatabase) => storedKlines(db, "EURUSD", "M1");

async function namedFiles(): Promise<string[]> {
  const tables = ["history_layer", "history_visible", "tick_segment"];
  const union = tables.map((table) => `SELECT content FROM ${table} WHERE content IS NOT NULL`).join(" UNION ");
  const { rows } = await database.pool.query<{ content: string }>(`${union} ORDER BY content`);
  return rows.map(({ content }) => content);
}
const recorded = async () => (await database.pool.query("SELECT place FROM history_place")).rows[0]?.place;

function kline(time: number, ticker = "EURUSD"): Kline {
  const prices = { open: 1.2, high: 1.2, low: 1.2, close: 1.2 };
  return { type: "kline", ticker, timeframe: "M1", time, ...prices, tick_volume: 1, real_volume: null, spread: null };
}

test("a move copies all files while a service runs, which then reads the former ones, stores none, and goes on after a restart", async () => {
  await folders("a", "b");
  const old = await start(urlOf("a"));
  expect(await importMonths(old, "a.csv", "EURUSD", MONTHS)).toMatch(/^0 /);
  const before = await eurusd(old);
  const { exitCode, output } = await move(urlOf("a"), urlOf("b"));
  expect(output).toContain(
    `Moved 3 files from ${urlOf("a")} to ${urlOf("b")}. All are right there.\nSet HISTORY_URL='${urlOf("b")}'`,
  );
  expect(output).toContain(`Once every node runs with the new setting, delete the directory ${at("a")}`);
  expect(exitCode).toBe(0);

  // The service with the former setting.
  expect(await placeProblem(old)).toContain(
    `The files of history of this database lie in ${urlOf("b")}: set HISTORY_URL to that.`,
  );
  expect(await eurusd(old)).toEqual(before);
  const hours = createKlineStore(old);
  const asked = { ticker: "EURUSD", timeframe: "H1", from: 0, to: IMPORT_NOW_MS, limit: 9, end: "oldest" } as const;
  expect(await hours.read(asked)).toHaveLength(MONTHS.length);
  await storeTail(old, [kline(600)]);
  await expect(sealTails(old, 86_400)).rejects.toThrow(
    `The files of history lie in ${urlOf("b")} now, not where HISTORY_URL of this process says. Set it, and start again.`,
  );
  expect(await importMonths(old, "b.csv", "GBPUSD", MONTHS)).toMatch(
    new RegExp(
      `^1 .*history could not be stored: The files of history lie in ${urlOf("b")} now.*run the same command again`,
      "s",
    ),
  );
  expect(await eurusd(old)).toEqual([kline(600), ...before]);
  await expect(start(urlOf("a"))).rejects.toThrow(EnvError);

  // Restarted.
  await rename(at("a"), at("gone"));
  const now = await start(urlOf("b"));
  expect(await sealTails(now, 86_400)).toBe(1);
  expect(await importMonths(now, "b.csv", "GBPUSD", MONTHS)).toMatch(/^0 /);
  expect(await eurusd(now)).toEqual([kline(600), ...before]);
  expect((await history(urlOf("b"), ["check"])).output).toMatch(/^All \d+ files are right/);
});

test("a file that a node with the new setting has stored is no damage to one with the former: it says where the files lie", async () => {
  await folders("a", "b");
  const old = await start(urlOf("a"));
  await importMonths(old, "a.csv", "EURUSD", MONTHS);
  expect((await move(urlOf("a"), urlOf("b"))).exitCode).toBe(0);
  await importMonths(await start(urlOf("b")), "b.csv", "GBPUSD", MONTHS);
  await expect(storedKlines(old, "GBPUSD", "M1")).rejects.toThrow(SegmentStoreAway);
  expect([...old.segments.suspects]).toEqual([]);
  expect(await eurusd(old)).not.toEqual([]);
});

test("files move out of the database and back, and what is left there can be deleted once they lie elsewhere", async () => {
  await folders("a");
  const old = await start();
  await importMonths(old, "a.csv", "EURUSD", MONTHS);
  const before = await eurusd(old);
  const inDatabase = async () => (await database.pool.query("SELECT FROM history_content")).rowCount;
  expect((await history("", ["clean"])).errors).toContain("The files of history lie in the database: nothing was deleted.");
  expect((await move("", urlOf("a"))).output).toMatch(/from the database to file:.*npm run history -- clean$/s);
  expect(await placeProblem(old)).toContain(`HISTORY_URL is not set, but the files of history lie in ${urlOf("a")}.`);
  expect(await eurusd(await start(urlOf("a")))).toEqual(before);
  expect(await inDatabase()).toBe(3);
  expect((await history(urlOf("a"), ["clean"])).output).toBe("Deleted 3 files from the database.");
  expect(await inDatabase()).toBe(0);
  expect(await eurusd(await start(urlOf("a")))).toEqual(before);
  expect((await move(urlOf("a"), "database")).output).toContain("Unset HISTORY_URL for every node");
  await rm(at("a"), { recursive: true });
  expect(await eurusd(await start())).toEqual(before);
  expect((await history("", ["check"])).exitCode).toBe(0);
});

test("files in the database are not deleted while they are being moved there, until that is given up", async () => {
  await folders("a");
  const db = await start(urlOf("a"));
  await importMonths(db, "a.csv", "EURUSD", MONTHS);
  const [first = ""] = await namedFiles();
  await writeFile(path.join(at("a"), objectName(first)), "other bytes");
  expect((await move(urlOf("a"), "database")).exitCode).toBe(1);
  expect((await history(urlOf("a"), ["clean"])).errors).toContain("are being moved into the database: nothing was deleted");
  expect((await move(urlOf("a"), urlOf("a"))).output).toBe(`The files of history lie in ${urlOf("a")} already.`);
  expect((await history(urlOf("a"), ["clean"])).output).toBe("Deleted 2 files from the database.");
});

test("a target that may be of another database is refused with what to do, and nothing is written there", async () => {
  await folders("a", "b", "c", "other");
  await importMonths(await start(urlOf("a")), "a.csv", "EURUSD", MONTHS);
  const other = await testDatabase();
  releases.push(other.close);
  const { db, release } = await acquireDatabase(
    readEnv(variablesOf(urlOf("other"), other.url)),
    createLog("silent"),
    systemClock,
  );
  await storeLayer(db, { ticker: "EURUSD", timeframe: "M1", layer: 1, klines: [kline(60)], knownMs: 0 });
  await release();
  const there = await readdir(at("other"), { recursive: true });
  expect((await move(urlOf("a"), urlOf("other"))).errors).toContain(
    `${urlOf("other")} has a file ${MARK}: it is the place of another database, or one from which this database was moved. Use an empty`,
  );
  expect(await readdir(at("other"), { recursive: true })).toEqual(there);
  await rm(path.join(at("other"), MARK));
  expect((await move(urlOf("a"), urlOf("other"))).errors).toContain(`${urlOf("other")} has files of history already.`);
  expect(await move(urlOf("a"), urlOf("absent"))).toMatchObject({ exitCode: 1, errors: expect.stringContaining("ENOENT") });
  expect(await recorded()).toBe(urlOf("a"));
  // So is the place from which it came.
  await move(urlOf("a"), urlOf("b"));
  expect((await move(urlOf("b"), urlOf("a"))).errors).toContain(`${urlOf("a")} has a file ${MARK}`);
});

test.each([
  [["move"], "Missing argument: URL."],
  [["move", "/var/lib"], "The place must be a file:// or an s3:// URL."],
  [["move", "s3://key:secret@bucket"], "The place must not have a key in it"],
  [["move", "s3://bucket"], "AWS_ACCESS_KEY_ID is required"],
  [["move", "database", "--ticker", "EURUSD"], "--ticker belongs to check."],
  [["clean", "all"], 'Unexpected argument "all".'],
])("%s is refused before anything is opened", async (words, problem) => {
  const { exitCode, errors } = await commandOutcome(historyCommand, words);
  expect([exitCode, errors]).toEqual([2, expect.stringContaining(problem)]);
  expect(errors).not.toContain("secret");
});

test("a damaged or missing file that shows is named with what it concerns, and nothing is recorded until it is right again", async () => {
  await folders("a", "b");
  const db = await start(urlOf("a"));
  await importMonths(db, "a.csv", "EURUSD", MONTHS);
  const [altered = "", gone = ""] = await namedFiles();
  const files = [altered, gone].map((id) => path.join(at("a"), objectName(id)));
  const [bytes, others] = await Promise.all(files.map((file) => readFile(file)));
  await writeFile(files[0] as string, "other bytes");
  await rm(files[1] as string);
  const { exitCode, output } = await move(urlOf("a"), urlOf("b"));
  expect(exitCode).toBe(1);
  expect(output).toContain(`segment ${altered} was altered`);
  expect(output).toContain(`segment ${gone} is not in ${at("a")}`);
  expect(output.match(/Import 1 came from/g)).toHaveLength(2);
  expect(output).toContain(`Nothing was moved: files are damaged or missing in ${urlOf("a")}. Restore them, then run the same`);
  expect(await recorded()).toBe(urlOf("a"));
  await writeFile(files[0] as string, bytes as Buffer);
  await writeFile(files[1] as string, others as Buffer);
  expect((await move(urlOf("a"), urlOf("b"))).output).toContain("Moved 3 files");
});

test("damage with which nothing is lost is reported, and keeps no move", async () => {
  await folders("a", "b");
  const db = await start(urlOf("a"));
  await importMonths(db, "a.csv", "EURUSD", MONTHS);
  // Other prices of half an hour, so that what shows is a file of its own.
  const [header = "", ...lines] = (await readFile(at("a.csv"), "utf8")).split("\n");
  await writeFile(at("b.csv"), [header, ...lines.slice(0, 30).map((line) => line.replaceAll("1.1", "1.1001"))].join("\n"));
  await importCommand(db, ["--ticker", "EURUSD", "--accept-doubts", at("b.csv")]);
  const before = await eurusd(db);
  const derived = await db.segments.put(db.pool, Buffer.from("computed klines"));
  await db.pool.query(
    "INSERT INTO history_derived (ticker, timeframe, start, stamp, content) VALUES ('EURUSD', 'D1', 0, '', $1)",
    [derived],
  );
  const { rows } = await db.pool.query<{ content: string }>(
    "SELECT content FROM history_derived UNION SELECT content FROM history_visible v WHERE NOT EXISTS (SELECT FROM history_layer l WHERE l.content = v.content)",
  );
  expect(rows.length).toBeGreaterThan(1);
  for (const { content } of rows) await rm(path.join(at("a"), objectName(content)));
  const { exitCode, output } = await move(urlOf("a"), urlOf("b"));
  expect(exitCode).toBe(0);
  expect(output).toContain("It is computed again with the next read.");
  expect(output).toContain("It was made again from the files of its layers.");
  expect(await eurusd(await start(urlOf("b")))).toEqual(before);
});

/** A bucket, and its HISTORY_URL at an address before it. */
async function bucket() {
  const server = await startS3Server();
  releases.push(server.close);
  const { bucket: name, address } = server.place;
  return {
    origin: new URL(address).origin,
    urlAt: (endpoint: string) => `s3://${name}/moved?endpoint=${encodeURIComponent(endpoint)}`,
  };
}

/** Sends requests on until one is this. */
async function passUntil(holding: HeldServer, isWanted: (held: HeldRequest) => boolean): Promise<HeldRequest> {
  for (;;) {
    const held = await holding.next();
    if (isWanted(held)) return held;
    held.pass();
  }
}

test("what is sealed and imported while files are copied is moved as well", async () => {
  await folders("a");
  const db = await start(urlOf("a"));
  await importMonths(db, "a.csv", "EURUSD", MONTHS);
  const { origin, urlAt } = await bucket();
  const holding = await holdRequests(origin);
  const url = urlAt(holding.address);
  const moving = move(urlOf("a"), url);
  const held = await passUntil(holding, ({ method, path: name }) => method === "PUT" && name.endsWith(".parquet"));
  await storeTail(db, [kline(600)]);
  expect(await sealTails(db, 86_400)).toBe(1);
  await importMonths(db, "b.csv", "GBPUSD", MONTHS);
  held.pass();
  holding.open();
  expect(await moving).toMatchObject({ exitCode: 0, output: expect.stringContaining("Moved 7 files") });
  await rename(at("a"), at("gone"));
  const now = await start(url);
  expect(await eurusd(now)).toHaveLength(181);
  expect(await storedKlines(now, "GBPUSD", "M1")).toHaveLength(180);
});

test("a move waits for a transaction that stores files, and moves them", async () => {
  await folders("a", "b");
  const db = await start(urlOf("a"));
  await importMonths(db, "a.csv", "EURUSD", MONTHS);
  let moving: ReturnType<typeof move> | undefined;
  await inTransaction(db.pool, async (client) => {
    await storeLayer(
      { ...db, pool: { connect: async () => ({ query: joined(client), release: () => undefined }) } as never },
      { ticker: "GBPUSD", timeframe: "M1", layer: 0, klines: [kline(60, "GBPUSD")], knownMs: 0 },
    );
    moving = move(urlOf("a"), urlOf("b"));
    const waiting =
      "SELECT FROM pg_locks WHERE NOT granted AND locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    await vi.waitUntil(async () => ((await database.pool.query(waiting)).rowCount ?? 0) > 0, { timeout: 60_000 });
    expect(await recorded()).toBe(urlOf("a"));
  });
  expect((await moving)?.output).toContain("Moved 4 files");
  expect(await storedKlines(await start(urlOf("b")), "GBPUSD", "M1")).toEqual([kline(60, "GBPUSD")]);
});

/** The queries of a transaction as those of another one: it begins and ends with the outer one. */
const joined = (client: { query(...args: unknown[]): unknown }) => (text: unknown, values: unknown) =>
  /^(BEGIN|COMMIT)$/.test(String(text)) ? undefined : client.query(text, values);

/** Moves in a process of its own, which is killed when the wanted request has arrived. */
async function killAt(url: string, holding: HeldServer, isWanted: (held: HeldRequest) => boolean): Promise<void> {
  const child = spawn(process.execPath, ["--import", "tsx", "server/cli/history.ts", "move", url], {
    env: { NODE_ENV: "test", ...variablesOf(urlOf("a")) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = once(child, "exit");
  await passUntil(holding, isWanted);
  child.kill("SIGKILL");
  expect((await ended)[1]).toBe("SIGKILL");
}

test("a kill at any moment loses nothing: the service goes on in the former place, and the same command continues", async () => {
  await folders("a");
  const db = await start(urlOf("a"));
  await importMonths(db, "a.csv", "EURUSD", MONTHS);
  const { origin, urlAt } = await bucket();
  const isMark = ({ path: name }: HeldRequest) => name.endsWith(MARK);
  let [puts, marks] = [0, 0];
  const moments: ((held: HeldRequest) => boolean)[] = [
    // The move has begun, and its place has no mark yet.
    (held) => held.method === "PUT" && isMark(held),
    // A file is there, another is not.
    ({ method, path: name }) => method === "PUT" && name.endsWith(".parquet") && ++puts === 2,
    // All files are there, writers wait, and nothing is recorded: the mark is compared for the last time.
    (held) => held.method === "GET" && isMark(held) && ++marks === 2,
  ];
  let minutes = 0;
  for (const isWanted of moments) {
    const holding = await holdRequests(origin);
    await killAt(urlAt(holding.address), holding, isWanted);
    expect(await recorded()).toBe(urlOf("a"));
    minutes += 1;
    await storeTail(db, [kline(60 * minutes)]);
    await vi.waitUntil(async () => (await sealTails(db, 86_400)) === 1, { timeout: 60_000 });
  }
  expect((await move(urlOf("a"), urlAt(origin))).output).toMatch(/Moved \d+ files/);
  const whole = await eurusd(db);
  expect(whole).toHaveLength(180 + minutes);
  await rename(at("a"), at("gone"));
  expect(await eurusd(await start(urlAt(origin)))).toEqual(whole);
  expect((await history(urlAt(origin), ["check"])).exitCode).toBe(0);
});

test("an interrupted move says how to continue", async () => {
  await folders("a", "b");
  await importMonths(await start(urlOf("a")), "a.csv", "EURUSD", MONTHS);
  const stopped = { stopSignal: () => AbortSignal.abort() };
  expect(await move(urlOf("a"), urlOf("b"), stopped)).toMatchObject({
    exitCode: 1,
    errors: "Interrupted.\nNothing was moved. To continue, run the same command again.",
  });
  expect((await move(urlOf("a"), urlOf("b"))).exitCode).toBe(0);
});

test("a file of an earlier run that is not right in the new place is copied again", async () => {
  await folders("a", "b");
  await importMonths(await start(urlOf("a")), "a.csv", "EURUSD", MONTHS);
  const [first = "", second = ""] = await namedFiles();
  const own = await readFile(path.join(at("a"), objectName(second)));
  await rm(path.join(at("a"), objectName(second)));
  await move(urlOf("a"), urlOf("b"));
  await writeFile(path.join(at("a"), objectName(second)), own);
  await writeFile(path.join(at("b"), objectName(first)), "other bytes");
  expect((await move(urlOf("a"), urlOf("b"))).exitCode).toBe(0);
  expect((await history(urlOf("b"), ["check"])).output).toMatch(/^All 3 files are right/);
});

const disk = mountTestDisk("4m");
test.skipIf(disk === undefined)(
  "a target that is full or read-only ends a move with the reason, and it continues later",
  async () => {
    if (disk === undefined) return;
    try {
      await folders("a");
      await importMonths(await start(urlOf("a")), "a.csv", "EURUSD", MONTHS);
      const url = `file://${disk.folder}`;
      const remount = (how: string) => execFileSync("mount", ["-o", `remount,${how}`, disk.folder]);
      remount("ro");
      const refused = await move(urlOf("a"), url);
      expect(refused).toMatchObject({ exitCode: 1, errors: expect.stringMatching(/cannot be used: EROFS.*\nNothing was moved/) });
      remount("rw");
      const free = await disk.fill(4_096);
      const full = await move(urlOf("a"), url);
      expect(full).toMatchObject({ exitCode: 1, errors: expect.stringMatching(/cannot be used: ENOSPC.*\nNothing was moved/) });
      expect(await recorded()).toBe(urlOf("a"));
      await free();
      expect((await move(urlOf("a"), url)).output).toContain("Moved 3 files");
    } finally {
      disk.unmount();
    }
  },
);

test.skipIf(process.getuid?.() === 0)("a directory that may not be written to is refused", async () => {
  await folders("a", "b");
  await importMonths(await start(urlOf("a")), "a.csv", "EURUSD", MONTHS);
  await chmod(at("b"), 0o500);
  expect(await move(urlOf("a"), urlOf("b"))).toMatchObject({ exitCode: 1, errors: expect.stringContaining("EACCES") });
});

test("a writer that never pauses ends a move with what to do, after which it continues", async () => {
  await folders("a", "b");
  const db = await start(urlOf("a"));
  await importMonths(db, "a.csv", "EURUSD", MONTHS);
  // Each look at the clock is later than the writers can wait.
  let nowMs = 0;
  const clock: Clock = {
    ...hurried,
    now() {
      nowMs += 60_000;
      return nowMs;
    },
  };
  const { exitCode, errors } = await move(urlOf("a"), urlOf("b"), { clock });
  expect([exitCode, errors]).toEqual([1, expect.stringContaining("keep storing history. Run the same command again")]);
  expect(await recorded()).toBe(urlOf("a"));
  expect((await move(urlOf("a"), urlOf("b"))).exitCode).toBe(0);
});
