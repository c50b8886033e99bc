import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { importCommand as command } from "#server/import/index";
import { listBackfills } from "#server/store/market/backfills";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { hurriedClock, IMPORT_NOW_MS, importCommand } from "#server/testing/import-command";
import { openMinutes } from "#server/testing/import-rows";
import { commandOutcome } from "#server/testing/terminal";
import { IMPORTING, reportBackfill } from "./backfill";

let database: TestDatabase;
let folder = "";

beforeAll(async () => {
  database = await testDatabase();
  folder = mkdtempSync(path.join(tmpdir(), "spotwire-backfill-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await database.close();
});

/** Writes a file of `count` minutes. */
function minutes(name: string, count: number): string {
  const file = path.join(folder, name);
  const rows = openMinutes("2024-03-06", count).map((time, index) => `${time},1.1,1.2,1.0,1.15,${1 + (index % 9)},0,0.0003`);
  writeFileSync(file, `time,open,high,low,close,tick_volume,real_volume,spread\n${rows.join("\n")}\n`);
  return file;
}

const latest = async () => (await listBackfills(database, manualClock(IMPORT_NOW_MS)))[0];
const lastEntry = () => database.prisma.auditEntry.findFirst({ orderBy: { id: "desc" } });

test("an import stores its progress at most once a second, across all files and archive entries", async () => {
  const clock = manualClock(IMPORT_NOW_MS);
  const report = await reportBackfill({ database, clock, venue: "live", files: 2, command: "one" });
  const expectProgress = async (expected: object) => expect.poll(latest).toMatchObject(expected);
  report.source("EURUSD.zip:a.csv", 0, 2);
  await clock.advance(1_000);
  report.step(IMPORTING, 0.5, 3_000);
  await expectProgress({
    state: "running",
    file: "EURUSD.zip:a.csv",
    step: "importing",
    share: 0.125,
    rows: 3_000,
    rows_per_s: 3_000,
  });
  report.step(IMPORTING, 0.6, 4_000);
  report.source("EURUSD.zip:b.csv", 1, 2);
  await clock.advance(1_000);
  report.step("detecting the clock", 0.9, 100);
  await expectProgress({ file: "EURUSD.zip:b.csv", step: "detecting the clock", share: 0.25, rows: 4_000 });
  report.fileDone("b.csv: cannot be read");
  report.source("GBPUSD.csv", 0, 1);
  await clock.advance(1_000);
  report.step(IMPORTING, 1, 1_000);
  await expectProgress({ files_done: 1, files_failed: 1, problem: "b.csv: cannot be read", share: 1, rows: 5_000 });
  report.fileDone(null);
  await report.end({ state: "failed", tickers: ["EURUSD", "GBPUSD"], through: true });
  expect(await latest()).toMatchObject({ state: "failed", files_done: 2, share: 1, problem: "b.csv: cannot be read" });
});

test("a completed import is stored as done, with an entry in the audit log", async () => {
  await importCommand(database, [minutes("EURUSD.csv", 3_000)]);
  expect(await latest()).toMatchObject({
    state: "done",
    venue: "live",
    files: 1,
    files_done: 1,
    files_failed: 0,
    share: 1,
    rows: 3_000,
    problem: null,
  });
  expect(await lastEntry()).toMatchObject({
    actor: "command line",
    action: "history.import",
    target: "live",
    before: null,
    address: null,
    after: { state: "done", files: 1, files_done: 1, files_failed: 0, rows: 3_000, tickers: ["EURUSD"] },
  });
});

test("a file that cannot be imported is stored with its reason, and the other files are imported", async () => {
  const broken = path.join(folder, "GBPUSD.csv");
  writeFileSync(broken, "these,are,no\nmarket,data,1\n");
  await importCommand(database, [broken, minutes("AUDUSD.csv", 500)]);
  expect(await latest()).toMatchObject({
    state: "failed",
    files: 2,
    files_done: 2,
    files_failed: 1,
    rows: 500,
    problem: expect.stringContaining("GBPUSD.csv: "),
  });
  expect(await lastEntry()).toMatchObject({ after: { state: "failed", tickers: ["AUDUSD"] } });
});

test.each([
  ["its progress", "backfill", "state <> 'done'", "running"],
  ["its entry in the audit log", "audit_entry", "action <> 'history.import'", "done"],
])("a completed import exits with 0 and prints a warning when %s cannot be written", async (_, table, refusing, state) => {
  await database.pool.query(`ALTER TABLE ${table} ADD CONSTRAINT refusing CHECK (${refusing}) NOT VALID`);
  try {
    const { exitCode, text } = await importCommand(database, [minutes("USDCHF.csv", 500), "--force"]);
    expect(exitCode).toBe(0);
    expect(text).toMatch(/WARNING: the operators' page and the audit log do not show .*refusing/s);
    expect(await latest()).toMatchObject({ state, problem: null });
  } finally {
    await database.pool.query(`ALTER TABLE ${table} DROP CONSTRAINT refusing`);
  }
});

test("an interrupted import stores how far it came", async () => {
  const options = { clock: hurriedClock(), batchKlines: 4_000, interruptAt: (line: string) => /importing: [3-9]\d%/.test(line) };
  await importCommand(database, [minutes("NZDUSD.csv", 30_000)], options);
  const stopped = await latest();
  expect(stopped).toMatchObject({ state: "interrupted", files_done: 0, files_failed: 0, problem: null });
  expect(stopped?.share).toBeGreaterThan(0.2);
  expect(stopped?.share).toBeLessThan(0.9);
});

test("a wrong command line starts no import", async () => {
  const before = await database.prisma.backfill.count();
  expect(await importCommand(database, [path.join(folder, "nowhere.csv")])).toMatchObject({
    text: expect.stringContaining("no such file"),
  });
  expect(await database.prisma.backfill.count()).toBe(before);
});

test("every number is named and listed, also that of an import that stored nothing, with its reason", async () => {
  const stored = minutes("CADJPY.csv", 50);
  const broken = path.join(folder, "CADCHF.csv");
  writeFileSync(broken, "nonsense\n");
  const numbers: string[] = [];
  for (const file of [stored, broken, stored]) {
    const { text } = await importCommand(database, ["--force", file]);
    numbers.push(/This (?:is|was) import (\d+)/.exec(text)?.[1] ?? text);
  }
  const [first, second, third] = numbers.map(Number) as [number, number, number];
  expect([second, third]).toEqual([first + 1, first + 2]);
  const { output } = await commandOutcome(command, ["list"], { db: database });
  const entries = output.split(/\n(?=\d)/);
  const entryOf = (number: number) => entries.find((entry) => entry.startsWith(`${number}  `));
  expect(entryOf(third)).toMatch(/\n {4}CADJPY .* 0 stored, 50 already there/);
  expect(entryOf(second)).toMatch(/ {2}failed {2}.*CADCHF.csv\n {4}nothing stored: .*CADCHF.csv: /);
});
