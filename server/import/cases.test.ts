import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Timeframe } from "#lib/contract/primitives";
import type { Kline } from "#lib/domain/kline";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { importCommand, storedKlines } from "#server/testing/import-command";

/** Files of kinds that people have, after situations in public bug reports: one folder a kind. */
const CASES = path.resolve(process.cwd(), "../shared/data/import-cases");

describe.skipIf(!existsSync(CASES))("files that people have (skipped where ../shared/data is absent)", () => {
  let database: TestDatabase;
  let folder = "";
  beforeAll(async () => {
    database = await testDatabase();
    folder = mkdtempSync(path.join(tmpdir(), "spotwire-cases-"));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await database.close();
  });

  const run = (file: string, ...argv: string[]) => importCommand(database, [...argv, path.join(CASES, file)]);

  /** The stored kline of an instant. */
  async function kline(ticker: string, timeframe: Timeframe, instant: string): Promise<Partial<Kline> | undefined> {
    return (await storedKlines(database, ticker, timeframe)).find(({ time }) => time === Date.parse(instant) / 1000);
  }

  /** Expects a file to be refused with these words, and nothing of it to be stored. */
  async function expectRefused(file: string, exitCode: number, words: string | RegExp, ...argv: string[]): Promise<void> {
    const before = await stored();
    const result = await run(file, ...argv);
    expect({ file, ...result }).toMatchObject({ file, exitCode, text: expect.stringMatching(words) });
    expect(await stored()).toBe(before);
  }

  const stored = async () =>
    (await database.pool.query<{ count: string }>("SELECT count(*) FROM history_content")).rows[0]?.count;

  describe("01: longer klines, some of which open at other times", () => {
    test.each([
      ["EURUSD_H1_last_row_now.csv", "H1", 115, "2024-01-12T16:00:00Z", 117],
      ["EURUSD_H1_last_row_seconds.csv", "H1", 115, "2024-01-12T16:00:00Z", 117],
      ["prices_H1_last_row_now.csv", "H1", 115, "2024-01-12T16:00:00Z", 117],
      ["EURUSD_first_tick_5.csv", "H1", 118, "2024-01-12T21:00:00Z", 2],
      ["EURUSD_H1_first_tick.csv", "H1", 118, "2024-01-12T21:00:00Z", 2],
      ["EURUSD_H4_one_late.csv", "H4", 84, "2024-01-25T22:00:00Z", null],
    ] as const)("%s goes in as %s, and the odd row is refused by its line", async (file, timeframe, count, last, line) => {
      const fresh = await testDatabase();
      const result = await importCommand(fresh, ["--ticker", "EURUSD", path.join(CASES, "01-offgrid-bars", file)]);
      expect(result).toMatchObject({ exitCode: 1, text: expect.stringContaining(`klines of ${timeframe}`) });
      if (line !== null) expect(result.text).toContain(`    line ${line}: `);
      const found = await storedKlines(fresh, "EURUSD", timeframe);
      expect(found).toHaveLength(count);
      expect(found.at(-1)?.time).toBe(Date.parse(last) / 1000);
      expect(await storedKlines(fresh, "EURUSD", "M1")).toEqual([]);
      await fresh.close();
    });

    test("what the name and the rows say must agree, and both are named", async () => {
      await expectRefused(
        "01-offgrid-bars/EURUSD_H1_last_row_now.csv",
        1,
        /--timeframe is M1, but its rows are those of H1/,
        "--timeframe",
        "M1",
      );
    });

    test.each(["EURUSD_H1_end_59.csv", "EURUSD_M30_first_tick.csv", "EURUSD_D1_stamp_2159.csv"])(
      "%s has other klines than ours",
      async (file) => expectRefused(`01-offgrid-bars/${file}`, 1, /klines open at other times than those of Spotwire/),
    );

    test("days as they should be go in", async () => {
      expect((await run("01-offgrid-bars/EURUSD_D1_ok.csv", "--dry-run")).exitCode).toBe(0);
    });
  });

  describe("03, 04: volumes", () => {
    test("the whole numbers of days are numbers of quotes, as those of hours of the same source", async () => {
      await run("03-volume-of-days/GBPUSD_D1.csv");
      await run("03-volume-of-days/GBPUSD_H1.csv");
      expect(await kline("GBPUSD", "D1", "2024-01-07T22:00:00Z")).toMatchObject({ tick_volume: 97_000, real_volume: null });
      expect(await kline("GBPUSD", "H1", "2024-01-07T22:00:00Z")).toMatchObject({ tick_volume: 3_000, real_volume: null });
      expect((await run("03-volume-of-days/AUDUSD_fxcmpy_D1.csv", "--tz", "UTC")).exitCode).toBe(0);
      expect(await kline("AUDUSD", "D1", "2024-01-07T22:00:00Z")).toMatchObject({ tick_volume: 150_000, spread: 0.0002 });
    });

    test("fractions anywhere in a file are amounts, also behind a head of zeros", async () => {
      const { text } = await run("04-volume-zero-head/AUDUSD.csv");
      expect(text).toContain("volume read as amounts");
      expect(await kline("AUDUSD", "M1", "2024-01-08T12:59:00Z")).toMatchObject({ tick_volume: 0, real_volume: 509.63 });
      await run("04-volume-zero-head/NZDUSD.csv");
      expect(await kline("NZDUSD", "M1", "2024-01-08T08:01:00Z")).toMatchObject({ tick_volume: 0, real_volume: 101.37 });
    });
  });

  describe("38, 39: spreads", () => {
    test("fractions that can be pips or average points need --spread", async () => {
      for (const file of ["USDCAD_M1.csv", "USDCAD_M1_points_average.csv"])
        await expectRefused(`39-spread-in-pips/${file}`, 3, /set --spread pips, --spread points or --spread price/);
      expect((await run("39-spread-in-pips/USDCAD_M1.csv", "--spread", "pips")).exitCode).toBe(0);
      expect(await kline("USDCAD", "M1", "2024-01-08T08:00:00Z")).toMatchObject({ spread: 0.00006 });
      expect((await run("39-spread-in-pips/USDCAD_M1_points_average.csv", "--spread", "points")).exitCode).toBe(0);
      expect(await kline("USDCAD", "M1", "2024-01-08T08:01:00Z")).toMatchObject({ spread: 0.000065 });
      // Half of the price, as price units.
      await expectRefused(
        "39-spread-in-pips/USDCAD_M1.csv",
        3,
        /DOUBTFUL: .* spreads .* of the price/,
        "--spread",
        "price",
        "--force",
      );
      expect((await run("39-spread-in-pips/USDCAD_M1_ok.csv")).text).toContain("spread in price units");
      expect(await kline("USDCAD", "M1", "2024-01-08T11:59:00Z")).toMatchObject({ spread: 0.0001 });
    });

    test("zeros at the head of a file do not make the price units behind them points", async () => {
      const time = (row: number) => new Date(Date.UTC(2024, 0, 8) + row * 60_000).toISOString();
      const price = (row: number) => (0.9 + (row % 97) / 1e5).toFixed(5);
      const rows = Array.from({ length: 24_000 }, (_, row) => {
        const one = price(row);
        return `${time(row)},${one},${one},${one},${one},5,${row < 23_000 ? 0 : 0.00012}`;
      });
      const file = path.join(folder, "USDCHF_M1.csv");
      writeFileSync(file, `time,open,high,low,close,tick_volume,spread\n${rows.join("\n")}\n`);
      await importCommand(database, [file, "--accept-doubts"]);
      expect((await storedKlines(database, "USDCHF", "M1")).at(-1)).toMatchObject({ spread: 0.00012 });
    });
  });

  test("07: a day and a time of day are one time, whatever the second is called", async () => {
    expect(await run("07-date-timestamp/EURUSD_M1.csv", "--tz", "UTC", "--force")).toMatchObject({ exitCode: 0 });
    expect(await kline("EURUSD", "M1", "2024-01-08T08:00:00Z")).toMatchObject({ open: 1.09045, close: 1.0905, tick_volume: 10 });
    expect(await run("07-date-timestamp/EURUSD_ticks.csv", "--tz", "UTC", "--ticker", "EURUSD", "--force")).toMatchObject({
      exitCode: 0,
    });
    await expectRefused(
      "07-date-timestamp/EURUSD_hour_word.csv",
      1,
      /its column "Hour" has times of day.*--columns date,time,open,high,low,close/,
      "--tz",
      "UTC",
    );
  });

  test.each(["EURUSD_M1.csv", "EURUSD_M1_comma.csv", "EURUSD_preamble.csv"])(
    "08: lines before the header are left out: %s",
    async (name) => {
      const fresh = await testDatabase();
      expect((await importCommand(fresh, [path.join(CASES, "08-sep-line", name)])).exitCode).toBe(0);
      expect(await storedKlines(fresh, "EURUSD", "M1")).toHaveLength(120);
      await fresh.close();
    },
  );

  test("08: with names on the command line, too", async () => {
    const fresh = await testDatabase();
    const argv = ["--columns", "time,open,high,low,close", "--tz", "UTC", path.join(CASES, "08-sep-line/EURUSD_M1.csv")];
    expect((await importCommand(fresh, argv)).exitCode).toBe(0);
    expect(await storedKlines(fresh, "EURUSD", "M1")).toHaveLength(120);
    await fresh.close();
  });

  test.each(["EURUSD_M1.csv", "EURUSD_M1_unnamed0.csv", "EURUSD_counter_and_time.csv", "EURUSD_reset_index.csv"])(
    "30: an index without a name is the time: %s",
    async (name) => {
      const fresh = await testDatabase();
      expect((await importCommand(fresh, [path.join(CASES, "30-unnamed-index", name)])).exitCode).toBe(0);
      expect((await storedKlines(fresh, "EURUSD", "M1"))[0]).toMatchObject({
        time: Date.UTC(2024, 0, 8, 8) / 1000,
        open: 1.09045,
      });
      await fresh.close();
    },
  );

  test("31: several header lines are one", async () => {
    const fresh = await testDatabase();
    for (const argv of [["--dry-run"], ["--columns", "time,close,high,low,open,-", "--ticker", "EURUSD"]])
      expect((await importCommand(fresh, [...argv, path.join(CASES, "31-two-header-lines/EURUSD_M1.csv")])).exitCode).toBe(0);
    expect((await storedKlines(fresh, "EURUSD", "M1"))[0]).toMatchObject({
      open: 1.09045,
      high: 1.0905,
      low: 1.09045,
      close: 1.0905,
    });
    await fresh.close();
  });

  test.each(["EURUSD_M1.csv", "EURUSD_side_last.csv"])("32: the side before or behind the price: %s", async (name) => {
    const fresh = await testDatabase();
    expect((await importCommand(fresh, [path.join(CASES, "32-dotted-names", name)])).exitCode).toBe(0);
    expect((await storedKlines(fresh, "EURUSD", "M1"))[0]).toMatchObject({
      open: 1.09045,
      high: 1.0905,
      close: 1.0905,
      spread: 0.0001,
    });
    await fresh.close();
  });

  test("33: klines with the quote at their close are klines with a spread, or ticks where that is said", async () => {
    const fresh = await testDatabase();
    const file = path.join(CASES, "33-klines-with-quote/EURUSD_M1.csv");
    expect(await importCommand(fresh, [file])).toMatchObject({
      exitCode: 0,
      text: expect.stringContaining("spread taken from the quote"),
    });
    const [first] = (await storedKlines(fresh, "EURUSD", "M1")).filter(({ time }) => time === Date.UTC(2024, 0, 8, 8, 30) / 1000);
    expect(first).toMatchObject({ open: 1.09068, high: 1.09071, low: 1.09068, close: 1.09071, tick_volume: 22, spread: 0.0001 });
    expect((await importCommand(fresh, [file, "--kind", "ticks", "--dry-run"])).text).toContain("120 ticks would be kept");
    await fresh.close();
  });

  describe("35: a day, and a time of day under another name", () => {
    test.each(["EURGBP_clock.csv", "EURGBP_hhmm.csv", "EURGBP_hour.csv"])("%s is refused with the names to say", async (name) =>
      expectRefused(
        `35-date-and-unknown-time/${name}`,
        1,
        /has times of day, and its name does not say so.*--columns date,time,open,high,low,close/,
        "--tz",
        "NY+7",
      ),
    );

    test.each([
      ["EURGBP_time.csv", ["--tz", "NY+7"]],
      ["EURGBP_time_utc.csv", ["--tz", "NY+7"]],
      ["EURGBP_clock.csv", ["--tz", "NY+7", "--columns", "date,time,open,high,low,close"]],
    ] as const)("%s is hours where it says so", async (name, argv) => {
      const fresh = await testDatabase();
      expect(await importCommand(fresh, [...argv, path.join(CASES, "35-date-and-unknown-time", name)])).toMatchObject({
        exitCode: 0,
        text: expect.stringContaining("klines of H1"),
      });
      expect(await storedKlines(fresh, "EURGBP", "H1")).toHaveLength(960);
      await fresh.close();
    });
  });

  test("36: hours and days of a zone at half past an hour are ours", async () => {
    const fresh = await testDatabase();
    const file = (name: string) => path.join(CASES, "36-half-hour-zone", name);
    const argv = ["--ticker", "EURGBP", "--tz", "Asia/Kolkata"];
    expect(await importCommand(fresh, [...argv, file("prices.csv")])).toMatchObject({
      exitCode: 0,
      text: expect.stringContaining("klines of H1"),
    });
    expect((await storedKlines(fresh, "EURGBP", "H1"))[0]?.time).toBe(Date.UTC(2024, 0, 7, 22) / 1000);
    expect((await importCommand(fresh, [...argv, "--timeframe", "H1", "--dry-run", file("EURGBP_H1.csv")])).exitCode).toBe(0);
    expect((await importCommand(fresh, [...argv, file("EURGBP_D1.csv")])).exitCode).toBe(0);
    expect((await storedKlines(fresh, "EURGBP", "D1"))[0]?.time).toBe(Date.UTC(2024, 0, 7, 22) / 1000);
    await fresh.close();
  });
});
