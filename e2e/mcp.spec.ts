import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exampleParameters } from "#lib/contract/operation";
import { OPERATION_LIST } from "#lib/operations/declarations";
import { type MadeKey, makeKey, runCommand } from "./commands";
import { API_ONLY, type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

const TOOLS = OPERATION_LIST.filter(({ mcp }) => mcp.tool);

let product: Product;
let key: MadeKey;

beforeAll(async () => {
  product = await startProduct({ ...API_ONLY, TRUSTED_PROXIES: "127.0.0.1" });
  key = await makeKey(product, { venue: "sandbox", scopes: "market:read" });
}, SERVER_TIMEOUT_MS);
afterAll(() => product?.dispose(), SERVER_TIMEOUT_MS);

let visitors = 0;

/** An agent with the SDK's own client, connected from an unused address. */
async function connect(bearer: string | undefined, mode: "auto" | "legacy" = "auto"): Promise<Client> {
  visitors += 1;
  const client = new Client({ name: "an agent", version: "1" }, { versionNegotiation: { mode } });
  const headers = {
    "x-forwarded-for": `198.51.100.${visitors}`,
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
  };
  await client.connect(
    new StreamableHTTPClientTransport(new URL("/mcp", product.baseUrl), { requestInit: { headers } }) as never,
  );
  return client;
}

describe("an agent", () => {
  test.each([
    ["auto", "2026-07-28"],
    ["legacy", "2025-11-25"],
  ] as const)("an agent lists the tools and calls each of them with the demo key: %s, %s", async (mode, revision) => {
    const client = await connect(product.demoKey, mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect(client.getServerVersion()).toMatchObject({ name: "spotwire" });
    const { tools } = await client.listTools();
    const market = tools.filter(({ name }) => !name.endsWith("Docs"));
    expect(market.map(({ name }) => name).sort()).toEqual(TOOLS.map(({ id }) => id).sort());
    for (const tool of TOOLS) {
      const result = await client.callTool({ name: tool.id, arguments: exampleParameters(tool) });
      expect(result.isError, tool.id).not.toBe(true);
      const lists = Object.values(result.structuredContent ?? {}).filter(Array.isArray);
      expect(lists.at(-1)?.length, tool.id).toBeGreaterThan(0);
    }
    await client.close();
  });

  test("an agent gets the error of a call in the envelope of REST", async () => {
    const client = await connect(key.text);
    const result = await client.callTool({ name: "latestQuotes", arguments: { tickers: ["EUR/USD"] } });
    expect(result.isError).toBe(true);
    expect(JSON.parse((result.content as { text: string }[])[0]?.text ?? "")).toMatchObject({
      message: "invalid_ticker",
      data: { suggestion: "EURUSD" },
    });
  });

  test("an agent that uses up the demo key's limit for its address learns when to retry", async () => {
    const client = await connect(product.demoKey);
    const results = await Promise.all(
      Array.from({ length: 70 }, () => client.callTool({ name: "latestQuotes", arguments: { tickers: ["EURUSD"] } })),
    );
    const refused = results.filter(({ isError }) => isError);
    expect(refused.length).toBeGreaterThan(0);
    const content = (refused[0]?.content ?? []) as { text: string }[];
    expect(JSON.parse(content[0]?.text ?? "")).toMatchObject({
      message: "rate_limited",
      data: { retry_after: expect.any(Number) },
    });
  });

  test("an agent without a key, or with a wrong or revoked one, is refused", async () => {
    const stranger = await connect(undefined);
    await expect(stranger.callTool({ name: "instruments", arguments: {} })).rejects.toThrow(/unauthorized/i);
    await expect(connect("sw_test_wrong", "legacy")).rejects.toThrow(/unauthorized/i);
    const client = await connect(key.text);
    const call = () => client.callTool({ name: "instruments", arguments: {} });
    expect((await call()).isError).not.toBe(true);
    expect((await runCommand(product, "keys", ["revoke", key.id])).exitCode).toBe(0);
    await expect.poll(() => call().then(() => "in", String), { timeout: 60_000, interval: 100 }).toMatch(/unauthorized/i);
  });

  test("MCP has no stream and no session to end, and limits the size of a message", async () => {
    const headers = { authorization: `Bearer ${product.demoKey}`, "x-forwarded-for": "198.51.100.200" };
    for (const method of ["GET", "DELETE"]) expect((await fetch(`${product.baseUrl}/mcp`, { method, headers })).status).toBe(405);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", params: { filler: "x".repeat(100_000) } });
    const type = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    expect((await fetch(`${product.baseUrl}/mcp`, { method: "POST", headers: { ...headers, ...type }, body })).status).toBe(413);
  });
});
