import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type ColumnSource, parquetWriteBuffer } from "hyparquet-writer";
import { afterAll, beforeAll, expect, test } from "vitest";
import { at, readFile } from "#server/testing/import-rows";
import { parquetText } from "./parquet";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "spotwire-parquet-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

type Schema = NonNullable<Parameters<typeof parquetWriteBuffer>[0]["schema"]>;

async function textOf(content: ArrayBuffer | Buffer): Promise<string> {
  const file = path.join(folder, "x.parquet");
  writeFileSync(file, Buffer.from(content as ArrayBuffer));
  const chunks: Buffer[] = [];
  for await (const chunk of parquetText(file)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** A table with these columns; `schema` in the place of the guessed types. */
function tableOf(columnData: ColumnSource[], schema?: Schema, rowGroupSize = 1_000): ArrayBuffer {
  return parquetWriteBuffer({ columnData, rowGroupSize, ...(schema && { schema }) });
}

const TIME_MS = at("2014-05-01T00:00:00Z");
const prices = (...names: string[]): ColumnSource[] =>
  names.map((name, index) => ({ name, data: [1.38676, 1.38686, 1.38669, 1.38685].slice(index, index + 1), type: "DOUBLE" }));
const OHLC = prices("open", "high", "low", "close");
const ROW = { timeMs: TIME_MS, open: 1.38676, high: 1.38686, low: 1.38669, close: 1.38685 };

test("a table is read by the names of its columns, unknown values stay unknown", async () => {
  const text = await textOf(
    tableOf([
      { name: "ticker", data: ["EURUSD", "EURUSD"], type: "STRING" },
      { name: "time", data: [TIME_MS, TIME_MS + 60_000].map((ms) => new Date(ms)), type: "TIMESTAMP" },
      { name: "open", data: [1.38676, 1.3], type: "DOUBLE" },
      { name: "high", data: [1.38686, 1.3], type: "DOUBLE" },
      { name: "low", data: [1.38669, 1.3], type: "DOUBLE" },
      { name: "close", data: [1.38685, 1.3], type: "DOUBLE" },
      { name: "tick_volume", data: [42n, 1n], type: "INT64" },
      { name: "real_volume", data: [null, 2.5], type: "DOUBLE" },
      { name: "spread", data: [0.00001, null], type: "DOUBLE" },
    ]),
  );
  const file = await readFile("x.parquet", text);
  expect(file).toMatchObject({ format: "plain", kind: "klines", malformed: [], sample: { symbol: "EURUSD" } });
  expect(file.rows).toEqual([
    { ...ROW, tickVolume: 42, spread: 0.00001 },
    { timeMs: TIME_MS + 60_000, open: 1.3, high: 1.3, low: 1.3, close: 1.3, tickVolume: 1, realVolume: 2.5 },
  ]);
});

const NANOS = BigInt(TIME_MS) * 1_000_000n + 999_999n;
const TIMES: [name: string, schema: Partial<Schema[number]>, value: bigint | number, written: string][] = [
  [
    "milliseconds",
    { type: "INT64", logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" } },
    BigInt(TIME_MS),
    "2014-05-01T00:00:00.000Z",
  ],
  [
    "microseconds",
    { type: "INT64", logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" } },
    NANOS / 1000n,
    "2014-05-01T00:00:00.000Z",
  ],
  [
    "nanoseconds",
    { type: "INT64", logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "NANOS" } },
    NANOS,
    "2014-05-01T00:00:00.000Z",
  ],
  [
    "local nanoseconds",
    { type: "INT64", logical_type: { type: "TIMESTAMP", isAdjustedToUTC: false, unit: "NANOS" } },
    NANOS,
    "2014-05-01 00:00:00.000",
  ],
  [
    "microseconds of old writers",
    { type: "INT64", converted_type: "TIMESTAMP_MICROS" },
    NANOS / 1000n,
    "2014-05-01T00:00:00.000Z",
  ],
  ["days", { type: "INT32", converted_type: "DATE" }, TIME_MS / 86_400_000, "2014-05-01"],
  ["Unix seconds", { type: "INT32" }, TIME_MS / 1000, "1398902400"],
];

test.each(TIMES)(
  "times in %s are written with a Z if they are instants, and without if they are local",
  async (_, element, value, written) => {
    const schema: Schema = [
      { name: "root", num_children: 2 },
      { name: "bid", type: "DOUBLE", repetition_type: "OPTIONAL" },
      { name: "time", repetition_type: "REQUIRED", ...element },
    ];
    const table = tableOf(
      [
        { name: "bid", data: [1.5] },
        { name: "time", data: [value] },
      ],
      schema,
    );
    expect(await textOf(table)).toBe(`bid,time\n1.5,${written}\n`);
  },
);

test("an index without a name is the time, and single-precision prices have no noise", async () => {
  const text = await textOf(
    tableOf([
      ...OHLC.map((column) => ({ ...column, type: "FLOAT" as const })),
      { name: "__index_level_0__", data: [new Date(TIME_MS)], type: "TIMESTAMP" },
    ]),
  );
  expect(text.split("\n")[0]).toBe("open,high,low,close,time");
  expect((await readFile("x.parquet", text)).rows).toEqual([ROW]);
});

test("row groups and pages follow each other without loss", async () => {
  const bids = Array.from({ length: 20_001 }, (_, index) => 1 + index / 1e5);
  const time = bids.map((_, index) => new Date(TIME_MS + index * 1000));
  const text = await textOf(
    parquetWriteBuffer({
      columnData: [
        { name: "time", data: time, type: "TIMESTAMP" },
        { name: "bid", data: bids, type: "DOUBLE" },
        { name: "ask", data: bids, type: "DOUBLE" },
      ],
      rowGroupSize: 9_000,
      pageSize: 4_096,
    }),
  );
  const file = await readFile("x.parquet", text);
  expect(file).toMatchObject({ kind: "ticks", malformed: [] });
  expect(file.rows.map(({ bid }) => bid)).toEqual(bids.map((bid) => Number(bid.toFixed(5))));
  expect(file.rows[20_000]).toMatchObject({ timeMs: TIME_MS + 20_000_000 });
});

test("a value with a separator in it stays one value", async () => {
  expect(await textOf(tableOf([{ name: "a,b", data: ['x,"y"\nz'], type: "STRING" }]))).toBe('"a,b"\n"x, y z"\n');
});

test("texts in the place of prices are refused row by row, and a table without a time with its columns", async () => {
  const words = await textOf(
    tableOf([
      { name: "time", data: [new Date(TIME_MS)] },
      ...OHLC.map((column) => ({ ...column, data: ["high"], type: "STRING" as const })),
    ]),
  );
  expect((await readFile("x.parquet", words)).malformed).toEqual([{ line: 2, reason: "open is not a price: high" }]);
  await expect(readFile("x.parquet", await textOf(tableOf(OHLC)))).rejects.toThrow(
    "no column is named as its time: it has open, high, low, close",
  );
});

test("a damaged file and a row group that does not fit into memory are refused with the reason", async () => {
  const whole = Buffer.from(tableOf(OHLC));
  await expect(textOf(whole.subarray(0, whole.length - 9))).rejects.toThrow("not a readable Parquet file");
  await expect(textOf(Buffer.concat([whole.subarray(0, 4), whole.subarray(40)]))).rejects.toThrow("not a readable Parquet file");
  const file = path.join(folder, "large.parquet");
  writeFileSync(file, whole);
  const read = async () => {
    for await (const _ of parquetText(file, undefined, 3));
  };
  await expect(read()).rejects.toThrow(
    "a row group of 1 rows and 4 columns, too large to read at once: write it with row groups",
  );
});
