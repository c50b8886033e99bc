import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

/** What OpenTelemetry and Sentry add to each request of a page. */
const TRACING = {
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  tracestate: "vendor=1",
  baggage: "sentry-environment=production",
  "sentry-trace": "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
};

/** Asks with the headers of tracing libraries; resolves to the status. */
export async function ask(url: string, key: string, method: string): Promise<number> {
  const headers = { ...TRACING, authorization: `Bearer ${key}`, "content-type": "application/json" };
  return (await fetch(url, { method, headers })).status;
}

/** Calls a tool as an agent in a page does, also with the headers of tracing libraries. */
export async function callTool(base: string, key: string, mode: "auto" | "legacy") {
  const client = new Client({ name: "a page", version: "1" }, { versionNegotiation: { mode } });
  const headers = { ...TRACING, authorization: `Bearer ${key}` };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", base), { requestInit: { headers } }) as never);
  const { tools } = await client.listTools();
  const { isError = false } = await client.callTool({ name: "latestQuotes", arguments: { tickers: ["EURUSD"] } });
  return { revision: client.getNegotiatedProtocolVersion(), hasTools: tools.length > 0, isError };
}
