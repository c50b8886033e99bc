import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Timeframe } from "#lib/contract/primitives";
import type { Kline } from "#lib/domain/kline";
import { DAY_S, HOUR_S } from "#lib/units";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { importCommand, storedKlines } from "#server/testing/import-command";

const DATA = path.resolve(process.cwd(), "../shared/data");
const PRICES = ["open", "high", "low", "close"] as const;

type Expected = Partial<Kline> & { time: number };

/** Rows of a normalised kline file, by the names in its header. */
function rowsOf(name: string, digits: number): Expected[] {
  const [header = "", ...lines] = gunzipSync(readFileSync(path.join(DATA, name)))
    .toString()
    .trimEnd()
    .split("\n");
  const columns = header.split(",");
  return lines.map((line) => {
    const cells = line.split(",");
    const cell = (...names: string[]) => cells[columns.findIndex((column) => names.includes(column))] ?? "";
    const row: Expected = { time: Date.parse(cell("time")) / 1000 };
    for (const price of PRICES) row[price] = Number(cell(price, `bid_${price}`));
    if (columns.includes("tick_volume")) row.tick_volume = Number(cell("tick_volume"));
    if (cell("real_volume", "bid_volume") !== "") row.real_volume = Number(cell("real_volume", "bid_volume"));
    if (cell("spread") !== "") row.spread = Number((Number(cell("spread")) / 10 ** digits).toFixed(digits));
    return row;
  });
}

describe.skipIf(!existsSync(DATA))("real files read back from the store (skipped where ../shared/data is absent)", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(() => database.close());

  const importFiles = async (argv: string[]) => {
    const result = await importCommand(
      database,
      // Some go into another instrument than their own.
      ["--force", ...argv.map((arg) => (arg.startsWith("--") || !arg.includes("/") ? arg : path.join(DATA, arg)))],
    );
    expect(result).toMatchObject({ exitCode: 0 });
    return result.text;
  };

  /** Expects every stored row from `from` to `to` to equal the source in all its fields. */
  async function expectStored(ticker: string, timeframe: Timeframe, rows: readonly Expected[]): Promise<void> {
    expect(rows.length).toBeGreaterThan(0);
    const [first, last] = [rows[0]?.time ?? 0, rows[rows.length - 1]?.time ?? 0];
    const stored = (await storedKlines(database, ticker, timeframe)).filter(({ time }) => time >= first && time <= last);
    expect(stored.map(({ time }) => time)).toEqual(rows.map(({ time }) => time));
    expect(stored).toMatchObject(rows);
  }

  test("Dukascopy's ticks give Dukascopy's minutes and hours", async () => {
    await importFiles(["permissive/eurusd_ticks_dukascopy_20190204_h00_h10_h23.csv.gz"]);
    const minutes = rowsOf("permissive/eurusd_m1_dukascopy_20190204.csv.gz", 5);
    const hours = rowsOf("permissive/eurusd_h1_dukascopy_201902.csv.gz", 5);
    for (const hour of [0, 10, 23]) {
      const from = Date.parse("2019-02-04T00:00:00Z") / 1000 + hour * HOUR_S;
      await expectStored(
        "EURUSD",
        "M1",
        minutes.filter(({ time }) => time >= from && time < from + HOUR_S),
      );
      const [whole] = hours.filter(({ time }) => time === from).map(({ real_volume: _, ...rest }) => rest);
      await expectStored("EURUSD", "H1", whole === undefined ? [] : [whole]);
    }
  });

  test("Dukascopy's minutes, from .bi5 or text, give all its hours of that day", async () => {
    await importFiles([
      "--ticker",
      "EURJPY",
      "--point-digits",
      "5",
      "--months",
      "0",
      "raw/dukascopy/EURUSD_2019_01_04_BID_candles_min_1.bi5",
    ]);
    await importFiles(["--ticker", "EURCHF", "permissive/eurusd_m1_dukascopy_20190204.csv.gz"]);
    const day = Date.parse("2019-02-04T00:00:00Z") / 1000;
    const hours = rowsOf("permissive/eurusd_h1_dukascopy_201902.csv.gz", 5).filter(
      ({ time }) => time >= day && time < day + DAY_S,
    );
    await expectStored(
      "EURCHF",
      "H1",
      hours.map(({ real_volume: _, ...rest }) => rest),
    );
    await expectStored("EURCHF", "M1", rowsOf("permissive/eurusd_m1_dukascopy_20190204.csv.gz", 5));
    expect(await storedKlines(database, "EURJPY", "M1")).toHaveLength(1_440);
  });

  test("OANDA's ticks give OANDA's minutes, for a currency and a metal", async () => {
    for (const [ticker, ticks, minutes, digits, to] of [
      ["GBPUSD", "eurusd_ticks_oanda_20140504_20140509", "eurusd_m1_quote_oanda_201405_201804", 5, "2014-05-09T21:00:00Z"],
      ["XAUUSD", "xauusd_ticks_oanda_20140504_20140506", "xauusd_m1_quote_oanda_20140501_20140515", 3, "2014-05-07T00:00:00Z"],
    ] as const) {
      await importFiles(["--ticker", ticker, `permissive/${ticks}.csv.gz`]);
      const rows = rowsOf(`permissive/${minutes}.csv.gz`, digits);
      const [from, until] = [Date.parse("2014-05-04T00:00:00Z") / 1000, Date.parse(to) / 1000];
      await expectStored(
        ticker,
        "M1",
        rows.filter(({ time }) => time >= from && time < until),
      );
    }
  });

  test("a MetaTrader server's minutes give its M5, including volumes and spreads in price units", async () => {
    await importFiles(["--ticker", "AUDUSD", "nolicence/eurusd_m1_mt5_nikoaganev_202210_202212.csv.gz"]);
    await expectStored("AUDUSD", "M1", rowsOf("nolicence/eurusd_m1_mt5_nikoaganev_202210_202212.csv.gz", 5));
    const [from, to] = [Date.parse("2022-10-10T02:00:00Z") / 1000, Date.parse("2022-12-06T20:00:00Z") / 1000];
    const rows = rowsOf("nolicence/eurusd_m5_mt5_nikoaganev_202202_202212.csv.gz", 5).filter(
      ({ time }) => time >= from && time < to,
    );
    await expectStored("AUDUSD", "M5", rows);
  });

  test("points in a gold file with two decimals are hundredths, whatever the instrument's decimals", async () => {
    const text = await importFiles(["nolicence/xauusd_m1_mt5_magiclovexxx_202603_202604.csv.gz"]);
    expect(text).toContain("spreads read as points of 2 decimals");
    await expectStored("XAUUSD", "M1", rowsOf("nolicence/xauusd_m1_mt5_magiclovexxx_202603_202604.csv.gz", 2));
  });

  test("the raw copy_rates file gives the same klines as the normalised file of its source", async () => {
    const raw = "raw/mt5/EURUSD_M1_copy_rates.csv";
    await importFiles(["--ticker", "NZDUSD", "--tz", "EET", raw]);
    await expectStored("NZDUSD", "M1", rowsOf("nolicence/eurusd_m1_mt5_nikoaganev_202210_202212.csv.gz", 5).slice(0, 2_999));
    // Two days show no clock; the same minutes that are stored do.
    await importFiles(["--ticker", "AUDUSD", "nolicence/eurusd_m1_mt5_nikoaganev_202210_202212.csv.gz"]);
    expect(await importFiles(["--ticker", "AUDUSD", raw])).toContain("clock EET/EEST");
    expect((await importCommand(database, ["--force", "--ticker", "EURGBP", path.join(DATA, raw)])).exitCode).toBe(3);
  });

  test("HistData's May 2020 is detected an hour ahead of its documented clock, as Dukascopy's data of the same day confirms", async () => {
    const text = await importFiles(["--ticker", "USDCAD", "raw/histdata/DAT_NT_EURUSD_M1_202005.csv"]);
    expect(text).toContain("an hour ahead while Europe has summer time: on any other");
    await importFiles([
      "--ticker",
      "USDCHF",
      "--point-digits",
      "5",
      "--months",
      "0",
      "raw/dukascopy/EURUSD_2020_04_01_BID_candles_min_1.bi5",
    ]);
    const closes = new Map((await storedKlines(database, "USDCHF", "M1")).map(({ time, close }) => [time, close]));
    const shared = (await storedKlines(database, "USDCAD", "M1")).filter(({ time }) => closes.has(time));
    expect(shared.length).toBeGreaterThan(900);
    for (const { time, close } of shared) expect(closes.get(time)).toBe(close);
  });

  test("no real source is doubtful beside another one of the same pair, and each is as soon as it is off", async () => {
    const real = await testDatabase();
    const run = (...argv: string[]) => importCommand(real, argv);
    for (const name of [
      "permissive/xauusd_h1_mt5_ejtrader_2012_2022",
      "permissive/xauusd_h1_quote_oanda_2012_2019",
      "nolicence/eurusd_m15_dukascopy_jessejay247_to_20251205",
      "nolicence/eurusd_m15_mt5_magiclovexxx_202405_202604",
    ])
      expect(await run(path.join(DATA, `${name}.csv.gz`))).toMatchObject({
        exitCode: 0,
        text: expect.not.stringContaining("DOUBTFUL"),
      });
    const later = await run("--tz", "-01:00", path.join(DATA, "raw/histdata/DAT_NT_EURUSD_M1_202005.csv"));
    expect(later).toMatchObject({ exitCode: 3, text: expect.stringContaining("DOUBTFUL") });
    await real.close();
  });
});
