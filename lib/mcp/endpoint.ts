import {
  type CallToolResult,
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/server/validators/ajv";
import { challengeOf } from "#lib/access/oauth";
import { originAllowed, type Principal, requireAccess } from "#lib/access/principal";
import { slugOf } from "#lib/brand";
import type { Success } from "#lib/contract/envelope";
import { URI_MAX_BYTES } from "#lib/contract/limits";
import { Fault, isFault } from "#lib/fault";
import { admitOrigin, hideFromOrigin, preflight } from "#lib/http/cors";
import { docsBaseOf, type Exchange, headerOf, openBareExchange, requireShortTarget } from "#lib/http/exchange";
import { takeUnits, verifyKey } from "#lib/http/guards";
import { readBody } from "#lib/http/input";
import { allowed } from "#lib/http/methods";
import { type Answer, type AnswerHeaders, failureOf, faultOf, toResponse, withoutBody } from "#lib/http/respond";
import { counted, handlerOf, type RouteHandler } from "#lib/http/route";
import type { OperationId } from "#lib/operations/declarations";
import { handlers } from "#lib/operations/handlers";
import { type Runtime, runtime } from "#lib/runtime";
import { MINUTE_MS } from "#lib/units";
import { DOCS_TOOLS, offerDocs, type PageReader } from "./docs";
import {
  listedOwn,
  listTools,
  type OwnTool,
  requireKnownArguments,
  resultOf,
  type ToolOperation,
  targetOf,
  toolNamed,
} from "./tools";

/** Operation name under which messages that call no tool are counted. */
const OPERATION = "mcp";
const VERSION = "1.0.0";
const INSTRUCTIONS = [
  "Quotes, snapshots, klines, instruments and market hours for forex and metals. All tools are read-only.",
  "Tickers are compact: EURUSD, not EUR/USD; `instruments` lists them. Klines are a table of rows with from <= time < to; both take a UTC day, ISO 8601 or Unix seconds.",
  "The documentation is offered as resources in Markdown, and by `searchDocs` and `readDocs`; it needs no key.",
  "An error has `message`, a stable identifier, and `data.detail`. After rate_limited, wait `data.retry_after` seconds.",
].join(" ");
const RETRY_AFTER_S = 1;
/** The longest query as arguments, plus the same length for the rest of the message. */
const CALL_MAX_CHARACTERS = 2 * URI_MAX_BYTES;
const METHODS = ["POST"];
/** Request headers that the MCP client of a page sends, of any revision. */
const REQUEST_HEADERS = ["last-event-id", "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id"];
/** How long clients may keep lists, which are the same for everybody until the next release. */
const LISTS_KEPT = { ttlMs: 5 * MINUTE_MS, cacheScope: "public" } as const;
const CACHE_HINTS = {
  "server/discover": LISTS_KEPT,
  "tools/list": LISTS_KEPT,
  "resources/list": LISTS_KEPT,
  "resources/read": LISTS_KEPT,
};
/** Response headers of a tool's route that are copied to the MCP response. */
const PASSED_ON = /^(ratelimit|x-ratelimit|retry-after|x-ignored-params)/;

/** Runs a tool call as a request of its operation: the same guards, cost, usage count and request log as over REST. */
async function callTool(tool: ToolOperation, target: string, outer: Exchange): Promise<CallToolResult> {
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
  const answer = await handlers[tool.id as OperationId].answer(openBareExchange("GET", target, { address, headers }, null));
  const { status, headers: passed } = answer;
  for (const name in passed) if (PASSED_ON.test(name)) outer.headers[name] = passed[name] ?? "";
  const text = await toResponse(answer).text();
  if (status !== 200) return { content: [{ type: "text", text }], isError: true };
  const { data } = JSON.parse(text) as Success<Record<string, unknown>>;
  return resultOf(tool, data);
}

/** A refusal as the result of a call, which the agent reads: the envelope that REST answers with. */
function refusedCall(error: unknown, exchange: Exchange): CallToolResult {
  const { body } = failureOf(error, { ...exchange.headers }, docsBaseOf(exchange));
  return { content: [{ type: "text", text: String(body) }], isError: true };
}

/** Answers a call of a tool about the service. @throws Fault when its argument is not one text of the length that it takes */
async function callOwn({ name, argument, answer }: OwnTool<PageReader>, args: object, read: PageReader): Promise<CallToolResult> {
  const [given, ...others] = Object.entries(args);
  const [parameter, text] = given ?? [];
  const fits = typeof text === "string" && text !== "" && text.length <= argument.maxCharacters;
  if (parameter !== argument.name || !fits || others.length > 0) {
    const detail = `${name} takes one argument, \`${argument.name}\`: a text of at most ${argument.maxCharacters} characters.`;
    throw new Fault("invalid_parameter", { detail, parameter: argument.name });
  }
  const found = await answer(text, read);
  if (found === undefined) throw new Fault("not_found", { detail: "There is no such page. Find one with searchDocs." });
  return { content: [{ type: "text", text: found }] };
}

/** What is wrong with a call that no route would say: an unknown argument, or more than a URL holds. */
function refusalOf(tool: ToolOperation, args: object, target: string): unknown {
  try {
    requireKnownArguments(tool, args);
    requireShortTarget({ path: target, queryText: "" });
    return undefined;
  } catch (error) {
    return error;
  }
}

/** One message and its answer. */
interface Turn {
  readonly exchange: Exchange;
  readonly read: PageReader;
  /** `route`: a route ran, which has also counted the call. */
  charged: "route" | "message" | undefined;
  /** Ends what the SDK holds for it. */
  end: () => Promise<void>;
}

/** Charges a message of a caller with a key, once. @throws Fault quota_exceeded, rate_limited, or what the key may not */
async function charge(turn: Turn): Promise<void> {
  const { principal } = turn.exchange;
  if (principal === undefined || turn.charged !== undefined) return;
  turn.charged = "message";
  await admitMessage(principal, turn.exchange, runtime());
}

/** The JSON-RPC response to an invalid message, counted. */
function notRead(code: ProtocolErrorCode, message: string, exchange: Exchange): Answer {
  const body = JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id: null });
  const headers = { ...exchange.headers, "cache-control": "no-store" };
  return counted({ status: 400, headers, body }, exchange, OPERATION, new Fault("invalid_parameter", { detail: message }));
}

function countedMessage(answer: Answer, exchange: Exchange): Answer {
  if (answer.status < 400) return counted(answer, exchange, OPERATION, null);
  const refusal = new Fault("invalid_parameter", { detail: "The message is not a valid MCP request." });
  return counted(answer, exchange, OPERATION, refusal);
}

function callsTool(message: unknown): boolean {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } | null };
  return method === "tools/call" && toolNamed(params?.name) !== undefined;
}

/** The guards of a message that calls no market tool. It costs one unit. */
async function admitMessage(principal: Principal, exchange: Exchange, { access, usage }: Runtime): Promise<void> {
  await takeUnits(1, principal, exchange, { access, months: usage.months });
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
 * answer any message. A wrong key gets 401 and the envelope, as does a market tool without one; a refused tool call reports the reason in its result.
 */
export function createMcp(): RouteHandler {
  const tools = [...listTools(), ...DOCS_TOOLS.map(listedOwn)];
  const jsonSchemaValidator = new AjvJsonSchemaValidator();

  /** Answers a call: of a market tool by its route, which charges it, of any other as a message. A refusal is a result too. */
  async function call(name: string, args: Record<string, unknown>, turn: Turn): Promise<CallToolResult> {
    const tool = toolNamed(name);
    const target = tool && targetOf(tool, args);
    try {
      const refusal = tool && target !== undefined ? refusalOf(tool, args, target) : undefined;
      if (tool !== undefined && target !== undefined && refusal === undefined) {
        turn.charged = "route";
        return await callTool(tool, target, turn.exchange);
      }
      // The route would refuse it before the key is checked, at no cost. Here it costs as much as any other message.
      await charge(turn);
      if (refusal !== undefined) throw refusal;
      const own = DOCS_TOOLS.find((one) => one.name === name);
      if (own !== undefined) return await callOwn(own, args, turn.read);
    } catch (error) {
      if (!isFault(error)) throw error;
      return refusedCall(error, turn.exchange);
    }
    const problem = tool
      ? "Arguments must be strings, numbers, or flat lists of them."
      : `There is no tool ${name.slice(0, 80)}.`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, problem);
  }

  /** A server of the SDK is bound to one exchange, so each message gets its own. */
  function serverOf(turn: Turn): Server {
    const { brand } = runtime();
    const server = new Server(
      { name: slugOf(brand), title: brand.name, version: VERSION },
      { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS, jsonSchemaValidator, cacheHints: CACHE_HINTS },
    );
    offerDocs(server, turn.read);
    server.setRequestHandler("tools/list", () => ({ tools }));
    server.setRequestHandler("tools/call", ({ params: { name, arguments: args = {} } }) => call(name, args, turn));
    return server;
  }

  /** The answer in the revision that the message is of: 2026-07-28 says so in each message, the earlier ones do not. */
  async function respond(message: unknown, request: Request, turn: Turn): Promise<Response> {
    if (!(await isLegacyRequest(request, message))) {
      const handler = createMcpHandler(() => serverOf(turn), { legacy: "reject" });
      turn.end = handler.close;
      return handler.fetch(request, { parsedBody: message });
    }
    const server = serverOf(turn);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    turn.end = () => server.close();
    return transport.handleRequest(request, { parsedBody: message });
  }

  async function speak(message: unknown, request: Request, turn: Turn): Promise<Answer> {
    try {
      const response = await respond(message, request, turn);
      const body = response.body === null ? null : await response.text();
      const headers: AnswerHeaders = { ...turn.exchange.headers, "cache-control": "no-store" };
      const type = response.headers.get("content-type");
      if (type !== null) headers["content-type"] = type;
      return { status: response.status, headers, body };
    } finally {
      await turn.end();
    }
  }

  async function answer(exchange: Exchange, running: Runtime): Promise<Answer> {
    const { method, headers, origin, request } = exchange;
    if (method === "OPTIONS") return preflight(headers, origin, METHODS, REQUEST_HEADERS);
    if (method !== "POST" || request === null) {
      headers.allow = allowed(METHODS).join(", ");
      const detail = "This is an MCP endpoint: POST one JSON-RPC message. There are no sessions and no stream to GET.";
      throw new Fault("method_not_allowed", { detail, allowed: METHODS });
    }
    if (running.draining()) throw new Fault("service_unavailable", { detail: "Shutting down.", retry_after: RETRY_AFTER_S });
    // Without a key, only what says nothing of the market is answered. The server has counted such a message by its IP address.
    const stranger = headerOf(exchange, "authorization") === null;
    const principal = stranger ? undefined : await verifyKey(running.access, exchange);
    exchange.principal = principal;
    if (principal !== undefined && !originAllowed(principal, origin)) hideFromOrigin(headers);
    const text = await readBody(request);
    const read = parse(text);
    const isCall = callsTool(read?.message);
    if (stranger && isCall) await verifyKey(running.access, exchange);
    const reader = { host: headerOf(exchange, "host") ?? "", address: exchange.address };
    const pages: PageReader = (path) => running.portalPage(path, reader);
    const turn: Turn = { exchange, read: pages, charged: undefined, end: async () => {} };
    // A message too long for any tool is charged before it is parsed.
    if (!isCall || text.length > CALL_MAX_CHARACTERS) await charge(turn);
    if (read === undefined) return notRead(ProtocolErrorCode.ParseError, "The body is not valid JSON.", exchange);
    if (Array.isArray(read.message))
      return notRead(ProtocolErrorCode.InvalidRequest, "Send one message per request; batches are not supported.", exchange);
    const spoken = await speak(read.message, request, turn);
    if (turn.charged === "route") return spoken;
    // No tool ran (an unsupported Accept header, no id): it costs what any other message costs.
    await charge(turn);
    return countedMessage({ ...spoken, headers: { ...headers, ...spoken.headers } }, exchange);
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
      if (failed.status === 401 && running?.env.PORTAL === "on")
        failed.headers["www-authenticate"] = challengeOf(docsBaseOf(exchange), headerOf(exchange, "authorization") !== null);
      const reply = counted(failed, exchange, OPERATION, faultOf(error));
      return exchange.method === "HEAD" ? withoutBody(reply) : reply;
    }
  });
}
