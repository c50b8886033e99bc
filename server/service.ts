import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { type Access, createAccess } from "#lib/access/access";
import { createAttempts } from "#lib/access/limits/attempts";
import { createBucketBanks } from "#lib/access/limits/bucket-bank";
import { createUsage } from "#lib/access/usage/usage";
import { bindIdentities } from "#lib/access/users/identities";
import type { Clock } from "#lib/clock";
import { VENUES, type Venue } from "#lib/contract/primitives";
import type { ControlChannel } from "#lib/control/control";
import type { Database } from "#lib/db";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import { feedHealth, type HealthRecorder, recordHealth } from "#lib/market/health";
import { createReports } from "#lib/market/reports";
import { createMetrics } from "#lib/metrics";
import { issuerOf, signInChoices } from "#lib/portal/providers";
import { type Runtime, setRuntime } from "#lib/runtime";
import { MIB_BYTES } from "#lib/units";
import { openStores } from "./cluster/stores";
import { createTickForwarder } from "./cluster/tick-forwarder";
import { acquireDatabase } from "./database/database";
import { acquireSecrets } from "./database/secrets";
import { createAddressReader } from "./http/address";
import { createKeylessCalls, type KeylessCalls } from "./http/keyless-calls";
import { serve, serveOperators, serveWorkers } from "./http/serve";
import type { RunningMarket } from "./market";
import { startMarkets } from "./markets";
import { startConversion } from "./ops/conversion";
import { startDiskWatch } from "./ops/disk-watch";
import { startNodeReports } from "./ops/node-reports";
import { startReadiness } from "./ops/readiness";
import { createSelfProbe } from "./ops/self-probe";
import { createDrain, type Stoppable, stopAll } from "./ops/shutdown";
import { localAddress } from "./ops/start-message";
import { startTelemetry } from "./ops/telemetry";
import { startUpkeep } from "./ops/upkeep";
import { hasPortal, poolShares } from "./portal/pool-shares";
import { type Portal, startPortal } from "./portal/process";
import { startStreams } from "./socket/streams";
import { availableCores, workerCount } from "./workers/count";
import { joinMetrics } from "./workers/joined-metrics";
import { createWorkers, type Workers } from "./workers/workers";

/** Maximum time to wait for the hand-over of the venues to another node. */
const HAND_OVER_MAX_MS = 2_000;

/** Serving accepts everything; leaving accepts no new connections; drained accepts no new requests either. */
type Stage = "serving" | "leaving" | "drained";

interface ServiceOptions {
  env: Env;
  log: Logger;
  clock: Clock;
  /** Called when the database of this process has ended and cannot be started again, with the reason. */
  onDatabaseLost: (reason: string) => void;
}

/** A running service. */
interface Service {
  readonly address: AddressInfo;
  readonly db: Database;
  /** Stops accepting clients, ends streams and requests in flight, writes pending data, closes the database. */
  stop(): Promise<void>;
}

/** Registers a component to stop; the last one registered stops first. */
type OnStop = (name: string, stop: Stoppable["stop"]) => void;

/** Opens the database of this node, migrated, and what depends on its settings. */
function openOwn({ env, log, clock, onDatabaseLost }: ServiceOptions, poolSize: number) {
  return async (channel: ControlChannel | undefined) => {
    const acquired = await acquireDatabase({ ...env, DATABASE_POOL_SIZE: poolSize }, log, clock, channel);
    const { db, startUp, ended } = acquired;
    void ended.then((reason) => reason !== null && onDatabaseLost(reason));
    for (const { id } of signInChoices(env)) await startUp.run(() => bindIdentities({ db }, id, issuerOf(env, id)));
    return acquired;
  };
}

/** Starts the components in the order in which data flows. When one fails, those already started are stopped. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { env, log, clock } = options;
  const started: Stoppable[] = [];
  const onStop: OnStop = (name, stop) => started.unshift({ name, stop });
  const base = { env, clock, log, metrics: createMetrics() };
  let stage: Stage = "serving";
  let portal: Portal | undefined;
  let workers: Workers | undefined;
  /** The metrics of the portal's process have names of their own. */
  const scrape = async () => {
    const { registry } = base.metrics;
    const own = workers ? joinMetrics(registry, await workers.metrics()) : registry.metrics();
    return (await Promise.all([own, portal?.metrics() ?? ""])).join("");
  };
  try {
    // Stops last: what the others do while they stop is recorded too.
    onStop("telemetry", (await startTelemetry({ ...base, registry: base.metrics.registry, process: "market" })).stop);
    const secrets = await acquireSecrets(env);
    let running: Runtime | undefined;
    let keylessCalls: KeylessCalls | undefined;
    const limit: KeylessCalls["page"] = async (...asked) => keylessCalls?.page(...asked);
    portal = hasPortal(env) ? openPortal({ ...base, secret: secrets.nextAuth, limit }, () => running) : undefined;
    const count = workerCount(env, availableCores());
    const shares = poolShares(env, count);
    const stores = await openStores({ ...base, onStop, open: openOwn(options, shares.market) });
    const { redis, db, url, startUp, catalogues, changeTargets, controlConnected } = stores;
    base.metrics.database(db.pool);
    // Before the database, which it uses, and after the requests in flight.
    if (portal) onStop("portal", portal.stop);

    const bank = count > 1 ? createBucketBanks(clock) : undefined;
    const access = createAccess({ ...base, db, secret: secrets.nextAuth, controlConnected, redis, bank });
    changeTargets.access = access;
    onStop("access", access.stop);
    const usage = createUsage({ ...base, pool: db.pool });
    onStop("usage", usage.stop);

    const disk = await watchDisk(base);
    onStop("disk watch", disk.stop);

    const tickForwarder = createTickForwarder({ secret: secrets.nextAuth, markets: () => changeTargets.markets, clock });
    const { forward: forwardPush, forwardKlines } = tickForwarder;
    const shared = redis && { redis, address: nodeAddress(env), forwardPush, forwardKlines };
    const markets = await startMarkets({
      ...{ ...base, db, secret: secrets.nextAuth, startUp, catalogues, onStop, shared },
      requireRoom: disk.requireRoom,
    });
    startUp.end();
    changeTargets.markets = markets;
    for (const venue of VENUES) onStop(`${venue} market`, markets[venue].stop);

    base.metrics.venues(() => VENUES.map((venue) => feedHealth(markets[venue], clock.now())));
    const draining = () => stage !== "serving";
    const ready = async () => checks.read();
    const addressOf = createAddressReader(env.TRUSTED_PROXIES);
    const publicUrl = env.PUBLIC_URL;
    const streams = startStreams({ ...base, redis, markets, access, usage, addressOf, draining, controlConnected, publicUrl });
    changeTargets.streams = streams;
    const runtime: Runtime = {
      ...base,
      db,
      secrets,
      access,
      usage,
      markets,
      reports: createReports({ ...base, db, markets, ready }),
      requirePlace: streams.requirePlace,
      scrape,
      portalPage: async (path, reader) => portal?.read(path, reader),
      ready,
      draining: () => stage === "drained",
    };
    const answers = { ...runtime.reports, useTicket: access.useTicket, page: runtime.portalPage, readiness: ready };
    if (bank) workers = await createWorkers({ ...base, count, markets, answers: { ...answers, lend: bank.lend } });
    const checks = startReadiness({ db, redis, markets, disk, draining, workers, clock });
    onStop("readiness", checks.stop);
    running = runtime;
    setRuntime(runtime);

    keylessCalls = createKeylessCalls({ ...base, buckets: access.strangers, addressOf });
    const attempts = createAttempts(clock, access.buckets);
    if (env.METRICS_PORT !== undefined)
      onStop("operators' port", createDrain(await serveOperators({ ...base, addressOf, keylessCalls }, env.METRICS_PORT)));
    const serving = { ...base, streams, addressOf, keylessCalls, attempts, tickForwarder, portal };
    const starting = { databaseUrl: url, secret: secrets.nextAuth };
    const { server, open } = await openDoor(serving, workers, { ...starting, poolSize: shares.worker });
    const drain = createDrain(server);
    onStop("http", drain);
    onStop("calls", () => {
      stage = "drained";
    });
    if (workers) onStop("workers", workers.stop);
    const address = await open();
    onStop("streams", streams.stop);
    // An ingest node has no client endpoints to probe.
    if (env.ROLE !== "ingest") onStop("health", watchHealth(runtime, address).stop);
    onStop("upkeep", startUpkeep({ ...base, db }).stop);
    onStop("conversion", startConversion({ ...base, db, isShared: redis !== undefined }).stop);
    const name = new URL(nodeAddress({ ...env, PORT: address.port })).host;
    onStop(
      "node reports",
      startNodeReports({ ...base, db, markets, ready, disk: disk.space, name, workers: workers?.metrics }).stop,
    );
    await portal?.start({ ...starting, poolSize: shares.portal, base: env.PUBLIC_URL ?? localAddress(address) });
    return {
      address,
      db,
      async stop() {
        await handOver(markets, clock);
        stage = "leaving";
        // No new connections, so load balancers use another node; open connections are answered while the streams close.
        void (workers?.stop ?? drain)();
        await stopAll(started, log);
        setRuntime(undefined);
      },
    };
  } catch (error) {
    await stopAll(started, log);
    await portal?.stop();
    throw error;
  }
}

/** Watches the disk that this process writes to. */
async function watchDisk({ env, clock, log, metrics }: Pick<Runtime, "env" | "clock" | "log" | "metrics">) {
  const reserveMib = env.DISK_RESERVE_MIB;
  const disk = await startDiskWatch({ folder: env.DATA_DIR, reserveMib, clock, log });
  metrics.disk(reserveMib * MIB_BYTES, disk.space);
  return disk;
}

/** Starts the portal's process. What it asks before the markets run is answered when it asks again. */
function openPortal(
  base: Omit<Parameters<typeof startPortal>[0], "answers" | "isListed">,
  running: () => Runtime | undefined,
): Portal {
  const started = (): Runtime => {
    const services = running();
    if (services === undefined) throw new Error("The markets are starting.");
    return services;
  };
  const answers = {
    board: () => started().reports.board(),
    markets: (venue: Venue) => started().reports.markets(venue),
    market: (venue: Venue, ticker: string) => started().reports.market(venue, ticker),
    status: () => started().reports.status(),
    feeds: () => started().reports.feeds(),
    remaining: (...account: Parameters<Access["remaining"]>) => started().access.remaining(...account),
    takeFor: (...page: Parameters<Access["takeFor"]>) => started().access.takeFor(...page),
  };
  const isListed = (ticker: string) =>
    VENUES.some((venue) => running()?.markets[venue].catalogue.find(ticker) !== undefined) || running() === undefined;
  return startPortal({ ...base, answers, isListed });
}

/** Serves clients from this process, or from edge workers, which start with `open`: it resolves with the address of clients. */
async function openDoor(
  serving: Parameters<typeof serve>[0],
  workers: Workers | undefined,
  start: Parameters<Workers["start"]>[0],
) {
  if (workers) return { server: await serveWorkers(serving, workers.requestsPath), open: () => workers.start(start) };
  const { server, address } = await serve(serving);
  return { server, open: async () => address };
}

/** The first step of a stop, while everything is still served: another node takes over the venues. */
async function handOver(markets: Readonly<Record<Venue, RunningMarket>>, clock: Clock): Promise<void> {
  const handedOver = Promise.all(VENUES.map((venue) => markets[venue].handOver()));
  await Promise.race([handedOver, clock.wait(HAND_OVER_MAX_MS)]);
}

/** Probes the endpoints of this process every minute and records their health. */
function watchHealth({ db, markets, clock, log }: Runtime, address: AddressInfo): HealthRecorder {
  const store = () => db.pool.query("SELECT 1").then(() => true);
  return recordHealth({ pool: db.pool, markets, probe: createSelfProbe({ address, store }), clock, log });
}

/** The URL at which other nodes reach this one. */
function nodeAddress({ NODE_URL, PORT }: Env): string {
  return NODE_URL ?? `http://${hostname()}:${PORT}`;
}
