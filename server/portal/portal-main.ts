import { createAccess } from "#lib/access/access";
import { createSealer } from "#lib/access/sealer";
import { createRedisChannel } from "#lib/control/redis-channel";
import { databaseTime, openDatabase } from "#lib/db";
import { type Env, readEnv } from "#lib/env";
import { createLog } from "#lib/log";
import { createCoverage } from "#lib/market/coverage-report";
import { createStoredData } from "#lib/market/stored-data";
import { createUptime } from "#lib/market/uptime";
import { connectThroughProxies } from "#lib/outgoing";
import { setPortal } from "#lib/portal/runtime";
import { historyOptions } from "#lib/segments/open-store";
import { createSteadyClock } from "#lib/steady-clock";
import { createSend } from "#lib/webhooks/send";
import { WEBHOOK_SECRETS } from "#lib/webhooks/webhooks";
import { openSharedRedis } from "#server/cluster/shared-redis";
import { sandboxHistory } from "#server/feed/sandbox/history";
import { startExpiryWarnings } from "#server/ops/expiry-warnings";
import { keepJsonOutput } from "#server/ops/json-output";
import { createDrain, type Stoppable, stopAll } from "#server/ops/shutdown";
import { startTelemetry } from "#server/ops/telemetry";
import { startWebhooks } from "#server/ops/webhooks";
import { startUsers } from "#server/users";
import { openChannel } from "./channel";
import { servePages } from "./pages";
import { createProcessMetrics } from "./process-metrics";
import type { MarketAnswers, PortalAnswers, PortalStart } from "./questions";

/**
 * The portal's process: pages, docs, playground, accounts and their API. The market process starts it, asks it over the channel
 * between parent and child, and is its only client.
 */

const env: Env = readEnv();
connectThroughProxies(env);
const log = createLog(env.LOG_LEVEL).child({ process: "portal" });
// In development Next says on the terminal what it compiles.
if (env.NODE_ENV !== "development") keepJsonOutput(log);
const clock = createSteadyClock({ log });
const registry = createProcessMetrics();
const stops: Stoppable[] = [];
const ended = new AbortController();
// While the market process opens the database, Next is loaded.
void import("next");

async function start({ databaseUrl, poolSize, secret, socketPath, base }: PortalStart): Promise<void> {
  // Stops last: what the others do while they stop is recorded too.
  stops.unshift({ name: "telemetry", stop: (await startTelemetry({ env, clock, log, registry, process: "portal" })).stop });
  const redis = await openSharedRedis(env, log);
  if (redis) stops.unshift({ name: "redis", stop: redis.close });
  const channel = redis && createRedisChannel({ redis, prefix: env.REDIS_PREFIX });
  const connection = { url: databaseUrl, poolSize, waitS: env.DATABASE_WAIT_S, clock, log, ...(channel && { channel }) };
  const db = await openDatabase({ ...connection, ...historyOptions(env, clock) });
  stops.unshift({ name: "database", stop: db.close });
  void clock.run({ ask: () => databaseTime(db), signal: ended.signal });

  const noFailures = { authFailed: () => undefined };
  const access = createAccess({ db, clock, env, secret, log, metrics: noFailures, controlConnected: () => false, redis });
  stops.unshift({ name: "access", stop: access.stop });
  const { stop: stopMails, ...users } = startUsers({ env, db, clock, log, secret, buckets: access.buckets });
  stops.unshift({ name: "mails", stop: stopMails });
  const warnings = startExpiryWarnings({ db, clock, log, send: users.users.send, portal: base });
  stops.unshift({ name: "expiry warnings", stop: warnings.stop });
  const uptime = createUptime({ db, clock });
  const storedData = createStoredData({ db, clock });
  const sealer = createSealer(secret, WEBHOOK_SECRETS);
  const webhooks = startWebhooks({
    db,
    clock,
    log,
    sealer,
    uptime,
    send: createSend({ allowedHosts: env.WEBHOOK_ALLOWED_HOSTS, ports: env.WEBHOOK_PORTS }),
  });
  stops.unshift({ name: "webhooks", stop: webhooks.stop });
  setPortal({
    ...users,
    env,
    db,
    clock,
    log,
    secrets: { nextAuth: secret },
    access: {
      refresh: access.refresh,
      mintPortalToken: access.mintPortalToken,
      remaining: (...account) => market.ask("remaining", ...account),
      takeFor: (...page) => market.ask("takeFor", ...page),
    },
    storedData,
    coverage: createCoverage({ db, clock, storedData, sandbox: sandboxHistory(env.SANDBOX_SEED) }),
    uptime,
    reports: {
      board: () => market.ask("board"),
      markets: (venue) => market.ask("markets", venue),
      market: (venue, ticker) => market.ask("market", venue, ticker),
      status: () => market.ask("status"),
      feeds: () => market.ask("feeds"),
    },
  });
  const server = await servePages(env, socketPath, log);
  stops.unshift({ name: "pages", stop: createDrain(server) });
}

let stopping: Promise<void> | undefined;
function stop(): Promise<void> {
  ended.abort();
  stopping ??= stopAll(stops, log);
  return stopping;
}

const answers: PortalAnswers = {
  start(options) {
    start(options).then(
      () => market.ask("ready"),
      (error: unknown) => {
        log.error({ err: error }, "the portal could not start");
        process.exit(1);
      },
    );
  },
  ping: () => undefined,
  metrics: () => registry.metrics(),
  stop: () => void stop().then(() => process.exit(0)),
};
const market = openChannel<MarketAnswers & { ready(): void }>(process, answers, clock);

// Without its parent nobody can reach it.
process.on("disconnect", () => process.exit(0));
// Ctrl-C reaches both processes; the parent says when to stop.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", answers.stop);
