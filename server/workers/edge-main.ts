import path from "node:path";
import { createAccess } from "#lib/access/access";
import { createBankLender } from "#lib/access/limits/bucket-bank";
import { createUsage } from "#lib/access/usage/usage";
import { VENUES } from "#lib/contract/primitives";
import { createStartUp, databaseTime, openDatabase } from "#lib/db";
import { type Env, readEnv } from "#lib/env";
import { createLog } from "#lib/log";
import { createMetrics } from "#lib/metrics";
import { connectThroughProxies } from "#lib/outgoing";
import { type Runtime, setRuntime } from "#lib/runtime";
import { historyOptions } from "#lib/segments/open-store";
import { createSteadyClock } from "#lib/steady-clock";
import { withTimeout } from "#lib/with-timeout";
import { followLocally } from "#server/bus/local-follower";
import { socketAddress } from "#server/cluster/post-to";
import { openStores } from "#server/cluster/stores";
import { createTickForwarder } from "#server/cluster/tick-forwarder";
import { createAddressReader } from "#server/http/address";
import { createKeylessCalls } from "#server/http/keyless-calls";
import { serveEdge } from "#server/http/serve";
import { createFedMarkets } from "#server/markets";
import { keepJsonOutput } from "#server/ops/json-output";
import { createDrain, type Stoppable, stopAll } from "#server/ops/shutdown";
import { startTelemetry } from "#server/ops/telemetry";
import { keepTickShape } from "#server/ops/tick-shape";
import { openChannel } from "#server/portal/channel";
import { createAskedConnections } from "#server/socket/places";
import { startStreams } from "#server/socket/streams";
import { WORKER_LABEL } from "./joined-metrics";
import { createPassOn } from "./pass-on";
import type { MetricTable, WorkerAnswers, WorkerQuestions, WorkerStart } from "./questions";
import { createSessionRoutes } from "./sessions";

/**
 * An edge worker: it serves REST and streams to clients, from the events of the market process, which started it and keeps what
 * all workers share. It lives as long as its connection to the events.
 */

/** Questions that may wait for the market process: the first requests of as many clients at once. */
const PENDING_MAX_COUNT = 10_000;
/** A request does not wait longer for a lease; this worker then decides by what it knows. */
const LEND_MAX_MS = 500;
/** New requests are refused from then on; before, a load balancer learns that this node leaves. */
type Stage = "serving" | "leaving" | "drained";

keepTickShape();
const env: Env = readEnv();
connectThroughProxies(env);
let log = createLog(env.LOG_LEVEL).child({ process: "worker" });
keepJsonOutput(log);
const clock = createSteadyClock({ log });
const metrics = createMetrics();
const stops: Stoppable[] = [];
const onStop = (name: string, stop: Stoppable["stop"]) => void stops.unshift({ name, stop });
const ended = new AbortController();
let stage: Stage = "serving";
let leave = async (): Promise<void> => undefined;

/** Opens the database that the market process has migrated. */
function openShare({ databaseUrl: url, poolSize }: WorkerStart) {
  return async () => {
    const options = { url, poolSize, waitS: env.DATABASE_WAIT_S, clock, log };
    const startUp = createStartUp(options);
    const db = await openDatabase({ ...options, ...historyOptions(env, clock), startUp });
    return { db, url, startUp, release: db.close };
  };
}

/** Fills the venues with what the market process sends; the worker ends when it no longer does. */
async function feedMarkets(
  { eventsPath, requestsPath }: WorkerStart,
  stores: Awaited<ReturnType<typeof openStores>>,
  secret: string,
) {
  const fed = await createFedMarkets({ ...stores, env, onStop, clock, log });
  const projections = { live: fed.live.projection, sandbox: fed.sandbox.projection };
  const follower = followLocally({ path: eventsPath, projections, clock });
  void follower.lost.then((reason) => {
    if (stage !== "serving") return;
    log.error({ reason }, "the events of the market process ended; restarting");
    process.exit(1);
  });
  await follower.begun;
  const forwarder = createTickForwarder({ secret, markets: () => undefined, clock });
  const feeding = { follower, address: socketAddress(requestsPath), forwarder };
  const markets = { live: fed.live.start(feeding), sandbox: fed.sandbox.start(feeding) };
  for (const venue of VENUES) onStop(`${venue} market`, markets[venue].stop);
  return markets;
}

async function start(options: WorkerStart): Promise<void> {
  const { worker, secret, requestsPath, sessionsFolder } = options;
  log = log.child({ worker });
  metrics.registry.setDefaultLabels({ [WORKER_LABEL]: String(worker) });
  const base = { env, clock, log, metrics };
  onStop("telemetry", (await startTelemetry({ ...base, registry: metrics.registry, process: "worker" })).stop);
  const stores = await openStores({ env, log, clock, onStop, open: openShare(options) });
  const { db, changeTargets, controlConnected, startUp } = stores;
  void clock.run({ ask: () => databaseTime(db), signal: ended.signal });
  metrics.database(db.pool);

  const lender = createBankLender(clock, (key, call) => withTimeout(market.ask("lend", key, call), LEND_MAX_MS, clock));
  const shared = { lender, useTicket: (id: string) => market.ask("useTicket", id) };
  const access = createAccess({ ...base, db, secret, controlConnected, market: shared });
  changeTargets.access = access;
  onStop("access", access.stop);
  const usage = createUsage({ ...base, pool: db.pool });
  onStop("usage", usage.stop);
  const markets = await feedMarkets(options, stores, secret);
  changeTargets.markets = markets;
  startUp.end();

  const sessions = createSessionRoutes({
    ...base,
    worker,
    pathOf: (other) => path.join(sessionsFolder, `sessions-${other}.sock`),
  });
  const addressOf = sessions.addressOf(createAddressReader(env.TRUSTED_PROXIES));
  const connections = createAskedConnections({
    open: (id, owner, max) => market.ask("openPlace", id, owner, max),
    hasRoom: (owner, max) => market.ask("hasPlace", owner, max),
    close: (id) => void market.ask("closePlace", id).catch(() => undefined),
  });
  const draining = () => stage !== "serving";
  const publicUrl = env.PUBLIC_URL;
  const streams = startStreams({
    ...base,
    worker,
    connections,
    markets,
    access,
    usage,
    addressOf,
    draining,
    controlConnected,
    publicUrl,
  });
  changeTargets.streams = streams;

  const runtime: Runtime = {
    ...base,
    ...{ db, access, usage, markets, secrets: { nextAuth: secret } },
    reports: {
      board: () => market.ask("board"),
      markets: (venue) => market.ask("markets", venue),
      market: (venue, ticker) => market.ask("market", venue, ticker),
      status: () => market.ask("status"),
      feeds: () => market.ask("feeds"),
    },
    requirePlace: streams.requirePlace,
    scrape: () => metrics.registry.metrics(),
    portalPage: (page, reader) => market.ask("page", page, reader),
    ready: () => market.ask("readiness"),
    draining: () => stage === "drained",
  };
  setRuntime(runtime);

  const inner = await sessions.listen(streams);
  onStop("sessions", createDrain(inner));
  const routed = sessions.routed(streams, addressOf);
  const keylessCalls = createKeylessCalls({ buckets: access.strangers, addressOf, metrics });
  const passOn = createPassOn({ ...base, requestsPath });
  const { server } = await serveEdge({ ...base, streams: routed, addressOf, keylessCalls, market: passOn });
  leave = createDrain(server);
  onStop("http", leave);
  onStop("calls", () => {
    stage = "drained";
  });
  onStop("streams", streams.stop);
}

let stopping: Promise<void> | undefined;
function stop(): Promise<void> {
  ended.abort();
  if (stage === "serving") stage = "leaving";
  // No new connections; open ones are answered while the streams close.
  void leave();
  stopping ??= stopAll(stops, log);
  return stopping;
}

const answers: WorkerAnswers = {
  ping: () => undefined,
  metrics: () => metrics.registry.getMetricsAsJSON() as Promise<unknown> as Promise<MetricTable>,
  stop: () => void stop().then(() => process.exit(0)),
};
const market = openChannel<WorkerQuestions>(process, answers, clock, PENDING_MAX_COUNT);

// Ctrl-C reaches all processes; the market process says when to stop. Without it the cluster ends this one.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", answers.stop);
try {
  await start(await market.ask("begin"));
} catch (error) {
  if (stopping === undefined)
    await market.ask("failed", error instanceof Error ? error.message : String(error)).catch(() => undefined);
  process.exit(1);
}
