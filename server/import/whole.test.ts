import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "#lib/clock";
import type { Database } from "#server/store/database/db";
import { monthsOf } from "#server/store/history/months";
import { type HistoryAdmin, redoImport, undoImport } from "#server/store/klines/import-undo";
import { createKlineStore } from "#server/store/klines/kline-store";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { emptyHistory, hurriedClock, importCommand, storedKlines } from "#server/testing/import-command";
import { commandOutcome } from "#server/testing/terminal";
import { importCommand as command } from "./index";

/** Every reader sees all of an import or none of it, no matter where it is killed. */

let db: TestDatabase;
let folder: string;
beforeAll(async () => {
  db = await testDatabase();
});
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "spotwire-whole-"));
  await emptyHistory(db);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
afterAll(() => db.close());

/** A file of minutes from an instant on. */
function write(name: string, from: string, count: number, price: number): string {
  const file = path.join(folder, name);
  const rows = Array.from({ length: count }, (_, minute) => {
    const atMs = Date.parse(from) + minute * 60_000;
    const close = price + ((atMs * 7_919) % 97_000_000) / 1e12;
    return `${new Date(atMs).toISOString()},${price},${price + 0.001},${price - 0.001},${close.toFixed(5)},9`;
  });
  writeFileSync(file, `time,open,high,low,close,tick_volume\n${rows.join("\n")}\n`);
  return file;
}

/** Everything that a client can see of the history of EURUSD. */
async function seen() {
  const store = createKlineStore(db);
  const range = { ticker: "EURUSD", from: 0, to: 4_000_000_000 };
  return {
    minutes: await storedKlines(db, "EURUSD", "M1"),
    newest: await store.read({ ...range, timeframe: "M1", limit: 3, end: "newest" }),
    days: await storedKlines(db, "EURUSD", "D1"),
    months: await storedKlines(db, "EURUSD", "MN1"),
    files: await monthsOf(db.pool, "EURUSD", range),
  };
}

/** A database whose connection ends before the statement of this number that a transaction sends, counted from the first that matches. */
function killedAt(statement: number, first: RegExp): Database {
  let next = -1;
  const watched = (client: pg.PoolClient) =>
    new Proxy(client, {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown;
        if (name !== "query") return typeof value === "function" ? value.bind(target) : value;
        return async (text: string, values?: unknown[]) => {
          if (next < 0 && first.test(text)) next = 0;
          if (next >= 0 && next === statement) {
            const { processID } = target as unknown as { readonly processID: number };
            await db.pool.query("SELECT pg_terminate_backend($1)", [processID]);
          }
          if (next >= 0) next += 1;
          return target.query(text, values);
        };
      },
    });
  const pool = new Proxy(db.pool, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (name === "connect") return async () => watched(await target.connect());
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return Object.defineProperty(Object.create(db) as Database, "pool", { value: pool });
}

const newestNumber = async () => (await db.prisma.backfill.findFirstOrThrow({ orderBy: { number: "desc" } })).number;

test("beside an import that runs, readers have what was there before, and after it all of it", async () => {
  await importCommand(db, [write("EURUSD.csv", "2024-01-15T00:00Z", 6_000, 1.1)]);
  const before = await seen();
  expect(before.minutes).toHaveLength(6_000);
  const reads: Promise<unknown>[] = [];
  const { exitCode } = await importCommand(db, [write("EURUSD_b.csv", "2024-01-18T00:00Z", 40_000, 1.101), "--accept-doubts"], {
    clock: hurriedClock(),
    batchKlines: 10_000,
    interruptAt(line) {
      if (line.includes("importing:") && reads.length < 4) reads.push(seen());
      return false;
    },
  });
  expect([exitCode, reads.length]).toEqual([0, 4]);
  for (const read of await Promise.all(reads)) expect(read).toEqual(before);
  const after = await seen();
  expect(after.minutes.filter(({ open }) => open === 1.101)).toHaveLength(40_000);
  expect(after.newest).toEqual(after.minutes.slice(-3));
  expect(after.days.at(-1)).toMatchObject({ high: 1.102 });
});

test("a process that is killed while it imports changes nothing, and the same command completes it", async () => {
  await importCommand(db, [write("EURUSD.csv", "2024-01-15T00:00Z", 600, 1.1)]);
  const before = await seen();
  const argv = [write("EURUSD_b.csv", "2024-01-15T06:00Z", 90_000, 1.101), "--accept-doubts"];
  const env = { NODE_ENV: "production" as const, DATABASE_URL: db.url, DATA_DIR: folder };
  const child = spawn(process.execPath, ["--import", "tsx", "server/import/index.ts", ...argv], { env, stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("close", (_, signal) => resolve(signal)));
  const months = async () => (await db.pool.query("SELECT FROM history_layer GROUP BY start")).rowCount;
  // One month of the file is stored, and others are not.
  await expect.poll(months, { interval: 5, timeout: 120_000 }).toBeGreaterThan(1);
  child.kill("SIGKILL");
  expect(await ended).toBe("SIGKILL");
  expect(await seen()).toEqual(before);
  // The locks of a process end when the database has noticed that it is gone.
  const locked = async () =>
    (
      await db.pool.query(
        "SELECT FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
      )
    ).rowCount;
  await expect.poll(locked).toBe(0);
  const { exitCode, text } = await importCommand(db, argv, { clock: systemClock });
  expect([exitCode, text]).toEqual([0, expect.stringContaining("resumed")]);
  expect((await seen()).minutes.filter(({ open }) => open === 1.101)).toHaveLength(90_000);
  expect(await db.prisma.backfill.count()).toBe(2);
});

describe("killed before any statement of the transaction that changes what shows", () => {
  test("an import changes nothing, and the same command completes it as the same import", async () => {
    await importCommand(db, [write("EURUSD.csv", "2024-01-31T12:00Z", 600, 1.1)]);
    const before = await seen();
    // Over the end of a month, and over a part of what is there.
    const argv = [write("EURUSD_b.csv", "2024-01-31T18:00Z", 600, 1.101), "--accept-doubts"];
    const number = (await newestNumber()) + 1;
    let killed = 0;
    for (let statement = 0; ; statement += 1) {
      const { exitCode, text } = await importCommand(killedAt(statement, /^SELECT layer, ticker, sum/), argv, {
        clock: hurriedClock(),
      });
      if (exitCode === 0) break;
      killed += 1;
      expect(text).toMatch(/the database went away: .*Nothing of the import shows/);
      expect(await seen()).toEqual(before);
      const { output } = await commandOutcome(command, ["list"], { db });
      expect(output.split("\n")[0]).toMatch(/interrupted, nothing of it shows/);
    }
    expect(killed).toBeGreaterThan(10);
    expect(await newestNumber()).toBe(number);
    const { minutes, months } = await seen();
    expect([minutes.length, minutes.filter(({ open }) => open === 1.101).length]).toEqual([960, 600]);
    expect(months.map(({ tick_volume }) => tick_volume)).toEqual([600 * 9, 360 * 9]);
  });

  test.each([
    ["undo", undoImport, redoImport],
    ["redo", redoImport, undoImport],
  ])("%s changes nothing", async (_, change, before) => {
    await importCommand(db, [write("EURUSD.csv", "2024-01-31T12:00Z", 600, 1.1)]);
    await importCommand(db, [write("EURUSD_b.csv", "2024-01-31T18:00Z", 600, 1.101), "--accept-doubts"]);
    const admin = (database: Database): HistoryAdmin => ({ db: database, clock: systemClock, record: async () => undefined });
    const number = await newestNumber();
    if (before === undoImport) await undoImport(admin(db), number);
    const was = await seen();
    let killed = 0;
    for (let statement = 0; ; statement += 1) {
      const done = await change(admin(killedAt(statement, /^BEGIN/)), number).then(
        () => true,
        () => false,
      );
      if (done) break;
      killed += 1;
      expect(await seen()).toEqual(was);
    }
    expect(killed).toBeGreaterThan(10);
    expect(await seen()).not.toEqual(was);
    await before(admin(db), number);
    expect(await seen()).toEqual(was);
  });
});

test("as of an instant before it showed, an import is not there, although it had begun", async () => {
  const stopping = /importing: [5-9]\d%/;
  const argv = [write("EURUSD.csv", "2024-01-15T00:00Z", 30_000, 1.1), "--accept-doubts"];
  const stopped = { clock: hurriedClock(), batchKlines: 4_000, interruptAt: (line: string) => stopping.test(line) };
  await importCommand(db, argv, stopped);
  const store = createKlineStore(db);
  const at = async (second: number) => {
    const range = { ticker: "EURUSD", timeframe: "M1", from: 0, to: 4_000_000_000 } as const;
    return (await store.readAt({ ...range, limit: 100_000, end: "oldest" }, second)).length;
  };
  const later = Math.ceil(stopped.clock.now() / 1_000) + 3_600;
  expect(await at(later)).toBe(0);
  const resumed = await importCommand(db, argv, { clock: { ...stopped.clock, now: () => (later + 60) * 1_000 } });
  expect(resumed.exitCode).toBe(0);
  expect([await at(later), await at(later + 60)]).toEqual([0, 30_000]);
});

test("a file is compared with those before it of the same import, which do not show yet", async () => {
  const files = [
    write("EURUSD_1.csv", "2024-03-04T00:00Z", 2_000, 1.1),
    // Another instrument by its prices.
    write("EURUSD_2.csv", "2024-03-05T12:00Z", 2_000, 1.27),
    write("EURUSD_3.csv", "2024-03-05T00:00Z", 600, 1.1),
  ];
  const { text } = await importCommand(db, files);
  expect(text).toMatch(/EURUSD_2.csv(?:.*\n)*.*(?:its level jumps|it is probably not EURUSD)/);
  expect(text).toMatch(/stored +2,040\n(?:.*\n)* *repeated in the files +560/);
  expect(await storedKlines(db, "EURUSD", "M1")).toHaveLength(2_040);
});
