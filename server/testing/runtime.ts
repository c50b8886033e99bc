import { randomBytes, randomUUID } from "node:crypto";
import { type Access, createAccess } from "#lib/access/access";
import { type AccountChange, putAccount } from "#lib/access/accounts";
import { createKey, type MintedKey, type NewKey } from "#lib/access/keys";
import { createUsage } from "#lib/access/usage/usage";
import { type ManualClock, manualClock } from "#lib/clock";
import type { Failure } from "#lib/contract/envelope";
import { operations } from "#lib/contract/operations";
import type { Venue } from "#lib/contract/primitives";
import type { ControlMessage } from "#lib/control/control";
import { DEMO_KEY_DEFAULT, readEnv } from "#lib/env";
import { createApi } from "#lib/http/api";
import { route } from "#lib/http/route";
import { createStreamTicket } from "#lib/http/stream-ticket";
import { createCatalogue } from "#lib/market/catalogue";
import { ingestTicks } from "#lib/market/ingest";
import { instruments } from "#lib/market/instruments";
import { createKlines } from "#lib/market/klines";
import { latestQuotes, latestSnapshots } from "#lib/market/latest";
import { marketStatus } from "#lib/market/status";
import { createMetrics, type Metrics } from "#lib/metrics";
import { type Runtime, setRuntime } from "#lib/runtime";
import { collectingLog } from "#lib/testing/collecting-log";
import { startUsers } from "#server/users";
import { type TestDatabase, testDatabase } from "./database";
import { createTestMarket, type TestMarket } from "./market";

/** A Wednesday noon, UTC: every market is open. */
export const TEST_START_MS = Date.UTC(2026, 0, 7, 12);
/** The public demo key, as it ships. */
export const DEMO_KEY = DEMO_KEY_DEFAULT;
/** Signs and encrypts in tests. */
export const TEST_SECRET = "a secret that is known to tests alone";
const HOST = "http://spotwire.test";
/** Nobody is limited who does not mean to be. */
const ENDLESS = { name: "endless", restPerMinute: 1e9, restBurst: 1e9, streamConnections: 1e6, subscriptionsPerConnection: 1e6 };

/** One answer, read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The envelope; failures have FailureData in `data`. Undefined without a body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever shape they expect and say so in their assertions
  readonly body: any;
}

export interface Ask {
  /** Sent as bearer; the key of all tests unless given, null for none. */
  readonly key?: string | null;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly address?: string;
  readonly body?: string;
}

/** A running service without sockets: real database, real access, markets in memory, a clock that is moved by hand. */
export interface TestRuntime extends Omit<Runtime, "clock" | "access" | "markets"> {
  readonly clock: ManualClock;
  readonly access: Access;
  readonly metrics: Metrics;
  readonly db: TestDatabase;
  readonly markets: Readonly<Record<Venue, TestMarket>>;
  /** Structured lines of the log so far. */
  readonly logged: Record<string, unknown>[];
  /** Asks the REST interface; `path` is everything after the host. */
  ask(path: string, ask?: Ask): Promise<Answer>;
  /** Makes a key, on an account of its own unless one is named; live, market:read and a plan without end unless said otherwise. */
  issueKey(settings?: Partial<NewKey> & { account?: string } & AccountChange): Promise<MintedKey>;
  /** What makes keys: for the functions of lib/access/keys. */
  readonly keyContext: { db: TestDatabase; clock: ManualClock };
  /** Resolves when every control message sent so far was heard. */
  settle(): Promise<void>;
  drain(draining: boolean): void;
  close(): Promise<void>;
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text === "" ? undefined : JSON.parse(text) };
}

/** A client address that no request came from before, so that no failure before counts for it. */
export function freshAddress(): string {
  return [10, ...randomBytes(3)].join(".");
}

/** What of an answer makes it a failure with this identifier, for toMatchObject. */
export function failed(message: Failure["message"], data: object = {}) {
  return { body: { message, data } };
}

/** The REST interface as our server composes it. */
export function testApi() {
  return createApi({
    [operations.klines.path]: { GET: route(operations.klines, createKlines()) },
    [operations.instruments.path]: { GET: route(operations.instruments, instruments) },
    [operations.latestQuotes.path]: { GET: route(operations.latestQuotes, latestQuotes) },
    [operations.latestSnapshots.path]: { GET: route(operations.latestSnapshots, latestSnapshots) },
    [operations.marketStatus.path]: { GET: route(operations.marketStatus, marketStatus) },
    [operations.createStreamTicket.path]: { POST: route(operations.createStreamTicket, createStreamTicket) },
    [operations.ingestTicks.path]: { POST: route(operations.ingestTicks, ingestTicks) },
  });
}

/**
 * Starts it and publishes it as the runtime of this process; call it in `beforeAll`, `close` it in `afterAll`.
 * Control messages are followed as in the service.
 */
export async function testRuntime(): Promise<TestRuntime> {
  const db = await testDatabase();
  const clock = manualClock(TEST_START_MS);
  const logged: Record<string, unknown>[] = [];
  const log = collectingLog(logged, "info");
  const metrics = createMetrics();
  const env = readEnv({ NODE_ENV: "test" });
  let controlConnected = () => true;
  const access = createAccess({ db, env, secret: TEST_SECRET, clock, log, metrics, controlConnected: () => controlConnected() });
  const usage = createUsage({ pool: db.pool, clock, log, metrics });
  const awaited = new Map<string, () => void>();
  const onMessage = (message: ControlMessage) => {
    access.apply(message);
    if (message.kind === "keys") awaited.get(message.keyId ?? "")?.();
  };
  const control = await db.control.listen(onMessage);
  controlConnected = control.connected;
  const markets = {
    live: createTestMarket("live", await createCatalogue(db, "live")),
    sandbox: createTestMarket("sandbox", await createCatalogue(db, "sandbox")),
  };
  const { users, capturedMails } = startUsers({ env, db, clock, log });
  let draining = false;
  const runtime: Runtime = {
    env,
    clock,
    log,
    metrics,
    access,
    usage,
    db,
    secrets: { nextAuth: TEST_SECRET },
    users,
    capturedMails,
    markets,
    draining: () => draining,
    ready: async () => ({ checks: {}, serving: true }),
  };
  setRuntime(runtime);
  const api = testApi();
  const keyContext = { db, clock };
  let accounts = 0;

  async function settle(): Promise<void> {
    const marker = randomUUID();
    const heardIt = new Promise<void>((resolve) => awaited.set(marker, resolve));
    await db.control.publish({ kind: "keys", keyId: marker });
    await heardIt;
    awaited.delete(marker);
  }

  async function issueKey(settings: Partial<NewKey> & { account?: string } & AccountChange = {}): Promise<MintedKey> {
    accounts += 1;
    const { account: name = `account ${accounts}`, plan = ENDLESS.name, permissions, suspended, ...rest } = settings;
    const change = { plan, ...(permissions && { permissions }), ...(suspended !== undefined && { suspended }) };
    const account = await putAccount(keyContext, name, change);
    const defaults = { name: "test", venue: "live", scopes: ["market:read"], origins: [], expiresAt: null };
    const minted = await createKey(keyContext, { ...defaults, ...rest, accountId: account.id });
    await settle();
    return minted;
  }
  await db.prisma.plan.create({ data: ENDLESS });
  const { text: sharedKey } = await issueKey({ account: "shared" });

  return {
    ...runtime,
    clock,
    access,
    markets,
    db,
    logged,
    keyContext,
    issueKey,
    settle,
    async ask(path, { key = sharedKey, method = "GET", headers = {}, address = "203.0.113.7", body } = {}) {
      const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
      const init = { method, headers: { ...authorization, ...headers }, ...(body !== undefined && { body }) };
      return read(await api(new Request(HOST + path, init), { address }));
    },
    drain: (next) => {
      draining = next;
    },
    async close() {
      await usage.stop();
      await access.stop();
      await control.stop();
      setRuntime(undefined);
      await db.close();
    },
  };
}
