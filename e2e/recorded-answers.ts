import type { ErrorId } from "#lib/contract/errors";
import { INGEST_MAX_BYTES, KLINES_MAX_LIMIT_ROWS, TICKERS_PER_REQUEST_MAX_COUNT, URI_MAX_BYTES } from "#lib/contract/limits";
import { exampleParameters, type Operation, splitAddress } from "#lib/contract/operation";
import type { ServerMessage } from "#lib/contract/stream";
import { type OperationId, operations } from "#lib/operations/declarations";
import { linkOperation } from "#lib/operations/link/declaration";
import { type Answer, stranger } from "./client";
import { keyHolder, makeKey } from "./commands";
import { createFeeder } from "./feeder";
import type { Product } from "./server";
import { openSocket, type Received, type StreamClient } from "./socket";

/** The address in every sample of the docs; pages put the reader's own in its place. */
export const SAMPLE_BASE = "http://localhost:3000";

/** A call and its answer, without headers that vary from call to call. */
export interface RecordedAnswer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Real answers of the sandbox, as the documentation shows them. */
export interface RecordedAnswers {
  readonly operations: Readonly<Record<OperationId, RecordedAnswer>>;
  /** Errors that a caller can cause; the others show the contract's own example. */
  readonly errors: Readonly<Partial<Record<ErrorId, RecordedAnswer>>>;
  /** Messages of one connection, by type; an ack by its method, as `ack.subscribe`. */
  readonly messages: Readonly<Record<string, unknown>>;
}

const HEADERS = ["ratelimit-policy", "ratelimit", "etag", "cache-control", "retry-after", "www-authenticate", "allow"];
/** More calls than the burst of the demo plan. */
const CALLS_PAST_BURST = 60;

function recorded(method: string, path: string, { status, headers, text }: Answer): RecordedAnswer {
  const shown = HEADERS.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? ""]] : []));
  return { method, path, status, headers: Object.fromEntries(shown), body: JSON.parse(text) };
}

/** The path of an operation with its example parameters. */
export function examplePath(id: OperationId): string {
  const { path, query: pairs } = splitAddress(operations[id], exampleParameters(operations[id]));
  const text = pairs.map(([name, example]) => `${name}=${example}`).join("&");
  return text === "" ? path : `${path}?${text}`;
}

/** The body of a push: examples are too old to be accepted. */
const PUSHED: Readonly<Partial<Record<OperationId, (feeder: ReturnType<typeof createFeeder>) => string>>> = {
  ingestTicks(feeder) {
    const ticks = feeder.ticks("EURUSD", [
      [108_540, 108_548],
      [108_543, 108_551],
    ]);
    return linesOf([...ticks, ticks[1] ?? {}]);
  },
  ingestKlines() {
    const minute = Math.floor(Date.now() / 60_000) * 60;
    const prices = { open: 1.0854, high: 1.08551, low: 1.08538, close: 1.08548, tick_volume: 42, spread: 0.00008 };
    return linesOf([minute - 240, minute - 180, minute].map((time) => ({ ticker: "EURUSD", time, ...prices })));
  },
};

const linesOf = (items: readonly object[]) => items.map((item) => JSON.stringify(item)).join("\n");

/** Calls each operation with its examples: with the demo key where every key may, with one of a feeder for what feeders call. */
async function recordOperations(product: Product): Promise<RecordedAnswers["operations"]> {
  const reader = keyHolder(product, await makeKey(product, { venue: "sandbox", scopes: "market:read,market:stream" }));
  const pusher = keyHolder(product, await makeKey(product, { venue: "live", scopes: "market:ingest" }));
  const demo = stranger(product.baseUrl, "198.51.100.8", product.demoKey);
  const feeder = createFeeder(pusher);
  const found: Partial<Record<OperationId, RecordedAnswer>> = {};
  for (const id of Object.keys(operations) as OperationId[]) {
    const { method, scope, file, body: sent } = operations[id] as unknown as Operation;
    const path = examplePath(id);
    const caller = scope === "any" ? demo : scope === "market:ingest" ? pusher : reader;
    if (file === undefined) {
      const body = sent && (PUSHED[id]?.(feeder) ?? sent.example);
      found[id] = recorded(method, path, await caller.call(path, { method, ...(body !== undefined && { body }) }));
    } else {
      const { status, headers } = await caller.call(path, { method: "HEAD" });
      found[id] = recorded("HEAD", path, { status, headers, text: "null" } as Answer);
    }
  }
  return found as RecordedAnswers["operations"];
}

const MARKET = "/api/v1/market";
const ONE_KLINE = `${MARKET}/klines?ticker=EURUSD`;

/** A call for each error that a single call can cause. */
const MISTAKES: Readonly<Partial<Record<ErrorId, string>>> = {
  invalid_parameter: `${ONE_KLINE}&timeframe=H1&from=1767225600000`,
  missing_parameter: ONE_KLINE,
  invalid_ticker: `${MARKET}/quotes/latest?tickers=EUR/USD`,
  unsupported_timeframe: `${ONE_KLINE}&timeframe=h1`,
  invalid_range: `${ONE_KLINE}&timeframe=H1&from=1767312000&to=1767225600`,
  limit_out_of_range: `${ONE_KLINE}&timeframe=H1&limit=${KLINES_MAX_LIMIT_ROWS + 1}`,
  too_many_tickers: `${MARKET}/quotes/latest?tickers=${Array.from({ length: TICKERS_PER_REQUEST_MAX_COUNT + 1 }, (_, n) => `AAA${n}`)}`,
  unknown_ticker: `${MARKET}/quotes/latest?tickers=EURUSD,EURXXX`,
  unknown_file: `${operations.files.path}/klines-EURUSD-2020-01`,
  invalid_link: `${linkOperation.path}?token=${linkOperation.query.token.example}`,
  not_found: `${MARKET}/candles`,
  uri_too_long: `${MARKET}/instruments?${"x".repeat(URI_MAX_BYTES)}`,
  upgrade_required: `${MARKET}/stream`,
  market_data_not_ready: `${MARKET}/quotes/latest?tickers=TESTNOTREADY`,
};
/** Longest path that is shown in full. */
const PATH_SHOWN_CHARACTERS = 120;

async function recordErrors(product: Product): Promise<RecordedAnswers["errors"]> {
  const caller = stranger(product.baseUrl, "198.51.100.7", product.demoKey);
  const bound = await makeKey(product, { venue: "sandbox", scopes: "market:read", origins: "https://app.example.com" });
  const walled = await makeKey(product, { venue: "sandbox", scopes: "market:read", addresses: "192.0.2.0/24" });
  const early = await makeKey(product, { venue: "sandbox", scopes: "market:read", notBefore: "2100-01-01T00:00:00Z" });
  const feeding = await makeKey(product, { venue: "live", scopes: "market:ingest" });
  const found: Partial<Record<ErrorId, RecordedAnswer>> = {};
  const note = (method: string, path: string, answer: Answer) => {
    const shown = path.length > PATH_SHOWN_CHARACTERS ? `${path.slice(0, PATH_SHOWN_CHARACTERS)}…` : path;
    found[answer.message as ErrorId] = recorded(method, shown, answer);
  };
  for (const [id, path] of Object.entries(MISTAKES)) {
    const answer = await caller.call(path);
    if (answer.message !== id) throw new Error(`${path} should have answered ${id}, but answered ${answer.text}`);
    note("GET", path, answer);
  }
  const { path: instruments } = operations.instruments;
  const { path: ingest } = operations.ingestTicks;
  note("GET", instruments, await caller.call(instruments, { key: null }));
  note("DELETE", instruments, await caller.call(instruments, { method: "DELETE" }));
  note("POST", ingest, await caller.call(ingest, { method: "POST", body: "" }));
  const headers = { origin: "https://elsewhere.example.com" };
  note("GET", instruments, await caller.call(instruments, { key: bound.text, headers }));
  note("GET", instruments, await caller.call(instruments, { key: walled.text }));
  note("GET", instruments, await caller.call(instruments, { key: early.text }));
  const file = examplePath("file");
  note("GET", file, await caller.call(file, { headers: { range: "bytes=900000000-" } }));
  const body = "\n".repeat(INGEST_MAX_BYTES + 1);
  note("POST", ingest, await caller.call(ingest, { method: "POST", key: feeding.text, body }));
  for (let calls = 0; calls < CALLS_PAST_BURST && found.rate_limited === undefined; calls += 1) {
    const answer = await caller.call(instruments);
    if (answer.code !== 0) note("GET", instruments, answer);
  }
  return found;
}

/** TESTFLIP opens and closes every two minutes, and heartbeats arrive within the wait for one message. */
const WAITS_MAX_COUNT = 20;

/** Waits for rare messages. */
async function patiently<Type extends ServerMessage["type"]>(client: StreamClient, type: Type): Promise<Received<Type>> {
  for (let waits = 1; waits < WAITS_MAX_COUNT; waits += 1) {
    const message = await client.next(type).catch(() => undefined);
    if (message !== undefined) return message;
  }
  return client.next(type);
}

/** Every message of a connection, whether it is an answer or not. */
async function converse(client: StreamClient): Promise<Record<string, unknown>> {
  const bare = ({ text }: { text: string }): unknown => JSON.parse(text);
  const welcome = await client.next("welcome");
  const quote = { stream: "quote", tickers: ["EURUSD"] };
  const subscribed = await client.ask("subscribe", { stream: "quote", tickers: ["EURUSD", "TESTCLOSED", "EUR/USD"] });
  const first = await client.next("quote");
  await client.ask("subscribe", { stream: "snapshot", tickers: ["EURUSD"] });
  await client.ask("subscribe", { stream: "kline", tickers: ["EURUSD"], timeframe: "M1" });
  const snapshot = await client.next("snapshot");
  const kline = await client.next("kline");
  const error = await client.ask("subscribe", { stream: "kline", tickers: ["EURUSD"] });
  const list = await client.ask("list");
  const ping = await client.ask("ping");
  const unsubscribed = await client.ask("unsubscribe", quote);
  await client.ask("subscribe", { stream: "quote", tickers: ["TESTFLIP"] });
  const heartbeat = await patiently(client, "heartbeat");
  const status = await patiently(client, "market_status");
  const acks = { subscribe: subscribed, list, ping, unsubscribe: unsubscribed };
  return {
    ...Object.fromEntries(Object.entries(acks).map(([method, ack]) => [`ack.${method}`, bare(ack)])),
    ...Object.fromEntries([welcome, first, snapshot, kline, error, heartbeat, status].map((one) => [one.type, bare(one)])),
  };
}

/**
 * Records everything that the documentation shows, from a product with the sandbox and a live venue that accepts pushed ticks.
 * Stops the product: the last message of a connection announces its end.
 * @throws Error naming what did not answer according to the contract
 */
export async function recordAnswers(product: Product): Promise<RecordedAnswers> {
  const recordedOperations = await recordOperations(product);
  const errors = await recordErrors(product);
  const key = await makeKey(product, { venue: "sandbox", scopes: "market:stream" });
  const client = await openSocket(product.baseUrl, { key: key.text });
  const messages = await converse(client);
  await product.stop();
  const ended = await client.next("server_shutdown");
  const answers = { operations: recordedOperations, errors, messages: { ...messages, server_shutdown: JSON.parse(ended.text) } };
  return JSON.parse(JSON.stringify(answers).replaceAll(product.baseUrl, SAMPLE_BASE)) as RecordedAnswers;
}
