import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AssetClass } from "#lib/contract/instrument";
import { LZMA_KLINES, LZMA_TICKS } from "#lib/testing/bi5";
import { HOUR_MS, MINUTE_MS } from "#lib/units";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { importCommand, storedKlines } from "#server/testing/import-command";
import { at } from "#server/testing/import-rows";
import { weeklyHours } from "./clock";

let database: TestDatabase;
let folder = "";

beforeAll(async () => {
  database = await testDatabase();
  folder = mkdtempSync(path.join(tmpdir(), "spotwire-readings-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await database.close();
});

function write(name: string, content: string | Buffer): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

/** A .bi5 tree; its folder. */
function tree(name: string, files: Readonly<Record<string, Buffer | string>>): string {
  for (const [file, content] of Object.entries(files)) write(path.join(name, file), content);
  return path.join(folder, name);
}

const firstDay = async (ticker: string) => {
  const [first] = await storedKlines(database, ticker, "M1");
  return first === undefined ? null : new Date(first.time * 1000).toISOString().slice(0, 10);
};

test("a folder 12 shows that the months of .bi5 files count from 1", async () => {
  const { exitCode, text } = await importCommand(database, [
    tree("twelve", { "EURUSD/2019/02/04/00h_ticks.bi5": LZMA_TICKS, "EURUSD/2019/12/04/00h_ticks.bi5": LZMA_TICKS }),
  ]);
  expect({ exitCode, text }).toMatchObject({ exitCode: 0, text: expect.stringContaining("counted from 1 (01 is January)") });
  expect(await firstDay("EURUSD")).toBe("2019-02-04");
});

test("quotes on a Saturday show how months count, candles of closed hours do not", async () => {
  // The 9th is a Saturday in February and not in January, the 5th the other way round.
  expect((await importCommand(database, [tree("from1", { "GBPUSD/2019/01/09/00h_ticks.bi5": LZMA_TICKS })])).exitCode).toBe(0);
  expect(await firstDay("GBPUSD")).toBe("2019-01-09");
  const candles = { "AUDUSD/2019/01/05/BID_candles_min_1.bi5": LZMA_KLINES, "AUDUSD/2019/01/09/00h_ticks.bi5": "" };
  expect((await importCommand(database, [tree("from0", candles)])).exitCode).toBe(0);
  expect(await firstDay("AUDUSD")).toBe("2019-02-05");
});

test("where nothing shows how months count, the import asks, and --months decides", async () => {
  const files = tree("unsure", { "NZDUSD/2019/01/04/00h_ticks.bi5": LZMA_TICKS });
  expect(await importCommand(database, [files])).toMatchObject({
    exitCode: 3,
    text: expect.stringContaining("set --months 0 or --months 1"),
  });
  expect(await firstDay("NZDUSD")).toBeNull();
  // Contradicting files are not decided by a majority.
  const mixed = { "USDCAD/2019/12/04/00h_ticks.bi5": LZMA_TICKS, "USDCAD/2019/00/04/00h_ticks.bi5": LZMA_TICKS };
  expect((await importCommand(database, [tree("mixed", mixed)])).exitCode).toBe(3);
  expect((await importCommand(database, [files, "--months", "1"])).exitCode).toBe(0);
  expect(await firstDay("NZDUSD")).toBe("2019-01-04");
  // The same file counted otherwise is another import.
  expect((await importCommand(database, [files, "--months", "0"])).text).not.toContain("already imported");
});

/** M1 klines, the first two a minute and the others ten minutes apart, while the market is open, on a clock that is some hours ahead of UTC. */
function week(monday: string, aheadHours: number, price: number, market: AssetClass): string {
  const hours = weeklyHours(market);
  const rows = ["time,open,high,low,close"];
  for (let ms = at(`${monday}T00:00:00Z`) - 24 * HOUR_MS; ms < at(`${monday}T00:00:00Z`) + 120 * HOUR_MS; ms += 10 * MINUTE_MS) {
    if (hours.sessionAt(ms).state !== "open") continue;
    const close = (price * (1 + Math.sin(ms / HOUR_MS) / 1000)).toFixed(2);
    for (const minutes of rows.length === 1 ? [0, 1] : [0]) {
      const local = new Date(ms + aheadHours * HOUR_MS + minutes * MINUTE_MS).toISOString().slice(0, 19).replace("T", " ");
      rows.push([local, close, close, close, close].join(","));
    }
  }
  return `${rows.join("\n")}\n`;
}

test("a folder of several sources is judged source by source: each goes in on its clock, and what does not show it stays out", async () => {
  // Ten minutes apart.
  const minutes = ["--timeframe", "M1"];
  const gold = write("mixed/XAUUSD.csv", week("2022-06-06", 3, 1850, "metals"));
  const silver = write("mixed/XAGUSD.csv", week("2022-06-13", 2, 21, "metals"));
  const [header, ...rows] = week("2022-06-13", 2, 0.7, "forex").split("\n");
  const short = write("mixed/NZDCAD.csv", [header, ...rows.slice(0, 30)].join("\n"));
  write("mixed/EURUSD_empty.csv", "time,open,high,low,close\n");
  const together = await importCommand(database, [path.dirname(gold), ...minutes]);
  expect(together.exitCode).toBe(3);
  expect(together.text).toContain("it has a header line and no rows");
  expect(together.text).toMatch(
    /UNSURE, 1 file: its rows do not show its clock, and the files of this run are on different clocks/,
  );
  expect(await storedKlines(database, "NZDCAD", "M1")).toEqual([]);
  const opens = async (ticker: string) =>
    new Date(((await storedKlines(database, ticker, "M1"))[0]?.time ?? 0) * 1000).toISOString();
  expect(await opens("XAUUSD")).toBe("2022-06-05T22:00:00.000Z");
  expect(await opens("XAGUSD")).toBe("2022-06-12T22:00:00.000Z");
  for (const file of [gold, silver])
    expect(await importCommand(database, [file, ...minutes])).toMatchObject({
      exitCode: 0,
      text: expect.stringContaining("already imported"),
    });
  const alone = await importCommand(database, [short, ...minutes]);
  expect(alone).toMatchObject({ exitCode: 3, text: expect.not.stringContaining("This is import") });
});

test("a file without a header line is imported with --columns and --date-format, and once", async () => {
  const file = write("EURGBP.csv", "06/07/2022 09:00;0,85;0,86;0,84;0,85;7\n06/07/2022 09:01;0,85;0,86;0,84;0,85;8\n");
  expect((await importCommand(database, [file])).exitCode).toBe(3);
  const columns = ["--columns", "time,open,high,low,close,tick_volume", "--tz", "UTC"];
  expect(await importCommand(database, [file, ...columns])).toMatchObject({
    exitCode: 3,
    text: expect.stringContaining("--date-format DMY or --date-format MDY"),
  });
  const argv = [file, ...columns, "--date-format", "MM/DD/YYYY"];
  expect((await importCommand(database, argv)).exitCode).toBe(0);
  expect(await storedKlines(database, "EURGBP", "M1")).toMatchObject([
    { time: at("2022-06-07T09:00:00Z") / 1000, close: 0.85, tick_volume: 7 },
    { time: at("2022-06-07T09:01:00Z") / 1000, tick_volume: 8 },
  ]);
  expect((await importCommand(database, argv)).text).toContain("already imported");
});

test("times that the stated zone skips are refused by line", async () => {
  const rows = ["2024-03-31 02:59", "2024-03-31 03:30", "2024-03-31 04:00"].map((time) => `${time},1.1,1.1,1.1,1.1\n`);
  const file = write("EURCHF.csv", `time,open,high,low,close\n${rows.join("")}`);
  const { exitCode, text } = await importCommand(database, [file, "--tz", "Europe/Athens", "--accept-doubts"]);
  expect({ exitCode, text }).toMatchObject({ exitCode: 1, text: expect.stringMatching(/line 3: its time does not exist/) });
  expect((await storedKlines(database, "EURCHF", "M1")).map(({ time }) => new Date(time * 1000).toISOString())).toEqual([
    "2024-03-31T00:59:00.000Z",
    "2024-03-31T01:00:00.000Z",
  ]);
});
