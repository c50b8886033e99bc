import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import path from "node:path";
import type { Access } from "#lib/access/access";
import { createAttempts } from "#lib/access/limits/attempts";
import { createBankLender, createBucketBanks } from "#lib/access/limits/bucket-bank";
import { VENUES, type Venue } from "#lib/contract/primitives";
import type { Env } from "#lib/env";
import { REPORTS } from "#lib/market/reports";
import { createMetrics } from "#lib/metrics";
import { type Runtime, setRuntime } from "#lib/runtime";
import { MIB_BYTES } from "#lib/units";
import { withTimeout } from "#lib/with-timeout";
import { createAccess } from "#server/store/access/create-access";
import { createStartUp, databaseTime, openDatabase } from "#server/store/database/db";
import { createRedisChannel } from "#server/store/database/redis-channel";
import { settleHistoryPlace } from "#server/store/history/place";
import { historyOptions } from "#server/store/segments/open-store";
import { acquireSecrets } from "./database/secrets";
import { createAddressReader } from "./http/address";
import { parts, type Role } from "./node";
import { createDrain } from "./ops/shutdown";
import { startTelemetry } from "./ops/telemetry";
import { loadNext, servePages } from "./portal/pages";
import { createProcessMetrics } from "./portal/process-metrics";
import type { AskedReports, MarketAnswers, PortalStart } from "./portal/questions";
import { calling } from "./processes/channel";
import { openParent } from "./processes/parent";
import { hasPortal, poolShares } from "./processes/pool-shares";
import { availableCores, workerCount } from "./processes/worker-count";
import { createAskedConnections } from "./socket/connection-counts";
import { joinMetrics, WORKER_LABEL } from "./workers/joined-metrics";
import type { MetricTable, WorkerQuestions, WorkerStart } from "./workers/questions";

/** All kinds of processes, and those with venues. */
const ALL = ["market", "worker", "portal"] as const;
const SERVING = ["market", "worker"] as const;

/** Exit code where the embedded database ended and could not be started again. Another start of the service may mend it. */
const DATABASE_LOST = 3;
/** Maximum time to wait for the hand-over of the venues to another node. */
const HAND_OVER_MAX_MS = 2_000;
/** Questions of an edge worker that may wait for the market process: the first requests of as many clients at once. */
const PENDING_MAX_COUNT = 10_000;
/** A request does not wait longer for a lease; its edge worker then decides by what it knows. */
const LEND_MAX_MS = 500;

/** The URL at which other nodes reach this one. */
const nodeAddress = ({ NODE_URL, PORT }: Pick<Env, "NODE_URL" | "PORT">) => NODE_URL ?? `http://${hostname()}:${PORT}`;

/** The roles of the market process: what the settings do not give to processes that it starts. */
export function rolesOf(env: Env, cores = availableCores()): readonly Role[] {
  const roles: Role[] = ["market", hasPortal(env) ? "pages" : "jobs"];
  if (workerCount(env, cores) > 1) roles.push("workers");
  if (env.METRICS_PORT !== undefined) roles.push("operators");
  return roles;
}

/**
 * The parts of all processes. A process starts those of its roles in this order, in which data flows, and stops what they have opened
 * in the reverse order. Each imports what it runs, so that other processes do not load it; what is small or in all of them is imported
 * above.
 */
export const PARTS = parts()
  .part("next", ["portal"], async () => {
    // While the market process opens the database.
    loadNext();
  })
  .part("metrics", SERVING, async () => {
    const metrics = createMetrics();
    return { metrics, registry: metrics.registry };
  })
  .part("metrics", ["portal"], async () => ({ registry: createProcessMetrics() }))
  .part("settings", ["market"], async ({ env }) => {
    const count = workerCount(env, availableCores());
    return { secret: (await acquireSecrets(env)).nextAuth, count, shares: poolShares(env, count) };
  })
  // The process that sends emails looks at their server, and tells it here, where the node is reported.
  .part("mail server", ["market"], async () => {
    const mailServer: { problem: string | null } = { problem: null };
    const noteMailServer = (problem: string | null) => {
      mailServer.problem = problem;
    };
    return { mailServer, noteMailServer };
  })
  .part("parent", ["worker"], async ({ clock, log, leave, registry }) => {
    const metrics = () => registry.getMetricsAsJSON() as Promise<unknown> as Promise<MetricTable>;
    const opening = { clock, leave, metrics, pendingMaxCount: PENDING_MAX_COUNT };
    const { parent, told, serves } = openParent<WorkerStart, WorkerQuestions>(opening);
    const { worker, ...begun } = await told;
    registry.setDefaultLabels({ [WORKER_LABEL]: String(worker) });
    const lender = createBankLender(clock, (key, call) => withTimeout(parent.ask("lend", key, call), LEND_MAX_MS, clock));
    const connections = createAskedConnections({
      open: (id, owner, max) => parent.ask("openConnection", id, owner, max),
      hasRoom: (owner, max) => parent.ask("hasConnectionRoom", owner, max),
      close: (id) => void parent.ask("closeConnection", id).catch(() => undefined),
    });
    return {
      ...begun,
      worker,
      parent,
      serves,
      connections,
      log: log.child({ worker }),
      lending: { lender, useTicket: (id: string) => parent.ask("useTicket", id) },
      reports: calling<AskedReports>(REPORTS, parent.ask),
      scrape: () => registry.metrics(),
      portalPage: (...page: Parameters<Runtime["portalPage"]>) => parent.ask("page", ...page),
      ready: () => parent.ask("readiness"),
    };
  })
  .part("parent", ["portal"], async ({ clock, leave, registry }) => {
    const metrics = () => registry.metrics();
    const { parent, told, serves } = openParent<PortalStart, MarketAnswers>({ clock, leave, metrics });
    // One that does not arrive is told again after the next look.
    const noteMailServer = (problem: string | null) => void parent.ask("noteMailServer", problem).catch(() => undefined);
    return { parent, serves, noteMailServer, ...(await told) };
  })
  .part("telemetry", ALL, async (node) => {
    // Stops last: what the others do while they stop is recorded too.
    node.onStop("telemetry", (await startTelemetry({ ...node, process: node.kind })).stop);
  })
  // It loads Next while the database is opened. What it asks before the markets run is answered when it asks again.
  .part("portal", ["pages"], async (node) => {
    const { startPortal } = await import("./portal/process");
    const started = (): Runtime => {
      if (node.runtime === undefined) throw new Error("The markets are starting.");
      return node.runtime;
    };
    const answers = {
      ...calling<AskedReports>(REPORTS, (name, ...input) => started().reports[name](...(input as [Venue, string]))),
      remaining: (...account: Parameters<Access["remaining"]>) => started().access.remaining(...account),
      takeForPage: (...page: Parameters<Access["takeForPage"]>) => started().access.takeForPage(...page),
      noteMailServer: node.noteMailServer,
    };
    const isListed = (ticker: string) =>
      node.markets === undefined || VENUES.some((venue) => node.markets?.[venue].catalogue.find(ticker) !== undefined);
    const portal = startPortal({ ...node, answers, isListed, limit: async (...asked) => node.keylessCalls?.page(...asked) });
    node.onStop("portal", portal.stop);
    return { portal };
  })
  .part("redis", ALL, async ({ env, log, onStop }) => {
    const { REDIS_URL: url, REDIS_CA_FILE: caFile, REDIS_PREFIX: prefix } = env;
    // Only where it is configured is its client loaded.
    if (url === undefined) return { redis: undefined, channel: undefined };
    const { openRedis } = await import("#server/store/database/redis");
    const redis = openRedis({ url, caFile, prefix, log });
    onStop("redis", redis.close);
    return { redis, channel: createRedisChannel(redis) };
  })
  .part("database", ["market"], async ({ env, log, clock, onStop, leave, channel, shares }) => {
    const { acquireDatabase } = await import("./database/database");
    const acquired = await acquireDatabase({ ...env, DATABASE_POOL_SIZE: shares.market }, log, clock, channel);
    const { db, url: databaseUrl, startUp } = acquired;
    onStop("database", acquired.release);
    void acquired.ended.then((reason) => {
      if (reason === null) return;
      log.fatal({ reason, exit_code: DATABASE_LOST }, "the embedded database ended and cannot be started again; stopping");
      leave(DATABASE_LOST);
    });
    return { db, databaseUrl, startUp };
  })
  // The market process has migrated it.
  .part("database", ["worker", "portal"], async ({ env, clock, log, onStop, channel, databaseUrl: url, poolSize }) => {
    const { DATABASE_WAIT_S: waitS, DATABASE_DIRECT_URL: directUrl } = env;
    const opening = { url, directUrl, poolSize, waitS, clock, log, ...(channel && { channel }) };
    const startUp = createStartUp(opening);
    const db = await openDatabase({ ...opening, ...historyOptions(env, clock), startUp });
    onStop("database", db.close);
    await startUp.run(() => settleHistoryPlace(db));
    return { db, startUp };
  })
  // The clock is corrected by that of the database until the process stops.
  .part("time", ALL, async ({ clock, db, stopping }) => {
    void clock.run({ ask: () => databaseTime(db), signal: stopping });
  })
  .part("changes", SERVING, async (node) => {
    const { followChanges } = await import("./cluster/stores");
    const { startDamageWatch } = await import("./ops/history-watch");
    node.metrics.database(node.db.pool);
    node.onStop("damage watch", startDamageWatch(node).stop);
    return followChanges(node);
  })
  // Before the database, which it uses, and after the requests in flight.
  .part("portalStop", ["pages"], async ({ onStop, portal }) => onStop("portal", portal.stop))
  .part("bank", ["workers"], async ({ clock }) => ({ bank: createBucketBanks(clock) }))
  .part("access", ALL, async (node) => {
    const { controlConnected = () => false, lending: market, changeTargets, onStop } = node;
    // The portal's process takes no keys but those for billing.
    const metrics = node.metrics ?? { authFailed: () => undefined };
    const access = createAccess({ ...node, metrics, market, controlConnected });
    if (changeTargets) changeTargets.access = access;
    onStop("access", access.stop);
    return { access };
  })
  .part("usage", SERVING, async (node) => {
    const { createUsage } = await import("#server/store/usage/create-usage");
    const usage = createUsage({ ...node, pool: node.db.pool });
    node.onStop("usage", usage.stop);
    return { usage };
  })
  .part("disk", ["market"], async ({ env, clock, log, metrics, onStop }) => {
    const { startDiskWatch } = await import("./ops/disk-watch");
    const { DATA_DIR: folder, DISK_RESERVE_MIB: reserveMib } = env;
    const disk = await startDiskWatch({ folder, reserveMib, clock, log });
    metrics.disk(reserveMib * MIB_BYTES, disk.space);
    onStop("disk watch", disk.stop);
    return { disk };
  })
  .part("markets", ["market"], async (node) => {
    const { createTickForwarder } = await import("./cluster/tick-forwarder");
    const { startMarkets } = await import("./markets");
    const { feedHealth } = await import("#server/store/market/health");
    const { env, clock, redis, changeTargets, disk, metrics, onStop } = node;
    const tickForwarder = createTickForwarder({ ...node, markets: () => changeTargets.markets });
    const shared = redis && { redis, address: nodeAddress(env), leaderAt: tickForwarder.leaderAt };
    const markets = await startMarkets({ ...node, shared, requireRoom: disk.requireRoom });
    node.startUp.end();
    changeTargets.markets = markets;
    for (const venue of VENUES) onStop(`${venue} market`, markets[venue].stop);
    metrics.venues(() => VENUES.map((venue) => feedHealth(markets[venue], clock.now())));
    return { markets, tickForwarder };
  })
  // Fills the venues with what the market process sends; the worker ends when it no longer does.
  .part("markets", ["worker"], async (node) => {
    const { createTickForwarder } = await import("./cluster/tick-forwarder");
    const { followMarkets } = await import("./markets");
    const { socketLogs } = await import("./workers/relay");
    const { clock, folder, log, stopping, onStop } = node;
    const { leaderAt } = createTickForwarder({ ...node, markets: () => undefined });
    const markets = await followMarkets({ ...node, events: socketLogs(folder, clock), leaderAt });
    for (const venue of VENUES) {
      const { ended, stop } = markets[venue];
      onStop(`${venue} market`, stop);
      void ended.then((reason) => {
        if (stopping.aborted) return;
        log.error({ reason }, "the events of the market process ended; restarting");
        process.exit(1);
      });
    }
    node.changeTargets.markets = markets;
    node.startUp.end();
    return { markets };
  })
  .part("addresses", ["market"], async (node) => ({ addressOf: createAddressReader(node) }))
  // Requests of Socket.IO's sessions also come from other workers.
  .part("addresses", ["worker"], async (node) => {
    const { createSessionRoutes } = await import("./workers/sessions");
    const pathOf = (other: number) => path.join(node.folder, `sessions-${other}.sock`);
    const sessions = createSessionRoutes({ ...node, pathOf });
    return { sessions, addressOf: sessions.addressOf(createAddressReader(node)) };
  })
  // They end before the requests in flight: see `http`.
  .part("streams", SERVING, async (node) => {
    const { startStreams } = await import("./socket/streams");
    const { createKeylessCalls } = await import("./http/keyless-calls");
    const streams = startStreams({ ...node, draining: () => node.stage.now !== "serving", publicUrl: node.env.PUBLIC_URL });
    node.changeTargets.streams = streams;
    return { streams, keylessCalls: createKeylessCalls({ ...node, buckets: node.access.strangers }) };
  })
  .part("reports", ["market"], async (node) => {
    const { startPlaceWatch } = await import("./ops/history-watch");
    const { startReadiness } = await import("./ops/readiness");
    const { createReports } = await import("#server/store/market/create-reports");
    const { registry, onStop, stage } = node;
    const history = startPlaceWatch(node);
    onStop("history watch", history.stop);
    const checks = startReadiness({ ...node, history, draining: () => stage.now !== "serving", workers: () => node.workers });
    onStop("readiness", checks.stop);
    const ready = async () => checks.read();
    /** The metrics of the portal's process have names of their own. */
    const scrape = async () => {
      const own = node.workers ? joinMetrics(registry, await node.workers.metrics()) : registry.metrics();
      return (await Promise.all([own, node.portal?.metrics() ?? ""])).join("");
    };
    const portalPage: Runtime["portalPage"] = async (...page) => node.portal?.read(...page);
    return { ready, scrape, portalPage, reports: createReports({ ...node, ready }) };
  })
  // Only opened; they start with `http`.
  .part("workers", ["workers"], async (node) => {
    const { createWorkers } = await import("./workers/workers");
    const { reports, access, portalPage: page, ready: readiness, bank } = node;
    const answers = { ...reports, useTicket: access.useTicket, page, readiness, lend: bank.lend };
    return { workers: await createWorkers({ ...node, answers }) };
  })
  .part("runtime", SERVING, async (node) => {
    const { secret: nextAuth, streams, stage } = node;
    const { requireConnectionRoom } = streams;
    const draining = () => stage.now === "drained";
    const runtime: Runtime = { ...node, secrets: { nextAuth }, requireConnectionRoom, draining };
    setRuntime(runtime);
    return { runtime };
  })
  .part("operators' port", ["operators"], async (node) => {
    const { serveClients } = await import("./http/serve");
    const { SERVED_TO_OPERATORS } = await import("./http/served");
    node.onStop("operators' port", createDrain(await serveClients(node, SERVED_TO_OPERATORS, node.env.METRICS_PORT)));
  })
  // From here on clients are served: by this process, or by edge workers, which pass on to it and start with `open`.
  .part("http", ["market"], async (node) => {
    const { serveClients } = await import("./http/serve");
    const { servedToClients, servedToProcesses } = await import("./http/served");
    const { localAddress } = await import("./ops/start-message");
    const { env, workers, databaseUrl, secret, shares, stage, streams, onStop } = node;
    const attempts = createAttempts(node.clock, node.access.buckets);
    const served = { ...node, attempts };
    const server = await (workers
      ? serveClients(node, servedToProcesses(served), workers.requestsPath)
      : serveClients(node, servedToClients(served)));
    const drain = createDrain(server);
    onStop("http", drain);
    onStop("calls", () => {
      stage.now = "drained";
    });
    if (workers) onStop("workers", workers.stop);
    const start = { databaseUrl, secret, poolSize: shares.worker };
    const address = workers ? await workers.start(start) : (server.address() as AddressInfo);
    onStop("streams", streams.stop);
    return { attempts, address, drain: workers?.stop ?? drain, base: env.PUBLIC_URL ?? localAddress(address) };
  })
  .part("http", ["worker"], async (node) => {
    const { serveClients } = await import("./http/serve");
    const { servedByWorker } = await import("./http/served");
    const { createPassOn } = await import("./workers/pass-on");
    const { streams, addressOf, sessions, stage, serves, onStop } = node;
    onStop("sessions", createDrain(await sessions.listen(streams)));
    const served = servedByWorker({ ...node, streams: sessions.routed(streams, addressOf), passOn: createPassOn(node) });
    const server = await serveClients(node, served);
    const drain = createDrain(server);
    onStop("http", drain);
    onStop("calls", () => {
      stage.now = "drained";
    });
    onStop("streams", streams.stop);
    serves(server.address() as AddressInfo);
    return { drain };
  })
  // An ingest node has no client endpoints to probe.
  .part("health", ["market"], async (node) => {
    if (node.env.ROLE === "ingest") return;
    const { createSelfProbe } = await import("./ops/self-probe");
    const { recordHealth } = await import("#server/store/market/health");
    const { pool } = node.db;
    const probe = createSelfProbe({ ...node, store: () => pool.query("SELECT 1").then(() => true) });
    node.onStop("health", recordHealth({ ...node, pool, probe }).stop);
  })
  .part("mails", ["portal", "jobs"], async (node) => {
    const { startMails } = await import("./users");
    const { createUptime } = await import("#server/store/market/uptime");
    const { send, capturedMails, stop } = startMails(node);
    node.onStop("mails", stop);
    return { send, capturedMails, uptime: createUptime(node) };
  })
  .part("users", ["portal"], async (node) => {
    const { startUsers } = await import("./users");
    const { users, stop } = startUsers({ ...node, buckets: node.access.buckets });
    node.onStop("users", stop);
    return { users };
  })
  // In the portal's process if there is one, so that they take no time from the market.
  .part("jobs", ["jobs"], async (node) => {
    const { startJobs } = await import("./jobs/jobs");
    startJobs(node);
  })
  .part("node reports", ["market"], async (node) => {
    const { startCertificateWatch } = await import("./ops/certificate-watch");
    const { startNodeReports } = await import("./ops/node-reports");
    const { env, address, clock, disk, workers, mailServer, onStop } = node;
    const certificate = startCertificateWatch(env.PUBLIC_URL ?? "http://localhost", clock);
    onStop("certificate", certificate.stop);
    const name = new URL(nodeAddress({ ...env, PORT: address.port })).host;
    const found = { disk: disk.space, certificateEnd: certificate.endsAt, mailProblem: () => mailServer.problem };
    onStop("node reports", startNodeReports({ ...node, ...found, name, workers: workers?.metrics }).stop);
  })
  // The portal's process gets to work.
  .part("pages", ["pages"], async (node) => {
    const { serveClients } = await import("./http/serve");
    const { servedToProcesses } = await import("./http/served");
    const { portal, workers, databaseUrl, secret, base, shares, onStop } = node;
    const requestsPath = workers?.requestsPath ?? (await portal.requestsPath);
    // With edge workers, the market process listens for them there already.
    if (workers === undefined)
      onStop("requests of pages", createDrain(await serveClients(node, servedToProcesses(node), requestsPath)));
    await portal.start({ databaseUrl, secret, base, requestsPath, poolSize: shares.portal });
  })
  .part("pages", ["portal"], async (node) => {
    const { createCoverage } = await import("#server/store/data/coverage-report");
    const { createStoredData } = await import("#server/store/data/stored-data");
    const { setPortal } = await import("#server/pages/runtime");
    const { createClientReader } = await import("#server/pages/oauth");
    const { sandboxHistory } = await import("./feed/sandbox/history");
    const { createFeedChecker } = await import("./feed/check-settings");
    const { createMarketCall } = await import("./portal/call-market");
    const { startImport } = await import("./portal/import-process");
    const { createUploads } = await import("#server/pages/uploads");
    const { env, db, clock, log, secret, access, parent, serves, requestsPath, socketPath, onStop } = node;
    const storedData = createStoredData({ db, clock });
    const folder = path.join(env.DATA_DIR, "uploads");
    const uploads = createUploads({ folder, reserveBytes: env.DISK_RESERVE_MIB * MIB_BYTES, clock, log, start: startImport });
    onStop("uploads", uploads.stop);
    setPortal({
      ...node,
      secrets: { nextAuth: secret },
      access: {
        verify: access.verify,
        refresh: access.refresh,
        mintPortalToken: access.mintPortalToken,
        remaining: (...account) => parent.ask("remaining", ...account),
        takeForPage: (...page) => parent.ask("takeForPage", ...page),
      },
      storedData,
      uploads,
      readClient: createClientReader(node),
      checkFeed: createFeedChecker({ env, db, clock }),
      coverage: createCoverage({ db, clock, storedData, sandbox: sandboxHistory(env.SANDBOX_SEED) }),
      callMarket: createMarketCall(requestsPath),
      reports: calling<AskedReports>(REPORTS, parent.ask),
    });
    onStop("pages", createDrain(await servePages(env, socketPath, log)));
    serves(socketPath);
  })
  // The first step of a stop, while everything is still served: another node takes over the venues, and nobody new is let in.
  .part("leaving", SERVING, async ({ onStop, stage, markets, drain, clock }) => {
    onStop("leaving", async () => {
      const handedOver = Promise.all(VENUES.map((venue) => markets[venue].handOver()));
      await Promise.race([handedOver, clock.wait(HAND_OVER_MAX_MS)]);
      stage.now = "leaving";
      // Load balancers use another node for new connections; open ones are answered while the streams close.
      void drain();
    });
  })
  .part("listening", ["market"], async ({ env, log, print, address: bound }) => {
    const { localAddress, startMessage } = await import("./ops/start-message");
    const address = localAddress(bound);
    log.info({ address, ...(env.DEMO_KEY !== "off" && { demo_key: env.DEMO_KEY }) }, "listening");
    print(startMessage(env, address));
  }).list;
