import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAlignment } from "#lib/domain/timeframe";
import { HOUR_S } from "#lib/units";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { hurriedClock, IMPORT_NOW_MS, importCommand, storedKlines } from "#server/testing/import-command";
import { commandOutcome } from "#server/testing/terminal";
import { importCommand as command } from "./index";

const DATA = path.resolve(process.cwd(), "../shared/data");
const alignment = createAlignment();

let database: TestDatabase;
let folder = "";
beforeAll(async () => {
  database = await testDatabase();
  folder = mkdtempSync(path.join(tmpdir(), "spotwire-longer-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await database.close();
});

const run = (...argv: string[]) => commandOutcome(command, argv, { db: database });
const newest = async () => (await database.prisma.backfill.findFirstOrThrow({ orderBy: { number: "desc" } })).number;

function write(name: string, times: readonly number[], price: number): string {
  const file = path.join(folder, name);
  const rows = times.map((time) => `${time},${price},${price},${price},${price},9`);
  writeFileSync(file, `time,open,high,low,close,tick_volume\n${rows.join("\n")}\n`);
  return file;
}

/** Open times of our klines of a timeframe from an instant on, in hours in which the market is open. */
function opens(timeframe: "H1" | "H4" | "D1", from: string, count: number): number[] {
  const times: number[] = [];
  for (let at = alignment.openTime(timeframe, Date.parse(from) / 1000); times.length < count; ) {
    const day = new Date((at + 4 * HOUR_S) * 1000).getUTCDay();
    const next = alignment.nextOpenTime(timeframe, at);
    if (day >= 1 && day <= 5 && (timeframe !== "H1" || new Date(at * 1000).getUTCDay() !== 0)) times.push(at);
    at = next;
  }
  return times;
}

const closes = async (ticker: string, timeframe: "M1" | "H1" | "H4" | "D1" | "W1") =>
  (await storedKlines(database, ticker, timeframe)).map(({ close }) => close);

test("hours stand where no minutes are stored; minutes replace them, and the undo of the minutes brings them back", async () => {
  const hours = opens("H1", "2024-03-05T00:00:00Z", 30);
  const first = await importCommand(database, [write("EURUSD.csv", hours, 1.09)]);
  expect(first).toMatchObject({ exitCode: 0, text: expect.stringContaining("30 H1 klines stored") });
  expect(first.text).toContain("plain CSV (plain), EURUSD, klines of H1");
  const before = await storedKlines(database, "EURUSD", "H1");
  expect(before[3]).toEqual({
    type: "kline",
    ticker: "EURUSD",
    timeframe: "H1",
    time: hours[3],
    open: 1.09,
    high: 1.09,
    low: 1.09,
    close: 1.09,
    tick_volume: 9,
    real_volume: null,
    spread: null,
  });
  // No other timeframe is computed from them.
  for (const timeframe of ["M1", "H4", "D1"] as const) expect(await storedKlines(database, "EURUSD", timeframe)).toEqual([]);

  const minutes = Array.from({ length: 90 }, (_, index) => (hours[10] as number) + index * 60);
  await importCommand(database, [write("EURUSD_M1.csv", minutes, 1.1)]);
  const import2 = await newest();
  expect(await closes("EURUSD", "H1")).toEqual(hours.map((_, index) => (index === 10 || index === 11 ? 1.1 : 1.09)));
  expect((await storedKlines(database, "EURUSD", "H1"))[11]).toMatchObject({ tick_volume: 30 * 9 });
  expect(await closes("EURUSD", "H4")).toEqual([1.1]);

  const again = await importCommand(database, [write("EURUSD_b.csv", hours, 1.08), "--accept-doubts"]);
  const import3 = await newest();
  expect(again.text).toMatch(/\n {2}overwritten +28\n {2}kept behind stored M1 +2\n/);
  expect((await run("list")).output).toContain(
    "EURUSD H1  2024-03-05T00:00Z to 2024-03-06T05:00Z  0 stored, 0 already there, 28 overwritten, 2 behind stored M1",
  );
  await run("undo", String(import2));
  expect(await closes("EURUSD", "H1")).toEqual(hours.map(() => 1.08));
  expect(await closes("EURUSD", "H4")).toEqual([]);
  expect(await run("undo", String(import3))).toMatchObject({
    exitCode: 0,
    // Of two of them, minutes showed when they were imported, which do not any more.
    output: expect.stringContaining("EURUSD H1: 0 klines removed, 30 overwritten ones restored"),
  });
  expect(await storedKlines(database, "EURUSD", "H1")).toEqual(before);
});

test("times of ends are said with --labels, and each kline is stored at its start", async () => {
  const hours = opens("H1", "2024-03-05T00:00:00Z", 20);
  const ends = write(
    "EURJPY_ends.csv",
    hours.map((time) => time + HOUR_S),
    160.5,
  );
  const labelled = ["--labels", "end"];
  const { exitCode, text } = await importCommand(database, [...labelled, "--ticker", "EURJPY", ends]);
  expect({ exitCode, text }).toMatchObject({ exitCode: 0 });
  expect(text).toContain("first H1 kline, UTC, open, high, low, close: 2024-03-05T00:00:00Z  160.5  160.5  160.5  160.5");
  expect((await storedKlines(database, "EURJPY", "H1")).map(({ time }) => time)).toEqual(hours);
  // The same file as times of starts is another import.
  expect((await importCommand(database, ["--ticker", "EURJPY", ends, "--dry-run"])).text).not.toContain("already imported");
  const minutes = write(
    "GBPJPY_ends.csv",
    Array.from({ length: 20 }, (_, index) => (hours[3] as number) + 60 + index * 60),
    190.5,
  );
  await importCommand(database, [...labelled, "--ticker", "GBPJPY", minutes]);
  expect((await storedKlines(database, "GBPJPY", "M1"))[0]?.time).toBe(hours[3]);
  const days = opens("D1", "2024-03-03T22:00:00Z", 12);
  await importCommand(database, [
    ...labelled,
    write(
      "CHFJPY_D1.csv",
      days.map((time) => time + 24 * HOUR_S),
      170.5,
    ),
  ]);
  // The night in which New York puts its clocks forward is an hour short.
  expect((await storedKlines(database, "CHFJPY", "D1")).map(({ time }) => time)).toEqual(
    expect.arrayContaining(days.slice(0, 4)),
  );
  const ticks = path.join(folder, "ticks.csv");
  writeFileSync(ticks, "time_msc,bid,ask\n1704787200000,1.1,1.1002\n");
  expect(await importCommand(database, [...labelled, "--ticker", "EURUSD", ticks])).toMatchObject({
    exitCode: 2,
    text: expect.stringContaining("--labels end: only klines in text"),
  });
});

test("a trial of days stores nothing and prints what would happen", async () => {
  const days = opens("D1", "2024-03-03T22:00:00Z", 12);
  const file = write("GBPUSD_D1.csv", [...days, days[0] as number], 1.27);
  const { exitCode, text } = await importCommand(database, [file, "--dry-run"]);
  expect(exitCode).toBe(0);
  expect(text).toContain("first D1 klines, UTC, open, high, low, close:\n    2024-03-03T22:00:00Z  1.27  1.27  1.27  1.27");
  expect(text).toMatch(
    /Trial, klines:\n.*\n {2}rows read +13\n {2}would be stored +12\n.*\n.*\n {2}kept behind stored M1 +0\n {2}repeated in the files +1\n/,
  );
  expect(await storedKlines(database, "GBPUSD", "D1")).toEqual([]);
});

test("days of another boundary are refused with the reason, and those that only sometimes have another, one by one", async () => {
  const utc = Array.from({ length: 20 }, (_, day) => Date.UTC(2024, 2, 4 + day) / 1000);
  const refused = await importCommand(database, [write("AUDUSD_D1.csv", utc, 0.65)]);
  expect(refused).toMatchObject({
    exitCode: 1,
    text: expect.stringContaining(
      "the trading day of Spotwire opens at 17:00 in New York, its klines open at 00:00 UTC. Import M1 or H1 of this source instead",
    ),
  });
  expect(await storedKlines(database, "AUDUSD", "D1")).toEqual([]);
  const days = opens("D1", "2024-01-03T22:00:00Z", 90);
  const late = days.map((time) =>
    time >= Date.UTC(2024, 2, 10) / 1000 && time < Date.UTC(2024, 2, 30) / 1000 ? time + HOUR_S : time,
  );
  const { exitCode, text } = await importCommand(database, [write("AUDUSD_D1_eet.csv", late, 0.65)]);
  expect(exitCode).toBe(1);
  expect(text).toMatch(/15 of 90 klines open at other times .* 2024-03-10T22:00Z instead of 2024-03-10T21:00Z: they are refused/);
  expect(text).toContain("REFUSED, 15 rows: klines that open at other times than those of Spotwire");
  expect(await storedKlines(database, "AUDUSD", "D1")).toHaveLength(75);
});

test("klines that are not over are not taken", async () => {
  const now = IMPORT_NOW_MS / 1000;
  const hours = [-3, -2, -1, 0].map((ago) => now + ago * HOUR_S);
  const { text } = await importCommand(database, [write("USDCAD_H1.csv", hours, 1.35)]);
  // One that ended just now waits for late ticks.
  expect(text).toContain("the current H1 kline is skipped: it is not over");
  expect((await storedKlines(database, "USDCAD", "H1")).map(({ time }) => time)).toEqual(hours.slice(0, 2));
});

test("a file that goes on in minutes is refused before anything of it is stored", async () => {
  const hours = opens("H1", "2024-03-05T00:00:00Z", 50_000);
  const last = hours.at(-1) as number;
  const file = write("NZDUSD.csv", [...hours, ...Array.from({ length: 60 }, (_, index) => last + 60 + index * 60)], 0.6);
  expect(await importCommand(database, [file])).toMatchObject({
    exitCode: 1,
    text: expect.stringMatching(/its klines are H1, but around .* they are closer together/),
  });
  expect(await storedKlines(database, "NZDUSD", "H1")).toEqual([]);
});

test("an interrupted import of hours resumes, and running servers are notified", async () => {
  const file = write("EURGBP.csv", opens("H1", "2021-03-05T00:00:00Z", 20_000), 0.85);
  const client = database.client();
  await client.connect();
  const heard: unknown[] = [];
  client.on("notification", ({ payload }) => heard.push(JSON.parse(payload ?? "")));
  await client.query("LISTEN spotwire_control");
  const stopped = await importCommand(database, [file], {
    clock: hurriedClock(),
    batchKlines: 1_000,
    interruptAt: (line) => /importing: [3-9]\d%/.test(line),
  });
  expect(stopped.exitCode).toBe(1);
  const resumed = await importCommand(database, [file]);
  expect(resumed).toMatchObject({
    exitCode: 0,
    text: expect.stringMatching(/resumed: an earlier run stored the first [\d,]+ rows/),
  });
  expect(await storedKlines(database, "EURGBP", "H1")).toHaveLength(20_000);
  expect((await importCommand(database, [file])).text).toContain("already imported (20,000 rows)");
  await client.query("SELECT 1");
  await client.end();
  expect(heard.at(-1)).toMatchObject({ kind: "klines", venue: "live", ticker: "EURGBP" });
});

test("hours of another instrument are refused by the stored hours next to them", async () => {
  await importCommand(database, [write("AUDNZD.csv", opens("H1", "2024-03-05T00:00:00Z", 40), 1.08)]);
  const other = write("AUDNZD_b.csv", opens("H1", "2024-03-07T00:00:00Z", 40), 0.85);
  expect(await importCommand(database, [other])).toMatchObject({
    exitCode: 1,
    text: expect.stringMatching(/it is probably not AUDNZD: 0.85 where 1.08 is stored/),
  });
});

describe.skipIf(!existsSync(DATA))("files of brokers (skipped where ../shared/data is absent)", () => {
  /** The beginning of a file as its server writes it: with the times of its own clock. */
  function onServerClock(name: string, as: string, until = "2018"): string {
    const [header = "", ...rows] = gunzipSync(readFileSync(path.join(DATA, name)))
      .toString()
      .trimEnd()
      .split("\n");
    const kept = header.split(",").flatMap((column, index) => (column === "time" ? [] : [{ column, index }]));
    const names = kept.map(({ column }) => (column === "time_src" ? "time" : column));
    const earlier = rows.filter((row) => row < until);
    const lines = earlier.map((row) => kept.map(({ index }) => row.split(",")[index]?.replace("T", " ")).join(","));
    const file = path.join(folder, as);
    writeFileSync(file, [names.join(","), ...lines].join("\n"));
    return file;
  }
  const shared = (name: string) => path.join(DATA, name);

  test("the hours of an EET server show its clock, although it quoted after a close, and so do its days, by the stored hours they begin with", async () => {
    const hours = await importCommand(database, [
      onServerClock("permissive/gbpusd_h1_mt5_ejtrader_2015_2022.csv.gz", "GBPCHF_H1.csv", "2020"),
      "--force",
    ]);
    expect(hours).toMatchObject({ exitCode: 0, text: expect.stringContaining("clock EET/EEST") });
    const days = onServerClock("permissive/gbpusd_d1_mt5_ejtrader_2015_2022.csv.gz", "GBPCHF_D1.csv", "2020");
    const { exitCode, text } = await importCommand(database, [days, "--force"]);
    // Its days of the weeks in which the clocks of Europe and the United States disagree are not ours.
    expect(exitCode).toBe(1);
    expect(text).toMatch(/REFUSED, \d+ rows: klines that open at other times/);
    expect(text).toContain(
      "clock EET/EEST (Europe/Athens, EU daylight saving): the prices are those that are stored for the same times",
    );
    const stored = await storedKlines(database, "GBPCHF", "D1");
    expect(stored.length).toBeGreaterThan(1_200);
    expect(stored.every(({ time }) => alignment.openTime("D1", time) === time)).toBe(true);
  });

  test("days, four hours and months of an EET server alone ask for the clock; with it, those of other hours are refused; weeks do not depend on it", async () => {
    const file = (timeframe: string) =>
      onServerClock(`copyleft/eurusd_${timeframe}_mt5_gomlfx_2015_2019.csv.gz`, `EURCHF_${timeframe}.csv`);
    for (const [timeframe, stored, refused] of [
      ["d1", 728, 50],
      ["h4", 4_363, 300],
      ["mn1", 34, 3],
    ] as const) {
      const asked = await importCommand(database, [file(timeframe), "--force"]);
      expect(asked).toMatchObject({ exitCode: 3, text: expect.stringContaining("--tz EET or --tz NY+7") });
      const { exitCode, text } = await importCommand(database, [file(timeframe), "--force", "--tz", "EET"]);
      expect(exitCode).toBe(1);
      expect(text).toContain(`REFUSED, ${refused} rows: klines that open at other times`);
      expect(await storedKlines(database, "EURCHF", timeframe.toUpperCase() as "D1")).toHaveLength(stored);
    }
    expect(await importCommand(database, [file("w1"), "--force"])).toMatchObject({ exitCode: 0 });
    const weeks = await storedKlines(database, "EURCHF", "W1");
    expect(weeks.every(({ time }) => alignment.openTime("W1", time) === time)).toBe(true);
  });

  test("days and four hours of UTC sources are refused, and their hours taken", async () => {
    for (const name of [
      "permissive/eurusd_d1_dukascopy_2019.csv.gz",
      "permissive/xauusd_d1_quote_oanda_2012_2019.csv.gz",
      "nolicence/eurusd_h4_dukascopy_jessejay247_to_20251205.csv.gz",
    ]) {
      const { exitCode, text } = await importCommand(database, ["--ticker", "EURAUD", "--force", shared(name)]);
      expect(exitCode).toBe(1);
      expect(text).toContain("open at 00:00 UTC");
    }
    const clockless = onServerClock("nolicence/eurusd_d1_dukascopy_jessejay247_to_20251205.csv.gz", "EURAUD_D1.csv");
    expect(await importCommand(database, [clockless, "--force"])).toMatchObject({
      exitCode: 1,
      text: expect.stringContaining("on every clock that fits, its D1 klines open at other times"),
    });
    const hours = [shared("permissive/eurusd_h1_dukascopy_201902.csv.gz"), "--ticker", "EURAUD", "--force"];
    expect(await importCommand(database, hours)).toMatchObject({
      exitCode: 0,
      text: expect.stringContaining("480 H1 klines stored"),
    });
  });
});
