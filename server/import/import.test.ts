import fs, { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { TIMEFRAMES } from "#lib/contract/primitives";
import { aggregate } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import { LZMA_KLINES, LZMA_TICKS } from "#lib/testing/bi5";
import { zipOf } from "#lib/testing/zip";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { hurriedClock, importCommand, storedKlines } from "#server/testing/import-command";
import { openMinutes } from "#server/testing/import-rows";
import { commandOutcome } from "#server/testing/terminal";
import { importCommand as command } from "./index";

let database: TestDatabase;
let folder = "";

beforeAll(async () => {
  database = await testDatabase();
  folder = mkdtempSync(path.join(tmpdir(), "spotwire-import-"));
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

/** Weekday minutes from a day on, with prices that do not repeat from day to day. */
function minutesFrom(day: string, count: number, scale = 1e5): string {
  const rows = ["time,open,high,low,close,tick_volume,real_volume,spread"];
  for (const [index, time] of openMinutes(day, count).entries()) {
    const close = 110_000 + ((index * 7919) % 997);
    rows.push(
      `${time},${close / scale},${(close + 9) / scale},${(close - 8) / scale},${(close + 3) / scale},${1 + (index % 50)},0,${index % 20}`,
    );
  }
  return `${rows.join("\n")}\n`;
}

/** Expects the longer timeframes to be the aggregation of the stored minutes. */
async function expectRebuilt(ticker: string): Promise<void> {
  const minutes = await storedKlines(database, ticker, "M1");
  const alignment = createAlignment();
  for (const timeframe of TIMEFRAMES.slice(1))
    expect(await storedKlines(database, ticker, timeframe)).toEqual(aggregate(minutes, timeframe, alignment));
}

test("a file is stored as M1 klines and all longer timeframes, and is not stored again by a second import", async () => {
  const file = write("EURUSD_first.csv", minutesFrom("2024-03-06", 6_000));
  const first = await importCommand(database, [file]);
  expect(first).toMatchObject({ exitCode: 0, text: expect.stringContaining("6,000 M1 klines stored") });
  expect(first.text).toContain("plain CSV (plain), EURUSD");
  const { rows } = await database.pool.query("SELECT formats FROM backfill ORDER BY number DESC LIMIT 1");
  expect(rows).toEqual([{ formats: ["plain CSV"] }]);
  const minutes = await storedKlines(database, "EURUSD", "M1");
  expect(minutes).toHaveLength(6_000);
  expect(minutes[1]).toMatchObject({
    time: Date.parse("2024-03-06T00:01:00Z") / 1000,
    close: 1.10943,
    spread: 0.00001,
    tick_volume: 2,
    real_volume: 0,
  });
  await expectRebuilt("EURUSD");

  expect(await importCommand(database, [file])).toMatchObject({
    exitCode: 0,
    text: expect.stringContaining("already imported (6,000 rows)"),
  });
  expect(await importCommand(database, [file, "--force"])).toMatchObject({ exitCode: 0 });
  expect(await storedKlines(database, "EURUSD", "M1")).toEqual(minutes);
  await expectRebuilt("EURUSD");
});

test("files that overlap, have gaps or come in any order give the klines of a single file", async () => {
  const all = minutesFrom("2024-01-29", 9_000).split("\n");
  const part = (from: number, to: number) => [all[0], ...all.slice(1 + from, 1 + to)].join("\n");
  write("parts/GBPUSD_c.csv", part(0, 3_000));
  write("parts/GBPUSD_a.csv", part(6_500, 9_000));
  write("parts/GBPUSD_b.csv", part(2_500, 7_000));
  expect((await importCommand(database, [path.join(folder, "parts")])).exitCode).toBe(0);
  await importCommand(database, ["--ticker", "AUDUSD", write("whole.csv", all.join("\n"))]);
  expect(await storedKlines(database, "GBPUSD", "M1")).toEqual(
    (await storedKlines(database, "AUDUSD", "M1")).map((row) => ({ ...row, ticker: "GBPUSD" })),
  );
  await expectRebuilt("GBPUSD");
  await expectRebuilt("AUDUSD");
});

test("a file of more klines than are kept while it is judged is read again, and gives the same", async () => {
  const rows = minutesFrom("2024-01-02", 12_000).split("\n");
  const file = write("kept.csv", [...rows.slice(0, 9_000), "nonsense", ...rows.slice(9_000), rows[7_000]].join("\n"));
  const outcome = async (ticker: string, keptKlines: number) => {
    const { text } = await importCommand(database, ["--ticker", ticker, file], { batchKlines: 4_000, keptKlines });
    return text.replaceAll(ticker, "").replaceAll(/import (-- undo )?\d+/g, "import");
  };
  const kept = await outcome("EURCHF", 12_001);
  expect(kept).toContain("12,000 M1 klines stored");
  expect(await outcome("NZDCAD", 12_000)).toBe(kept);
  expect(await storedKlines(database, "NZDCAD", "M1")).toEqual(
    (await storedKlines(database, "EURCHF", "M1")).map((row) => ({ ...row, ticker: "NZDCAD" })),
  );
});

/** How often the content of a file is opened. */
async function opensOf(file: string, ticker: string, bounds: { readonly keptKlines?: number } = {}): Promise<number> {
  const open = vi.spyOn(fs, "open");
  try {
    const argv = ["--ticker", ticker, "--dry-run", "--accept-doubts", file];
    expect(await importCommand(database, argv, bounds)).toMatchObject({ exitCode: 0 });
    return open.mock.calls.filter(([name]) => name === file).length;
  } finally {
    open.mockRestore();
  }
}

test("a file is read at most twice, once to know it and once to load it, and again only where it is not kept", async () => {
  // Two weeks of winter, from Sunday 22:00 to Friday 22:00 UTC.
  const times = Array.from({ length: 14 * 1_440 }, (_, minute) => Date.UTC(2024, 0, 7, 22) / 1000 + minute * 60);
  const open = times.filter((_, minute) => minute % (7 * 1_440) < 5 * 1_440);
  const rows = (step: number, timeOf: (time: number) => string | number) => [
    "time,open,high,low,close,tick_volume",
    ...open.filter((time) => time % step === 0).map((time) => `${timeOf(time)},1.1,1.1002,1.0999,1.1,9`),
  ];
  // Without an offset, only all of its times show its clock.
  const unzoned = (time: number) => new Date(time * 1000).toISOString().slice(0, 19).replace("T", " ");
  const files = { M1: rows(60, Number), M5: rows(300, Number), unzoned_M1: rows(60, unzoned), unzoned_M5: rows(300, unzoned) };
  for (const [name, lines] of Object.entries(files)) {
    const file = write(`read/${name}.csv`, `${lines.join("\n")}\n`);
    expect([name, await opensOf(file, "GBPCHF")]).toEqual([name, 2]);
    expect([name, await opensOf(file, "GBPCHF", { keptKlines: 1_000 })]).toEqual([name, 3]);
  }
});

test("each month of a file is written once", async () => {
  const file = write("AUDCAD.csv", minutesFrom("2024-01-02", 70_000));
  const contents = async () => (await database.pool.query("SELECT FROM history_content")).rowCount ?? 0;
  const before = await contents();
  expect((await importCommand(database, [file])).text).toContain("70,000 M1 klines stored");
  expect((await contents()) - before).toBe(3);
});

test("an interrupted import says so, shows nothing, and the same command resumes it where it stopped, as the same import", async () => {
  const file = write("NZDUSD.csv", minutesFrom("2023-05-01", 30_000));
  const stopped = await importCommand(database, [file], {
    clock: hurriedClock(),
    batchKlines: 4_000,
    interruptAt: (line) => /importing: [3-9]\d%/.test(line),
  });
  expect(stopped).toMatchObject({
    exitCode: 1,
    text: expect.stringMatching(
      /INTERRUPTED: its first [\d,]+ rows are stored.*\n(?:.*\n)*Nothing of this import shows until it is complete/,
    ),
  });
  expect(await storedKlines(database, "NZDUSD", "M1")).toEqual([]);
  const list = async () => (await commandOutcome(command, ["list"], { db: database })).output.split("\n")[0];
  expect(await list()).toContain("interrupted, nothing of it shows, the same command resumes it");
  const imports = await database.prisma.backfill.count();

  // Another command does not take over what is stored of the file.
  expect((await importCommand(database, [file, "--dry-run"])).text).not.toContain("resumed");
  const resumed = await importCommand(database, [file], { batchKlines: 4_000 });
  const [, stored] = /INTERRUPTED: its first ([\d,]+) rows/.exec(stopped.text) ?? [];
  expect(resumed).toMatchObject({
    exitCode: 0,
    text: expect.stringContaining(`resumed: an earlier run stored the first ${stored} rows`),
  });
  expect(await storedKlines(database, "NZDUSD", "M1")).toHaveLength(30_000);
  expect([await list(), await database.prisma.backfill.count()]).toEqual([expect.stringContaining("  done  "), imports]);
  await expectRebuilt("NZDUSD");
});

test("a database that goes away ends an import in words, list says that it was interrupted, and the same command resumes it", async () => {
  const file = write("USDJPY.csv", minutesFrom("2023-05-01", 30_000, 1e3));
  const kill = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`;
  let isOver = false;
  let killing: Promise<void> | undefined;
  /** A single kill may come between two writes, which the import does not notice. */
  async function killUntilItEnds(): Promise<void> {
    while (!isOver) await database.pool.query(kill).catch(() => undefined);
  }
  const cut = await importCommand(database, [file], {
    clock: hurriedClock(),
    batchKlines: 2_000,
    interruptAt(line) {
      if (/importing: [3-9]\d%/.test(line)) killing ??= killUntilItEnds();
      return false;
    },
  });
  isOver = true;
  await killing;
  expect(cut).toMatchObject({
    exitCode: 1,
    text: expect.stringMatching(/the database went away: .*run the same command again to resume when it is back/),
  });
  expect((await commandOutcome(command, ["list"], { db: database })).output).toMatch(
    /^\d+ {2}\S+ {2}interrupted, nothing of it shows, the same command resumes it {2}.*USDJPY.csv/,
  );
  expect((await importCommand(database, [file], { batchKlines: 4_000 })).exitCode).toBe(0);
  expect(await storedKlines(database, "USDJPY", "M1")).toHaveLength(30_000);
});

test("an interrupted tick import gives the same klines as an uninterrupted one", async () => {
  const rows = Array.from(
    { length: 40_000 },
    (_, i) => `${Date.UTC(2023, 5, 5) + i * 7_919},${1.1 + (i % 89) / 1e4},${1.1002 + (i % 89) / 1e4}`,
  );
  const file = write("ticks.csv", `time_msc,bid,ask\n${rows.join("\n")}\n`);
  const argv = (ticker: string) => ["--ticker", ticker, file];
  const stopped = await importCommand(database, argv("USDCAD"), {
    clock: hurriedClock(),
    batchKlines: 100,
    interruptAt: (line) => /importing: [3-9]\d%/.test(line),
  });
  expect(stopped.exitCode).toBe(1);
  expect((await importCommand(database, argv("USDCAD"))).text).toContain("resumed");
  await importCommand(database, argv("USDCHF"));
  expect(await storedKlines(database, "USDCAD", "M1")).toEqual(
    (await storedKlines(database, "USDCHF", "M1")).map((row) => ({ ...row, ticker: "USDCAD" })),
  );
  await expectRebuilt("USDCAD");
});

test("a file with too many malformed rows is not stored, and fewer are reported by line", async () => {
  const lines = minutesFrom("2022-03-07", 300).split("\n");
  for (const index of [5, 7, 9]) lines[index] = "rubbish";
  const file = write("EURGBP.csv", lines.join("\n"));
  const strict = await importCommand(database, ["--max-errors", "2", file]);
  expect(strict).toMatchObject({
    exitCode: 1,
    text: expect.stringContaining("NOT IMPORTED: more than 2 malformed rows (--max-errors)"),
  });
  expect(strict.text).toContain("3 rows malformed:\n    line 6: 1 columns");
  expect(await storedKlines(database, "EURGBP", "M1")).toEqual([]);
  const lenient = await importCommand(database, [file]);
  expect(lenient).toMatchObject({
    exitCode: 1,
    text: expect.stringContaining("3 rows malformed and skipped:\n    line 6: 1 columns"),
  });
  expect(await storedKlines(database, "EURGBP", "M1")).toHaveLength(297);
});

test("a file without spreads leaves them unknown, so that M5 to MN1 have the smallest known one", async () => {
  const rows = openMinutes("2024-03-06", 10).map((time) => `${time},1.1,1.1,1.1,1.1`);
  const without = write("EURAUD_a.csv", `time,open,high,low,close\n${rows.join("\n")}\n`);
  expect((await importCommand(database, [without])).text).toContain("no spread in this file: it stays unknown");
  const spreads = async (timeframe: "M1" | "M5") =>
    (await storedKlines(database, "EURAUD", timeframe)).map(({ spread }) => spread);
  expect([await spreads("M1"), await spreads("M5")]).toEqual([Array(10).fill(null), [null, null]]);
  const known = rows.slice(8).map((row, index) => `${row},0.0001${index}`);
  await importCommand(database, [write("EURAUD_b.csv", `time,open,high,low,close,spread\n${known.join("\n")}\n`)]);
  expect([(await spreads("M1")).slice(7), await spreads("M5")]).toEqual([
    [null, 0.0001, 0.00011],
    [null, 0.0001],
  ]);
  await expectRebuilt("EURAUD");
});

test("crossed quotes of a tick file are refused by reason, as in a push, however many, and the other ticks are stored", async () => {
  const rows = openMinutes("2024-03-06", 300).flatMap((time) => [`${time}000,1.1,1.1002`, `${time}500,1.1005,1.1003`]);
  const file = write("GBPAUD.csv", `time_msc,bid,ask\n${rows.join("\n")}\n`);
  const { exitCode, text } = await importCommand(database, [file]);
  expect(exitCode).toBe(1);
  expect(text).toContain("REFUSED, 300 rows: bid above ask (crossed quote)");
  const minutes = await storedKlines(database, "GBPAUD", "M1");
  expect(minutes).toHaveLength(300);
  expect(minutes[0]).toMatchObject({ high: 1.1, spread: 0.0002, tick_volume: 1 });
});

test("a tree of .bi5 files gives tickers and dates by its paths, and fillers and empty hours are skipped and reported", async () => {
  write("bi5/EURJPY/2019/01/04/00h_ticks.bi5", LZMA_TICKS);
  write("bi5/EURJPY/2019/01/04/01h_ticks.bi5", "");
  write("bi5/EURJPY/2019/01/05/BID_candles_min_1.bi5", LZMA_KLINES);
  const { exitCode, text } = await importCommand(database, [path.join(folder, "bi5")]);
  expect(exitCode).toBe(0);
  expect(text).toContain("empty: an hour or day without quotes");
  expect(text).toContain("1 row skipped: no quote (volume 0, one price)");
  const minutes = await storedKlines(database, "EURJPY", "M1");
  expect(minutes.map(({ time }) => new Date(time * 1000).toISOString())).toEqual([
    "2019-02-04T00:00:00.000Z",
    "2019-02-05T00:00:00.000Z",
    "2019-02-05T00:01:00.000Z",
    "2019-02-05T00:02:00.000Z",
  ]);
  // Three decimals, so whole points in the file are thousandths.
  expect(minutes[0]).toMatchObject({ open: 114.543, spread: 0.002, tick_volume: 8 });
});

test("gzipped and zipped files are read, and archive entries without data are named", async () => {
  const text = minutesFrom("2021-03-01", 500, 1e3);
  const packed = write("AUDJPY.csv.gz", gzipSync(text));
  const zipped = write("HISTDATA_COM.zip", zipOf({ "CADJPY.csv": text, "CADJPY.txt": "gaps" }));
  const { exitCode, text: said } = await importCommand(database, [packed, zipped]);
  expect(exitCode).toBe(0);
  expect(said).toMatch(/CADJPY\.txt\n {2}skipped: not data/);
  for (const ticker of ["AUDJPY", "CADJPY"]) expect(await storedKlines(database, ticker, "M1")).toHaveLength(500);
});

test("the same minutes as Parquet, as JSON and in archives in each other are the klines of the text", async () => {
  const text = minutesFrom("2021-03-01", 300);
  const [header = "", ...lines] = text.trim().split("\n");
  const names = header.split(",");
  const rows = lines.map((line) => line.split(",").map(Number));
  const objects = rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]])));
  const columnData = names.map((name, index) => ({ name, data: rows.map((row) => row[index]), type: "DOUBLE" as const }));
  const parquet = Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: 128 }));
  const files = {
    GBPNZD: write("GBPNZD.csv", text),
    AUDCHF: write("AUDCHF.parquet", parquet),
    CADCHF: write("CADCHF.json", JSON.stringify(objects)),
    EURSGD: write("packed.zip", zipOf({ "EURSGD.csv.gz": gzipSync(text), "USDSGD.parquet": parquet })),
  };
  expect(await importCommand(database, ["--force", ...Object.values(files)])).toMatchObject({ exitCode: 0 });
  const [expected, ...others] = await Promise.all(
    [...Object.keys(files), "USDSGD"].map(async (ticker) =>
      (await storedKlines(database, ticker, "M1")).map((kline) => ({ ...kline, ticker: "" })),
    ),
  );
  expect(expected).toHaveLength(300);
  for (const klines of others) expect(klines).toEqual(expected);
});

test("a damaged row of a file without lines is reported with its number", async () => {
  const objects = openMinutes("2021-03-01", 2).map((time, index) => ({
    time,
    open: 1.1,
    high: index === 0 ? 1.1 : "x",
    low: 1.1,
    close: 1.1,
  }));
  const { text } = await importCommand(database, [write("AUDNZD.json", JSON.stringify(objects)), "--force", "--timeframe", "M1"]);
  expect(text).toContain("row 2: high is not a price: x");
});

test("nothing of a truncated file is stored, and it does not stop the next files", async () => {
  const packed = gzipSync(minutesFrom("2021-03-01", 30_000, 1e3));
  const broken = write("NZDJPY.csv.gz", packed.subarray(0, packed.length - 2_000));
  const { exitCode, text } = await importCommand(database, [broken, write("NZDCHF.csv", minutesFrom("2021-03-01", 10))], {
    batchKlines: 1_000,
  });
  expect(exitCode).toBe(1);
  expect(text).toMatch(/NOT IMPORTED: .*NZDJPY\.csv\.gz: its compressed data is cut off/);
  expect(await storedKlines(database, "NZDJPY", "M1")).toEqual([]);
  expect(await storedKlines(database, "NZDCHF", "M1")).toHaveLength(10);
});

test("whole-number prices are points of the instrument for currencies, and need --point-digits for metals", async () => {
  const rows =
    "time,open,high,low,close\n2024-01-02T00:00:00Z,205110,205130,205090,205100\n2024-01-02T00:01:00Z,205110,205130,205090,205100\n";
  const gold = write("XAUUSD.csv", rows);
  expect(await importCommand(database, [gold])).toMatchObject({ exitCode: 3, text: expect.stringContaining("--point-digits 2") });
  expect((await importCommand(database, [gold, "--point-digits", "2"])).exitCode).toBe(0);
  expect((await storedKlines(database, "XAUUSD", "M1"))[0]).toMatchObject({ open: 2051.1, high: 2051.3 });
  await importCommand(database, [write("EURCAD.csv", rows)]);
  expect((await storedKlines(database, "EURCAD", "M1"))[0]).toMatchObject({ open: 2.0511 });
});

test("running servers are notified which klines changed", async () => {
  const client = database.client();
  await client.connect();
  const heard: unknown[] = [];
  client.on("notification", ({ payload }) => heard.push(JSON.parse(payload ?? "")));
  await client.query("LISTEN spotwire_control");
  await importCommand(database, [write("GBPJPY.csv", minutesFrom("2024-01-02", 5, 1e3))]);
  // Replies arrive in order, so earlier notifications have arrived by now.
  await client.query("SELECT 1");
  await client.end();
  const first = Date.UTC(2024, 0, 2) / 1000;
  expect(heard).toEqual([{ kind: "klines", venue: "live", ticker: "GBPJPY", minutes: { first, last: first + 240 } }]);
});

test("wrong usage exits with 2 and says what to do", async () => {
  const file = write("prices.csv", minutesFrom("2024-01-02", 5));
  expect(await importCommand(database, [file])).toMatchObject({
    exitCode: 2,
    text: expect.stringContaining("set it, for example --ticker EURUSD"),
  });
  expect(await importCommand(database, [file, "--ticker", "AEDCNH"])).toMatchObject({
    exitCode: 2,
    text: expect.stringContaining("npm run instruments -- add"),
  });
  expect(await importCommand(database, [])).toMatchObject({ exitCode: 2 });
  expect(await importCommand(database, [path.join(folder, "absent.csv")])).toMatchObject({
    exitCode: 1,
    text: expect.stringContaining("no such file"),
  });
});

test("names and content of files cannot control the terminal or forge a line", async () => {
  const evil = "\u001b[2J\u009b1A";
  const files = [
    write(`EURUSD_${evil}\n  1,000 rows read.csv`, `time,open,${evil}high\n1,2,${evil}3\n`),
    write(`${evil}.bi5`, evil),
    path.join(folder, `missing${evil}`),
  ];
  for (const file of files) {
    const { output, errors, exitCode } = await commandOutcome(command, [file], { db: database });
    expect(exitCode).not.toBe(0);
    expect(`${output}${errors}`).toContain("\\x1b[2J\\x9b1A");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not appear
    expect(`${output}${errors}`).not.toMatch(/[\x1b\x9b]|^ {2}1,000 rows read/m);
  }
});
