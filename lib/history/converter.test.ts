import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "#lib/clock";
import { type Database, openDatabase } from "#lib/db";
import { createLog } from "#lib/log";
import { type BackupBench, backupBench, query } from "#server/testing/backups";
import { createConversionBench } from "#server/testing/converted";
import { createConverter } from "./converter";
import { lockTicker } from "./lock";

/** A database that Spotwire 0.1.0 made and backed up; the README beside it says how. */
const BACKUP = "lib/testing/fixtures/release-0.1.0.backup";
/** The time of the backup. */
const BACKED_UP_S = Date.UTC(2026, 10, 23, 10, 49) / 1_000;
const log = createLog("silent");

let bench: BackupBench;
let url: string;
let db: Database;
beforeAll(async () => {
  bench = await backupBench();
  url = await bench.emptyDatabase();
  await bench.command("restore", url, BACKUP);
  db = await openDatabase({ url, poolSize: 3, waitS: 0, clock: systemClock, log });
});
afterAll(async () => {
  await db?.close();
  await bench.close();
});

async function until(isTrue: () => unknown): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 10));
}

test("a database of 0.1.0 is converted ticker by ticker, without those that are busy, and reads as it did", async () => {
  const tickers = (await query(url, "SELECT ticker FROM history_unconverted ORDER BY ticker")).map((row) => String(row.ticker));
  expect(tickers.length).toBeGreaterThan(0);
  const [busy = ""] = tickers;
  const other = db.client();
  await other.connect();
  await lockTicker(other, busy, "session");
  const told: unknown[] = [];
  const control = { ...db.control, publish: async (message: unknown) => void told.push(message) };
  // Any wait for another attempt ends with the other command.
  const clock = { ...systemClock, wait: (ms: number, signal?: AbortSignal) => systemClock.wait(Math.min(ms, 50), signal) };
  const converter = createConverter({ db: { ...db, control }, clock, log });
  await until(() => converter.report().waiting === 1);
  await other.end();
  await until(() => converter.report().waiting === 0 && converter.report().ticker === null);
  await converter.stop();
  const report = converter.report();
  expect(report).toMatchObject({ problem: null, share: 0 });
  expect(report.rowsIn).toBeGreaterThan(50);
  expect(report.rowsOut).toBe(report.rowsIn);
  expect(told).toHaveLength(tickers.length);
  expect(told).toContainEqual({ kind: "klines", venue: "live", ticker: busy });
  const converted = createConversionBench(db as never);
  for (const ticker of tickers) await converted.expectEqual(ticker, BACKED_UP_S);
});

test("a converter that is stopped stops, and the next one begins where tickers wait", async () => {
  const again = await bench.emptyDatabase();
  await bench.command("restore", again, BACKUP);
  const database = await openDatabase({ url: again, poolSize: 3, waitS: 0, clock: systemClock, log });
  const converter = createConverter({ db: database, clock: systemClock, log });
  await converter.stop();
  const left = await query(again, "SELECT ticker FROM history_unconverted");
  const next = createConverter({ db: database, clock: systemClock, log });
  await until(async () => (await query(again, "SELECT FROM history_unconverted")).length === 0);
  await next.stop();
  await database.close();
  expect(left.length).toBeGreaterThan(0);
});
