import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Timeframe } from "#lib/contract/primitives";
import type { Side } from "#lib/domain/columns";
import { exportCommand } from "#server/export/index";
import { createKlineStore } from "#server/store/klines/kline-store";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { emptyHistory, IMPORT_NOW_MS, importCommand } from "#server/testing/import-command";
import { openMinutes } from "#server/testing/import-rows";
import { commandOutcome } from "#server/testing/terminal";

type Prices = readonly [open: number, high: number, low: number, close: number];
interface Bar {
  /** Unix seconds. */
  readonly time: number;
  readonly bid: Prices;
  readonly ask: Prices | null;
}

let db: TestDatabase;
let folder: string;
beforeAll(async () => {
  db = await testDatabase();
  folder = mkdtempSync(path.join(tmpdir(), "spotwire-asks-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await db.close();
});
beforeEach(() => emptyHistory(db));

const fixed = (points: number) => Number((points / 1e5).toFixed(5));
/** Minutes of two months whose asks move on their own. */
const BARS: readonly Bar[] = [...openMinutes("2024-01-30", 3_000), ...openMinutes("2024-02-05", 200)].map((time, at) => {
  const points = 108_500 + Math.round(40 * Math.sin(at / 9));
  const bid = [points, points + 9, points - 8, points + (at % 5)].map(fixed) as unknown as Prices;
  const ask = [points + 7, points + 19 + (at % 7), points + 2, points + 12].map(fixed) as unknown as Prices;
  return { time, bid, ask };
});

const iso = (time: number) => new Date(time * 1_000).toISOString();
const cells = (prices: Prices | null) => prices ?? ["", "", "", ""];
const NAMES = "time,bid_open,bid_high,bid_low,bid_close,ask_open,ask_high,ask_low,ask_close";
const csvOf = (bars: readonly Bar[], names = NAMES) =>
  [names, ...bars.map(({ time, bid, ask }) => [iso(time), ...bid, ...cells(ask)].join())].join("\n");

function write(name: string, text: string): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

async function stored(price?: Side, timeframe: Timeframe = "M1", limit = 100_000) {
  const range = { from: 0, to: IMPORT_NOW_MS / 1_000, limit, end: "newest" as const };
  const klines = await createKlineStore(db).read({ ticker: "EURUSD", timeframe, ...range, price });
  return klines.map(({ time, open, high, low, close }) => [time, open, high, low, close]);
}
const asksOf = (bars: readonly Bar[]) => bars.flatMap(({ time, ask }) => (ask ? [[time, ...ask]] : []));
const bidsOf = (bars: readonly Bar[]) => bars.map(({ time, bid }) => [time, ...bid]);

describe("klines with ask prices beside bid prices", () => {
  const day = BARS.filter(({ time }) => iso(time).startsWith("2024-01-31"));
  const fxcm = [
    "date,bidopen,bidclose,bidhigh,bidlow,askopen,askclose,askhigh,asklow",
    ...BARS.map(({ time, bid: [o, h, l, c], ask }) => {
      const [ao, ah, al, ac] = cells(ask);
      return `${iso(time)},${o},${c},${h},${l},${ao},${ac},${ah},${al}`;
    }),
  ].join("\n");
  const candle = ([o, h, l, c]: Prices) => ({ o: String(o), h: String(h), l: String(l), c: String(c) });
  const oanda = JSON.stringify({
    instrument: "EUR_USD",
    granularity: "M1",
    candles: BARS.map(({ time, bid, ask }) => ({
      complete: true,
      volume: 7,
      time: iso(time),
      bid: candle(bid),
      ask: candle(ask as Prices),
    })),
  });
  const lean = day.map(({ time, bid, ask }) => [(time % 86_400) * 1_000, ...bid, 0, ...cells(ask), 0].join()).join("\n");

  test.each([
    ["EURUSD_M1.csv", csvOf(BARS), BARS],
    ["fxcm/EURUSD_M1.csv", fxcm, BARS],
    ["EURUSD_M1.json", oanda, BARS],
    ["forex/oanda/minute/eurusd/20240131_quote/20240131_eurusd_minute_quote.csv", lean, day],
  ])("%s keeps both, and no mids, whose highs and lows it does not say", async (name, text, bars) => {
    const imported = await importCommand(db, ["--tz", "UTC", write(name, text)]);
    expect(imported).toMatchObject({ exitCode: 0 });
    expect(await stored()).toEqual(bidsOf(bars));
    expect(await stored("ask")).toEqual(asksOf(bars));
    expect(await stored("mid")).toEqual([]);
    const first = bars.slice(0, 60);
    const [time, ...hour] = (await stored("ask", "H1"))[0] ?? [];
    const asks = first.map(({ ask }) => ask as Prices);
    const [highs, lows] = [asks.map(([, high]) => high), asks.map(([, , low]) => low)];
    expect([time, ...hour]).toEqual([first[0]?.time, asks[0]?.[0], Math.max(...highs), Math.min(...lows), asks.at(-1)?.[3]]);
  });

  test("those of days, too, and a limit counts those that have the price", async () => {
    // From Sunday evening on, five days a week.
    const opens = (at: number) => Date.UTC(2023, 0, 8 + 7 * Math.floor(at / 5) + (at % 5), 22) / 1_000;
    const days = BARS.slice(0, 40).map((bar, at) => ({ ...bar, time: opens(at) }));
    const file = write("days/EURUSD_D1.csv", csvOf(days));
    expect(await importCommand(db, [file])).toMatchObject({ exitCode: 0 });
    expect(await stored("ask", "D1")).toEqual(asksOf(days));
    await importCommand(db, [write("EURUSD_M1.csv", csvOf(BARS))]);
    expect(await stored("ask", "M1", 10)).toEqual(asksOf(BARS).slice(-10));
  });

  test("mids of ticks are found behind months that have asks alone", async () => {
    const ticks = openMinutes("2023-11-06", 90).map((time) => `${iso(time)},1.08500,1.08507`);
    expect(await importCommand(db, [write("EURUSD_ticks.csv", `time,bid,ask\n${ticks.join("\n")}\n`)])).toMatchObject({
      exitCode: 0,
    });
    const mids = await stored("mid");
    expect(mids).toHaveLength(90);
    await importCommand(db, [write("EURUSD_M1.csv", csvOf(BARS))]);
    expect(await stored("mid", "M1", 5)).toEqual(mids.slice(-5));
  });

  test("a row without asks keeps its bids, and one whose asks cannot be is refused and named", async () => {
    const bars = BARS.slice(0, 600).map((bar, at) => (at % 10 === 0 ? { ...bar, ask: null } : bar));
    const lines = csvOf(bars).split("\n");
    const [kept, swapped, wild, cut] = [bars.length, 43, 74, 85];
    const change = (line: number, to: (values: string[]) => string[]) => {
      lines[line - 1] = to((lines[line - 1] ?? "").split(",")).join();
    };
    change(swapped, ([time = "", ...prices]) => [time, ...prices.slice(4), ...prices.slice(0, 4)]);
    change(wild, (values) => values.with(7, "1.2"));
    change(cut, (values) => values.with(7, "x"));
    const { exitCode, text } = await importCommand(db, [write("EURUSD_M1.csv", lines.join("\n"))]);
    expect(exitCode).toBe(1);
    expect(text).toContain("1 row refused: bid above ask (crossed quote)");
    expect(text).toContain(`line ${wild}: ask open and close are not between ask high and ask low`);
    expect(text).toContain(`line ${cut}: ask low is not a price: x`);
    const left = bars.filter((_, at) => ![swapped, wild, cut].includes(at + 2));
    expect(left).toHaveLength(kept - 3);
    expect(await stored()).toEqual(bidsOf(left));
    expect(await stored("ask")).toEqual(asksOf(left));
  });

  test("a file whose asks are all below its bids is not stored", async () => {
    const bars = BARS.map(({ time, bid, ask }) => ({ time, bid: ask as Prices, ask: bid }));
    const { exitCode, text } = await importCommand(db, [write("EURUSD_M1.csv", csvOf(bars))]);
    expect(exitCode).not.toBe(0);
    expect(text).toContain("bid above ask");
    expect(await stored()).toEqual([]);
  });

  test("the files for download are read back exactly, with asks of bars, and asks and mids of ticks", async () => {
    const ticks = openMinutes("2024-03-04", 90).flatMap((time) =>
      [0, 1, 2].map((at) => `${iso(time + at)},${fixed(108_500 + at)},${fixed(108_507 + 3 * at)}`),
    );
    await importCommand(db, [write("EURUSD_ticks.csv", `time,bid,ask\n${ticks.join("\n")}\n`)]);
    await importCommand(db, [
      write("EURUSD_M1.csv", csvOf(BARS.map((bar, at) => (at % 10 === 0 ? { ...bar, ask: null } : bar)))),
    ]);
    const before = [await stored(), await stored("ask"), await stored("mid")];
    const out = `${path.join(folder, "out")}/`;
    const argv = ["--ticker", "EURUSD", "--format", "parquet", "--out", out];
    expect((await commandOutcome(exportCommand, argv, { db })).exitCode).toBe(0);
    await emptyHistory(db);
    expect(await importCommand(db, [out])).toMatchObject({ exitCode: 0 });
    expect([await stored(), await stored("ask"), await stored("mid")]).toEqual(before);
    expect(before.map((klines) => klines.length)).toEqual([3_290, 2_970, 90]);
  });
});
