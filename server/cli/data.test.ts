import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import type { Kline } from "#lib/domain/kline";
import { inTransaction } from "#server/store/history/transaction";
import { storeBatch } from "#server/store/klines/kline-batches";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { openMinutes } from "#server/testing/import-rows";
import { beginTestImport } from "#server/testing/imports";
import { commandOutcome } from "#server/testing/terminal";
import { dataCommand } from "./data";

const clock = manualClock(Date.UTC(2026, 6, 1));
let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

const check = (line: string) => commandOutcome(dataCommand, ["check", ...line.split(" ")], { db, clock });

/** Two years of which each has an hour, with a break of five open minutes in the first. */
function twoYears(ticker: string): Kline[] {
  const first = openMinutes("2024-12-31T10:00Z", 65).filter((_, index) => index < 30 || index >= 35);
  return [...first, ...openMinutes("2025-01-02T10:00Z", 60)].map((time, index) => {
    const price = Number((1.1 + 0.00002 * (index % 7)).toFixed(5));
    const rest = { high: Number((price + 0.0001).toFixed(5)), low: Number((price - 0.0001).toFixed(5)) };
    const prices = { open: price, close: price, ...rest };
    return { type: "kline", ticker, timeframe: "M1", time, ...prices, tick_volume: 5, real_volume: null, spread: null };
  });
}

async function importKlines(klines: readonly Kline[], doubts: readonly string[] = []): Promise<number> {
  const done = { state: "done", filesDone: 1, file: "history.csv", share: 1, rows: klines.length, readMs: 1, doubts } as const;
  const number = await beginTestImport({ db, clock }, done);
  await inTransaction(db.pool, (client) => storeBatch(client, db.segments, number, klines, clock.now()));
  return number;
}

test("npm run data -- check prints the coverage of each year, gaps and sources, and ends with 0 where nothing is suspicious", async () => {
  await importKlines(twoYears("EURUSD"));
  const { exitCode, output, errors } = await check("eurusd");
  expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: "" });
  expect(output).toMatch(/^EURUSD, M1 klines from 2024-12-31T10:00Z to 2025-01-02T10:59Z\. Calendar forex\.$/m);
  expect(output).toMatch(
    /^Coverage\n {2}2025 +60 klines .*\n {2}2024 +60 klines {2}[\d,]+ open minutes without a kline, in 2 gaps$/m,
  );
  expect(output).toMatch(/^ {2}2024-12-31T10:30Z to 2024-12-31T10:35Z {2}5 open minutes {2}Nothing is stored$/m);
  expect(output).toMatch(/^ {2}Imported files {2}120 klines {2}2024-12 to 2025-01$/m);
  expect(output).toContain("Nothing is suspicious.");
  expect(output).not.toContain("Doubtful imports");
});

test("suspicious places of any year are printed with why, and the exit code is 3", async () => {
  const klines = twoYears("GBPUSD");
  klines[20] = { ...(klines[20] as Kline), high: 1.5 };
  await importKlines(klines);
  const { exitCode, output } = await check("GBPUSD");
  expect(exitCode).toBe(3);
  expect(output).toMatch(/^ {2}Spike {2}2024-12-31T10:20Z {2}1\.\d+ 1\.50000 .* times the usual range beyond/m);
  expect(output).not.toContain("Nothing is suspicious.");
});

test("a doubtful import counts as suspicious until it is undone", async () => {
  await importKlines(twoYears("USDJPY"));
  const number = await importKlines(twoYears("USDJPY"), ["another level: the prices are those that are stored times 1.001"]);
  expect(await check("USDJPY")).toMatchObject({
    exitCode: 3,
    output: expect.stringContaining(`  ${number} history.csv: another level: the prices are those that are stored times 1.001`),
  });
  await db.pool.query("UPDATE backfill SET undone_at = now() WHERE number = $1", [number]);
  expect(await check("USDJPY")).toMatchObject({ exitCode: 0, output: expect.not.stringContaining("Doubtful") });
});

test("an instrument without klines is named, with how to import them, and the exit code is 1", async () => {
  expect(await check("XAUUSD")).toEqual({
    exitCode: 1,
    output: "No M1 kline of XAUUSD is stored. Import history with: npm run import -- --ticker XAUUSD FILE",
    errors: "",
  });
});

test.each([
  ["EURXXX", /^EURXXX is not an instrument of the live venue\.$/m],
  ["EURUSD --venue sandbox", /^--venue sandbox: a formula computes its klines, and none are stored\. Check the live venue\.$/m],
  ["EURUSD --venue moon", /^--venue moon: must be one of /m],
  ["EURUSD GBPUSD", /Unexpected argument "GBPUSD"/],
])("npm run data rejects check %s with exit code 2", async (line, reason) => {
  const { exitCode, output, errors } = await check(line);
  expect({ exitCode, output }).toEqual({ exitCode: 2, output: "" });
  expect(errors).toMatch(reason);
});
