import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { OPERATION_LIST, operations } from "#lib/operations/declarations";
import { csvCell, csvOf } from "./csv";

const format = operations.instruments.query;

/** The rows of a text, read by RFC 4180. */
function read(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, bare = "", end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? bare);
    if (end === "\r\n") rows.push([]);
    if (end === "") break;
  }
  expect(rows.pop()).toEqual([""]);
  return rows;
}

function tableOf(operation: Parameters<typeof csvOf>[0]) {
  const table = csvOf(operation);
  if (table === undefined) throw new Error("not offered as CSV");
  return table;
}

/** The items of an operation's example as objects of texts. */
function exampleRows(id: "klines" | "instruments" | "latestQuotes" | "latestSnapshots" | "conversion" | "marketStatus") {
  const operation = operations[id];
  const [names = [], ...rows] = read(tableOf(operation).text(operation.example.items));
  return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]])));
}

describe("the columns of CSV", () => {
  test("are offered for the operations that read the market", () => {
    const offered = OPERATION_LIST.filter((operation) => csvOf(operation) !== undefined).map(({ id }) => id);
    const lists = ["klines", "ticks", "instruments", "latestQuotes", "latestSnapshots", "conversion", "marketStatus"];
    expect(offered).toEqual(expect.arrayContaining(lists));
    expect(offered).not.toEqual(expect.arrayContaining(["file"]));
  });

  test("are the fields of the contract in their order, with an ISO 8601 time beside each Unix time", () => {
    expect(tableOf(operations.klines).columns).toEqual([
      "type",
      "ticker",
      "timeframe",
      "time",
      "time_utc",
      "open",
      "high",
      "low",
      "close",
      "tick_volume",
      "real_volume",
      "spread",
    ]);
    expect(exampleRows("klines")).toMatchObject([{ time: "1767225600", time_utc: "2026-01-01T00:00:00Z", real_volume: "" }]);
    expect(exampleRows("latestQuotes")).toMatchObject([
      { time_msc: "1767225600123", time_utc: "2026-01-01T00:00:00.123Z", bid: "1.08543", spread: "0.00008" },
    ]);
    expect(exampleRows("marketStatus")).toMatchObject([{ updated_at: "2026-01-03T12:00:00.000Z" }]);
  });

  test("join a list of texts with blanks, and number the fields of a list of objects", () => {
    expect(exampleRows("instruments")).toMatchObject([{ name: "Euro / US Dollar", streams: "quote kline snapshot" }]);
    expect(exampleRows("conversion")).toMatchObject([
      {
        market_data_state: "live",
        legs_1_ticker: "USDJPY",
        legs_1_inverted: "false",
        legs_1_time_utc: "2026-01-01T00:00:00.123Z",
        legs_2_ticker: "",
        legs_2_time_utc: "",
      },
    ]);
  });

  test("need a bound for a list of objects", () => {
    const items = z.array(z.object({ parts: z.array(z.object({ a: z.string() })) }));
    expect(() => csvOf({ data: z.object({ items }), query: format })).toThrow(/parts has no bound/);
  });

  test("leave a table without items with its header", () => {
    expect(tableOf(operations.latestQuotes).text([])).toBe("type,ticker,time_msc,time_utc,bid,ask,mid,spread\r\n");
  });
});

describe("a cell", () => {
  const table = tableOf({
    data: z.object({ items: z.array(z.object({ a: z.string().nullable(), b: z.number() })) }),
    query: format,
  });

  test("survives any text, and never begins like a formula", () => {
    const anyText = fc.string({ unit: fc.constantFrom("=", "+", "-", "@", "\t", "\r", "\n", '"', ",", " ", "a", "€") });
    fc.assert(
      fc.property(anyText, fc.double({ noNaN: true }), (a, b) => {
        const [head, row = [], ...more] = read(table.text([{ a, b }]));
        expect([head, more]).toEqual([["a", "b"], []]);
        const [text = "", number] = row;
        expect(text).toBe(/^[=+\-@\t\r]/.test(a) ? `'${a}` : a);
        expect(Number(number)).toBe(b + 0);
      }),
    );
  });

  test("keeps a negative number a number", () => {
    expect(table.text([{ a: null, b: -0.5 }])).toBe("a,b\r\n,-0.5\r\n");
    expect(csvCell("-0.5")).toBe("'-0.5");
  });
});
