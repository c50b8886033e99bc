import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { agentTime } from "#lib/contract/agent-times";
import type { KlineTable } from "#lib/contract/kline-table";
import { exampleParameters } from "#lib/contract/operation";
import { type OperationId, operations } from "#lib/operations/declarations";
import { HOUR_S } from "#lib/units";
import { revokeKey } from "#server/store/access/keys";
import { testKlines } from "#server/testing/market";
import { DEMO_KEY, freshAddress, TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { createMcp } from "./endpoint";
import { resultOf, TOOLS } from "./tools";

const BODY_MAX_BYTES = 65_536;
/** Of all tools together: 3,000 tokens, which each agent pays for at least once. */
const OUTPUT_SCHEMAS_MAX_CHARACTERS = 7_500;
const START_S = TEST_START_MS / 1_000 - HOUR_S;
/** Calls in the form of agents, and as REST has them. Other tools are called with their examples. */
const CALLS: Readonly<Partial<Record<OperationId, readonly [args: Record<string, unknown>, query: string]>>> = {
  latestQuotes: [{ tickers: ["eurusd", "XAUUSD"] }, "tickers=EURUSD,XAUUSD"],
  latestSnapshots: [{ tickers: "EURUSD" }, "tickers=EURUSD"],
  conversion: [{ from: "usd", to: ["EUR", "USD"], amount: 0.5 }, "from=USD&to=EUR,USD&amount=0.5"],
  marketStatus: [{ tickers: ["EURUSD"], at: "2026-12-25T12:00:00Z" }, "tickers=EURUSD&at=2026-12-25T12:00:00Z"],
  klines: [
    { ticker: "EURUSD", timeframe: "M1", from: START_S, to: START_S + 600, limit: 5 },
    `ticker=EURUSD&timeframe=M1&from=${START_S}&to=${START_S + 600}&limit=5`,
  ],
};

let t: TestRuntime;
let server: Server;
let url: URL;
let key: string;
let address = "203.0.113.7";

beforeAll(async () => {
  t = await testRuntime();
  const mcp = createMcp();
  const listener = getRequestListener((request) => mcp(request, { address }));
  server = createServer((request, response) => void listener(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  await t.markets.live.store.writeBatch(testKlines("EURUSD", "M1", START_S, 10, 60), []);
  key = (await t.issueKey()).text;
});
beforeEach(() => {
  t.clock.set(TEST_START_MS);
  for (const market of [t.markets.live, t.markets.sandbox]) {
    market.quote("EURUSD", 1.08543, 1.08551, TEST_START_MS);
    market.quote("XAUUSD", 2_650.12, 2_650.4, TEST_START_MS);
  }
});
afterAll(async () => {
  server.close();
  await t.close();
});

/** The revision that messages name themselves, and the last one that begins with `initialize`. */
const REVISIONS = ["2026-07-28", "2025-11-25"] as const;
type Revision = (typeof REVISIONS)[number];

/** The SDK's own client, connected. @throws its error when the handshake is refused */
async function connect(bearer: string | null, revision: Revision = "2026-07-28"): Promise<Client> {
  const mode = revision === "2026-07-28" ? { pin: revision } : "legacy";
  const client = new Client({ name: "an agent", version: "1" }, { versionNegotiation: { mode } });
  const requestInit = bearer === null ? {} : { headers: { authorization: `Bearer ${bearer}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return client;
}

/** The text of a result. */
const textOf = ({ content }: { content?: unknown }) => (content as { text: string }[])[0]?.text ?? "";

interface Sent {
  readonly method?: string;
  readonly bearer?: string | null;
  readonly headers?: Record<string, string>;
  /** The answer is not JSON. */
  readonly raw?: boolean;
}

/** Sends one request as given, without the client. */
async function send(body: string | undefined, { method = "POST", bearer = key, headers = {}, raw = false }: Sent = {}) {
  const own = {
    ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
    ...(body !== undefined && { "content-type": "application/json" }),
    accept: "application/json, text/event-stream",
  };
  const response = await fetch(url, { method, headers: { ...own, ...headers }, ...(body !== undefined && { body }) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text === "" || raw ? undefined : JSON.parse(text) };
}

const message = (method: string, params: object = {}, id: number | undefined = 1) =>
  JSON.stringify({ jsonrpc: "2.0", ...(id !== undefined && { id }), method, params });
const callOf = (name: string, args: object = {}) => message("tools/call", { name, arguments: args });
const PING = message("ping");
/** What every message of the newest revision says of itself. */
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "an agent", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

describe("the MCP tools", () => {
  test("the MCP tools are operations that read the market, with their texts and schemas", async () => {
    const { tools } = await (await connect(key)).listTools();
    expect(TOOLS.map(({ method, scope }) => `${method} ${scope}`)).toEqual(TOOLS.map(() => "GET market:read"));
    expect(tools.map(({ name }) => name)).toEqual([...TOOLS.map(({ id }) => id), "searchDocs", "readDocs"]);
    for (const tool of tools.slice(0, TOOLS.length)) {
      const operation = operations[tool.name as OperationId];
      const required = Object.entries(operation.query).filter(([, parameter]) => parameter.required);
      expect(tool).toMatchObject({ title: operation.summary, description: operation.description });
      expect(tool.annotations).toMatchObject({ readOnlyHint: true });
      expect(Object.keys(tool.inputSchema.properties ?? {})).toEqual(
        Object.keys(operation.query).filter((name) => name !== "format"),
      );
      expect(tool.inputSchema.required).toEqual(required.map(([name]) => name));
      expect(JSON.stringify(tool)).not.toContain("#/components");
    }
    expect(JSON.stringify(tools.map(({ outputSchema }) => outputSchema)).length).toBeLessThan(OUTPUT_SCHEMAS_MAX_CHARACTERS);
  });

  test("an MCP tool answers in JSON, whatever format its arguments ask for", async () => {
    const asked = await (await connect(key)).callTool({ name: "latestQuotes", arguments: { tickers: "EURUSD", format: "csv" } });
    expect(asked.isError).toBeUndefined();
    expect(asked.structuredContent).toMatchObject({ items: [{ ticker: "EURUSD" }] });
  });

  test("an MCP tool refuses an argument that it does not have by its name, and says which it has", async () => {
    const args = { ticker: "EURUSD", timeframe: "M1", start: "2026-01-02", count: 5 };
    const result = await (await connect(key)).callTool({ name: "klines", arguments: args });
    expect(result.isError).toBe(true);
    const { message, data } = JSON.parse(textOf(result));
    expect([message, data.parameter]).toEqual(["invalid_parameter", "start"]);
    expect(data.detail).toMatch(/^`start` is not an argument of klines\. It has ticker, timeframe, .*from/);
    expect(data.allowed).not.toContain("format");
    const long = await (await connect(key)).callTool({ name: "klines", arguments: { ["x".repeat(5_000)]: 1 } });
    expect(JSON.stringify(long).length).toBeLessThan(2_000);
  });

  describe.each(REVISIONS)("of revision %s", (revision) => {
    test.each(TOOLS)("an MCP tool answers what REST answers, once and in the shape of its schema: $id", async (tool) => {
      const client = await connect(key, revision);
      expect(client.getNegotiatedProtocolVersion()).toBe(revision);
      // The client validates results against the schemas of the list.
      await client.listTools();
      const examples = exampleParameters(tool);
      const [args, query] = CALLS[tool.id as OperationId] ?? [examples, String(new URLSearchParams(examples))];
      const result = await client.callTool({ name: tool.id, arguments: args });
      const { body } = await t.ask(`${tool.path}?${query}`, { key });
      expect(body.code).toBe(0);
      expect(result.isError).not.toBe(true);
      expect(result.structuredContent).toEqual(resultOf(tool, body.data).structuredContent);
      expect(textOf(result)).toMatch(/^[A-Z][^{[]{10,120}$/);
    });
  });

  test("klines come as a table with 100 rows unless a limit says otherwise, in a few tokens a row", async () => {
    const from = TEST_START_MS / 1_000 - 10 * HOUR_S;
    await t.markets.live.store.writeBatch(testKlines("XAUUSD", "M1", from, 500, 60), []);
    const ask = { ticker: "XAUUSD", timeframe: "M1", from: new Date(from * 1_000).toISOString() };
    const client = await connect(key);
    const { tools } = await client.listTools();
    const limit = tools.find(({ name }) => name === "klines")?.inputSchema.properties?.limit;
    expect(limit).toMatchObject({ default: 100, description: expect.stringContaining("(default 100)") });
    const result = await client.callTool({ name: "klines", arguments: ask });
    const table = result.structuredContent as KlineTable;
    expect(table).toMatchObject({
      count: 100,
      limit: 100,
      next_from: agentTime(from + 6_000),
      columns: expect.arrayContaining(["time", "close"]),
    });
    expect(table.rows[0]?.[table.columns.indexOf("time")]).toBe(agentTime(from));
    const { items } = (await t.ask(`${operations.klines.path}?ticker=XAUUSD&timeframe=M1&from=${from}&limit=100`, { key })).body
      .data;
    const cells = (items as Record<string, number>[]).map((item) =>
      table.columns.map((name) => (name === "time" ? agentTime(item[name] ?? 0) : item[name])),
    );
    expect(table.rows).toEqual(cells);
    expect(JSON.stringify(table).length).toBeLessThan(100 * 90);
    expect(textOf(result)).toBe("Historical klines: 100 rows. The data is in structuredContent.");
    const next = await client.callTool({ name: "klines", arguments: { ...ask, from: table.next_from } });
    expect(next.structuredContent).toMatchObject({ from: table.next_from, count: 100 });
  });

  test("days are ISO days, in results and in arguments", async () => {
    const client = await connect(key);
    const ask = { ticker: "EURUSD", from: "2026-01-02", to: "2026-01-03" };
    const klines = await client.callTool({ name: "klines", arguments: { ...ask, timeframe: "M1" } });
    expect(klines.structuredContent).toMatchObject({ from: "2026-01-02", to: "2026-01-03" });
    const hours = await client.callTool({ name: "marketHours", arguments: ask });
    expect(hours.structuredContent).toEqual({ ...ask, sessions: [{ from: "2026-01-02", to: "2026-01-02T22:00:00Z" }] });
  });

  test("instruments come in few tokens, and can be filtered", async () => {
    const client = await connect(key);
    const itemsOf = async (args: Record<string, unknown>) => {
      const { structuredContent } = await client.callTool({ name: "instruments", arguments: args });
      return (structuredContent as { items: { ticker: string }[] }).items;
    };
    expect(Object.keys((await itemsOf({}))[0] ?? {})).toEqual(["ticker", "name", "asset_class", "digits", "pip_size"]);
    const metals = (await itemsOf({ asset_class: "metals", currency: "usd" })).map(({ ticker }) => ticker);
    expect(metals).toContain("XAUUSD");
    expect(metals.every((ticker) => /^X..USD$/.test(ticker))).toBe(true);
    const wrong = await client.callTool({ name: "instruments", arguments: { currency: "E/R" } });
    expect(JSON.parse(textOf(wrong))).toMatchObject({ message: "invalid_parameter", data: { parameter: "currency" } });
  });

  test("a list is accepted as a list and as text, and a time as seconds and in ISO 8601, by schema and by service", async () => {
    const client = await connect(key);
    const { tools } = await client.listTools();
    const validator = new AjvJsonSchemaValidator();
    const forms: [OperationId, Record<string, unknown>][] = [
      ["latestQuotes", { tickers: ["EURUSD", "XAUUSD"] }],
      ["latestQuotes", { tickers: "EURUSD,XAUUSD" }],
      ["klines", { ticker: "EURUSD", timeframe: "M1", from: START_S, to: START_S + 60 }],
      ["klines", { ticker: "EURUSD", timeframe: "M1", from: "2026-01-01T00:00:00Z" }],
    ];
    for (const [name, args] of forms) {
      const schema = tools.find((tool) => tool.name === name)?.inputSchema as Parameters<
        AjvJsonSchemaValidator["getValidator"]
      >[0];
      expect(validator.getValidator(schema)(args), JSON.stringify(args)).toMatchObject({ valid: true });
      expect((await client.callTool({ name, arguments: args })).isError, JSON.stringify(args)).not.toBe(true);
    }
  });

  test("the MCP tools work with the demo key, on its venue", async () => {
    address = freshAddress();
    const result = await (await connect(DEMO_KEY)).callTool({ name: "latestQuotes", arguments: { tickers: ["EURUSD"] } });
    expect(result.structuredContent).toMatchObject({ items: [{ ticker: "EURUSD", bid: 1.08543 }] });
  });

  test("the MCP tools refuse tickers that the key does not allow, and list those that it does", async () => {
    const client = await connect((await t.issueKey({ tickers: ["EURUSD"] })).text);
    const refused = await client.callTool({ name: "latestQuotes", arguments: { tickers: ["EURUSD", "XAUUSD"] } });
    const told = JSON.parse(textOf(refused));
    expect(told).toMatchObject({ message: "unknown_ticker", data: { tickers: ["XAUUSD"] } });
    const listed = await client.callTool({ name: "instruments", arguments: {} });
    expect(listed.structuredContent).toMatchObject({ items: [{ ticker: "EURUSD" }] });
  });

  const WRONG: [why: string, name: OperationId, args: Record<string, unknown>, query: string][] = [
    ["a ticker with a slash", "latestQuotes", { tickers: ["EUR/USD"] }, "?tickers=EUR/USD"],
    ["an empty required argument", "latestQuotes", {}, ""],
    ["null for a required argument", "latestQuotes", { tickers: null }, ""],
    ["an unknown timeframe", "klines", { ticker: "EURUSD", timeframe: "M2" }, "?ticker=EURUSD&timeframe=M2"],
    ["an unknown ticker", "marketStatus", { tickers: ["ABCDEF"] }, "?tickers=ABCDEF"],
    ["a fraction", "klines", { ticker: "EURUSD", timeframe: "M1", limit: 1.5 }, "?ticker=EURUSD&timeframe=M1&limit=1.5"],
    ["too many rows", "klines", { ticker: "EURUSD", timeframe: "M1", limit: 5001 }, "?ticker=EURUSD&timeframe=M1&limit=5001"],
    [
      "more than a URL holds",
      "latestQuotes",
      { tickers: Array(2_000).fill("EURUSD") },
      `?tickers=${Array(2_000).fill("EURUSD").join()}`,
    ],
  ];
  test.each(WRONG)("an MCP tool refuses %s as REST does", async (_, name, args, query) => {
    const result = await (await connect(key)).callTool({ name, arguments: args });
    const { body, status } = await t.ask(operations[name].path + query, { key, headers: { host: url.host } });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(result.isError).toBe(true);
    const refusal = JSON.parse(textOf(result));
    expect(refusal).toEqual({ ...body, data: { ...body.data, request_id: refusal.data.request_id } });
  });

  test("an operation that is not a tool cannot be called over MCP", async () => {
    await expect((await connect(key)).callTool({ name: "ingestTicks", arguments: {} })).rejects.toThrow("There is no tool");
  });

  test.each([
    ["an object", '{"a":1}'],
    ["a list within a list", '["EURUSD",["XAUUSD"]]'],
    ["endlessly nested lists in a short message", "[".repeat(3_000) + "]".repeat(3_000)],
    ["endlessly nested lists in a long message", "[".repeat(20_000) + "]".repeat(20_000)],
    ["more than a URL holds, in a short message", `"${"é".repeat(3_000)}"`],
    ["more than a URL holds, in a long message", `"${"é".repeat(9_000)}"`],
  ])("an MCP call with %s is refused and costs at least one unit", async (_, tickers) => {
    const { text: bearer } = await t.issueKey({ account: `charged ${tickers.length}` });
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"latestQuotes","arguments":{"tickers":${tickers}}}}`;
    const before = await send(PING, { bearer });
    const refused = await send(body, { bearer });
    expect(refused.status).toBe(200);
    expect(refused.body.error ?? refused.body.result.isError).toBeTruthy();
    const left = ({ headers }: { headers: Headers }) => Number(headers.get("x-ratelimit-remaining"));
    expect(left(refused)).toBeLessThan(left(before));
  });
});

describe("the MCP endpoint", () => {
  test("MCP refuses a missing, wrong or revoked key with 401", async () => {
    address = freshAddress();
    const minted = await t.issueKey();
    const client = await connect(minted.text);
    await client.listTools();
    await revokeKey(t.keyContext, minted.record.id);
    await t.settle();
    await expect(client.callTool({ name: "instruments", arguments: {} })).rejects.toThrow(/unauthorized/i);
    for (const revision of REVISIONS)
      await expect(connect("sw_live_nothing", revision)).rejects.toThrow(/unauthorized|HTTP 401/i);
    const refused = await send(callOf("instruments"), { bearer: null });
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toBe(
      `Bearer resource_metadata="${url.origin}/.well-known/oauth-protected-resource/mcp", scope="market:read"`,
    );
    expect(refused.body.message).toBe("unauthorized");
    const ended = await send(callOf("instruments"), { bearer: "sw_live_nothing" });
    expect(ended.headers.get("www-authenticate")).toMatch(/^Bearer error="invalid_token", resource_metadata="/);
  });

  test.each(REVISIONS)("without a key MCP %s shows tools and documentation, and nothing of the market", async (revision) => {
    address = freshAddress();
    const stranger = await connect(null, revision);
    expect((await stranger.listTools()).tools.length).toBe(TOOLS.length + 2);
    // A node without pages, as this one, has no documentation; e2e/docs.spec.ts reads it.
    expect((await stranger.listResources()).resources).toEqual([]);
    expect(textOf(await stranger.callTool({ name: "searchDocs", arguments: { query: "limits" } }))).toMatch(/^No page/);
    for (const args of [{}, { query: "" }, { query: "x".repeat(501) }, { query: "limits", page: "2" }, { query: ["limits"] }]) {
      const refused = await stranger.callTool({ name: "searchDocs", arguments: args });
      expect([refused.isError, JSON.parse(textOf(refused)).message]).toEqual([true, "invalid_parameter"]);
    }
    const missing = await stranger.callTool({ name: "readDocs", arguments: { url: "http://a.test/docs/none.md" } });
    expect(JSON.parse(textOf(missing)).message).toBe("not_found");
    await expect(stranger.callTool({ name: "latestQuotes", arguments: { tickers: "EURUSD" } })).rejects.toThrow(/unauthorized/i);
  });

  test("a subscription of the newest revision ends at once: nothing that it could tell changes", async () => {
    const method = "subscriptions/listen";
    const listen = message(method, { notifications: { toolsListChanged: true }, _meta: META });
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": method };
    const { status, text } = await send(listen, { headers, raw: true });
    expect(status).toBe(200);
    expect(text).toContain('"resultType":"complete"');
  });

  test("an MCP call costs what REST charges, any other message one unit, and refusals of both have a retry delay", async () => {
    const name = "three a minute";
    await t.db.prisma.plan.create({
      data: { name, restPerMinute: 3, restBurst: 3, streamConnections: 1, subscriptionsPerConnection: 1 },
    });
    const { text: bearer } = await t.issueKey({ plan: name });
    const left = async (body: string, headers = {}) =>
      (await send(body, { bearer, headers })).headers.get("x-ratelimit-remaining");
    expect(await left(message("tools/list"))).toBe("2");
    expect(await left(callOf("instruments"))).toBe("1");
    // Neither has an effect, but both cost units.
    expect(await left(callOf("instruments"), { accept: "application/json" })).toBe("0");
    const refusedCall = await send(callOf("instruments"), { bearer });
    expect(refusedCall.status).toBe(200);
    expect(JSON.parse(refusedCall.body.result.content[0].text)).toMatchObject({
      message: "rate_limited",
      data: { retry_after: 60 },
    });
    expect(refusedCall.headers.get("retry-after")).toBe("60");
    const refused = await send(message("tools/list"), { bearer });
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("60");
    const wrong = await send(callOf("instruments", { unknown: 1 }), { bearer });
    expect([wrong.status, wrong.body.result.isError]).toEqual([200, true]);
    expect(JSON.parse(wrong.body.result.content[0].text)).toMatchObject({ message: "rate_limited", data: { retry_after: 60 } });
    const silent = await send(JSON.stringify({ jsonrpc: "2.0", method: "tools/call", params: { name: "instruments" } }), {
      bearer,
    });
    expect(silent.status).toBe(429);
  });

  test("an MCP call is counted as its operation and logged with its caller", async () => {
    const minted = await t.issueKey();
    await send(message("tools/list"), { bearer: minted.text });
    await send(callOf("latestQuotes", { tickers: ["EURUSD"] }), { bearer: minted.text, headers: { "user-agent": "an agent/1" } });
    await send(callOf("latestQuotes", { tickers: ["EUR/USD"] }), { bearer: minted.text });
    await t.usage.flush();
    const counts = await t.db.pool.query(
      "SELECT operation, code, calls::int, units::int FROM usage_bucket WHERE key_id = $1 AND grain = 'day' ORDER BY operation, code",
      [minted.record.id],
    );
    expect(counts.rows).toEqual([
      { operation: "latestQuotes", code: 0, calls: 1, units: 1 },
      { operation: "latestQuotes", code: 40003, calls: 1, units: 1 },
      { operation: "mcp", code: 0, calls: 1, units: 1 },
    ]);
    const { rows } = await t.db.pool.query("SELECT path, status, user_agent FROM request_log WHERE key_id = $1 ORDER BY id", [
      minted.record.id,
    ]);
    expect(rows).toContainEqual({
      path: `${operations.latestQuotes.path}?tickers=EURUSD`,
      status: 200,
      user_agent: "an agent/1",
    });
  });

  test.each(["GET", "DELETE", "PUT", "PATCH"])("MCP refuses %s and lists the methods it serves", async (method) => {
    const answer = await send(undefined, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("POST, OPTIONS");
    expect(answer.body.message).toBe("method_not_allowed");
  });

  test("MCP answers HEAD without a body", async () => {
    expect(await send(undefined, { method: "HEAD" })).toMatchObject({ status: 405, text: "" });
  });

  test("a page may send MCP messages, and read the answer only from an origin of the key", async () => {
    const origin = "https://app.example.test";
    const preflight = await send(undefined, { method: "OPTIONS", bearer: null, headers: { origin } });
    expect(preflight.status).toBe(204);
    const accepted = preflight.headers.get("access-control-allow-headers")?.split(", ");
    // Of the revisions 2026-07-28 and 2025-11-25, and of tracing libraries.
    expect(accepted).toEqual(expect.arrayContaining(["authorization", "content-type", "mcp-method", "mcp-name", "traceparent"]));
    expect(accepted).toEqual(expect.arrayContaining(["mcp-protocol-version", "mcp-session-id", "last-event-id", "sentry-trace"]));
    const { text: bearer } = await t.issueKey({ origins: [origin] });
    const allowed = await send(PING, { bearer, headers: { origin } });
    expect([allowed.status, allowed.headers.get("access-control-allow-origin")]).toEqual([200, origin]);
    const stranger = { bearer, headers: { origin: "https://elsewhere.test" } };
    const refused = await send(PING, stranger);
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([403, null]);
    const call = await send(callOf("instruments"), stranger);
    expect(call.headers.get("access-control-allow-origin")).toBeNull();
    expect(JSON.parse(call.body.result.content[0].text).message).toBe("origin_not_allowed");
  });

  test("MCP refuses a key without the scope, and a suspended account", async () => {
    const { text: streaming } = await t.issueKey({ scopes: ["market:stream"] });
    expect(await send(PING, { bearer: streaming })).toMatchObject({ status: 403, body: { message: "insufficient_scope" } });
    const { text: suspended } = await t.issueKey({ suspended: true });
    expect(await send(PING, { bearer: suspended })).toMatchObject({ status: 403, body: { message: "account_suspended" } });
  });

  test("MCP reads at most 64 KiB", async () => {
    const fitting = await send(callOf("instruments", { filler: "x".repeat(BODY_MAX_BYTES - 200) }));
    expect(fitting.status).toBe(200);
    const refused = await send(callOf("instruments", { filler: "x".repeat(BODY_MAX_BYTES) }));
    expect([refused.status, refused.body.message]).toEqual([413, "payload_too_large"]);
  });

  test("invalid MCP messages are answered with JSON-RPC errors", async () => {
    expect(await send("{")).toMatchObject({ status: 400, body: { error: { code: -32700 }, id: null } });
    expect(await send(`[${PING},${PING}]`)).toMatchObject({ status: 400, body: { error: { code: -32600 } } });
    expect((await send("{}")).status).toBe(400);
    expect(await send(message("no/such/method"))).toMatchObject({ status: 200, body: { error: { code: -32601 } } });
    expect((await send(PING, { headers: { "content-type": "text/plain" } })).status).toBe(415);
    expect((await send(PING, { headers: { "mcp-protocol-version": "1999-01-01" } })).status).toBe(400);
  });

  test("MCP refuses every message while the service shuts down", async () => {
    t.drain(true);
    expect(await send(PING)).toMatchObject({ status: 503, body: { message: "service_unavailable" } });
    t.drain(false);
  });
});
