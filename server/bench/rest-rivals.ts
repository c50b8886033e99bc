import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { LRUCache } from "lru-cache";
import pg from "pg";
import pino from "pino";
import { z } from "zod";
import { success } from "#lib/contract/envelope";
import { klines } from "#lib/operations/klines/declaration";
import { latestQuotes } from "#lib/operations/latestQuotes/declaration";
import { marketStatus } from "#lib/operations/marketStatus/declaration";
import { importTool } from "#lib/testing/tools";

/**
 * A rival of the REST benches. Argument 1 says which: `equal` is Fastify with the duties of the service by its own plugins, `bare` is
 * Fastify that answers from the same objects and checks nothing, `http` is node:http that sends answers made before. Argument 2 is a file
 * with what the service answered.
 */

/** What the service answered to a call. */
export interface Answered {
  /** With its query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes in Base64. */
  readonly body: string;
}

/** All that rivals know of the service. */
export interface Known {
  readonly answers: readonly Answered[];
  /** Where keys are stored. */
  readonly databaseUrl: string;
}

interface Account {
  readonly account_id: string;
  readonly venue: string;
}
interface Request {
  readonly url: string;
  readonly method: string;
  readonly ip: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly query: Readonly<Record<string, string>>;
  readonly log: { info(line: object): void };
  account: string | undefined;
}
interface Reply {
  readonly statusCode: number;
  readonly elapsedTime: number;
  code(status: number): Reply;
  header(name: string, value: string): Reply;
  send(body?: unknown): Reply;
}
type Hook = (request: Request, reply: Reply) => Promise<unknown>;
interface App {
  register(plugin: unknown, options?: object): Promise<void>;
  register(plugin: (app: App) => Promise<void>): Promise<void>;
  decorateRequest(name: string, value: unknown): void;
  addHook(name: "onRequest" | "onResponse", hook: Hook): void;
  get(path: string, options: { readonly schema: object }, handler: (request: Request, reply: Reply) => unknown): void;
  createRateLimit(options: object): (request: Request) => Promise<{ readonly isExceeded?: boolean }>;
  listen(options: { readonly port: number; readonly host: string }): Promise<string>;
}
/** The package, as far as it is used. */
interface Fastify {
  default(options: object): App;
  readonly LogController: new (options: object) => object;
}

const TICKERS = "^[A-Z]{3,20}(,[A-Z]{3,20})*$";
const LOG_BUFFER_BYTES = 4_096;
const KEYS_KEPT = { max: 10_000, ttl: 60_000 };
/** No load reaches it: what is measured is the counting. */
const NEVER_REACHED = { max: 1e9, timeWindow: "1 minute", cache: 10_000 };
const OK = 200;
const UNAUTHORIZED = 401;
const NOT_FOUND = 404;
const NOT_MODIFIED = 304;
const ACCOUNT_OF = "SELECT account_id::text, venue FROM api_key WHERE hash = $1 AND (expires_at IS NULL OR expires_at > now())";

const [kind = "", file = ""] = process.argv.slice(2);
const { answers, databaseUrl }: Known = JSON.parse(readFileSync(file, "utf8"));
const bytesOf = ({ body }: Answered) => Buffer.from(body, "base64");

/** The first answer to an operation, or to anything, that has this status. @throws Error when there is none */
function answeredTo(status: number, path = ""): Answered {
  const found = answers.find((answer) => answer.status === status && answer.path.startsWith(path));
  if (found === undefined) throw new Error(`${path} was not answered with ${status}`);
  return found;
}

/** A schema of answers as the serializer is fastest with it: what a text looks like was checked when it was made. */
function lean(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lean);
  if (typeof schema !== "object" || schema === null) return schema;
  const { pattern, format, anyOf, ...rest } = schema as Record<string, unknown>;
  const [one] = Array.isArray(anyOf) ? anyOf : [];
  if (one?.type === "string") return { type: ["string", "null"] };
  return Object.fromEntries(
    Object.entries({ ...rest, ...(anyOf !== undefined && { anyOf }) }).map(([name, of]) => [name, lean(of)]),
  );
}
const answerOf = (data: z.ZodType) => ({ 200: lean(z.toJSONSchema(success(data), { target: "draft-7", io: "output" })) });

/** The routes of the cases, which answer from memory. */
function addLists(app: App): void {
  for (const { path, data } of [latestQuotes, marketStatus]) {
    const body = JSON.parse(bytesOf(answeredTo(OK, path)).toString());
    const items = new Map<string, unknown>(body.data.items.map((item: { ticker: string }) => [item.ticker, item]));
    app.get(
      path,
      {
        schema: {
          querystring: { type: "object", required: ["tickers"], properties: { tickers: { type: "string", pattern: TICKERS } } },
          response: answerOf(data),
        },
      },
      ({ query: { tickers = "" } }) => ({
        code: 0,
        message: "success",
        data: { items: tickers.split(",").map((ticker) => items.get(ticker)) },
      }),
    );
  }
}

/** Klines are an answer kept as bytes with its ETag; `unchanged` says whether the client has it. */
function addKlines(app: App, unchanged: (request: Request, etag: string) => boolean): void {
  const answered = answeredTo(OK, klines.path);
  const bytes = bytesOf(answered);
  const { etag = "", "content-type": type = "" } = answered.headers;
  const text = { type: "string" };
  const number = { type: "integer", minimum: 0 };
  const properties = { ticker: text, timeframe: { enum: ["M1", "H1"] }, from: number, to: number, limit: number };
  app.get(
    klines.path,
    { schema: { querystring: { type: "object", required: ["ticker", "timeframe"], properties } } },
    (request, reply) => {
      reply.header("etag", etag);
      return unchanged(request, etag) ? reply.code(NOT_MODIFIED).send() : reply.header("content-type", type).send(bytes);
    },
  );
}

async function bare(): Promise<string> {
  const { default: fastify } = await importTool<Fastify>("fastify", "bench");
  const app = fastify({ logger: false });
  addLists(app);
  addKlines(app, ({ headers }, etag) => headers["if-none-match"] === etag);
  return app.listen({ port: 0, host: "127.0.0.1" });
}

/** Keys are looked up by hash and kept, also that there is none. */
function createKeys(): (key: string) => Account | null | Promise<Account | null> {
  const pool = new pg.Pool({ connectionString: databaseUrl });
  const kept = new LRUCache<string, { readonly account: Account | null }>(KEYS_KEPT);
  return (key) => {
    const digest = hash("sha256", key, "hex");
    const found = kept.get(digest);
    if (found !== undefined) return found.account;
    return pool.query<Account>(ACCOUNT_OF, [Buffer.from(digest, "hex")]).then(({ rows: [account = null] }) => {
      kept.set(digest, { account });
      return account;
    });
  };
}

async function equal(): Promise<string> {
  const tool = async (name: string) => (await importTool<{ default: unknown }>(name, "bench")).default;
  const destination = pino.destination({ dest: "/dev/null", sync: false, minLength: LOG_BUFFER_BYTES });
  const { default: fastify, LogController } = await importTool<Fastify>("fastify", "bench");
  const app = fastify({
    loggerInstance: pino(destination),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: "127.0.0.1",
  });
  const accountOf = createKeys();
  app.decorateRequest("account", undefined);
  await app.register(await tool("@fastify/cors"));
  await app.register(await tool("@fastify/rate-limit"), {
    ...NEVER_REACHED,
    keyGenerator: ({ account, ip }: Request) => account ?? ip,
  });
  const refused = bytesOf(answeredTo(UNAUTHORIZED));
  const countRefused = app.createRateLimit({ ...NEVER_REACHED, keyGenerator: ({ ip }: Request) => ip });
  app.addHook("onRequest", async (request, reply) => {
    const account = await accountOf(request.headers.authorization?.slice("Bearer ".length) ?? "");
    request.account = account?.account_id;
    if (account !== null) return;
    await countRefused(request);
    reply.code(UNAUTHORIZED).header("www-authenticate", "Bearer").header("content-type", "application/json; charset=utf-8");
    return reply.send(refused);
  });
  app.addHook("onResponse", async (request, reply) => {
    const { method, url, account, log } = request;
    log.info({ method, url, account, status: reply.statusCode, ms: reply.elapsedTime });
  });
  addLists(app);
  const etag = await tool("@fastify/etag");
  await app.register(async (scope: App) => {
    await scope.register(etag);
    addKlines(scope, () => false);
  });
  return app.listen({ port: 0, host: "127.0.0.1" });
}

function floor(): Promise<string> {
  const found = answers.filter(({ status }) => status === OK);
  const made = new Map(
    found.map((answer) => {
      const bytes = bytesOf(answer);
      const lines = Object.entries({ ...answer.headers, "content-length": String(bytes.byteLength) }).flat();
      return [answer.path, { lines, bytes }];
    }),
  );
  const server = createServer((request, response) => {
    const { lines, bytes } = made.get(request.url ?? "") ?? {};
    response.writeHead(lines === undefined ? NOT_FOUND : OK, lines);
    response.end(bytes);
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}

const rivals = new Map([
  ["equal", equal],
  ["bare", bare],
  ["http", floor],
]);
const listening = await rivals.get(kind)?.();
process.stdout.write(`listening on ${listening}\n`);
process.on("SIGTERM", () => process.exit(0));
