import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MINUTE_S } from "#lib/units";
import type { Stranger } from "./client";
import { keyHolder, makeLiveKey, runCommand } from "./commands";
import { type PlainKline, plainKlines, readKlines } from "./plain-klines";
import { API_ONLY, type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

const IMPORT_TIMEOUT_MS = 120_000;
/** A running product applies an import at once; a longer wait means never. */
const FOLLOWED = { timeout: 60_000, interval: 50 };
const SHARED_DATA = resolve(process.cwd(), "../shared/data/permissive");
const seconds = (iso: string) => Date.parse(iso) / 1000;

let product: Product;
let reader: Stranger;

beforeAll(async () => {
  product = await startProduct(API_ONLY);
  reader = keyHolder(product, await makeLiveKey(product, "market:read"));
}, SERVER_TIMEOUT_MS);
afterAll(() => product?.dispose(), SERVER_TIMEOUT_MS);

/** Runs the import command and returns its output. */
async function importFile(...args: string[]): Promise<string> {
  const { exitCode, output } = await runCommand(product, "import", ["--venue", "live", ...args]);
  expect(exitCode, output).toBe(0);
  return output;
}

/** Generated minutes of GBPUSD around a weekend with a clock change in New York; every eleventh minute has no quote. */
function madeUpMinutes(): PlainKline[] {
  const sessions = [
    ["2024-03-06T00:00:00Z", "2024-03-08T22:00:00Z"],
    ["2024-03-10T21:00:00Z", "2024-03-12T12:00:00Z"],
  ] as const;
  const times = sessions.flatMap(([from, to]) =>
    Array.from({ length: (seconds(to) - seconds(from)) / MINUTE_S }, (_, minute) => seconds(from) + minute * MINUTE_S),
  );
  return times.flatMap((time, index) => {
    if (index % 11 === 10) return [];
    const middle = 127_000 + Math.round(800 * Math.sin(index / 300)) + ((index * 37) % 23);
    const price = (points: number) => (middle + points) / 1e5;
    const numbers = { tick_volume: 1 + (index % 90), real_volume: index % 1_000, spread: (3 + (index % 7)) / 1e5 };
    return [{ time, open: price(-2), high: price(5 + (index % 4)), low: price(-6), close: price((index % 9) - 4), ...numbers }];
  });
}

const COLUMNS = ["open", "high", "low", "close", "tick_volume", "real_volume", "spread"] as const;

function csvOf(klines: readonly PlainKline[]): string {
  const line = (kline: PlainKline) =>
    [new Date(kline.time * 1000).toISOString(), ...COLUMNS.map((column) => kline[column])].join(",");
  return `time,${COLUMNS.join(",")}\n${klines.map(line).join("\n")}\n`;
}

describe("history imported beside a running product", () => {
  const minutes = madeUpMinutes();
  const [from, to] = [seconds("2024-03-05T22:00:00Z"), seconds("2024-03-12T21:00:00Z")];
  const cachedPath = `/api/v1/market/klines?ticker=GBPUSD&timeframe=H1&from=${from}&to=${to}`;
  let file: string;
  let imported: string;
  let etagBefore: string;

  beforeAll(async () => {
    file = join(dirname(product.dataDir), "GBPUSD minutes.csv");
    await writeFile(file, csvOf(minutes));
    const before = await reader.call(cachedPath);
    expect(before.data.count).toBe(0);
    etagBefore = before.headers.get("etag") ?? "";
    const again = await reader.call(cachedPath, { headers: { "if-none-match": etagBefore } });
    expect(again.status).toBe(304);
    imported = await importFile("--ticker", "GBPUSD", file);
  }, IMPORT_TIMEOUT_MS);

  test("an import changes the answer and the validator of a cached window", async () => {
    const count = plainKlines(minutes, "H1").length;
    const ask = async () => {
      const { status, data, headers } = await reader.call(cachedPath, { headers: { "if-none-match": etagBefore } });
      return { status, count: data.count, sameEtag: headers.get("etag") === etagBefore };
    };
    await expect.poll(ask, FOLLOWED).toEqual({ status: 200, count, sameEtag: false });
  });

  test.each(["M1", "H1", "D1"] as const)("imported history is answered in %s as its minutes aggregate", async (timeframe) => {
    const expected = plainKlines(minutes, timeframe);
    expect(expected.length).toBeGreaterThanOrEqual(5);
    await expect
      .poll(async () => (await readKlines(reader, "GBPUSD", timeframe, from, to)).length, FOLLOWED)
      .toBe(expected.length);
    expect(await readKlines(reader, "GBPUSD", timeframe, from, to)).toEqual(expected);
  });

  test.each([
    ["again", []],
    ["again by force", ["--force"]],
  ])(
    "imported history is the same when it is imported %s",
    async (_, options) => {
      expect(imported).toContain(minutes.length.toLocaleString("en-US"));
      const read = () =>
        Promise.all((["M1", "H1", "D1"] as const).map((timeframe) => readKlines(reader, "GBPUSD", timeframe, 0)));
      const before = await read();
      const output = await importFile("--ticker", "GBPUSD", ...options, file);
      if (options.length === 0) expect(output).toContain("already imported");
      expect(await read()).toEqual(before);
    },
    IMPORT_TIMEOUT_MS,
  );
});

/** The bid side of a recorded file, row by row, as in the file itself. */
function recordedRows(name: string): Pick<PlainKline, "time" | "open" | "high" | "low" | "close" | "real_volume">[] {
  const [header = "", ...lines] = gunzipSync(readFileSync(join(SHARED_DATA, name)))
    .toString()
    .trimEnd()
    .split("\n");
  const columns = header.split(",");
  return lines.map((line) => {
    const cells = line.split(",");
    const cell = (column: string) => Number(cells[columns.indexOf(column)]);
    const [open, high, low, close] = [cell("bid_open"), cell("bid_high"), cell("bid_low"), cell("bid_close")];
    const real_volume = columns.includes("bid_volume") ? cell("bid_volume") : null;
    return { time: seconds(cells[0] ?? ""), open, high, low, close, real_volume };
  });
}

describe.skipIf(!existsSync(SHARED_DATA))("recorded files (skipped where ../shared/data is absent)", () => {
  test.each([
    ["EURUSD", "eurusd_m1_dukascopy_20190204.csv.gz", 2],
    ["XAUUSD", "xauusd_m1_quote_oanda_20140501_20140515.csv.gz", 12],
  ])(
    "imported history of %s is answered row by row, and by day",
    async (ticker, name, days) => {
      const rows = recordedRows(name);
      await importFile(join(SHARED_DATA, name));
      await expect.poll(async () => (await readKlines(reader, ticker, "M1", 0)).length, FOLLOWED).toBe(rows.length);
      const minutes = await readKlines(reader, ticker, "M1", 0);
      expect(minutes.map(({ tick_volume: _, spread: __, ...stated }) => stated)).toEqual(rows);
      expect(minutes.every(({ spread }) => spread > 0)).toBe(true);
      const daily = await readKlines(reader, ticker, "D1", 0);
      expect(daily).toEqual(plainKlines(minutes, "D1"));
      expect(daily).toHaveLength(days);
    },
    IMPORT_TIMEOUT_MS,
  );
});
