import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { csvOf } from "#lib/contract/csv";
import type { Listing } from "#lib/domain/instrument";
import { aggregate, type Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import { operations } from "#lib/operations/declarations";
import { createKlines } from "#lib/operations/klines/answer";
import { createMemoryFiles } from "#lib/testing/memory-files";
import { writeWhole } from "#server/database/whole-file";
import { createKlineStore } from "#server/store/klines/kline-store";
import { createCatalogue } from "#server/store/market/catalogue";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { hurriedClock, IMPORT_NOW_MS, importCommand, storedKlines } from "#server/testing/import-command";
import { openMinutes } from "#server/testing/import-rows";
import { storeFeed, storeTail } from "#server/testing/layered";
import { createTestMarket } from "#server/testing/market";
import { commandOutcome } from "#server/testing/terminal";
import { exportCommand } from "./index";
import { monthFiles } from "./parts";
import { openFiles } from "./series";

let database: TestDatabase;
const others: Record<string, TestDatabase> = {};
let folder = "";

beforeAll(async () => {
  [database, others.csv, others.parquet] = await Promise.all([testDatabase(), testDatabase(), testDatabase()]);
  folder = mkdtempSync(path.join(tmpdir(), "spotwire-export-"));
  // What makes reading back hard: unknown values beside known ones, whole prices and spreads, klines without volume, lone rows.
  const klines = openMinutes("2024-03-06", 3_000).map((time, index): Kline => {
    const close = index % 500 === 0 ? 1 : 1 + ((index * 7919) % 997) / 1e5;
    const open = index % 7 === 0 ? close : 1.005;
    return {
      type: "kline",
      ticker: "EURUSD",
      timeframe: "M1",
      time: time + Math.floor(index / 50) * 60,
      open,
      close,
      high: Math.max(open, close),
      low: Math.min(open, close),
      tick_volume: index % 7 === 0 ? 0 : index % 60,
      real_volume: index % 3 === 0 ? null : index % 3 === 1 ? 0 : 1_234.5,
      spread: index % 5 === 0 ? null : index % 5 === 1 ? 0 : index % 5 === 2 ? 1 : (index % 40) / 1e6,
    };
  });
  await storeFeed(database, klines.map((kline) => ({ ...kline, close: round(kline.close) })).map(sound));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await Promise.all([database, ...Object.values(others)].map((one) => one.close()));
});

const round = (price: number) => Number(price.toFixed(5));
const sound = (kline: Kline): Kline => ({
  ...kline,
  open: round(kline.open),
  high: Math.max(round(kline.open), kline.close),
  low: Math.min(round(kline.open), kline.close),
});
const clock = manualClock(IMPORT_NOW_MS);
/** The files of EURUSD that the API lists. */
async function listedMonths() {
  const catalogue = await createCatalogue(database, "live");
  const { klines, close } = openFiles({ venue: "live", db: database, catalogue, seed: 1, clock });
  const listing = catalogue.find("EURUSD") as Listing;
  return { months: await klines.list(listing, { from: 0, to: IMPORT_NOW_MS / 1_000, limit: 10 }, {}), close };
}
const place = (...names: string[]) => path.join(folder, ...names);
const run = (argv: readonly string[], options: Parameters<typeof commandOutcome>[2] = {}) =>
  commandOutcome(exportCommand, argv, { db: database, clock, ...options });

test("an exported CSV file is imported into another database to the same klines, unknown values included, and exported again to the same bytes", async () => {
  const other = others.csv as TestDatabase;
  const file = place("EURUSD_M1.csv");
  const exported = await run(["--ticker", "eurusd", "--out", file]);
  expect(exported).toMatchObject({
    exitCode: 0,
    output: expect.stringContaining(`${file}: 3,000 klines, 2024-03-06T00:00Z to `),
  });
  const imported = await importCommand(other, [file]);
  expect(imported).toMatchObject({ exitCode: 0, text: expect.stringContaining("Spotwire export (spotwire), EURUSD") });
  expect(await storedKlines(other, "EURUSD", "M1")).toEqual(await storedKlines(database, "EURUSD", "M1"));
  const again = place("again.csv");
  expect(await run(["--ticker", "EURUSD", "--out", again], { db: other })).toMatchObject({ exitCode: 0 });
  expect(readFileSync(again).equals(readFileSync(file))).toBe(true);
});

test("exported Parquet is the files of the API, and is imported into another database to the same klines", async () => {
  const other = others.parquet as TestDatabase;
  const out = `${place("parquet")}/`;
  const exported = await run(["--ticker", "EURUSD", "--format", "parquet", "--out", out]);
  expect(exported).toMatchObject({ exitCode: 0, output: `${out}EURUSD_M1_2024-03.parquet: 3,000 klines` });
  const { months, close } = await listedMonths();
  const hash = createHash("sha256")
    .update(readFileSync(`${out}EURUSD_M1_2024-03.parquet`))
    .digest("hex");
  expect(months).toMatchObject([{ complete: true, made: { rows: 3_000, sha256: hash } }]);
  await close();
  expect(await importCommand(other, [out])).toMatchObject({
    exitCode: 0,
    text: expect.stringContaining("Spotwire export (spotwire), EURUSD"),
  });
  expect(await storedKlines(other, "EURUSD", "M1")).toEqual(await storedKlines(database, "EURUSD", "M1"));
  const range = ["--from", "2024-04-01", "--to", "2024-05-01"];
  expect(await run(["--ticker", "EURUSD", "--format", "parquet", "--out", out, ...range])).toMatchObject({
    exitCode: 1,
    output: "No klines in the range: EURUSD",
  });
});

test("a single row at a whole price is read back exactly", async () => {
  const other = others.csv as TestDatabase;
  // It has nothing to compare with, and looks like points.
  const lone = place("lone.csv");
  const [first] = await storedKlines(database, "EURUSD", "M1");
  expect(await run(["--ticker", "EURUSD", "--to", String((first?.time ?? 0) + 60), "--out", lone])).toMatchObject({
    exitCode: 0,
  });
  expect(readFileSync(lone, "utf8")).toBe(
    "type,ticker,timeframe,time,time_utc,open,high,low,close,tick_volume,real_volume,spread\r\n" +
      "kline,EURUSD,M1,1709683200,2024-03-06T00:00:00Z,1,1,1,1,0,,\r\n",
  );
  await importCommand(other, [lone, "--force"]);
  expect((await storedKlines(other, "EURUSD", "M1"))[0]).toEqual(first);
});

test.each(["H1", "D1"] as const)("an exported %s file is read back exactly where no minutes are stored", async (timeframe) => {
  const source = others.csv as TestDatabase;
  const target = others.parquet as TestDatabase;
  const ticker = "AUDUSD";
  const minutes = openMinutes("2024-01-02", 40_000).map((time, index): Kline => {
    const close = round(0.66 + ((index * 7919) % 997) / 1e5);
    const prices = { open: close, high: close, low: close, close };
    return { type: "kline", ticker, timeframe: "M1", time, ...prices, tick_volume: 1, real_volume: null, spread: null };
  });
  const alignment = createAlignment();
  await storeFeed(source, aggregate(minutes, timeframe, alignment));
  const [file, again] = [place(`${timeframe}.csv`), place(`${timeframe} again.csv`)];
  const argv = ["--ticker", ticker, "--timeframe", timeframe, "--out"];
  expect(await run([...argv, file], { db: source })).toMatchObject({ exitCode: 0 });
  expect(await importCommand(target, [file])).toMatchObject({ exitCode: 0 });
  expect(await run([...argv, again], { db: target })).toMatchObject({ exitCode: 0 });
  expect(readFileSync(again).equals(readFileSync(file))).toBe(true);
});

test("an export is what the API answers with format=csv for the same range, but tells unknown spreads from 0", async () => {
  const window = { from: Date.parse("2024-03-06T10:00Z") / 1_000, to: Date.parse("2024-03-07T10:00Z") / 1_000 };
  const file = place("window.csv");
  const argv = ["--ticker", "EURUSD", "--from", "2024-03-06T10:00:00Z", "--to", String(window.to), "--out", file];
  expect(await run(argv)).toMatchObject({ exitCode: 0 });
  const catalogue = await createCatalogue(database, "live");
  const market = { ...createTestMarket("live", catalogue), store: createKlineStore(database) };
  const call = {
    market,
    mayRead: () => true,
    nowMs: IMPORT_NOW_MS,
    query: { ticker: "EURUSD", timeframe: "M1" as const, ...window, limit: 5_000 },
  };
  const reply = await createKlines()({ ...call, tickers: [], oldestMs: 0, sent: null });
  const { items } = JSON.parse(Buffer.from("body" in reply ? reply.body : "").toString()).data;
  expect(items.length).toBeGreaterThan(1_000);
  // A spread that no source knows is empty in an export, and 0 in the API.
  const lines = readFileSync(file, "utf8").split("\r\n");
  const known = lines.map((line) => (line.endsWith(",") ? `${line}0` : line));
  expect(known).toEqual(csvOf(operations.klines)?.text(items).split("\r\n"));
});

test("the open kline and the latest ten seconds are left out", async () => {
  const ticker = "AUDUSD";
  const [first = 0, second = 0, third = 0] = openMinutes("2024-03-06", 3);
  const kline = (time: number): Kline => ({
    type: "kline",
    ticker,
    timeframe: "M1",
    time,
    open: 0.66,
    high: 0.66,
    low: 0.66,
    close: 0.66,
    tick_volume: 1,
    real_volume: null,
    spread: null,
  });
  await storeTail(database, [first, second, third].map(kline));
  const rowsAt = async (nowMs: number, name: string) => {
    const file = place(name);
    await run(["--ticker", ticker, "--out", file], { clock: manualClock(nowMs) });
    return readFileSync(file, "utf8").trimEnd().split("\n").length - 1;
  };
  expect(await rowsAt((third + 11) * 1_000, "early.csv")).toBe(1);
  expect(await rowsAt((third + 12) * 1_000, "settled.csv")).toBe(2);
});

test("the sandbox's Parquet files are exported", async () => {
  const out = place("sandbox parquet");
  const argv = ["--venue", "sandbox", "--ticker", "EURUSD", "--format", "parquet", "--from", "2026-06-01", "--out", out];
  expect(await run(argv, { variables: { SANDBOX_SEED: "1" } })).toMatchObject({ exitCode: 0 });
  expect(readdirSync(out)).toEqual(["EURUSD_M1_2026-06.parquet"]);
});

test("several tickers go into a folder, and instruments without klines get no file", async () => {
  const out = `${place("all")}/`;
  const all = await run(["--ticker", "all", "--timeframe", "M1", "--out", out]);
  expect(all).toMatchObject({ exitCode: 0, output: expect.stringContaining("No closed M1 klines in the range: ") });
  expect(readdirSync(out).sort()).toEqual(["AUDUSD_M1.csv", "EURUSD_M1.csv"]);
  expect(await run(["--ticker", "EURUSD,GBPUSD", "--out", out, "--force"])).toMatchObject({
    exitCode: 1,
    output: expect.stringMatching(/No closed M1 klines in the range: GBPUSD$/),
  });
});

test("the klines of the sandbox are exported without being stored", async () => {
  const out = place("sandbox.csv");
  const argv = ["--venue", "sandbox", "--ticker", "EURUSD", "--from", "2026-01-05", "--to", "2026-01-07", "--timeframe", "H1"];
  expect(await run([...argv, "--out", out], { variables: { SANDBOX_SEED: "1" } })).toMatchObject({ exitCode: 0 });
  expect(readFileSync(out, "utf8").trimEnd().split("\n")).toHaveLength(49);
});

test.each([
  [["--ticker", "ABCDEF"], "ABCDEF is not an instrument of the live venue."],
  [[], "Missing option: --ticker"],
  [["--ticker", "EUR-USD"], "--ticker EUR-USD: must be a ticker"],
  [["--ticker", "EURUSD", "--timeframe", "M2"], "--timeframe M2: must be one of M1, M5"],
  [["--ticker", "EURUSD", "--from", "2025-01-01", "--to", "2024-01-01"], "--from 2025-01-01 is not before --to 2024-01-01."],
  [["--ticker", "EURUSD", "--from", "yesterday"], "--from yesterday: must be a day, an ISO 8601 time"],
  [["--ticker", "EURUSD", "--from", "2024-02-30"], "--from 2024-02-30: must be a day"],
  [["--ticker", "EURUSD", "--from", "1704067200000"], "this value looks like milliseconds"],
  [["--ticker", "EURUSD", "--format", "xlsx"], "--format xlsx: must be one of csv, parquet."],
  [["--ticker", "EURUSD", "--format", "parquet", "--out", "a.csv"], "--out a.csv: ends with .csv, but --format is parquet."],
  [["--ticker", "EURUSD", "--out", "a.parquet"], "--out a.parquet: must be a folder: each month in Parquet is a file."],
  [["--ticker", "EURUSD", "--ticks", "--out", "a.csv"], "--out a.csv: must be a folder: each day of ticks is a file."],
  [["--ticker", "EURUSD", "--timeframe", "H1", "--format", "parquet"], "--timeframe H1: Parquet has M1 klines only."],
  [["--ticker", "EURUSD", "--venue", "paper"], "--venue paper: must be one of live, sandbox."],
  [["--ticker", "EURUSD,GBPUSD", "--out", "one.csv"], "--out one.csv: must be a folder for several tickers."],
  [["EURUSD"], 'Unexpected argument "EURUSD": name instruments with --ticker.'],
])("export %j is refused with the reason", async (argv, reason) => {
  expect(await run(argv)).toMatchObject({ exitCode: 2, errors: expect.stringContaining(reason) });
});

test("a full disk is named, and leaves nothing behind", async () => {
  const file = place("full.csv");
  const fill = async () => {
    const full = await open("/dev/full", "w");
    await full.writeFile("row").finally(() => full.close());
  };
  await expect(
    writeWhole({ file, what: "export", ifExists: "", failure: (message) => new Error(message) }, fill),
  ).rejects.toThrow(`${file} cannot be written: ENOSPC: no space left on device`);
  expect([existsSync(file), existsSync(`${file}.part`)]).toEqual([false, false]);
});

test("a file that exists and an unwritable folder are named, and change nothing", async () => {
  const file = place("kept.csv");
  writeFileSync(file, "mine");
  const refused = await run(["--ticker", "EURUSD", "--out", file]);
  expect(refused).toMatchObject({ exitCode: 1, errors: `${file} already exists. --force overwrites it.` });
  expect(readFileSync(file, "utf8")).toBe("mine");
  writeFileSync(`${file}.part`, "of another export");
  expect(await run(["--ticker", "EURUSD", "--out", file, "--force"])).toMatchObject({
    exitCode: 1,
    errors: expect.stringContaining(`${file}.part already exists: another export is running, or one was killed.`),
  });
  rmSync(`${file}.part`);
  expect(await run(["--ticker", "EURUSD", "--out", file, "--force"])).toMatchObject({ exitCode: 0 });

  const inFile = path.join(file, "below", "EURUSD.csv");
  expect(await run(["--ticker", "EURUSD", "--out", inFile])).toMatchObject({
    exitCode: 1,
    errors: expect.stringContaining(`${inFile} cannot be written: `),
  });
  expect(await run(["--ticker", "EURUSD", "--out", `${inFile}/`])).toMatchObject({
    exitCode: 1,
    errors: expect.stringContaining(`${inFile}/ cannot be created: `),
  });
});

test("an interrupted export leaves complete files and nothing of the others", async () => {
  const out = place("interrupted");
  mkdirSync(out);
  const stopping = new AbortController();
  // Progress is printed while the file is written.
  const output = { write: (text: string) => void (text.includes("EURUSD M1: 100%") && stopping.abort()) };
  const terminal = { stopSignal: () => stopping.signal, output, clock: hurriedClock() };
  const stopped = await run(["--ticker", "AUDUSD,EURUSD", "--out", out], terminal);
  expect(stopped).toMatchObject({
    exitCode: 1,
    errors: `Stopped. 1 complete file stays, nothing of ${path.join(out, "EURUSD_M1.csv")}.`,
  });
  expect(readdirSync(out)).toEqual(["AUDUSD_M1.csv"]);
});

test("an export that is interrupted between files leaves those that are complete", async () => {
  const out = place("interrupted parquet");
  const stopping = new AbortController();
  const output = { write: (text: string) => void (text.includes("AUDUSD_M1_2024-03.parquet") && stopping.abort()) };
  const argv = ["--ticker", "AUDUSD,EURUSD", "--format", "parquet", "--out", out];
  expect(await run(argv, { stopSignal: () => stopping.signal, output })).toMatchObject({
    exitCode: 1,
    errors: "Stopped. 1 complete file stays.",
  });
  expect(readdirSync(out)).toEqual(["AUDUSD_M1_2024-03.parquet"]);
});

test("a month that changes while it is exported is named, and is no empty file", async () => {
  const catalogue = await createCatalogue(database, "live");
  const changing = { ...createMemoryFiles(), open: async () => undefined };
  const parts = monthFiles(changing)(catalogue.find("EURUSD") as Listing, { from: 0, to: 2_000_000_000 });
  for await (const { write } of parts)
    await expect(write(undefined as never)).rejects.toThrow("The klines of EURUSD_M1_2026-10 changed during the export.");
  expect.assertions(1);
});
