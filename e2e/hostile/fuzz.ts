import { Agent, request } from "node:http";

const CONNECTIONS_COUNT = 8;
const METHODS = ["GET", "GET", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];
const PATHS = [
  ..."klines instruments quotes/latest snapshots/latest status stream stream/tickets nowhere"
    .split(" ")
    .map((name) => `/api/v1/market/${name}`),
  "/api/v1/ingest/ticks",
  "/api/v1/ingest/klines",
  "/api/v1/ingest/state",
  "/api/v1",
  "/api/health",
  "/api/ready",
  "/api/nowhere",
  "/mcp",
  "/openapi.json",
  "/status.json",
  "/socket.io/",
];
/** Rendered by Next, which takes a hundred times as long: one request of so many asks for one. */
const PAGES = ["/api/portal/account", "/api/portal/keys", "/api/auth/csrf", "/api/auth/callback/nowhere", "/docs.md"];
const PAGE_EVERY_COUNT = 40;
const NAMES = [
  "ticker",
  "tickers",
  "timeframe",
  "from",
  "to",
  "limit",
  "cursor",
  "order",
  "EIO",
  "transport",
  "sid",
  "nonsense",
  "key",
];
const VALUES = [
  "EURUSD",
  "XAUUSD,EURUSD",
  "",
  "M1",
  "MN1",
  "0",
  "-1",
  "1e9",
  "9007199254740993",
  "2026-01-01T00:00:00Z",
  "null",
  "[]",
  "%00",
  "%ff",
  "'",
  "<script>",
  "\u202e",
  "a".repeat(300),
  "4",
  "polling",
  "websocket",
  ",,,",
  "EURUSD".repeat(40),
];
const BODIES = [
  "",
  "{}",
  "[]",
  "null",
  '{"ticker":"EURUSD"}',
  "{",
  "\u0000",
  "x".repeat(2_000),
  '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
];
const TYPES = ["application/json", "text/plain", "application/x-ndjson", "application/x-www-form-urlencoded", "nonsense/;"];

/** An answer that is worth a look. */
interface FuzzAnswer {
  readonly asked: string;
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** Numbers of [0, 1) that are the same for a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface FuzzOptions {
  baseUrl: string;
  seed: number;
  count: number;
  /** Some requests show this key. */
  key: string;
  onAnswer: (answer: FuzzAnswer) => void;
}

/** Sends requests that are made at random from a seed, some valid, most not; resolves when each was answered. */
export async function fuzz({ baseUrl, seed, count, key, onAnswer }: FuzzOptions): Promise<void> {
  const random = randomOf(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const { hostname, port } = new URL(baseUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_COUNT });
  const safe = (text: string) => encodeURI(text).replaceAll("%25", "%");

  function next(index: number) {
    const method = pick(METHODS);
    const path = index % PAGE_EVERY_COUNT === 0 ? pick(PAGES) : pick(PATHS);
    const fields = Array.from({ length: Math.floor(random() * 4) }, () => `${pick(NAMES)}=${safe(pick(VALUES))}`);
    const headers: Record<string, string> = { "x-forwarded-for": `203.0.${index >> 8}.${index & 255}` };
    if (random() < 0.5) headers.authorization = pick([`Bearer ${key}`, "Bearer x", "Basic eDp5", "Bearer", ""]);
    if (random() < 0.2) headers.origin = pick(["https://a.example", "null", "x"]);
    if (random() < 0.2) headers["if-none-match"] = pick(["*", '"x"', "W/"]);
    if (random() < 0.2) headers["x-request-id"] = pick(["mine", "x".repeat(500), "\u00e9"]);
    const body = method === "GET" || method === "HEAD" || method === "TRACE" ? "" : pick(BODIES);
    if (body !== "") {
      headers["content-type"] = pick(TYPES);
      // Node sends the body of a DELETE without its length.
      headers["content-length"] = `${Buffer.byteLength(body)}`;
    }
    return { method, path: fields.length === 0 ? path : `${path}?${fields.join("&")}`, headers, body };
  }

  function send(index: number): Promise<void> {
    const { method, path, headers, body } = next(index);
    return new Promise((resolve, reject) => {
      const sent = request({ hostname, port, method, path, headers, agent }, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
        });
        answer.on("end", () => {
          const asked = `${method} ${path} ${JSON.stringify(headers)} ${body.slice(0, 40)}`;
          onAnswer({ asked, status: answer.statusCode ?? 0, type: answer.headers["content-type"] ?? "", body: text });
          resolve();
        });
      });
      sent.on("error", (error) => reject(new Error(`${method} ${path} ${JSON.stringify(headers)}: ${error.message}`)));
      sent.end(body);
    });
  }

  let index = 0;
  const work = async () => {
    while (index < count) {
      index += 1;
      await send(index);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS_COUNT }, work));
  agent.destroy();
}
