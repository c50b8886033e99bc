import type { AddressInfo } from "node:net";
import { type Access, createAccess } from "#lib/access/access";
import { createUsage, type Usage, type UsageOptions } from "#lib/access/usage";
import type { Clock } from "#lib/clock";
import { VENUES, type Venue } from "#lib/contract/primitives";
import { type ControlMessage, listen } from "#lib/control";
import type { Database } from "#lib/db";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import { createCatalogue, type ReloadableCatalogue } from "#lib/market/catalogue";
import { type HealthRecorder, recordHealth } from "#lib/market/health";
import { createMetrics } from "#lib/metrics";
import { type Runtime, setRuntime } from "#lib/runtime";
import { createAddressReader } from "./address";
import { acquireDatabase } from "./database";
import { createDoorbell } from "./doors";
import type { RunningMarket } from "./market";
import { startMarkets } from "./markets";
import { acquireSecrets } from "./secrets";
import { serve } from "./serve";
import { drainServer, type Stoppable, stopAll } from "./shutdown";
import { type Streams, startStreams } from "./streams";
import { startUsers } from "./users";

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
export interface Service {
  readonly address: AddressInfo;
  readonly db: Database;
  /** Answers 50302 to what still comes, ends what is in flight, writes what is left, closes the database. */
  stop(): Promise<void>;
}

type Markets = Record<Venue, RunningMarket>;

/** What a control message may concern, as far as it is up. */
interface Parts {
  readonly catalogues: Record<Venue, ReloadableCatalogue>;
  access?: Access;
  markets?: Markets;
  streams?: Streams;
}

/** Starts everything in the order in which data flows; when it fails, what was started is stopped again. */
export async function startService({ env, log, clock, direct = true, usageOf = createUsage }: ServiceOptions): Promise<Service> {
  const started: Stoppable[] = [];
  const later = (name: string, stop: Stoppable["stop"]) => started.unshift({ name, stop });
  try {
    const secrets = await acquireSecrets(env);
    const database = await acquireDatabase(env, log, clock);
    later("database", database.release);
    const { db } = database;
    const metrics = createMetrics();
    const catalogues = { live: await createCatalogue(db, "live"), sandbox: await createCatalogue(db, "sandbox") };

    const parts: Parts = { catalogues };
    const onMessage = (message: ControlMessage) => void follow(message, parts, log);
    const control = await listen({ db, onMessage, clock, log });
    later("control", control.stop);
    const access = createAccess({ db, env, secret: secrets.nextAuth, clock, log, metrics, heard: control.connected });
    parts.access = access;
    later("access", access.stop);
    const usage = usageOf({ pool: db.pool, clock, log, metrics });
    later("usage", usage.stop);
    const markets = await startMarkets({ env, db, catalogues, clock, log, metrics });
    parts.markets = markets;
    for (const venue of VENUES) later(`${venue} market`, markets[venue].stop);

    const { stop: stopMails, ...portal } = startUsers({ env, db, clock, log });
    later("mails", stopMails);
    let draining = false;
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
      draining: () => draining,
      ready: () => readiness(db, markets, draining),
    };
    setRuntime(runtime);
    const addressOf = createAddressReader(env.TRUSTED_PROXIES);
    const streams = startStreams({
      markets,
      access,
      usage,
      addressOf,
      draining: () => draining,
      heard: control.connected,
      docsBase: env.PUBLIC_URL ?? "",
      clock,
      log,
      metrics,
    });
    parts.streams = streams;
    const { server, address } = await serve({ env, log, direct, streams, addressOf, attempts: portal.users.attempts });
    // Streams last: a drain begins with them.
    later("http", () => drainServer(server));
    later("streams", streams.stop);
    later("health", watchHealth(runtime, address).stop);
    return {
      address,
      db,
      async stop() {
        draining = true;
        await stopAll(started, log);
        setRuntime(undefined);
      },
    };
  } catch (error) {
    await stopAll(started, log);
    throw error;
  }
}

/** Has the process knock at its own doors each minute, and write down how it is. */
function watchHealth({ db, markets, clock, log }: Runtime, address: AddressInfo): HealthRecorder {
  const store = () => db.pool.query("SELECT 1").then(() => true);
  return recordHealth({ pool: db.pool, markets, knock: createDoorbell({ address, store }), clock, log });
}

/** Brings a change that was made behind our back into the running parts. */
async function follow(message: ControlMessage, { catalogues, access, markets, streams }: Parts, log: Logger): Promise<void> {
  const { kind } = message;
  try {
    access?.apply(message);
    // Keys and accounts are the database's to tell, so nothing has to be read before.
    if (kind === "keys" || kind === "account" || kind === "sessions") streams?.apply(message);
    if (kind === "listings") await catalogues[message.venue].reload();
    if (kind === "calendars" || kind === "everything") await Promise.all(VENUES.map((venue) => catalogues[venue].reload()));
    if (kind === "listings" || kind === "everything") streams?.apply(message);
    if (kind === "klines") await markets?.[message.venue].historyChanged(message.ticker);
    if (kind === "everything") await Promise.all(VENUES.map((venue) => markets?.[venue].historyChanged()));
  } catch (error) {
    log.error({ err: error, message }, "a change could not be followed; it is tried again with the next one");
  }
}

/** The checks of /api/ready. */
async function readiness(db: Database, markets: Markets, draining: boolean): Promise<Record<string, string | null>> {
  const store = await db.pool.query("SELECT 1").then(
    () => null,
    () => "the database does not answer",
  );
  const feeds = VENUES.map((venue): [string, string | null] => [`feed_${venue}`, markets[venue].feedProblem()]);
  return { process: draining ? "draining" : null, store, ...Object.fromEntries(feeds) };
}
