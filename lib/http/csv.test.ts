import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOUR_S } from "#lib/units";
import { testKlines } from "#server/testing/market";
import { type Ask, failed, TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";

const START_S = TEST_START_MS / 1_000 - HOUR_S;
const QUOTES = "/api/v1/market/quotes/latest?tickers=EURUSD";
const CLOSED = `/api/v1/market/klines?ticker=EURUSD&timeframe=M1&from=${START_S}&to=${START_S + 600}`;
const LONG_COUNT = 450;
const LONG_START_S = TEST_START_MS / 1_000 - 12 * HOUR_S;
const LONG = `/api/v1/market/klines?ticker=GBPUSD&timeframe=M1&from=${LONG_START_S}&to=${LONG_START_S + LONG_COUNT * 60}`;
const CSV_TYPE = "text/csv; charset=utf-8; header=present";
const JSON_TYPE = "application/json; charset=utf-8";

let t: TestRuntime;

beforeAll(async () => {
  t = await testRuntime();
  t.markets.live.quote("EURUSD", 1.08543, 1.08551, TEST_START_MS);
  await t.markets.live.store.writeBatch(testKlines("EURUSD", "M1", START_S, 10, 60), []);
  await t.markets.live.store.writeBatch(testKlines("GBPUSD", "M1", LONG_START_S, LONG_COUNT, 60), []);
});
afterAll(() => t.close());

const typeOf = async (path: string, accept?: string) => {
  const answer = await t.ask(path, accept === undefined ? {} : { headers: { accept } });
  expect(answer.headers.get("vary")).toMatch(/^Origin, Accept/);
  return answer.headers.get("content-type");
};
const linesOf = ({ text }: { text: string }) => text.trimEnd().split("\r\n");

describe("the format of a response", () => {
  test.each([
    ["text/csv", CSV_TYPE],
    ["TEXT/CSV", CSV_TYPE],
    ["text/*", CSV_TYPE],
    ["text/csv, application/json;q=0.9, */*;q=0.1", CSV_TYPE],
    ["application/json;q=0.5, text/csv;q=0.6", CSV_TYPE],
    ["application/json, text/csv", JSON_TYPE],
    ["text/csv;q=0.5, application/json", JSON_TYPE],
    ["text/csv;q=0", JSON_TYPE],
    ["*/*", JSON_TYPE],
    ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", JSON_TYPE],
    ["text/html", JSON_TYPE],
    ["nonsense;;q=x, text/csvx", JSON_TYPE],
    ["", JSON_TYPE],
    [`text/csv, ${"a/b, ".repeat(300)}`, JSON_TYPE],
  ])("with Accept: %s", async (accept, type) => {
    expect(await typeOf(QUOTES, accept)).toBe(type);
  });

  test("without Accept is JSON", async () => {
    expect(await typeOf(QUOTES)).toBe(JSON_TYPE);
  });

  test("follows `format` before Accept", async () => {
    expect(await typeOf(`${QUOTES}&format=csv`, "application/json")).toBe(CSV_TYPE);
    expect(await typeOf(`${QUOTES}&format=json`, "text/csv")).toBe(JSON_TYPE);
  });

  test("refuses another `format`, in JSON", async () => {
    const answer = await t.ask(`${QUOTES}&format=xml`, { headers: { accept: "text/csv" } });
    expect(answer).toMatchObject(failed("invalid_parameter", { parameter: "format", allowed: ["json", "csv"] }));
    expect(answer.headers.get("content-type")).toBe(JSON_TYPE);
  });

  test("is JSON where no CSV is offered, whatever is asked", async () => {
    const answer = await t.ask("/api/v1/key?format=csv", { headers: { accept: "text/csv" } });
    expect(answer).toMatchObject({ status: 200, body: { code: 0 } });
    expect(answer.headers.get("x-ignored-params")).toBe("format");
    expect(answer.headers.get("vary")).toBe("Origin");
  });
});

describe("a CSV response", () => {
  test.each([
    "quotes/latest?tickers=EURUSD",
    "snapshots/latest?tickers=EURUSD",
    "status?tickers=EURUSD",
    "instruments?",
    "conversion?from=USD&to=EUR",
    `klines?ticker=EURUSD&timeframe=M1&from=${START_S}`,
  ])("of %s has a row for each item of the JSON", async (path) => {
    const { items } = (await t.ask(`/api/v1/market/${path}`)).body.data;
    const answer = await t.ask(`/api/v1/market/${path}&format=csv`);
    const [head = "", ...rows] = linesOf(answer);
    expect(rows).toHaveLength(items.length);
    expect(head.split(",")).toEqual(expect.arrayContaining(Object.keys(items[0]).filter((name) => name !== "legs")));
  });

  test("keeps every error an envelope in JSON", async () => {
    const calls: [string, Ask][] = [
      ["/api/v1/market/quotes/latest?tickers=AAABBB&format=csv", {}],
      ["/api/v1/market/quotes/latest?tickers=USDZAR&format=csv", {}],
      [`${QUOTES}&format=csv`, { key: null }],
      [`${QUOTES}&format=csv`, { method: "DELETE" }],
    ];
    for (const [path, how] of calls) {
      const answer = await t.ask(path, { ...how, headers: { accept: "text/csv" } });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.headers.get("content-type")).toBe(JSON_TYPE);
      expect(answer.body.data.request_id).toBe(answer.headers.get("x-request-id"));
    }
  });

  test("costs what the JSON costs", async () => {
    const { text: key } = await t.issueKey();
    const left = async (path: string) => Number((await t.ask(path, { key })).headers.get("x-ratelimit-remaining"));
    const first = await left(`${CLOSED}&limit=5000`);
    expect(first - (await left(`${CLOSED}&limit=5000&format=csv`))).toBe(5);
  });

  test("has a validator of its own, which 304 and HEAD know", async () => {
    const json = await t.ask(CLOSED);
    const csv = await t.ask(`${CLOSED}&format=csv`);
    const etag = csv.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]+\.csv1"$/);
    expect(etag).not.toBe(json.headers.get("etag"));
    expect(csv.headers.get("vary")).toBe("Origin, Accept, Authorization");
    const headers = { accept: "text/csv", "if-none-match": etag };
    expect(await t.ask(CLOSED, { headers })).toMatchObject({ status: 304, text: "" });
    expect(await t.ask(CLOSED, { headers: { ...headers, accept: "application/json" } })).toMatchObject({ status: 200 });
    const other = { accept: "text/csv", "if-none-match": json.headers.get("etag") ?? "" };
    expect(await t.ask(CLOSED, { headers: other })).toMatchObject({ status: 200 });
    const head = await t.ask(`${CLOSED}&format=csv`, { method: "HEAD" });
    expect(head.text).toBe("");
    expect(Object.fromEntries(["content-type", "etag", "content-length"].map((name) => [name, head.headers.get(name)]))).toEqual({
      "content-type": CSV_TYPE,
      etag,
      "content-length": String(Buffer.byteLength(csv.text)),
    });
  });

  test("of many rows, which is made in parts, has every row once, and HEAD makes none of them", async () => {
    const { items } = (await t.ask(`${LONG}&limit=5000`)).body.data;
    const answer = await t.ask(`${LONG}&limit=5000&format=csv`);
    const [head = "", ...rows] = linesOf(answer);
    const at = head.split(",").indexOf("time");
    expect(rows.map((row) => Number(row.split(",")[at]))).toEqual(items.map(({ time }: { time: number }) => time));
    expect(rows).toHaveLength(LONG_COUNT);
    const bare = await t.ask(`${LONG}&limit=5000&format=csv`, { method: "HEAD" });
    expect(bare).toMatchObject({ status: 200, text: "" });
    expect(bare.headers.get("content-length")).toBeNull();
    for (const name of ["content-type", "etag", "cache-control"]) expect(bare.headers.get(name)).toBe(answer.headers.get(name));
  });

  test("leads to every page by its link, and the last page has none", async () => {
    const rows: string[] = [];
    let path: string | undefined = `${CLOSED}&limit=4&format=csv`;
    for (let page = 1; path !== undefined; page += 1) {
      const answer = await t.ask(path);
      rows.push(...linesOf(answer).slice(1));
      const link: string | null = answer.headers.get("link");
      expect(link === null).toBe(page === 3);
      path = /^<(\/[^<> ]+)>; rel="next"$/.exec(link ?? "")?.[1];
    }
    const whole = await t.ask(`${CLOSED}&format=csv`);
    expect(rows).toEqual(linesOf(whole).slice(1));
    expect(rows).toHaveLength(10);
  });

  test("puts nothing into its link that ends the address", async () => {
    const answer = await t.ask(`${CLOSED}&limit=1&format=csv&x=%3E;%0d%0aa:%20b"<`);
    expect(answer.headers.get("link")).toMatch(/^<[^<>"\s]+>; rel="next"$/);
  });
});
