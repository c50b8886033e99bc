import { randomBytes, randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Access } from "#lib/access/access";
import { brandOf } from "#lib/brand";
import { type ManualClock, manualClock } from "#lib/clock";
import type { Failure } from "#lib/contract/envelope";
import type { Venue } from "#lib/contract/primitives";
import type { ControlMessage } from "#lib/control";
import { DEMO_KEY_DEFAULT } from "#lib/env";
import { createMetrics, type Metrics } from "#lib/metrics";
import { type Runtime, setRuntime } from "#lib/runtime";
import { collectingLog } from "#lib/testing/collecting-log";
import { readEnv } from "#server/env";
import { createFeedChecker } from "#server/feed/check-settings";
import { sandboxHistory } from "#server/feed/sandbox/history";
import { createRestApi } from "#server/http/served";
import { createClientReader } from "#server/pages/oauth";
import { type PortalRuntime, setPortal } from "#server/pages/runtime";
import { createUploads } from "#server/pages/uploads";
import { startImport } from "#server/portal/import-process";
import { type Connections, createLocalConnections } from "#server/socket/connections";
import { createAdmissions } from "#server/socket/handshake";
import type { AccountChange } from "#server/store/access/accounts";
import { createAccess } from "#server/store/access/create-access";
import type { MintedKey, NewKey } from "#server/store/access/keys";
import { createCoverage } from "#server/store/data/coverage-report";
import { createStoredData } from "#server/store/data/stored-data";
import { createCatalogue } from "#server/store/market/catalogue";
import { createReports } from "#server/store/market/create-reports";
import { createUptime } from "#server/store/market/uptime";
import { createUsage } from "#server/store/usage/create-usage";
import type { PasswordStrength } from "#server/threads/password-strength";
import { startMails, startUsers } from "#server/users";
import { type TestDatabase, testDatabase } from "./database";
import { createTestMarket, type TestMarket } from "./market";
import { createIssuer, ENDLESS_PLAN } from "./stream-keys";

/** A Wednesday noon, UTC: every market is open. */
export const TEST_START_MS = Date.UTC(2026, 0, 7, 12);
/** The public demo key with its default value. */
export const DEMO_KEY = DEMO_KEY_DEFAULT;
/** Signs and encrypts in tests. */
export const TEST_SECRET = "a secret that is known to tests alone";
const HOST = "http://spotwire.test";

/** A response with its body read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly bytes: Uint8Array;
  /** The envelope; failures have FailureData in `data`. Undefined without a body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read the shape they expect and assert it
  readonly body: any;
}

export interface Ask {
  /** Sent as bearer; by default the key of all tests, null for none. */
  readonly key?: string | null;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly address?: string;
  readonly body?: string;
}

/** A running service without sockets: real database, real access, markets in memory, a clock that the test advances. */
export interface TestRuntime
  extends Omit<Runtime, "clock" | "access" | "markets" | "db">,
    Pick<
      PortalRuntime,
      "users" | "capturedMails" | "storedData" | "coverage" | "uptime" | "callMarket" | "uploads" | "readClient" | "checkFeed"
    > {
  readonly clock: ManualClock;
  readonly access: Access;
  readonly metrics: Metrics;
  readonly db: TestDatabase;
  readonly markets: Readonly<Record<Venue, TestMarket>>;
  /** The places of stream connections. */
  readonly connections: Connections;
  /** Structured lines of the log so far. */
  readonly logged: Record<string, unknown>[];
  /** Calls the REST interface; `path` is everything after the host. */
  ask(path: string, ask?: Ask): Promise<Answer>;
  /**
   * Creates a key, by default on a new account; live, market:read and a plan without limits unless the settings override it.
   */
  issueKey(settings?: Partial<NewKey> & { account?: string } & AccountChange): Promise<MintedKey>;
  /** What creates keys: for the functions of server/store/access/keys. */
  readonly keyContext: { db: TestDatabase; clock: ManualClock };
  /** Resolves when the service has followed every control message sent so far. */
  settle(): Promise<void>;
  drain(draining: boolean): void;
  close(): Promise<void>;
}

async function read(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  const text = Buffer.from(bytes).toString();
  const isJson = text !== "" && headers.get("content-type")?.startsWith("application/json");
  return { status, headers, text, bytes, body: isJson ? JSON.parse(text) : undefined };
}

/** A client address without earlier requests, so that no earlier failure counts towards it. */
export function freshAddress(): string {
  return [10, ...randomBytes(3)].join(".");
}

/** Accepts every password, in no time. */
const ACCEPT_ALL: PasswordStrength = {
  rate: async () => ({ score: 4, advice: "" }),
  close: async () => undefined,
};

/** The part of a failure with this identifier that toMatchObject compares. */
export function failed(message: Failure["message"], data: object = {}) {
  return { body: { message, data } };
}

interface GroundOptions {
  readonly variables: Readonly<Record<string, string>>;
  /** Lines of the log below it are dropped. */
  readonly level: "info" | "warn";
  /** Scopes of a key that names none. */
  readonly scopes: NewKey["scopes"];
  /** By default every password is accepted. */
  readonly strength?: PasswordStrength;
  /** Applies a control message after access has, as the service does. */
  readonly follow?: (message: ControlMessage) => Promise<void>;
}

/**
 * What every service under test is built on: a real database, access, usage, users and control messages; a clock the test
 * advances.
 */
export async function startGround({ variables, level, scopes, strength = ACCEPT_ALL, follow }: GroundOptions) {
  const db = await testDatabase();
  const clock = manualClock(TEST_START_MS);
  const logged: Record<string, unknown>[] = [];
  const log = collectingLog(logged, level);
  const metrics = createMetrics();
  const env = readEnv({ NODE_ENV: "test", ...variables });
  const brand = brandOf(env);
  await db.prisma.plan.create({ data: ENDLESS_PLAN });

  let access: Access | undefined;
  const awaited = new Map<string, () => void>();
  async function onMessage(message: ControlMessage): Promise<void> {
    access?.apply(message);
    await follow?.(message);
    if (message.kind === "keys") awaited.get(message.keyId ?? "")?.();
  }
  // One after the other: a message is followed only once those before it are.
  let following: Promise<void> = Promise.resolve();
  const control = await db.control.listen((message) => {
    following = following.then(() => onMessage(message));
  });
  const made = createAccess({ db, env, secret: TEST_SECRET, clock, log, metrics, controlConnected: control.connected });
  access = made;
  const usage = createUsage({ pool: db.pool, clock, log, metrics });
  const mails = startMails({ env, brand, clock, log, noteMailServer: () => undefined });
  const users = startUsers({ env, db, clock, log, brand, secret: TEST_SECRET, send: mails.send, strength });
  const portal = { ...mails, ...users, secrets: { nextAuth: TEST_SECRET } };

  /** Resolves when the service has followed every control message sent so far. */
  async function settle(): Promise<void> {
    const marker = randomUUID();
    const followed = new Promise<void>((resolve) => awaited.set(marker, resolve));
    await db.control.publish({ kind: "keys", keyId: marker });
    await followed;
    awaited.delete(marker);
  }
  async function tell(message: ControlMessage): Promise<void> {
    await db.control.publish(message);
    await settle();
  }
  let draining = false;
  const state = { draining: () => draining, ready: async () => ({ checks: {}, idle: {}, serving: true, ageMs: 0 }) };
  return {
    ...createIssuer({ db, clock, brand, scopes, tell }),
    db,
    clock,
    logged,
    log,
    metrics,
    env,
    access: made,
    usage,
    settle,
    tell,
    controlConnected: control.connected,
    isDraining: state.draining,
    drain(next: boolean): void {
      draining = next;
    },
    /** Publishes the service as the runtime of this process, and as that of the portal, which is another process in production. */
    publish<Markets extends Runtime["markets"]>(
      markets: Markets,
      requireConnectionRoom: Runtime["requireConnectionRoom"] = async () => undefined,
    ) {
      const reports = createReports({ markets, metrics, db, clock, log, ready: state.ready });
      const scrape = () => metrics.registry.metrics();
      const portalPage = async () => undefined;
      const storedData = createStoredData({ db, clock });
      const coverage = createCoverage({ db, clock, storedData, sandbox: sandboxHistory(env.SANDBOX_SEED) });
      const uptime = createUptime({ db, clock });
      const parts = {
        env,
        brand,
        db,
        clock,
        log,
        metrics,
        access: made,
        usage,
        ...portal,
        markets,
        reports,
        requireConnectionRoom,
        storedData,
        coverage,
        uptime,
        uploads: createUploads({ folder: join(tmpdir(), randomUUID()), reserveBytes: 0, clock, log, start: startImport }),
        readClient: createClientReader({ env, brand, clock }),
        checkFeed: createFeedChecker({ env, db, clock }),
        callMarket: async (request: Request) => createRestApi()(request),
        scrape,
        portalPage,
        ...state,
      };
      setRuntime(parts);
      setPortal(parts);
      return parts;
    },
    async close(): Promise<void> {
      await usage.stop();
      await made.stop();
      await control.stop();
      setRuntime(undefined);
      setPortal(undefined);
      await db.close();
    },
  };
}

/**
 * Starts it and publishes it as the runtime of this process; call it in `beforeAll`, `close` it in `afterAll`.
 * Control messages are applied as in the service.
 */
export async function testRuntime(options: Partial<Pick<GroundOptions, "strength" | "variables">> = {}): Promise<TestRuntime> {
  const ground = await startGround({ variables: {}, level: "info", scopes: ["market:read"], ...options });
  const { db, clock, access, logged, keyContext, issueKey, settle, drain, close } = ground;
  const markets = {
    live: createTestMarket("live", await createCatalogue(db, "live")),
    sandbox: createTestMarket("sandbox", await createCatalogue(db, "sandbox")),
  };
  const connections = createLocalConnections();
  const { requireConnectionRoom } = createAdmissions({
    access,
    connections,
    draining: ground.isDraining,
    publicUrl: undefined,
    metrics: ground.metrics,
    generation: () => 0,
    onFull: () => undefined,
  });
  const runtime = ground.publish(markets, requireConnectionRoom);
  const api = createRestApi();
  const { text: sharedKey } = await issueKey({ account: "shared" });

  return {
    ...runtime,
    clock,
    access,
    markets,
    connections,
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
    drain,
    close,
  };
}
