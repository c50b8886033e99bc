import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { type Database, openDatabase } from "#server/store/database/db";
import { lockTicker } from "#server/store/history/lock";
import { type BackupBench, backupBench, query } from "#server/testing/backups";
import { createConversionBench } from "#server/testing/converted";
import { createConverter } from "./converter";

/** Databases that releases made and backed up; the README beside them says how. */
const BACKUPS = [
  { release: "0.1.0", backedUpMs: Date.UTC(2026, 10, 23, 10, 49) },
  { release: "0.2.0", backedUpMs: Date.UTC(2026, 10, 25, 20, 1) },
] as const;
const backupOf = (release: string) => `lib/testing/fixtures/release-${release}.backup`;
/** The rows that were said: longer klines without an import were computed. */
const SAID = "WHERE venue = 'live' AND (timeframe = 'M1' OR batch IS NOT NULL)";
const log = createLog("silent");

let bench: BackupBench;
const opened: Database[] = [];
beforeAll(async () => {
  bench = await backupBench();
});
afterAll(async () => {
  for (const db of opened) await db.close();
  await bench.close();
});

async function restored(release: string): Promise<{ url: string; db: Database }> {
  const url = await bench.emptyDatabase();
  await bench.command("restore", url, backupOf(release));
  const db = await openDatabase({ url, poolSize: 3, waitS: 0, clock: systemClock, log });
  opened.push(db);
  return { url, db };
}

async function until(isTrue: () => unknown): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 10));
}

test.each(BACKUPS)(
  "a database of $release is converted ticker by ticker, without those that are busy, and reads as it did",
  async ({ release, backedUpMs }) => {
    const { url, db } = await restored(release);
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
    const [{ rows } = {}] = await query(url, `SELECT count(*)::int AS rows FROM kline ${SAID}`);
    expect(rows).toBeGreaterThan(250);
    expect(report).toMatchObject({ rowsIn: rows, rowsOut: rows });
    expect(told).toHaveLength(tickers.length);
    expect(told).toContainEqual({ kind: "klines", venue: "live", ticker: busy });
    const converted = createConversionBench(db as never);
    for (const ticker of tickers) await converted.expectEqual(ticker, backedUpMs / 1_000);
  },
);

test("a converter that is stopped stops, and the next one begins where tickers wait", async () => {
  const { url, db } = await restored("0.1.0");
  const converter = createConverter({ db, clock: systemClock, log });
  await converter.stop();
  const left = await query(url, "SELECT ticker FROM history_unconverted");
  const next = createConverter({ db, clock: systemClock, log });
  await until(async () => (await query(url, "SELECT FROM history_unconverted")).length === 0);
  await next.stop();
  expect(left.length).toBeGreaterThan(0);
});
