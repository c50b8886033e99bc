import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { zone } from "#lib/domain/zone";
import { LZMA_TICKS } from "#lib/testing/bi5";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { emptyHistory, importCommand, storedKlines } from "#server/testing/import-command";
import { weeklyHours } from "./survey/clock";

/** Files that state UTC or an offset, whose times are local ones: their author labelled them wrongly. */

let database: TestDatabase;
let folder = "";
beforeAll(async () => {
  database = await testDatabase();
  folder = mkdtempSync(path.join(tmpdir(), "spotwire-labels-"));
});
beforeEach(() => emptyHistory(database));
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await database.close();
});

interface Row {
  readonly ms: number;
  readonly price: number;
}

/** The open minutes of a range, with prices that wander by about a pip. */
function minutes(from: string, to: string): Row[] {
  let [state, price] = [7, 1.08];
  const rows: Row[] = [];
  for (const { openMs, closeMs } of weeklyHours("forex").sessionsBetween(Date.parse(from), Date.parse(to)) ?? [])
    for (let ms = openMs; ms < closeMs; ms += MINUTE_MS) {
      // Park and Miller's generator.
      state = (state * 48_271) % 2_147_483_647;
      price *= 1 + (state / 2_147_483_647 - 0.5) * 4e-4;
      rows.push({ ms, price });
    }
  return rows;
}

/** Weeks in which both the United States and Europe put their clocks forward. */
const WEEKS = minutes("2024-03-03", "2024-04-07");
/** Part of a Tuesday: its hours show nothing. */
const MORNING = WEEKS.filter(({ ms }) => ms >= Date.parse("2024-03-05T10:00Z") && ms < Date.parse("2024-03-05T11:20Z"));

const newYork = zone("America/New_York");
const CLOCKS = {
  "NY+7": (ms: number) => newYork.toLocal(ms) + 7 * HOUR_MS,
  "-05:00": (ms: number) => ms - 5 * HOUR_MS,
  "+03:00": (ms: number) => ms + 3 * HOUR_MS,
  UTC: (ms: number) => ms,
};

function write(rows: readonly Row[], clock: keyof typeof CLOCKS, label: string): string {
  const file = path.join(folder, `${clock} ${label}`.replaceAll(/\W/g, "_"), "EURUSD.csv");
  mkdirSync(path.dirname(file), { recursive: true });
  const lines = rows.map(({ ms, price }) => {
    const text = price.toFixed(5);
    return `${new Date(CLOCKS[clock](ms)).toISOString().slice(0, 19)}${label},${text},${text},${text},${text},9`;
  });
  writeFileSync(file, `time,open,high,low,close,tick_volume\n${lines.join("\n")}\n`);
  return file;
}

const run = (...argv: string[]) => importCommand(database, argv);
const times = async () => (await storedKlines(database, "EURUSD", "M1")).map(({ time }) => time * SECOND_MS);

test.each([
  ["NY+7", "Z"],
  ["-05:00", "+00:00"],
  ["+03:00", "+02:00"],
] as const)('times on %s labelled "%s": the doubt names their clock, and with it they are stored right', async (clock, label) => {
  const file = write(WEEKS, clock, label);
  // The label itself is no way out.
  for (const given of [["--dry-run"], ["--tz", "UTC"]]) {
    const { exitCode, text } = await run(...given, file);
    expect({ exitCode, text }).toMatchObject({ exitCode: 3, text: expect.stringContaining(`set it with --tz ${clock}.`) });
    expect(text).toContain("are in hours in which the market is closed");
    expect(text).not.toContain("--tz UTC");
  }
  expect(await run("--tz", clock, file)).toMatchObject({ exitCode: 0 });
  expect(await times()).toEqual(WEEKS.map(({ ms }) => ms));
});

test("a clock is doubtful where the prices are stored at other times, also one that is set with --tz", async () => {
  await run(write(WEEKS, "UTC", "Z"));
  const stored = await times();
  const file = write(MORNING, "+03:00", "Z");
  for (const given of [[], ["--tz", "UTC"]]) {
    const { exitCode, text } = await run(...given, file);
    expect({ exitCode, text }).toMatchObject({ exitCode: 3, text: expect.stringContaining("are stored 3 hours earlier") });
    expect(text).toContain("--tz +03:00");
    expect(text).not.toContain("--tz UTC");
  }
  expect((await run("--tz", "+03:00", file)).text).toContain("80 already there");
  expect(await times()).toEqual(stored);
  // Knowingly.
  expect((await run("--tz", "UTC", "--accept-doubts", file)).exitCode).toBe(0);
});

test("the times of .bi5 files in closed hours are corrected by their day, which is that of their path", async () => {
  const file = path.join(folder, "GBPUSD", "2019", "01", "05", "00h_ticks.bi5");
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, LZMA_TICKS);
  const { exitCode, text } = await run("--months", "1", file);
  expect({ exitCode, text }).toMatchObject({ exitCode: 3, text: expect.stringContaining("set it with --date or --months") });
  expect(text).not.toContain("--tz");
});
