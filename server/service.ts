import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { createAccess } from "#lib/access/access";
import { createUsage, type Usage, type UsageOptions } from "#lib/access/usage/usage";
import type { Clock } from "#lib/clock";
import { VENUES, type Venue } from "#lib/contract/primitives";
import type { ControlMessage } from "#lib/control/control";
import { createRedisChannel } from "#lib/control/redis-channel";
import type { Database } from "#lib/db";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import { createCatalogue } from "#lib/market/catalogue";
import { type HealthRecorder, recordHealth } from "#lib/market/health";
import { createMetrics } from "#lib/metrics";
import { openRedis } from "#lib/redis";
import { type Runtime, setRuntime } from "#lib/runtime";
import { createChangeFollower, type Parts } from "./cluster/change-follower";
import { createTickForwarder } from "./cluster/tick-forwarder";
import { acquireDatabase } from "./database/database";
import { createAddressReader } from "./http/address";
import { serve } from "./http/serve";
import type { RunningMarket } from "./market";
import { startMarkets } from "./markets";
import { readiness } from "./ops/readiness";
import { acquireSecrets } from "./ops/secrets";
import { createSelfProbe } from "./ops/self-probe";
import { createDrain, type Stoppable, stopAll } from "./ops/shutdown";
import { startUpkeep } from "./ops/upkeep";
import { startStreams } from "./socket/streams";
import { startUsers } from "./users";

/** Another node takes the venues over as soon as they are given back; longer than this nobody waits for that. */
const HAND_OVER_MAX_MS = 2_000;

/** What is still done: everything; no new connections and streams; nothing new at all. */
type Stage = "serving" | "leaving" | "drained";

interface ServiceOptions {
  env: Env;
  log: Logger;
  clock: Clock;
  /** False sends REST through Next too; only the bench does, to measure what that costs. */
  direct?: boolean;
  /** What counts the use of keys; only the bench gives another than the product's, to measure what counting costs. */
  usageOf?: (options: UsageOptions) => Usage;
}

/** A service that listens. */
interface Service {
  readonly address: AddressInfo;
  readonly db: Database;
  /** Lets nobody new in, ends the streams and what is in flight, writes what is left, closes the database. */
  stop(): Promise<void>;
}

/** Takes what has to be stopped in the end, the last first. */
type Later = (name: string, stop: Stoppable["stop"]) => void;

/** What the service remembers and shares, and what it hears of changes in it. */
async function openStores({ env, log, clock }: Pick<ServiceOptions, "env" | "log" | "clock">, later: Later) {
  const redis = env.REDIS_URL === undefined ? undefined : openRedis({ url: env.REDIS_URL, prefix: env.REDIS_PREFIX, log });
  if (redis) later("redis", redis.close);
  const channel = redis && createRedisChannel({ redis, prefix: env.REDIS_PREFIX });
  const { db, release } = await acquireDatabase(env, log, clock, channel);
  later("database", release);
  // Heard before the first look: what changes after it comes as a message.
  const early: ControlMessage[] = [];
  let onMessage = (message: ControlMessage): unknown => early.push(message);
  const control = await db.control.listen((message) => void onMessage(message));
  later("control", control.stop);
  const [live, sandbox] = await Promise.all([createCatalogue(db, "live"), createCatalogue(db, "sandbox")]);
  const catalogues = { live, sandbox };
  const parts: Parts = { catalogues };
  const changes = createChangeFollower(parts, clock, log);
  later("changes", changes.stop);
  onMessage = changes.follow;
  for (const message of early) await changes.follow(message);
  return { redis, db, catalogues, parts, controlConnected: control.connected };
}

/** Starts everything in the order in which data flows; when it fails, what was started is stopped again. */
export async function startService({ env, log, clock, direct = true, usageOf = createUsage }: ServiceOptions): Promise<Service> {
  const started: Stoppable[] = [];
  const later: Later = (name, stop) => started.unshift({ name, stop });
  try {
    const secrets = await acquireSecrets(env);
    const { redis, db, catalogues, parts, controlConnected } = await openStores({ env, log, clock }, later);
    const metrics = createMetrics();
    const access = createAccess({ db, env, secret: secrets.nextAuth, clock, log, metrics, controlConnected, redis });
    parts.access = access;
    later("access", access.stop);
    const usage = usageOf({ pool: db.pool, clock, log, metrics });
    later("usage", usage.stop);
    const tickForwarder = createTickForwarder({ secret: secrets.nextAuth, markets: () => parts.markets, clock });
    const shared = redis && { redis, address: nodeAddress(env), forwardPush: tickForwarder.forward };
    const markets = await startMarkets({ env, db, catalogues, clock, log, metrics, shared });
    parts.markets = markets;
    for (const venue of VENUES) later(`${venue} market`, markets[venue].stop);

    const { stop: stopMails, ...portal } = startUsers({ env, db, clock, log, buckets: access.buckets });
    later("mails", stopMails);
    let stage: Stage = "serving";
    const runtime: Runtime = {
      env,
      clock,
      log,
      metrics,
      access,
      usage,
      db,
      secrets,
      ...portal,
      markets,
      draining: () => stage === "drained",
      ready: () => readiness({ db, redis, markets, draining: stage !== "serving" }),
    };
    setRuntime(runtime);
    const addressOf = createAddressReader(env.TRUSTED_PROXIES);
    const streams = startStreams({
      redis,
      markets,
      access,
      usage,
      addressOf,
      draining: () => stage !== "serving",
      controlConnected,
      docsBase: env.PUBLIC_URL ?? "",
      clock,
      log,
      metrics,
    });
    parts.streams = streams;
    const { server, address } = await serve({
      env,
      log,
      direct,
      streams,
      addressOf,
      attempts: portal.users.attempts,
      tickForwarder,
    });
    const drain = createDrain(server);
    later("http", drain);
    later("calls", () => {
      stage = "drained";
    });
    later("streams", streams.stop);
    // A node that answers no clients has no doors to knock at.
    if (env.ROLE !== "ingest") later("health", watchHealth(runtime, address).stop);
    later("upkeep", startUpkeep({ db, clock, log, env }).stop);
    return {
      address,
      db,
      async stop() {
        await handOver(markets, clock);
        stage = "leaving";
        // Nobody new comes in, so a balancer asks another node; who is connected is answered while the streams say goodbye.
        void drain();
        await stopAll(started, log);
        setRuntime(undefined);
      },
    };
  } catch (error) {
    await stopAll(started, log);
    throw error;
  }
}

/** First of all in a stop, while all is still served: another node goes on with the venues. */
async function handOver(markets: Readonly<Record<Venue, RunningMarket>>, clock: Clock): Promise<void> {
  const handedOver = Promise.all(VENUES.map((venue) => markets[venue].handOver()));
  await Promise.race([handedOver, clock.wait(HAND_OVER_MAX_MS)]);
}

/** Has the process knock at its own doors each minute, and write down how it is. */
function watchHealth({ db, markets, clock, log }: Runtime, address: AddressInfo): HealthRecorder {
  const store = () => db.pool.query("SELECT 1").then(() => true);
  return recordHealth({ pool: db.pool, markets, probe: createSelfProbe({ address, store }), clock, log });
}

/** Where other nodes reach this one. */
function nodeAddress({ NODE_URL, PORT }: Env): string {
  return NODE_URL ?? `http://${hostname()}:${PORT}`;
}
