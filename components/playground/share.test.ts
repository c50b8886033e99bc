import { existsSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { operations as contract, OPERATION_LIST } from "#lib/operations/declarations";
import { checkValues } from "./check";
import type { PlayOperation } from "./model";
import { playOperations } from "./operations";
import { linkTo, readLink, startValues } from "./share";
import { pickedValue, pickerText } from "./time-field";
import { PAST_MAX_COUNT, readPastCalls } from "./use-past-calls";

const operations = playOperations();
const [first] = operations as [PlayOperation];
const find = (id: string) => operations.find((operation) => operation.id === id) ?? first;
const read = (link: string) => readLink(operations, first, Object.fromEntries(new URL(link, "http://x").searchParams));
const KEY = "sw_live_0123456789abcdefghijklmnopqrstuvwxyz";

describe("the operations of the playground", () => {
  test("the playground offers the operations that read and the three streams, with valid values", () => {
    const ids = operations.map(({ id }) => id);
    const left = OPERATION_LIST.filter(({ id }) => !ids.includes(id)).map(({ id }) => id);
    expect(left).toEqual(["file", "createStreamTicket", "ingestTicks", "ingestKlines", "ingestState"]);
    expect(ids.slice(-3)).toEqual(["quoteStream", "klineStream", "snapshotStream"]);
    for (const operation of operations) expect(checkValues(operation.id, startValues(operation)).issues).toEqual({});
  });

  test("each operation leads to its page in the docs", () => {
    for (const { docs } of operations) {
      const file =
        docs === "/docs/streaming" ? "docs/guides/streaming.mdx" : `generated/reference/${docs.replace("/docs/", "")}.md`;
      expect(existsSync(new URL(`../../lib/${file}`, import.meta.url)), docs).toBe(true);
    }
  });

  test("the playground has an input for every parameter of the contract", () => {
    expect(find("klines").fields.map(({ name, kind }) => [name, kind])).toEqual([
      ["ticker", "ticker"],
      ["timeframe", "choice"],
      ["from", "seconds"],
      ["to", "seconds"],
      ["limit", "number"],
      ["price", "choice"],
      ["as_of", "seconds"],
    ]);
    expect(find("klines").fields.find(({ name }) => name === "price")?.choices).toEqual(["bid", "ask", "mid"]);
    expect(find("files").fields.find(({ name }) => name === "type")).toMatchObject({
      kind: "choice",
      choices: ["klines", "ticks"],
    });
    expect(find("marketStatus").fields.map(({ kind }) => kind)).toEqual(["tickers", "instant"]);
    expect(Object.keys(contract.klines.query)).toEqual([...find("klines").fields.map(({ name }) => name), "format"]);
  });
});

describe("the checks of the form", () => {
  test.each([
    ["klines", { ticker: "EUR/USD", timeframe: "H1" }, { ticker: "A ticker is 3 to 20 letters and digits, without separators." }],
    ["klines", { ticker: "EURUSD", timeframe: "h1" }, { timeframe: expect.stringContaining("must be one of `M1`, `M5`") }],
    ["klines", { ticker: "EURUSD", timeframe: "H1", limit: "0" }, { limit: "`limit` must be an integer between 1 and 5000." }],
    ["klines", { ticker: "EURUSD", timeframe: "H1", from: "5", to: "5" }, { from: "`from` must be before `to`." }],
    ["klines", {}, { ticker: "`ticker` is required.", timeframe: "`timeframe` is required." }],
    ["latestQuotes", { tickers: "EURUSD,," }, { tickers: "`tickers` contains an empty item: number 2 of 3." }],
    ["klineStream", { tickers: "EURUSD", timeframe: "" }, { timeframe: "`timeframe` is required." }],
  ])("the form reports the service's own errors: %s with %o", (id, values, issues) => {
    expect(checkValues(id, values as Record<string, string>).issues).toEqual(issues);
  });
});

describe("a share link", () => {
  test("a share link restores the same operation and values, for any values", () => {
    const values = fc.dictionary(
      fc.constantFrom("ticker", "tickers", "timeframe", "from", "to", "limit", "at"),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 50 }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...operations), values, (operation, given) => {
        const own = Object.fromEntries(
          Object.entries(given).filter(([name]) => operation.fields.some((field) => field.name === name)),
        );
        const back = read(linkTo(operation, own));
        expect(back.operation.id).toBe(operation.id);
        const wanted =
          Object.keys(own).length === 0
            ? startValues(operation)
            : { ...Object.fromEntries(operation.fields.map(({ name }) => [name, ""])), ...own };
        expect(back.values).toEqual(wanted);
        expect(back.notices).toEqual([]);
      }),
    );
  });

  test("a share link never contains a key, however it got into the form", () => {
    const link = linkTo(find("klines"), { ticker: KEY, timeframe: "H1", key: KEY });
    expect(link).toBe("/playground?op=klines&timeframe=H1");
    expect(read(`/playground?op=klines&ticker=${KEY}`).values.ticker).toBe("");
  });

  test("an invalid share link reports each ignored part in a sentence, and keeps the rest", () => {
    const rubbish = read("/playground?op=klines&ticker=%3Cscript%3E&bogus=1&limit=none");
    expect(rubbish.values).toMatchObject({ ticker: "<script>", limit: "none" });
    expect(rubbish.notices).toEqual(["Historical klines does not take “bogus”; it was left out."]);
    expect(checkValues("klines", rubbish.values).issues).toMatchObject({
      ticker: expect.any(String),
      limit: "`limit` must be an integer between 1 and 5000.",
    });
    const unknown = read(`/playground?op=${"x".repeat(5_000)}<b>`);
    expect(unknown.operation).toBe(first);
    expect(unknown.notices[0]).toMatch(/^The operation in this link, “x{40}…”, does not exist\. Choose one from the list\.$/);
    expect(read(`/playground?op=klines&ticker=${"A".repeat(5_000)}`).notices).toEqual([
      "The value of “ticker” was left out: it is too long or holds a key.",
    ]);
    const inherited = read("/playground?op=klines&__proto__=1&constructor=2&toString=3");
    expect(inherited.operation.id).toBe("klines");
  });

  test("a share link with any query can be opened", () => {
    const search = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.array(fc.string()), fc.constant(undefined)));
    fc.assert(
      fc.property(search, fc.constantFrom(...operations.map(({ id }) => id), "?"), (query, op) => {
        const { operation, values, notices } = readLink(operations, first, { ...query, op });
        checkValues(operation.id, values);
        expect(notices.join()).not.toMatch(/null|undefined|\[object/);
      }),
    );
  });
});

describe("the time picker", () => {
  test("writes Unix seconds or ISO 8601, and shows what was typed, in UTC or in the zone of the device", () => {
    vi.stubEnv("TZ", "Asia/Kolkata");
    for (const [zone, text] of [
      ["UTC", "2026-01-01T00:00"],
      ["Asia/Kolkata", "2026-01-01T05:30"],
    ] as const) {
      expect(pickedValue("seconds", text, zone)).toBe("1767225600");
      expect(pickerText("seconds", "1767225600", zone)).toBe(text);
      expect(pickedValue("instant", text, zone)).toBe("2026-01-01T00:00:00Z");
      expect(pickerText("instant", "2026-01-01T02:00:00+02:00", zone)).toBe(text);
      expect([
        pickerText("seconds", "soon", zone),
        pickerText("instant", "soon", zone),
        pickedValue("seconds", "", zone),
      ]).toEqual(["", "", ""]);
    }
    vi.unstubAllEnvs();
  });
});

describe("past calls", () => {
  test("past calls are read without invalid ones, and limited in number", () => {
    expect(readPastCalls("rubbish")).toEqual([]);
    expect(readPastCalls([null, 1, {}, { operationId: "klines", at: "now" }])).toEqual([]);
    expect(readPastCalls([{ operationId: "klines", at: 1, values: { ticker: "EURUSD", x: 5 } }])).toEqual([
      { operationId: "klines", at: 1, values: { ticker: "EURUSD" }, status: null },
    ]);
    expect(readPastCalls(Array.from({ length: 100 }, () => ({ operationId: "klines", at: 1 })))).toHaveLength(PAST_MAX_COUNT);
  });
});
