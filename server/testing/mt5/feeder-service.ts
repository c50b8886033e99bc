import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Kline } from "#lib/domain/kline";
import type { Tick } from "#lib/domain/tick";
import { operations } from "#lib/operations/declarations";
import { memoryFiles } from "#lib/testing/memory-files";
import { HOUR_MS } from "#lib/units";
import { createRestApi } from "#server/http/served";
import { type RunningMarket, startMarket } from "#server/market/market";
import { createKlineStore } from "#server/store/klines/kline-store";
import { createMinuteMender } from "#server/store/klines/mended-minutes";
import { createCatalogue } from "#server/store/market/catalogue";
import { createTestMarket } from "#server/testing/market";
import { startGround } from "#server/testing/runtime";

/** While a request runs, the service's clock moves so far in each of these pauses: what it waits for needs time. */
const BUSY_STEP_MS = 20;
const BUSY_PAUSE_MS = 4;
/** Between two statements of one change no connection is busy for a moment. */
const IDLE_LOOKS_COUNT = 3;

/** What goes wrong with a request: an answer instead, none at all, a broken connection, or one that is lost on the way back. */
type Fault = { readonly status: number; readonly retryAfterS?: number } | "silence" | "broken" | "lost";

/** Chooses what goes wrong with a request at an instant (Unix ms) of the feeder's clock. */
type Faults = (request: Pick<FeederRequest, "path" | "body" | "atMs">) => Fault | undefined;

/** A request as the feeder sent it. */
export interface FeederRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly atMs: number;
  /** Null where it got no answer. */
  readonly status: number | null;
  readonly answer: string;
}

/**
 * The real service for feeders, behind a proxy that can fail. The service's clock follows that of the feeder, which says in each
 * request what time it is.
 */
export interface FeederService {
  readonly url: string;
  /** A key with the scope market:ingest. */
  readonly key: string;
  readonly requests: FeederRequest[];
  /** The ticks that it took, in its order. */
  readonly taken: Tick[];
  now(): number;
  /** Jumps to a later instant. */
  set(ms: number): void;
  /** Forgets requests, ticks and faults, and jumps to the beginning of the next hour, which it returns. */
  nextScene(): number;
  fail(faults: Faults): void;
  /** The M1 klines it serves of [from, to), Unix seconds. */
  minutes(ticker: string, from: number, to: number): Promise<Kline[]>;
  close(): Promise<void>;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Starts it; call it in `beforeAll`, `close` it in `afterAll`. */
export async function startFeederService(): Promise<FeederService> {
  const variables = { LIVE_FEED: "push" };
  const ground = await startGround({ variables, level: "warn", scopes: ["market:ingest"] });
  const { db, clock, log, metrics } = ground;
  const catalogue = await createCatalogue(db, "live");
  const store = createKlineStore(db);
  let live: RunningMarket | undefined;
  /** Reads of changed history, which need the database. */
  const reading: (Promise<void> | undefined)[] = [];
  live = await startMarket({
    files: memoryFiles(),
    venue: "live",
    catalogue,
    store,
    writer: store,
    acceptsPush: true,
    provider: "push",
    clock,
    log,
    metrics,
    mender: createMinuteMender({ db, clock, record: async () => undefined }),
    announceHistoryChange: (ticker) => void reading.push(live?.historyChanged(ticker)),
  });
  const running = live;
  ground.publish({ live, sandbox: createTestMarket("sandbox", await createCatalogue(db, "sandbox")) });
  const taken: Tick[] = [];
  running.follow((events) => {
    for (const { type, record, restored } of events) if (type === "quote" && !restored) taken.push(record);
  });
  const api = createRestApi();
  const { text: key } = await ground.issueKey({ account: "feeder" });
  const { text: reader } = await ground.issueKey({ account: "reader", scopes: ["market:read"] });
  const requests: FeederRequest[] = [];
  let faults: Faults = () => undefined;

  async function reach(work: Promise<Response> | Response): Promise<Response> {
    let done = false;
    const ended = Promise.resolve(work).finally(() => {
      done = true;
    });
    // What works with the database takes no time of the terminal's. What is left undone then waits for the clock.
    let idleLooks = 0;
    while (!done) {
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS))]);
      const { totalCount, idleCount, waitingCount } = db.pool;
      idleLooks = totalCount === idleCount && waitingCount === 0 ? idleLooks + 1 : 0;
      if (!done && idleLooks >= IDLE_LOOKS_COUNT) await clock.advance(BUSY_STEP_MS);
    }
    return ended;
  }
  const call = (method: string, path: string, headers: IncomingMessage["headers"], body: string) => {
    const authorization = String(headers.authorization ?? "");
    const init = { method, headers: { authorization, "content-type": String(headers["content-type"] ?? "") } };
    return reach(
      api(new Request(`http://service.test${path}`, { ...init, ...(body !== "" && { body }) }), { address: "203.0.113.7" }),
    );
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const { method = "GET", url: path = "/", headers } = request;
    const atMs = Number(headers["x-virtual-now"]);
    if (atMs > clock.now()) await clock.advance(atMs - clock.now());
    const fault = faults({ path, body, atMs });
    const note = (status: number | null, answer = "") => requests.push({ method, path, headers, body, atMs, status, answer });
    if (fault === "broken" || fault === "silence") {
      note(null);
      if (fault === "broken") response.destroy();
      // The terminal takes this for no answer. It does not wait: an answer may take long on a busy machine.
      else response.socket?.end("SILENCE");
      return;
    }
    if (typeof fault === "object") {
      note(fault.status);
      const wait = fault.retryAfterS === undefined ? {} : { "retry-after": `${fault.retryAfterS}` };
      return void response.writeHead(fault.status, wait).end('{"message":"a fault","data":{"detail":"A fault."}}');
    }
    const answered = await call(method, path, headers, body);
    const text = await answered.text();
    if (fault === "lost") {
      note(null, text);
      return void response.destroy();
    }
    note(answered.status, text);
    const retryAfter = answered.headers.get("retry-after");
    response
      .writeHead(answered.status, { ...(retryAfter && { "retry-after": retryAfter }), "x-virtual-now": clock.now() })
      .end(text);
  }
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key,
    requests,
    taken,
    now: clock.now,
    set: clock.set,
    nextScene() {
      clock.set(Math.floor(clock.now() / HOUR_MS + 1) * HOUR_MS);
      requests.length = 0;
      taken.length = 0;
      faults = () => undefined;
      return clock.now();
    },
    fail(next) {
      faults = next;
    },
    async minutes(ticker, from, to) {
      const query = new URLSearchParams({ ticker, timeframe: "M1", from: `${from}`, to: `${to}`, limit: "5000" });
      const answered = await call("GET", `${operations.klines.path}?${query}`, { authorization: `Bearer ${reader}` }, "");
      const { data } = (await answered.json()) as { data: { items: Kline[] } };
      return data.items;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await running.stop();
      await Promise.all(reading);
      await ground.close();
    },
  };
}

/** A script of faults: from, to (ms after the start of the scene), and what happens to requests. */
export const script =
  (startMs: number, parts: readonly (readonly [from: number, to: number, fault: Fault])[]): Faults =>
  ({ atMs }) =>
    parts.find(([from, to]) => atMs >= startMs + from && atMs < startMs + to)?.[2];
