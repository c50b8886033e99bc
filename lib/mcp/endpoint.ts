import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from "@modelcontextprotocol/sdk/types.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { originAllowed, type Principal, requireAccess } from "#lib/access/principal";
import type { Success } from "#lib/contract/envelope";
import { ERRORS } from "#lib/contract/errors";
import { URI_MAX_BYTES } from "#lib/contract/limits";
import { Fault, isFault } from "#lib/fault";
import { admitOrigin, hideFromOrigin, preflight } from "#lib/http/cors";
import { type Exchange, headerOf, openBareExchange, requireShortTarget } from "#lib/http/exchange";
import { applyVerdict, verifyKey } from "#lib/http/guards";
import { type Answer, type AnswerHeaders, failureOf, faultOf, withoutBody } from "#lib/http/respond";
import { counted, handlerOf, type RouteHandler } from "#lib/http/route";
import { readBody } from "#lib/portal/input";
import { type Runtime, runtime } from "#lib/runtime";
import { isToolId, listTools, type ToolId, targetOf } from "./tools";

/** The name that what is no tool call is counted under. */
const OPERATION = "mcp";
const SERVER = { name: "spotwire", title: "Spotwire", version: "1.0.0" };
const INSTRUCTIONS = [
  "Quotes, snapshots, klines, instruments and market hours for forex and metals; all tools only read.",
  "Tickers are compact: EURUSD, not EUR/USD; `instruments` lists them. Klines take Unix seconds, from <= time < to.",
  "A refusal holds `message`, a stable identifier, and `data.detail`; after rate_limited wait `data.retry_after` seconds.",
].join(" ");
const RETRY_AFTER_S = 1;
/** A query's worth of arguments, and as much again for what is around them. */
const CALL_MAX_CHARACTERS = 2 * URI_MAX_BYTES;
const METHODS = ["POST"];
/** What a page's MCP client sends beside what any page may. */
const REQUEST_HEADERS = "authorization, content-type, mcp-protocol-version, mcp-session-id, last-event-id";
/** What the answer of a tool's route tells beside its body, for those who read the headers of this one. */
const PASSED_ON = /^(ratelimit|x-ratelimit|retry-after|x-ignored-params)/;

/** The route of each operation that is a tool. */
type ToolRoutes = Readonly<Record<ToolId, RouteHandler>>;

/** A tool call is a request of its operation: the same guards, price, count and line in the log as over REST. */
async function callTool(routes: ToolRoutes, id: ToolId, target: string, outer: Exchange): Promise<CallToolResult> {
  const headers = {
    authorization: headerOf(outer, "authorization") ?? undefined,
    origin: outer.origin ?? undefined,
    "user-agent": headerOf(outer, "user-agent") ?? undefined,
    "x-request-id": outer.headers["x-request-id"],
  };
  const { address } = outer;
  const { status, body, headers: told } = await routes[id].answer(openBareExchange("GET", target, { address, headers }));
  for (const name in told) if (PASSED_ON.test(name)) outer.headers[name] = told[name] ?? "";
  const text = typeof body === "string" ? body : Buffer.from(body ?? "").toString("utf8");
  if (status !== 200) return { content: [{ type: "text", text }], isError: true };
  const { data } = JSON.parse(text) as Success<Record<string, unknown>>;
  return { content: [{ type: "text", text: JSON.stringify(data) }], structuredContent: data };
}

/** The result of a call whose query is longer than REST takes; undefined for one that is not. */
function refusalOfLength(target: string, { headers }: Exchange): CallToolResult | undefined {
  try {
    requireShortTarget({ path: target, queryText: "" });
    return undefined;
  } catch (error) {
    const { body } = failureOf(error, { ...headers }, runtime().env.PUBLIC_URL ?? "");
    return { content: [{ type: "text", text: String(body) }], isError: true };
  }
}

/** What came of a message, and whether a tool's route was asked: it has counted the call then. */
interface Spoken {
  readonly answer: Answer;
  readonly called: boolean;
}

/** An answer of JSON-RPC to what is no message of it. */
function notRead(code: ErrorCode, message: string, headers: AnswerHeaders): Answer {
  const body = JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id: null });
  return { status: 400, headers: { ...headers, "cache-control": "no-store" }, body };
}

function countedMessage(answer: Answer, exchange: Exchange): Answer {
  return counted(answer, exchange, OPERATION, answer.status < 400 ? 0 : ERRORS.invalid_parameter.code);
}

function callsTool(message: unknown): boolean {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } | null };
  return method === "tools/call" && isToolId(params?.name);
}

/** The guards of a message that calls no tool: it costs one unit. */
async function admitMessage(principal: Principal, exchange: Exchange, { access }: Runtime): Promise<void> {
  const { origin, address, headers } = exchange;
  const verdict = await access.take(principal, 1, address);
  applyVerdict(verdict, principal.plan.name, headers);
  requireAccess(principal, "market:read", "MCP", origin);
}

function parse(text: string): { readonly message: unknown } | undefined {
  try {
    return { message: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/**
 * The operations as tools of the Model Context Protocol: streamable HTTP without sessions, so that any node answers any
 * message. A wrong key is refused with 401 and the envelope; what a tool call is refused for stands in its result.
 */
export function createMcp(routes: ToolRoutes): RouteHandler {
  const tools = listTools();
  const jsonSchemaValidator = new AjvJsonSchemaValidator();

  /** The SDK's server has one life with one transport, so there is one for each message. */
  async function speak(message: unknown, request: Request, exchange: Exchange): Promise<Spoken> {
    let called = false;
    const server = new Server(SERVER, { capabilities: { tools: {} }, instructions: INSTRUCTIONS, jsonSchemaValidator });
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
    server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: args = {} } }) => {
      if (!isToolId(name)) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${name.slice(0, 80)}.`);
      const target = targetOf(name, args);
      if (target === undefined)
        throw new McpError(ErrorCode.InvalidParams, "Arguments are texts, numbers, or flat lists of them.");
      // Its route would refuse it before the key, and so before it is paid for: here it is paid for as any other message.
      const refused = refusalOfLength(target, exchange);
      if (refused !== undefined) return refused;
      called = true;
      return callTool(routes, name, target, exchange);
    });
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      const response = await transport.handleRequest(request, { parsedBody: message });
      const body = response.body === null ? null : await response.text();
      const headers = { ...exchange.headers, "cache-control": "no-store" };
      return { called, answer: { status: response.status, headers, body } };
    } finally {
      await server.close();
    }
  }

  async function answer(exchange: Exchange, running: Runtime): Promise<Answer> {
    const { method, headers, origin, request } = exchange;
    if (method === "OPTIONS") {
      const told = preflight(headers, origin, METHODS);
      if (origin !== null) told.headers["access-control-allow-headers"] = REQUEST_HEADERS;
      return told;
    }
    if (method !== "POST" || request === null) {
      headers.allow = [...METHODS, "OPTIONS"].join(", ");
      const detail = "MCP is spoken here: POST one JSON-RPC message. There are no sessions, and no stream to GET.";
      throw new Fault("method_not_allowed", { detail, allowed: METHODS });
    }
    if (running.draining()) throw new Fault("service_unavailable", { detail: "Shutting down.", retry_after: RETRY_AFTER_S });
    const principal = await verifyKey(running.access, exchange);
    exchange.principal = principal;
    if (!originAllowed(principal, origin)) hideFromOrigin(headers);
    const text = await readBody(request);
    const read = parse(text);
    // A call that is too long for any tool is paid for before it is looked at.
    if (callsTool(read?.message) && text.length <= CALL_MAX_CHARACTERS) {
      const spoken = await speak(read?.message, request, exchange);
      if (spoken.called) return spoken.answer;
      // Nothing was asked of a route (an Accept header that will not do, no id): it is paid for as any other message.
      await admitMessage(principal, exchange, running);
      return countedMessage({ ...spoken.answer, headers: { ...spoken.answer.headers, ...headers } }, exchange);
    }
    await admitMessage(principal, exchange, running);
    if (read === undefined) return countedMessage(notRead(ErrorCode.ParseError, "The body is not JSON.", headers), exchange);
    if (Array.isArray(read.message))
      return countedMessage(notRead(ErrorCode.InvalidRequest, "One message a request: no batches.", headers), exchange);
    return countedMessage((await speak(read.message, request, exchange)).answer, exchange);
  }

  return handlerOf(async (exchange) => {
    if (exchange.origin !== null) admitOrigin(exchange.headers, exchange.origin);
    let running: Runtime | undefined;
    try {
      running = runtime();
      return await answer(exchange, running);
    } catch (error) {
      if (!isFault(error)) running?.log.error({ err: error, request_id: exchange.headers["x-request-id"] }, "MCP failed");
      const failed = failureOf(error, exchange.headers, running?.env.PUBLIC_URL ?? "");
      const told = counted(failed, exchange, OPERATION, ERRORS[faultOf(error).id].code);
      return exchange.method === "HEAD" ? withoutBody(told) : told;
    }
  });
}
