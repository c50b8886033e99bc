import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CSV_MEDIA, csvOf } from "#lib/contract/csv";
import { Failure } from "#lib/contract/envelope";
import { ERRORS } from "#lib/contract/errors";
import { type OperationId, operations } from "#lib/operations/declarations";
import { HEAD_OPERATIONS, samplePath } from "#lib/testing/operations";
import { testKlines } from "#server/testing/market";
import { type Answer, freshAddress, TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";

const RUNS = 400;
let t: TestRuntime;

beforeAll(async () => {
  t = await testRuntime();
  for (const ticker of ["EURUSD", "XAUUSD"]) t.markets.live.quote(ticker, 1.08543, 1.08551, TEST_START_MS);
  await t.markets.live.store.writeBatch(testKlines("EURUSD", "H1", TEST_START_MS / 1000 - 360_000, 100, 3_600), []);
});
afterAll(() => t.close());

const RUBBISH = [
  "%",
  "%zz",
  "%c3%28",
  "%00",
  "%ff",
  "%ed%a0%80",
  "+",
  "&",
  "=",
  "' OR 1=1 --",
  "'; DROP TABLE kline; --",
  "{{7*7}}",
  "../../etc/passwd",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "[object Object]",
  "null",
  "undefined",
  "NaN",
  "Infinity",
  "-0",
  "1e3",
  "0x10",
  "9".repeat(40),
  "-1",
  "EURUSD",
  "EUR/USD",
  "EURUSD,".repeat(300),
  "A".repeat(5_000),
];

/** A value of a parameter: its own example, garbage, or any text, encoded or not. */
const value = (example: string) =>
  fc.oneof(
    fc.constant(encodeURIComponent(example)),
    fc.constantFrom(...RUBBISH),
    fc.constantFrom(...RUBBISH).map(encodeURIComponent),
    fc.string({ unit: "grapheme", maxLength: 60 }).map((text) => encodeURIComponent(text)),
    fc.string({ unit: "binary-ascii", maxLength: 60 }),
    fc.integer().map(String),
  );

/** A query based on the contract: each parameter absent, once or repeated, among unknown and prototype-like ones. */
function queryOf(id: OperationId) {
  const known = Object.entries(operations[id].query).map(([name, { example }]) =>
    fc.array(value(example), { maxLength: 2 }).map((values) => values.map((text) => `${name}=${text}`)),
  );
  const names = fc.oneof(
    fc.constantFrom("__proto__", "constructor", "tickers[]", "limit[$gt]", "a"),
    fc.string({ maxLength: 10 }),
  );
  const unknown = fc.array(
    fc.tuple(names, value("x")).map(([name, text]) => `${name}=${text}`),
    { maxLength: 3 },
  );
  return fc
    .tuple(fc.tuple(...known), unknown)
    .map(([lists, others]) => [...lists.flat(), ...others])
    .chain((pairs) => fc.shuffledSubarray(pairs, { minLength: pairs.length }))
    .map((pairs) => `?${pairs.join("&").replaceAll("#", "%23")}`);
}

function check({ status, body, text, headers }: Answer, id: OperationId): void {
  if (status === 200 && id === "file") {
    expect([operations.file.file?.mediaType, `${CSV_MEDIA}; charset=utf-8; header=present`]).toContain(
      headers.get("content-type"),
    );
    return;
  }
  if (status === 200 && headers.get("content-type")?.startsWith(CSV_MEDIA)) {
    expect(text.split("\r\n", 1)).toEqual([csvOf(operations[id])?.columns.join(",")]);
    return;
  }
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(headers.get("x-request-id")).toBeTruthy();
  if (status === 200) {
    expect(body).toMatchObject({ code: 0, message: "success" });
    operations[id].data.parse(body.data);
    return;
  }
  const failure = Failure.parse(body);
  expect(status).toBe(Math.floor(failure.code / 100));
  expect(ERRORS[failure.message].code).toBe(failure.code);
  // A missing price is the only acceptable error that the request did not cause.
  expect(status === 503 ? failure.message : status, text).toSatisfy((seen) => seen === "market_data_not_ready" || seen < 500);
  expect(operations[id].errors).toContain(failure.message);
}

describe("any request", () => {
  test.each(HEAD_OPERATIONS)("any query to %s is answered with an envelope, or as CSV, and no internal error", async (id) => {
    await fc.assert(
      fc.asyncProperty(queryOf(id), async (query) => check(await t.ask(samplePath(id) + query), id)),
      { numRuns: RUNS },
    );
  });
});

test("any request headers are answered with an envelope and no internal error", async () => {
  const header = fc.string({ unit: fc.integer({ min: 32, max: 255 }).map((code) => String.fromCharCode(code)), maxLength: 100 });
  await fc.assert(
    fc.asyncProperty(header, header, header, header, async (authorization, origin, id, ifNoneMatch) => {
      const headers = { authorization, origin, "x-request-id": id, "if-none-match": ifNoneMatch };
      const answer = await t.ask("/api/v1/market/instruments", { key: null, headers, address: freshAddress() });
      expect(answer.status).toBe(401);
      expect(Failure.parse(answer.body).message).toBe("unauthorized");
    }),
    { numRuns: RUNS },
  );
});

test("any path under /api/v1 is answered with an envelope and no internal error", async () => {
  await fc.assert(
    fc.asyncProperty(fc.webPath(), fc.constantFrom("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"), async (path, method) => {
      const answer = await t.ask(`/api/v1${path}`, { method, key: null });
      expect(answer.status).toSatisfy((status: number) => status === 404 || status === 405 || status === 401);
      if (method !== "HEAD") Failure.parse(answer.body);
    }),
    { numRuns: RUNS },
  );
});
