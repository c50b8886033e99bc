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
import { docsBaseOf, type Exchange, headerOf, openBareExchange, requireShortTarget } from "#lib/http/exchange";
import { applyVerdict, verifyKey } from "#lib/http/guards";
import { type Answer, type AnswerHeaders, failureOf, faultOf, toResponse, withoutBody } from "#lib/http/respond";
import { counted, handlerOf, type RouteHandler } from "#lib/http/route";
import { readBody } from "#lib/portal/input";
import { type Runtime, runtime } from "#lib/runtime";
import { offerDocs } from "./docs";
import { isToolId, listTools, resultOf, type ToolId, targetOf } from "./tools";

/** Operation name under which messages that call no tool are counted. */
const OPERATION = "mcp";
const SERVER = { name: "spotwire", title: "Spotwire", version: "1.0.0" };
const INSTRUCTIONS = [
  "Quotes, snapshots, klines, instruments and market hours for forex and metals. All tools are read-only.",
  "Tickers are compact: EURUSD, not EUR/USD; `instruments` lists them. Klines are a table of rows with from <= time < to; both take Unix seconds or ISO 8601.",
  "The documentation is offered as resources in Markdown.",
  "An error has `message`, a stable identifier, and `data.detail`. After rate_limited, wait `data.retry_after` seconds.",
].join(" ");
const RETRY_AFTER_S = 1;
/** The longest query as arguments, plus the same length for the rest of the message. */
const CALL_MAX_CHARACTERS = 2 * URI_MAX_BYTES;
const METHODS = ["POST"];
/** Request headers that the MCP client of a page sends in addition to the usual ones. */
const REQUEST_HEADERS = "authorization, content-type, mcp-protocol-version, mcp-session-id, last-event-id";
/** Response headers of a tool's route that are copied to the MCP response. */
const PASSED_ON = /^(ratelimit|x-ratelimit|retry-after|x-ignored-params)/;

/** The route of each operation that is offered as a tool. */
type ToolRoutes = Readonly<Record<ToolId, RouteHandler>>;

/** Runs a tool call as a request of its operation: the same guards, cost, usage count and request log as over REST. */
async function callTool(routes: ToolRoutes, id: ToolId, target: string, outer: Exchange): Promise<CallToolResult> {
  const headers = {
    authorization: headerOf(outer, "authorization") ?? undefined,
    origin: outer.origin ?? undefined,
    "user-agent": headerOf(outer, "user-agent") ?? undefined,
    // For links to the docs, as the client reached the service.
    host: headerOf(outer, "host") ?? undefined,
    "x-forwarded-proto": headerOf(outer, "x-forwarded-proto") ?? undefined,
    "x-request-id": outer.headers["x-request-id"],
  };
  const { address } = outer;
  const answer = await routes[id].answer(openBareExchange("GET", target, { address, headers }, null));
  const { status, headers: passed } = answer;
  for (const name in passed) if (PASSED_ON.test(name)) outer.headers[name] = passed[name] ?? "";
  const text = await toResponse(answer).text();
  if (status !== 200) return { content: [{ type: "text", text }], isError: true };
  const { data } = JSON.parse(text) as Success<Record<string, unknown>>;
  const result = resultOf(id, data);
  return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: result };
}

/** The error result of a call whose query is too long for REST; undefined for any other. */
function refusalOfLength(target: string, exchange: Exchange): CallToolResult | undefined {
  try {
    requireShortTarget({ path: target, queryText: "" });
    return undefined;
  } catch (error) {
    const { body } = failureOf(error, { ...exchange.headers }, docsBaseOf(exchange));
    return { content: [{ type: "text", text: String(body) }], isError: true };
  }
}

/** The outcome of a message, and whether a route ran, which then has counted the call. */
interface Spoken {
  readonly answer: Answer;
  readonly called: boolean;
}

/** The JSON-RPC response to an invalid message. */
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

/** The guards of a message that calls no tool. It costs one unit. */
async function admitMessage(principal: Principal, exchange: Exchange, { access }: Runtime): Promise<void> {
  const { address, headers } = exchange;
  const verdict = await access.take(principal, 1, address);
  applyVerdict(verdict, principal.plan.name, headers);
  requireAccess(principal, "market:read", "MCP", exchange);
}

function parse(text: string): { readonly message: unknown } | undefined {
  try {
    return { message: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/**
 * Offers the operations as tools of the Model Context Protocol, over streamable HTTP without sessions, so that any node can
 * answer any message. A wrong key gets 401 and the envelope; a refused tool call reports the reason in its result.
 */
export function createMcp(routes: ToolRoutes): RouteHandler {
  const tools = listTools();
  const jsonSchemaValidator = new AjvJsonSchemaValidator();

  /** A server of the SDK is bound to one transport, so each message gets its own. */
  async function speak(message: unknown, request: Request, exchange: Exchange): Promise<Spoken> {
    let called = false;
    const capabilities = { tools: {}, resources: {} };
    const server = new Server(SERVER, { capabilities, instructions: INSTRUCTIONS, jsonSchemaValidator });
    const reader = { host: headerOf(exchange, "host") ?? "", address: exchange.address };
    offerDocs(server, (path) => runtime().portalPage(path, reader));
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
    server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: args = {} } }) => {
      if (!isToolId(name)) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${name.slice(0, 80)}.`);
      const target = targetOf(name, args);
      if (target === undefined)
        throw new McpError(ErrorCode.InvalidParams, "Arguments must be strings, numbers, or flat lists of them.");
      // The route would refuse it before the key is checked, at no cost. Here it costs as much as any other message.
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
      const reply = preflight(headers, origin, METHODS);
      if (origin !== null) reply.headers["access-control-allow-headers"] = REQUEST_HEADERS;
      return reply;
    }
    if (method !== "POST" || request === null) {
      headers.allow = [...METHODS, "OPTIONS"].join(", ");
      const detail = "This is an MCP endpoint: POST one JSON-RPC message. There are no sessions and no stream to GET.";
      throw new Fault("method_not_allowed", { detail, allowed: METHODS });
    }
    if (running.draining()) throw new Fault("service_unavailable", { detail: "Shutting down.", retry_after: RETRY_AFTER_S });
    const principal = await verifyKey(running.access, exchange);
    exchange.principal = principal;
    if (!originAllowed(principal, origin)) hideFromOrigin(headers);
    const text = await readBody(request);
    const read = parse(text);
    // A message too long for any tool is charged before it is parsed.
    if (callsTool(read?.message) && text.length <= CALL_MAX_CHARACTERS) {
      const spoken = await speak(read?.message, request, exchange);
      if (spoken.called) return spoken.answer;
      // No route ran (an unsupported Accept header, no id): charge it like any other message.
      await admitMessage(principal, exchange, running);
      return countedMessage({ ...spoken.answer, headers: { ...spoken.answer.headers, ...headers } }, exchange);
    }
    await admitMessage(principal, exchange, running);
    if (read === undefined)
      return countedMessage(notRead(ErrorCode.ParseError, "The body is not valid JSON.", headers), exchange);
    if (Array.isArray(read.message))
      return countedMessage(
        notRead(ErrorCode.InvalidRequest, "Send one message per request; batches are not supported.", headers),
        exchange,
      );
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
      const failed = failureOf(error, exchange.headers, docsBaseOf(exchange));
      const reply = counted(failed, exchange, OPERATION, ERRORS[faultOf(error).id].code);
      return exchange.method === "HEAD" ? withoutBody(reply) : reply;
    }
  });
}
