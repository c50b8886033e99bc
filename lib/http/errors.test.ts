import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownSlot } from "#lib/access/principal";
import { Failure } from "#lib/contract/envelope";
import { ERRORS, type ErrorId, httpStatus } from "#lib/contract/errors";
import { INGEST_LINE_MAX_BYTES, INGEST_MAX_LINES, INGEST_TICKS_BURST_COUNT } from "#lib/contract/limits";
import type { Parameters } from "#lib/contract/operation";
import { SCOPES } from "#lib/contract/primitives";
import { type OperationId, operations } from "#lib/operations/declarations";
import { samplePath, sampleQuery } from "#lib/testing/operations";
import { lead } from "#server/testing/market";
import { type Answer, type Ask, failed, TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { ENDLESS_PLAN } from "#server/testing/stream-keys";

const IDS = Object.keys(operations) as OperationId[];
let t: TestRuntime;
/** Keys for the operations that the key of all tests may not call. */
const keys: Partial<Record<OperationId, string>> = {};

beforeAll(async () => {
  t = await testRuntime();
  await t.db.prisma.plan.create({ data: { ...ENDLESS_PLAN, name: "used-up", monthUnits: 0, monthHard: true } });
  await t.db.prisma.plan.create({ data: { ...ENDLESS_PLAN, name: "short", historyDays: 1, streams: false } });
  const issue = async (id: OperationId) => (await t.issueKey({ scopes: scopesOf(id) })).text;
  for (const id of IDS) if (!["market:read", "any"].includes(operations[id].scope)) keys[id] = await issue(id);
  for (const ticker of ["EURUSD", "XAUUSD"]) t.markets.live.quote(ticker, 1.08543, 1.08551, TEST_START_MS);
});
afterAll(() => t.close());

/** The least scopes with which an operation can be called. */
const scopesOf = (id: OperationId) =>
  SCOPES.filter((scope) => scope === operations[id].scope || (operations[id].scope === "any" && scope !== "billing:read"));

type Provocation = (id: OperationId) => Promise<Answer>;

/** Calls an operation with another query, method, key … than its sample. */
function ask(id: OperationId, query = sampleQuery(id), more: Ask = {}): Promise<Answer> {
  const { method } = operations[id];
  const body = method === "POST" && more.method === undefined ? { body: '{"ticker":"EURUSD"}\n' } : {};
  const key = keys[id];
  return t.ask(samplePath(id) + query, { method, ...(key !== undefined && { key }), ...body, ...more });
}

/** The sample query with one parameter set. */
function withParameter(id: OperationId, name: string, value: string): string {
  const query = new URLSearchParams(sampleQuery(id));
  query.set(name, value);
  return `?${query}`;
}

/** The parameter that names instruments. */
const tickerName = (id: OperationId) => ["tickers", "ticker", "to"].find((name) => name in operations[id].query) ?? "ticker";

/** The sample query with the examples of both ends of the range exchanged. */
function turnedAround(id: OperationId): string {
  const { from, to } = operations[id].query as Parameters;
  const query = new URLSearchParams(sampleQuery(id));
  query.set("from", to?.example ?? "");
  query.set("to", from?.example ?? "");
  return `?${query}`;
}

/** How each error is caused; a declared error that is missing here fails. */
const PROVOCATIONS: Partial<Record<ErrorId, Provocation>> = {
  invalid_parameter: (id) => ask(id, `${sampleQuery(id)}${sampleQuery(id) === "" ? "?" : "&"}a=%zz`),
  missing_parameter: (id) => ask(id, ""),
  invalid_ticker: (id) => ask(id, withParameter(id, tickerName(id), "EUR/USD")),
  unsupported_timeframe: (id) => ask(id, withParameter(id, "timeframe", "m1")),
  invalid_range: (id) => ask(id, turnedAround(id)),
  limit_out_of_range: (id) => ask(id, withParameter(id, "limit", "10001")),
  too_many_tickers: (id) =>
    ask(id, withParameter(id, "tickers", Array.from({ length: 101 }, (_, index) => `AAA${index}`).join(","))),
  unknown_ticker: (id) => ask(id, withParameter(id, tickerName(id), "AAABBB")),
  unknown_file: (id) => t.ask(operations[id].path.replace("{id}", "klines-EURUSD-2020-01")),
  range_not_satisfiable: (id) => ask(id, undefined, { headers: { range: "bytes=900000-" } }),
  unauthorized: (id) => ask(id, undefined, { key: null }),
  insufficient_scope: async (id) => {
    const other = operations[id].scope === "market:stream" ? "market:read" : "market:stream";
    return ask(id, undefined, { key: (await t.issueKey({ scopes: [other] })).text });
  },
  origin_not_allowed: (id) => ask(id, undefined, { headers: { origin: "https://a.example.com" } }),
  address_not_allowed: async (id) => {
    const { text: key } = await t.issueKey({ scopes: scopesOf(id), addresses: ["192.0.2.0/24"] });
    return ask(id, undefined, { key });
  },
  key_not_yet_valid: async (id) => {
    const notBefore = new Date(t.clock.now() + 60_000);
    return ask(id, undefined, { key: (await t.issueKey({ scopes: scopesOf(id), notBefore })).text });
  },
  account_suspended: async (id) => {
    return ask(id, undefined, { key: (await t.issueKey({ scopes: scopesOf(id), suspended: true })).text });
  },
  live_access_required: async (id) => {
    return ask(id, undefined, { key: (await t.issueKey({ scopes: scopesOf(id), liveAccess: false })).text });
  },
  method_not_allowed: (id) => ask(id, undefined, { method: "DELETE" }),
  uri_too_long: (id) => ask(id, `?x=${"a".repeat(8_192)}`),
  payload_too_large: (id) => ask(id, "", { body: "{}\n".repeat(INGEST_MAX_LINES + 1) }),
  rate_limited: async (id) => {
    const key = (await t.issueKey({ plan: "demo", scopes: scopesOf(id) })).text;
    const principal = await t.access.verify(key, "203.0.113.7");
    await t.access.takeTicks(principal, INGEST_TICKS_BURST_COUNT, "203.0.113.7");
    for (let index = 0; index < 20; index += 1) await ask(id, undefined, { key });
    return ask(id, undefined, { key });
  },
  quota_exceeded: async (id) => ask(id, undefined, { key: (await t.issueKey({ scopes: scopesOf(id), plan: "used-up" })).text }),
  not_in_plan: async (id) => {
    const { text: key } = await t.issueKey({ scopes: scopesOf(id), plan: "short" });
    if (id === "file") return t.ask("/api/v1/market/files/klines-EURUSD-2020-01", { key });
    return ask(
      id,
      "from" in operations[id].query ? withParameter(id, "from", id === "ticks" ? "1577836800000" : "1577836800") : undefined,
      { key },
    );
  },
  too_many_connections: async (id) => {
    const { text: key } = await t.issueKey({ scopes: scopesOf(id), streamConnections: 1 });
    t.connections.open(ownSlot(await t.access.verify(key, "203.0.113.7")), 1);
    return ask(id, undefined, { key });
  },
  internal_error: (id) => breaking(new Error("broken"), () => ask(id)),
  service_unavailable: (id) => breaking(Object.assign(new Error("gone"), { code: "57P01" }), () => ask(id)),
  market_data_not_ready: (id) => ask(id, "tickers" in operations[id].query ? "?tickers=USDJPY,EURJPY" : "?from=USD&to=JPY"),
};

/** Makes every read of the live market fail during `work`. */
async function breaking(error: Error, work: () => Promise<Answer>): Promise<Answer> {
  const { live } = t.markets;
  const { find, list } = live.catalogue;
  const fail = () => {
    throw error;
  };
  Object.assign(live.catalogue, { find: fail, list: fail });
  const { mintTicket, takeFree } = t.access;
  Object.assign(t.access, { mintTicket: fail, takeFree: fail });
  const unlead = lead(live, { push: fail, mend: fail });
  try {
    return await work();
  } finally {
    Object.assign(live.catalogue, { find, list });
    Object.assign(t.access, { mintTicket, takeFree });
    unlead();
  }
}

const pushing = async (work: () => Promise<Answer>) => {
  const unlead = lead(t.markets.live);
  try {
    return await work();
  } finally {
    unlead();
  }
};

const declared = IDS.flatMap((id) => operations[id].errors.map((error) => [id, error] as const));

describe("declared errors", () => {
  test.each(declared)("operation %s answers its declared error as declared: %s", async (id, error) => {
    const provoke = PROVOCATIONS[error];
    if (provoke === undefined) throw new Error(`no test causes ${error}`);
    const answer = error === "payload_too_large" ? await pushing(() => provoke(id)) : await provoke(id);
    expect(answer.body).toMatchObject({ code: ERRORS[error].code, message: error });
    expect(answer.status).toBe(httpStatus(error));
    expect(Failure.parse(answer.body)).toEqual(answer.body);
    expect(answer.body.data).toMatchObject({
      request_id: answer.headers.get("x-request-id"),
      docs_url: `/docs/errors/${error.replaceAll("_", "-")}`,
    });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("retry-after")).toBe(
      answer.body.data.retry_after === undefined ? null : String(answer.body.data.retry_after),
    );
    if (httpStatus(error) === 429 || httpStatus(error) === 503) expect(answer.body.data.retry_after).toBeGreaterThan(0);
  });
});

describe("the details of an error", () => {
  const quotes = (tickers: string) => t.ask(`/api/v1/market/quotes/latest?tickers=${tickers}`);
  const klines = (query: string) => t.ask(`/api/v1/market/klines?${query}`);

  test.each(["EUR/USD", "EUR_USD", "EUR-USD", "eur%20usd", "C:EURUSD", "c%3Aeurusd", "EUR%2FUSD"])(
    "an error suggests EURUSD for %s",
    async (text) => {
      expect(await quotes(text)).toMatchObject(failed("invalid_ticker", { parameter: "tickers", suggestion: "EURUSD" }));
      expect(await klines(`ticker=${text}&timeframe=H1`)).toMatchObject(
        failed("invalid_ticker", { parameter: "ticker", suggestion: "EURUSD" }),
      );
    },
  );

  test("an error suggests only tickers that the caller may read", async () => {
    expect((await quotes("AAA/BBB")).body.data).not.toHaveProperty("suggestion");
    const { text: key } = await t.issueKey({ permissions: { kind: "asset_classes", values: ["metals"] } });
    const answer = await t.ask("/api/v1/market/quotes/latest?tickers=EUR/USD", { key });
    expect(answer.body.data).toMatchObject({ tickers: ["EUR/USD"] });
    expect(answer.body.data).not.toHaveProperty("suggestion");
  });

  test("an unknown ticker with a typing mistake is answered with the one that is probably meant, for the first of a list", async () => {
    expect(await quotes("eurusdd")).toMatchObject(
      failed("unknown_ticker", { parameter: "tickers", tickers: ["EURUSDD"], suggestion: "EURUSD" }),
    );
    expect(await klines("ticker=GBPUDS&timeframe=H1")).toMatchObject(failed("unknown_ticker", { suggestion: "GBPUSD" }));
    expect((await quotes("AAABBB,EURUSDD")).body.data).not.toHaveProperty("suggestion");
    const { text: key } = await t.issueKey({ permissions: { kind: "asset_classes", values: ["metals"] } });
    const answer = await t.ask("/api/v1/market/quotes/latest?tickers=EURUSDD", { key });
    expect(answer).toMatchObject(failed("unknown_ticker"));
    expect(answer.body.data).not.toHaveProperty("suggestion");
  });

  test("an error lists all unknown tickers at once, whether unknown or not permitted", async () => {
    const { text: key } = await t.issueKey({ permissions: { kind: "tickers", values: ["EURUSD"] } });
    const answer = await t.ask("/api/v1/market/quotes/latest?tickers=EURUSD,XAUUSD,NOSUCH,TESTFX", { key });
    expect(answer).toMatchObject(failed("unknown_ticker", { parameter: "tickers", tickers: ["XAUUSD", "NOSUCH", "TESTFX"] }));
    expect(await t.ask("/api/v1/market/klines?ticker=XAUUSD&timeframe=H1", { key })).toMatchObject(
      failed("unknown_ticker", { parameter: "ticker" }),
    );
  });

  test.each([
    ["from=1767225600000", "invalid_parameter", { parameter: "from", detail: expect.stringMatching(/milliseconds/) }],
    ["from=abc", "invalid_parameter", { parameter: "from" }],
    ["from=1.5", "invalid_parameter", { parameter: "from" }],
    ["to=-1", "invalid_parameter", { parameter: "to" }],
    ["limit=", "invalid_parameter", { parameter: "limit" }],
    ["limit=0", "limit_out_of_range", { parameter: "limit", max: 5000 }],
    ["limit=1&limit=1", "invalid_parameter", { parameter: "limit" }],
    ["from=5&to=5", "invalid_range", { parameter: "from" }],
  ] as const)("klines with %s are refused with %s", async (query, error, data) => {
    expect(await klines(`ticker=EURUSD&timeframe=H1&${query}`)).toMatchObject(failed(error, data));
  });

  test.each([
    ["tickers=", "missing_parameter"],
    ["tickers=EURUSD,,XAUUSD", "missing_parameter"],
    ["tickers=EURUSD,", "missing_parameter"],
    ["tickers=EURUSD&tickers=", "missing_parameter"],
    ["tickers=EU", "invalid_ticker"],
    ["tickers=%F0%9F%92%B6", "invalid_ticker"],
  ] as const)("quotes with %s are refused with %s", async (query, error) => {
    expect(await t.ask(`/api/v1/market/quotes/latest?${query}`)).toMatchObject(failed(error, { parameter: "tickers" }));
  });

  test.each(["yesterday", "2026-01-01", "2026-01-01T00:00:00", "1767225600", ""])(
    "a status with at=%s is refused with invalid_parameter",
    async (at) => {
      expect(await t.ask(`/api/v1/market/status?tickers=EURUSD&at=${at}`)).toMatchObject(
        failed("invalid_parameter", { parameter: "at" }),
      );
    },
  );

  test.each([
    "status?tickers=EURUSD&at=1969-12-31T23:59:59Z",
    "klines?ticker=EURUSD&timeframe=H1&from=1900-01-01T00:00:00Z",
    "klines?ticker=EURUSD&timeframe=H1&from=-1",
    "klines?ticker=EURUSD&timeframe=H1&to=9999-12-31T00:00:00Z",
    "ticks?ticker=EURUSD&from=0001-01-01T00:00:00Z",
  ])("%s is refused as out of range, not as malformed", async (call) => {
    const { body } = await t.ask(`/api/v1/market/${call}`);
    expect(body.data.detail).toMatch(
      /^`(at|from|to)` is out of range: times (before 1970|after the year 5137) are not supported\.$/,
    );
  });

  test("a line of a batch that is too long is rejected by itself", async () => {
    const line = `{"ticker":"EURUSD","x":"${"y".repeat(INGEST_LINE_MAX_BYTES)}"}\n`;
    const answer = await pushing(() => ask("ingestTicks", "", { body: line }));
    expect(answer.body.data).toMatchObject({ rejected: 1, reasons: { line_too_long: 1 } });
  });
});
