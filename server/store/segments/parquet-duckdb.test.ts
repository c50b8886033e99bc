import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { columnsOf } from "#lib/domain/columns";
import { joinStatements, type Statements } from "#lib/domain/fold";
import { TAKEN } from "#lib/domain/tick-columns";
import { openDuckDb } from "#lib/testing/duckdb";
import { hasSharedData, readKlines, SHARED_DATA_NOTICE, type Source } from "#lib/testing/shared-data";
import { strikes } from "#server/store/history/layers";
import { encodeStatements } from "./parquet";
import { saidBy } from "./segments";
import { encodeTicks } from "./tick-parquet";

const duckdb = await openDuckDb();
const { ask } = duckdb;

const folder = await mkdtemp(path.join(tmpdir(), "spotwire-duckdb-"));
afterAll(async () => {
  duckdb.close();
  await rm(folder, { recursive: true });
});

const NAMES = { venue: "live", ticker: "EURUSD", timeframe: "M1" };

/** Three minutes at these prices. */
function minutes(prices: readonly number[], spread: number | null = 0.00012, realVolume: number | null = 12.5): Statements {
  const klines = prices.map((price, at) => ({
    type: "kline" as const,
    ticker: "EURUSD",
    timeframe: "M1" as const,
    time: 1_767_225_600 + at * 60,
    open: price,
    high: price,
    low: price,
    close: price,
    tick_volume: at + 1,
    real_volume: realVolume,
    spread,
  }));
  return saidBy(columnsOf(klines), 7, 1_767_225_600_123);
}
/** A column whose row in the middle has no value. */
const some = ([first, last]: readonly [number, number]) => Float64Array.of(first, Number.NaN, last);
const real = (source: Source) => {
  const { rows, digits } = readKlines(source);
  return { said: saidBy(columnsOf(rows), 3, 1_767_225_600_000), digits };
};

interface Case {
  readonly said: Statements;
  readonly digits: number;
  readonly price: string;
  readonly spread?: string;
  readonly tickVolume?: string;
}

const CASES: Record<string, () => Case> = {
  "real minutes of EURUSD": () => ({
    ...real({ fixture: "eurusd_m1_dukascopy_20190204_h23.csv.gz" }),
    price: "DECIMAL(9,5)",
  }),
  "prices with more digits than the instrument": () => ({
    said: minutes([1.1234567, 1.2, 1.3]),
    digits: 5,
    price: "DECIMAL(9,7)",
  }),
  "the greatest price of nine digits, and the next": () => ({
    said: minutes([9_999.99999, 1, 0.00001]),
    digits: 5,
    price: "DECIMAL(9,5)",
  }),
  "a price of ten digits": () => ({ said: minutes([15_000.12345, 1, 10_000]), digits: 5, price: "DECIMAL(18,5)" }),
  "prices that need 64 bits": () => ({
    said: minutes([12_345_678_901.12345, 90_071_992_547.40991, 0.00001]),
    digits: 5,
    price: "DECIMAL(18,5)",
  }),
  "negative prices": () => ({ said: minutes([-37.63, 0, -12_345_678_901.12]), digits: 2, price: "DECIMAL(18,2)" }),
  "prices that are no decimals": () => ({ said: minutes([1 / 3, Math.PI, 1e-20]), digits: 5, price: "DOUBLE" }),
  "spreads that are no decimals": () => ({ said: minutes([1.1], 1 / 3), digits: 5, price: "DECIMAL(9,5)", spread: "DOUBLE" }),
  "unknown spreads": () => ({ said: minutes([1.1, 1.2], null), digits: 5, price: "DECIMAL(9,5)", spread: "DECIMAL(9,6)" }),
  "unknown real volumes": () => ({ said: minutes([1.1, 1.2], 0.1, null), digits: 5, price: "DECIMAL(9,5)" }),
  "some unknown spreads and real volumes": () => ({
    said: joinStatements([minutes([1.1], null, null), minutes([1.2])]),
    digits: 5,
    price: "DECIMAL(9,5)",
  }),
  "tick volumes that are no whole numbers": () => ({
    said: { ...minutes([1.1]), tickVolume: Float64Array.of(0.5) },
    digits: 5,
    price: "DECIMAL(9,5)",
    tickVolume: "DOUBLE",
  }),
  "ask and mid prices of some minutes": () => ({
    said: {
      ...minutes([1.1, 1.2, 1.3]),
      askOpen: some([1.1001, 1.3]),
      askHigh: some([1.1004, 1.31]),
      askLow: some([1.1001, 1.29]),
      askClose: some([1.1002, 1.3]),
      midOpen: some([1.10005, 1.3]),
      midHigh: some([1.1, 1.4]),
      midLow: some([1.1, 1.2]),
      midClose: some([1.100005, 1.3]),
    },
    digits: 5,
    price: "DECIMAL(9,5)",
  }),
  "a strike alone": () => ({ said: strikes([60, 120], [4, 4], 1_000), digits: 5, price: "DECIMAL(9,5)" }),
  "what several layers said, with the feed's klines and strikes": () => ({
    said: joinStatements([
      { ...minutes([1.1, 1.2, 1.3]), layer: new Int32Array(3), known: new Float64Array(3).fill(Number.NaN) },
      minutes([1.15]),
      strikes([1_767_225_660], [9], 1_767_300_000_000),
    ]),
    digits: 5,
    price: "DECIMAL(9,5)",
  }),
  "no kline at all": () => ({ said: minutes([]), digits: 5, price: "DECIMAL(9,5)" }),
};

/** Writes a file, and returns how SQL names it. */
async function fileOf({ said, digits }: Pick<Case, "said" | "digits">): Promise<string> {
  const file = path.join(folder, "segment.parquet");
  await writeFile(file, encodeStatements(said, NAMES, digits));
  return `'${file}'`;
}

/** A value of DuckDB as the number that its digits are nearest to. */
function numberOf(value: unknown): number {
  if (value === null) return Number.NaN;
  return typeof value === "number" ? value : Number(String(value));
}

/** The columns of a file and of klines. */
const COLUMNS = [
  ["open", "open"],
  ["high", "high"],
  ["low", "low"],
  ["close", "close"],
  ["spread", "spread"],
  ["tick_volume", "tickVolume"],
  ["real_volume", "realVolume"],
] as const;
/** Those that a file has where a row of it has their values. */
const SIDE_COLUMNS = [
  ["ask_open", "askOpen"],
  ["ask_high", "askHigh"],
  ["ask_low", "askLow"],
  ["ask_close", "askClose"],
  ["mid_open", "midOpen"],
  ["mid_high", "midHigh"],
  ["mid_low", "midLow"],
  ["mid_close", "midClose"],
] as const;

/** Every column as DuckDB reads it. Decimals come as their digits, because a number of JavaScript could hide a wrong one. */
async function expectExact(said: Statements, file: string): Promise<void> {
  const there = new Set((await ask(`DESCRIBE SELECT * FROM ${file}`)).map(({ column_name }) => column_name));
  const hasLayers = there.has("layer");
  const hasSides = said.askClose.some((close) => !Number.isNaN(close));
  for (const [name] of SIDE_COLUMNS) expect([name, there.has(name)]).toEqual([name, hasSides]);
  const columns = [...COLUMNS, ...(hasSides ? SIDE_COLUMNS : [])];
  const decimal = columns.map(([name]) => `CASE WHEN typeof(${name}) LIKE 'DECIMAL%' THEN ${name}::VARCHAR END AS ${name}_text`);
  const layers = hasLayers ? ["layer", "epoch_ms(known_at)::DOUBLE AS known"] : [];
  const names = ["epoch_ms(time)::DOUBLE AS ms", ...columns.map(([name]) => `${name}::DOUBLE AS ${name}`), ...decimal, ...layers];
  const rows = await ask(`SELECT ${names.join(", ")} FROM ${file}`);
  const read = (name: string) => rows.map((row) => numberOf(row[`${name}_text`] ?? row[name] ?? null));
  expect(rows.map(({ ms }) => numberOf(ms) / 1_000)).toEqual([...said.time]);
  for (const [name, column] of columns) expect([name, read(name)]).toEqual([name, [...said[column]]]);
  if (!hasLayers) return;
  expect(read("layer")).toEqual([...said.layer]);
  expect(read("known")).toEqual([...said.known]);
}

describe("DuckDB", () => {
  test.each(Object.entries(CASES))("DuckDB reads %s exactly, with the types that the guide names", async (_, make) => {
    const wanted = make();
    const file = await fileOf(wanted);
    const types = Object.fromEntries(
      (await ask(`DESCRIBE SELECT * FROM ${file}`)).map(({ column_name, column_type }) => [column_name, column_type]),
    );
    const { price, spread = expect.stringMatching(/^DECIMAL\(9,\d+\)$/), tickVolume = "INTEGER" } = wanted;
    expect(types).toMatchObject({
      time: "TIMESTAMP WITH TIME ZONE",
      open: price,
      high: price,
      low: price,
      close: price,
      tick_volume: tickVolume,
      real_volume: "DOUBLE",
      spread,
    });
    if ("layer" in types) expect(types).toMatchObject({ layer: "INTEGER", known_at: "TIMESTAMP WITH TIME ZONE" });
    await expectExact(wanted.said, file);
  });

  test.skipIf(!hasSharedData)(`DuckDB reads months of real minutes of EURUSD exactly${SHARED_DATA_NOTICE}`, async () => {
    for (const shared of ["permissive/eurusd_m1_quote_oanda_201405_201804", "permissive/eurusd_m1_dukascopy_20190204"]) {
      const { said, digits } = real({ shared });
      await expectExact(said, await fileOf({ said, digits }));
    }
  });

  test("DuckDB finds the rows that it is asked for, because the least and greatest values of a file are right", async () => {
    for (const make of [
      CASES["real minutes of EURUSD"],
      CASES["prices that need 64 bits"],
      CASES["negative prices"],
    ] as (() => Case)[]) {
      const { said, digits } = make();
      const file = await fileOf({ said, digits });
      for (const [column, values] of [
        ["low", said.low],
        ["high", said.high],
        ["spread", said.spread],
      ] as const)
        for (const value of new Set(values))
          for (const sign of ["=", ">=", "<="] as const) {
            const [row] = await ask(`SELECT count(*)::INTEGER AS n FROM ${file} WHERE ${column} ${sign} ${value}`);
            const found = values.filter((other) =>
              sign === "=" ? other === value : sign === ">=" ? other >= value : other <= value,
            );
            expect([column, sign, value, row?.n]).toEqual([column, sign, value, found.length]);
          }
      const [span] = await ask(`SELECT epoch_ms(min(time))::DOUBLE AS first, epoch_ms(max(time))::DOUBLE AS last FROM ${file}`);
      expect(span).toEqual({ first: (said.time[0] as number) * 1_000, last: (said.time.at(-1) as number) * 1_000 });
    }
  });

  test("every query of the guides runs on a file", async () => {
    const { said, digits } = (CASES["real minutes of EURUSD"] as () => Case)();
    const file = await fileOf({ said, digits });
    const guide = await readFile("lib/docs/guides/files.mdx", "utf8");
    const day = { time: Float64Array.of(1, 2), bid: Float64Array.of(1.1, 1.2), ask: Float64Array.of(1.3, 1.4) };
    const unknown = new Float64Array(2).fill(Number.NaN);
    const texts = { source: ["push", "push"], outcome: [TAKEN, TAKEN] };
    const ticks = path.join(folder, "ticks.parquet");
    await writeFile(ticks, encodeTicks({ ...day, volume: unknown, received: unknown, ...texts }, NAMES, 5));
    const ticksGuide = await readFile("lib/docs/guides/ticks.mdx", "utf8");
    const queries = [...`${guide}${ticksGuide}`.matchAll(/```sql\n([\s\S]*?)```/g)]
      // The extension for HTTP comes from DuckDB's server.
      .filter(([, sql = ""]) => !sql.startsWith("INSTALL"))
      .map(([, sql = ""]) =>
        sql.replace(/'[^']*ticks[^']*\.parquet'/, `'${ticks}'`).replace(/'[^'/]*-M1-[^'/]*\.parquet'/, file),
      );
    const [hours, spreads, metadata, bars] = await Promise.all(queries.map(ask));
    expect(bars?.map(({ open, close, tick_volume }) => [numberOf(open), numberOf(close), Number(tick_volume)])).toEqual([
      [1.1, 1.2, 2],
    ]);
    expect(spreads?.map(({ spread }) => spread)).toEqual([0.2]);
    expect(hours?.map(({ high }) => numberOf(high))).toEqual([Math.max(...said.high)]);
    const keys = metadata?.map(({ key }) => String(key)) ?? [];
    expect(keys).toHaveLength(6);
    for (const key of keys) expect(guide).toContain(`| \`${key}\` |`);
  });

  test("a file has one row group and says of itself what the guide names", async () => {
    const file = await fileOf({ said: minutes([1.1, 1.2]), digits: 5 });
    const [groups] = await ask(`SELECT count(DISTINCT row_group_id)::INTEGER AS n FROM parquet_metadata(${file})`);
    expect(groups?.n).toBe(1);
    const said = await ask(`SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata(${file})`);
    expect(Object.fromEntries(said.map(({ key, value }) => [key, value]))).toEqual({
      "spotwire.venue": "live",
      "spotwire.ticker": "EURUSD",
      "spotwire.timeframe": "M1",
      "spotwire.format": "1",
      "spotwire.layer": "7",
      "spotwire.known_at": "1767225600123",
    });
  });
});
