import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NODE_REPORT_INTERVAL_S } from "#lib/contract/portal-health";
import type { IdleReason } from "#lib/contract/service-status";
import { createMetrics, type Metrics } from "#lib/metrics";
import type { Repeating } from "#lib/repeat";
import { collectingLog } from "#lib/testing/collecting-log";
import { type WatchedClock, watchedClock } from "#lib/testing/watched-clock";
import { SECOND_MS } from "#lib/units";
import { recordBackup } from "#server/store/market/backup-runs";
import { createCatalogue } from "#server/store/market/catalogue";
import { listNodes } from "#server/store/market/node-reports";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { createTestMarket, type TestMarket } from "#server/testing/market";
import manifest from "../../package.json" with { type: "json" };
import { startNodeReports } from "./node-reports";

const NOW_MS = Date.UTC(2026, 0, 7, 12);
const INTERVAL_MS = NODE_REPORT_INTERVAL_S * SECOND_MS;

let db: TestDatabase;
let clock: WatchedClock;
let markets: Record<"live" | "sandbox", TestMarket>;
let logged: Record<string, unknown>[];
const running: Repeating[] = [];
beforeEach(async () => {
  db = await testDatabase();
  clock = watchedClock(NOW_MS);
  markets = {
    live: createTestMarket("live", await createCatalogue(db, "live")),
    sandbox: createTestMarket("sandbox", await createCatalogue(db, "sandbox")),
  };
  logged = [];
});
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ stop }) => stop()));
  await db.close();
});

const NO_ENV = { ROLE: "all", SMTP_URL: undefined, PUBLIC_URL: undefined } as const;
type Started = { metrics: Metrics; stop: Repeating["stop"] };
interface StartOptions {
  readonly pool?: typeof db.pool;
  readonly disk?: { readonly free_bytes: number; readonly bytes: number } | null;
  readonly checks?: Readonly<Record<string, string | null>>;
  readonly idle?: Readonly<Record<string, IdleReason>>;
  readonly env?: Parameters<typeof startNodeReports>[0]["env"];
}

function start(
  name: string,
  { pool = db.pool, disk = { free_bytes: 5, bytes: 10 }, checks = { store: null }, idle = {}, env = NO_ENV }: StartOptions = {},
): Started {
  const metrics = createMetrics();
  const ready = async () => ({ checks, idle });
  const reports = startNodeReports({
    name,
    db: { pool },
    metrics,
    clock,
    markets,
    ready,
    disk: () => disk,
    certificateEnd: () => null,
    mailProblem: () => null,
    env,
    log: collectingLog(logged, "warn"),
  });
  running.push(reports);
  return { metrics, stop: reports.stop };
}
/** Resolves once so many nodes wait for their next report. */
const idle = (count = 1) => vi.waitUntil(() => clock.waits.length >= count);
const node = async (name: string) => (await listNodes(db.pool)).find((each) => each.name === name);
const reported = (name: string) => vi.waitUntil(() => node(name));

test("every node reports at once, then with its rates per minute, and takes its report back when it stops", async () => {
  const { metrics, stop } = start("a:3000");
  start("b:3000", { disk: null });
  expect(await reported("a:3000")).toMatchObject({
    version: manifest.version,
    role: "all",
    rates: null,
    checks: { store: null },
  });
  expect(await reported("b:3000")).toMatchObject({ disk: null });
  metrics.request("quotes", 0, 0.001);
  metrics.request("quotes", 40_001, 0.001);
  metrics.request("quotes", 50_001, 0.001);
  metrics.ticks("live", [null, null, "out_of_order"]);
  metrics.streamSent(7);
  markets.live.quote("EURUSD", 1.1, 1.2, NOW_MS - 400);
  await idle(2);
  await clock.advance(INTERVAL_MS);
  await vi.waitUntil(async () => (await node("a:3000"))?.rates);
  const seen = await node("a:3000");
  expect(seen?.rates).toEqual({ calls: 18, rejected: 6, failed: 6, messages: 42, ticks: { live: 12, sandbox: 0 } });
  expect(seen?.lag_ms).toEqual({ live: INTERVAL_MS + 400, sandbox: null });
  expect(seen?.memory_bytes).toBeGreaterThan(1_000_000);
  expect(seen?.disk).toEqual({ free_bytes: 5, bytes: 10 });
  await stop();
  expect((await listNodes(db.pool)).map(({ name }) => name)).toEqual(["b:3000"]);
});

test("a node says which checks have nothing to judge: without mail server, certificate or token, and as readiness has it", async () => {
  start("bare", { idle: { feed_live: "not_bound" } });
  await reported("bare");
  const none = { mail_server: "not_configured", certificate: "not_configured", provider_token: "not_configured" };
  expect((await node("bare"))?.idle).toEqual({ ...none, feed_live: "not_bound" });
  const env = { ROLE: "all", SMTP_URL: "smtp://mail.test", PUBLIC_URL: "https://ticks.test" } as const;
  start("public", { env: env as unknown as typeof NO_ENV });
  await reported("public");
  expect((await node("public"))?.idle).toEqual({ certificate: "no_data", provider_token: "not_configured" });
});

test("a node warns of files of history that its processes found damaged", async () => {
  const { metrics } = start("a");
  expect((await reported("a"))?.warnings).toMatchObject({ history_files: null });
  metrics.damagedHistory(() => 2);
  await idle();
  await clock.advance(INTERVAL_MS);
  await vi.waitUntil(async () => (await node("a"))?.warnings?.history_files);
  expect((await node("a"))?.warnings?.history_files).toBe(
    "2 files of history are damaged or missing. The log names them; npm run history -- check says what they concern.",
  );
});

test("a report that cannot be written is written with the next ones, and logged once", async () => {
  let broken = true;
  const query = (...given: Parameters<typeof db.pool.query>) =>
    broken ? Promise.reject(new Error("away")) : db.pool.query(...given);
  start("a", { pool: { query } as unknown as typeof db.pool });
  await vi.waitUntil(() => logged.length === 1);
  await idle();
  await clock.advance(INTERVAL_MS);
  broken = false;
  await idle();
  await clock.advance(INTERVAL_MS);
  await reported("a");
  expect(logged).toMatchObject([{ msg: "cannot report this node to the database; retrying" }]);
});

test("the checks of /api/ready are metrics, also while the database is away", async () => {
  const query = () => Promise.reject(new Error("away"));
  const checks = { process: null, store: "is away", feed_live: null };
  const { metrics } = start("a", { pool: { query } as unknown as typeof db.pool, checks, idle: { feed_live: "not_bound" } });
  await vi.waitUntil(() => logged.length === 1);
  const text = await metrics.registry.metrics();
  expect(text).toContain('spotwire_check_ok{check="process"} 1\n');
  expect(text).toContain('spotwire_check_ok{check="store"} 0\n');
  expect(text).not.toContain('check="feed_live"');
});

test("an alarm for old backups can be written: when the last one ended, and 0 before the first", async () => {
  const { metrics } = start("a");
  const metric = async () => /^spotwire_backup_last_timestamp_seconds (\S+)$/m.exec(await metrics.registry.metrics())?.[1];
  await vi.waitUntil(metric);
  expect(await metric()).toBe("0");
  const at = (ms: number) => new Date(ms).toISOString();
  await recordBackup(db.pool, { started_at: at(NOW_MS), ended_at: at(NOW_MS + 1_500), bytes: 1, rows: 1, problem: null });
  await recordBackup(db.pool, {
    started_at: at(NOW_MS),
    ended_at: at(NOW_MS + 9_000),
    bytes: null,
    rows: null,
    problem: "Full.",
  });
  await idle();
  await clock.advance(INTERVAL_MS);
  await vi.waitUntil(async () => (await metric()) !== "0");
  expect(await metric()).toBe(String(NOW_MS / 1_000 + 1.5));
});
