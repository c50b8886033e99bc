import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DAY_S, HOUR_S } from "#lib/units";
import { importCommand as command } from "#server/import/index";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { importCommand, storedKlines } from "#server/testing/import-command";
import { openMinutes } from "#server/testing/import-rows";
import { commandOutcome } from "#server/testing/terminal";

let database: TestDatabase;
let folder = "";
beforeAll(async () => {
  database = await testDatabase();
  folder = mkdtempSync(path.join(tmpdir(), "spotwire-doubts-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await database.close();
});

interface Minute {
  readonly time: number;
  readonly price: number;
}

/** Minutes of a week in which the market is open, with prices that wander by about a pip. */
function week(monday: string, start: number, seed = 1): Minute[] {
  let state = seed * 7_919_993;
  let price = start;
  return openMinutes(monday, 5 * 1_440 - 180).map((time) => {
    // Park and Miller's generator.
    state = (state * 48_271) % 2_147_483_647;
    price *= 1 + (state / 2_147_483_647 - 0.5) * 4e-4;
    return { time, price };
  });
}

function write(name: string, minutes: readonly Minute[]): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  const rows = minutes.map(({ time, price }) => {
    const text = price.toFixed(5);
    return `${time},${text},${text},${text},${text},9`;
  });
  writeFileSync(file, `time,open,high,low,close,tick_volume\n${rows.join("\n")}\n`);
  return file;
}

const moved = (minutes: readonly Minute[], seconds: number) =>
  minutes.map(({ time, price }) => ({ time: time + seconds, price }));
const times = (minutes: readonly Minute[], factor: number) => minutes.map(({ time, price }) => ({ time, price: price * factor }));
const run = (...argv: string[]) => importCommand(database, argv);
const list = async () => (await commandOutcome(command, ["list"], { db: database })).output;

/** Expects a doubt, in a trial too, that leaves what is stored as it is. */
async function expectDoubt(ticker: string, file: string, reason: RegExp): Promise<string> {
  const before = await storedKlines(database, ticker, "M1");
  for (const trial of [["--dry-run"], []]) {
    const { exitCode, text } = await run("--ticker", ticker, ...trial, file);
    expect(text).toMatch(reason);
    expect(exitCode).toBe(3);
  }
  expect(await storedKlines(database, ticker, "M1")).toEqual(before);
  return (await run("--ticker", ticker, file)).text;
}

test("a file that states its clock, an hour late, is stored only with --accept-doubts, and the doubt is kept with the import", async () => {
  // Up to an hour before the close of Friday.
  const file = write("late/EURUSD.csv", moved(week("2024-03-04", 1.08), 2 * HOUR_S));
  const text = await expectDoubt("EURUSD", file, /DOUBTFUL: \d+ of its [\d,]+ klines are in hours in which the market is closed/);
  expect(text).toMatch(/\n {4}2024-03-08T22:\d\d:00Z {2}1\.\d+/);
  expect(text).toContain("--accept-doubts");
  expect(text).not.toContain("This is import");
  const accepted = await run("--accept-doubts", file);
  expect(accepted).toMatchObject({ exitCode: 0, text: expect.stringContaining("DOUBTFUL, accepted: ") });
  const number = /This is import (\d+)/.exec(accepted.text)?.[1];
  expect(await list()).toMatch(new RegExp(`^${number}  .*\\n(?:    .*\\n)*    DOUBTFUL: .*EURUSD.csv: \\d+ of its`, "m"));
  const kept = await database.prisma.backfill.findUniqueOrThrow({ where: { number: Number(number) } });
  expect(kept.doubts).toEqual([expect.stringMatching(/EURUSD.csv: \d+ of its/)]);
});

test("rows of other times than they state are doubtful where the same minutes are stored", async () => {
  const stored = [...week("2024-03-04", 0.85, 3), ...week("2024-04-08", 0.86, 4)];
  expect((await run(write("EURGBP.csv", stored))).exitCode).toBe(0);
  const late = write("later/EURGBP.csv", moved(week("2024-03-04", 0.85, 3), 35 * DAY_S));
  const text = await expectDoubt("EURGBP", late, /DOUBTFUL: only (4\d|5\d) % of [\d,]+ moves go the way of the stored klines/);
  expect(text).toMatch(/\n {4}2024-04-08T\d\d:\d\d:00Z {2}0\.8\d+ where 0\.8\d+ is stored/);
});

test("stored minutes times a constant are doubtful, however near", async () => {
  const minutes = week("2024-03-04", 1.27, 5);
  expect((await run(write("GBPUSD.csv", minutes))).exitCode).toBe(0);
  await expectDoubt(
    "GBPUSD",
    write("near/GBPUSD.csv", times(minutes, 1.0007)),
    /DOUBTFUL: its prices are those that are stored times 1\.0007/,
  );
  // A source that differs as sources do is none.
  const usual = minutes.map(({ time, price }, index) => ({ time, price: price * (1 + ((index * 7) % 5) * 2e-5) }));
  expect(await run(write("usual/GBPUSD.csv", usual))).toMatchObject({ exitCode: 0 });
});

test("a file that would overwrite a part of its minutes with other prices is doubtful", async () => {
  const minutes = week("2024-03-04", 0.66, 6);
  expect((await run(write("AUDUSD.csv", minutes))).exitCode).toBe(0);
  const changed = minutes.map(({ time, price }, index) => ({ time, price: index % 7 === 0 ? price * 1.004 : price }));
  await expectDoubt(
    "AUDUSD",
    write("part/AUDUSD.csv", changed),
    /DOUBTFUL: 1[34] % of [\d,]+ stored klines would be overwritten by more than 0\.\d+ %/,
  );
});

test("a pair of another level is doubtful under any name, and the listing that it looks like is named", async () => {
  const minutes = week("2024-03-04", 1.31, 7);
  expect((await run(write("USDCAD.csv", minutes))).exitCode).toBe(0);
  // Where minutes are stored, they decide; next to them, the level does.
  await expectDoubt(
    "USDCAD",
    write("data.csv", times(minutes, 0.93)),
    /DOUBTFUL: its prices are those that are stored times 0\.93/,
  );
  const next = week("2024-03-11", 1.31 * 0.93, 8);
  await expectDoubt("USDCAD", write("next.csv", next), /DOUBTFUL: its level jumps by 7\.\d % from the day stored before it/);
  expect((await run(write("NZDUSD.csv", week("2024-03-04", 0.61, 9)))).exitCode).toBe(0);
  await expectDoubt(
    "NZDUSD",
    write("other.csv", times(week("2024-03-04", 1.31, 7), 0.61 / 1.31)),
    /DOUBTFUL: only \d\d % of [\d,]+ moves go the way/,
  );
  expect((await run(write("AUDNZD.csv", week("2024-03-04", 1.3, 11)))).exitCode).toBe(0);
  await expectDoubt("AUDNZD", write("what.csv", minutes), /looks like USDCAD/);
});

test("a week that goes on where the stored one ends is no doubt, nor is one after a long weekend", async () => {
  const first = week("2024-03-04", 150.2, 12);
  expect((await run(write("USDJPY_1.csv", first))).exitCode).toBe(0);
  const next = week("2024-03-11", (first.at(-1)?.price ?? 0) * 1.006, 13);
  expect(await run(write("USDJPY_2.csv", next))).toMatchObject({ exitCode: 0, text: expect.not.stringContaining("DOUBTFUL") });
});
