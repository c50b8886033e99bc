import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandOutcome } from "#server/testing/terminal";
import { replayCommand } from "./replay-command";

/** A Wednesday at noon, and the Saturday after it. */
const NOON_MS = Date.UTC(2026, 0, 7, 12);
const SATURDAY_MS = Date.UTC(2026, 0, 10, 12);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "filters-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const replay = (line: string, variables: Record<string, string> = {}) =>
  commandOutcome(replayCommand, line.split(" ").filter(Boolean), { variables });

/** Writes a recording of a ticker; each row is milliseconds after noon, a bid and an outcome. */
async function record(name: string, hour: string, rows: readonly (readonly [ms: number, bid: number, outcome: string])[]) {
  const [upstream = "", ticker = ""] = name.split("/");
  const day = path.join(folder, upstream, ticker, "2026-01-07");
  await mkdir(day, { recursive: true });
  const lines = rows.map(([ms, bid, outcome]) => `${NOON_MS + ms},${bid},${bid + 0.0001},,${NOON_MS + ms + 30},${outcome}\n`);
  await writeFile(path.join(day, `${hour}.csv.gz`), gzipSync(`time_msc,bid,ask,volume,received_ms,outcome\n${lines.join("")}`));
  return path.join(folder, upstream, ticker);
}

const quiet = (count: number, outcome = "taken") =>
  Array.from({ length: count }, (_, at) => [100 * at, 1.1 + (at % 3) / 1e5, outcome] as const);

test("the filters say how many ticks of each ticker they would hold back and why, with the first of them", async () => {
  const saturday = Array.from({ length: 5 }, (_, at) => `${SATURDAY_MS + at},4000.5,4001,\n`).join("");
  await writeFile(path.join(folder, "XAUUSD.csv"), `time_msc,bid,ask,volume\n${saturday}`);
  const rows = quiet(30).map(([ms, bid]) => `${NOON_MS + ms},${bid},${bid + 0.0001},\n`);
  rows.splice(25, 0, `${NOON_MS + 2_450},1.3,1.3001,\n`, `${NOON_MS + 2_460},1.1,1.0,\n`, `${NOON_MS + 2_470},1.1,1.2,1e300\n`);
  await writeFile(path.join(folder, "EURUSD.csv"), `time_msc,bid,ask,volume\n${rows.join("")}${rows[29]}not a row\n`);
  const { exitCode, output } = await replay(`--filters ${folder}/XAUUSD.csv ${folder}/EURUSD.csv`);
  expect(output.split("\n")).toEqual([
    "39 ticks of 2 files, 2 refused before the filters (repeated, out of order, crossed …), 1 row could not be read",
    "",
    "ticker  reason               held back  of ticks      share",
    "EURUSD  volume_out_of_range          1        34    2.941 %",
    "    2026-01-07T12:00:02.470Z  1.1 / 1.2  volume 1e+300",
    "EURUSD  spike                        1        34    2.941 %",
    "    2026-01-07T12:00:02.450Z  1.3 / 1.3001",
    "XAUUSD  market_closed                5         5  100.000 %",
    "    2026-01-10T12:00:00.000Z  4000.5 / 4001",
    "    2026-01-10T12:00:00.001Z  4000.5 / 4001",
    "    2026-01-10T12:00:00.002Z  4000.5 / 4001",
  ]);
  expect(exitCode).toBe(0);
});

test("a recording shows where the outcome is another one now, over the hours of a folder and whoever recorded it", async () => {
  const jump = [1.2, 1.2001, 1.2002].map((bid, at) => [3_500_000 + 300 * at, bid, at < 2 ? "spike" : "taken"] as const);
  const rows = [...quiet(30), [3_000, 1.3, "taken"], [3_100, 1.1, "taken"], [3_200, 1.1, "duplicate"], ...jump] as const;
  const file = await record("oanda/EURUSD", "12", rows);
  await record("oanda/EURUSD", "13", [[3_600_000, 1.2, "taken"]]);
  // Of another provider, at other prices, from the morning on.
  await record(
    "push/EURUSD",
    "06",
    quiet(30).map(([ms, , outcome]) => [ms - 6 * 3_600_000, 1.5, outcome] as const),
  );
  const { output } = await replay(`--filters ${file} ${folder}/push`);
  expect(output.split("\n")).toEqual([
    "67 ticks of 3 files, 1 refused before the filters (repeated, out of order, crossed …)",
    "",
    "ticker  reason  held back  of ticks    share",
    "EURUSD  spike           1        67  1.493 %",
    "    2026-01-07T12:00:03.000Z  1.3 / 1.3001",
    "",
    "Other outcomes than recorded:",
    "ticker  recorded  now    ticks",
    "EURUSD  taken     spike      1",
    "    2026-01-07T12:00:03.000Z  1.3 / 1.3001",
    "EURUSD  spike     taken      2",
    "    2026-01-07T12:58:20.000Z  1.2 / 1.2001",
    "    2026-01-07T12:58:20.300Z  1.2001 / 1.2002",
  ]);
});

test("reasons are switched off by --off, else by TICK_FILTERS_OFF", async () => {
  const file = await record("tiingo/EURUSD", "12", [...quiet(30), [3_000, 1.3, "taken"], [3_100, 1.1, "taken"]]);
  const off = "No tick is held back.\n\nAll 32 recorded outcomes are the same now.";
  expect((await replay(`--filters ${file} --off spike`)).output).toContain(off);
  expect((await replay(`--filters ${file}`, { TICK_FILTERS_OFF: "spike" })).output).toContain(off);
  expect((await replay(`--filters ${file} --off market_closed`, { TICK_FILTERS_OFF: "spike" })).output).toContain("spike");
});

test("a file that cannot be read is named, the others are tried, and the exit code says so", async () => {
  const file = await record("fix/EURUSD", "12", quiet(3));
  await writeFile(path.join(folder, "klines-EURUSD.csv"), "time,open,high,low,close\n1704067200,1,1,1,1\n1704067260,1,1,1,1\n");
  const { exitCode, output } = await replay(`--filters ${folder}/klines-EURUSD.csv ${file}`);
  expect([exitCode, output.split("\n")[0]]).toEqual([1, expect.stringContaining("klines-EURUSD.csv: NOT READ: ")]);
  expect(output).toContain("3 ticks of 2 files");
});

test.each([
  ["", "Missing argument: FILE, or --from for the stored ticks."],
  ["--filters", "Missing argument: FILE, or --from for the stored ticks."],
  ["--filters --to 2026-01-01", "Missing option: --from, for the stored ticks."],
  ["--filters --from 2026-01-01 ticks.csv", 'Unexpected argument "ticks.csv": --from reads the stored ticks.'],
  ["--filters --from 2026-01-02 --to 2026-01-02", "--from 2026-01-02 is not before --to 2026-01-02."],
  ["--filters --from 2999-01-02", "--from 2999-01-02 is not before now."],
  ["--from 2026-01-02", "Add --filters: there is nothing else to try."],
  ["ticks.csv", "Add --filters: there is nothing else to try."],
  [
    "ticks.csv --filters --off nothing",
    '--off nothing: "nothing" is not one of market_closed, spike, volume_out_of_range, implausible_price.',
  ],
  ["ticks.csv --filters --ticker NOSUCH", "--ticker NOSUCH: is not an instrument of a new installation."],
  ["ticks.csv --filters --threshold 3", "Unknown option '--threshold'."],
])("npm run replay rejects %j with exit code 2 and one sentence", async (line, sentence) => {
  const { exitCode, output, errors } = await replay(line);
  expect([exitCode, output, errors]).toEqual([2, "", `${sentence}\nRun "npm run replay -- --help" for usage.`]);
});
