import type { Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type pino from "pino";
import type { Access } from "#lib/access/access";
import type { Usage } from "#lib/access/usage/usage";
import type { ManualClock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { ControlMessage } from "#lib/control";
import type { Metrics } from "#lib/metrics";
import { memoryFiles } from "#lib/testing/memory-files";
import {
  type Credentials,
  connectSocketIo,
  connectWebSocket,
  Refused,
  type StreamClient,
  type Transport,
} from "#lib/testing/stream-client";
import { advanceUntil, advanceWith } from "#lib/testing/stream-time";
import { createAddressReader } from "#server/http/address";
import { createRestApi } from "#server/http/served";
import { createHttpServer, routeUpgrades } from "#server/http/server";
import { type RunningMarket, startMarket } from "#server/market/market";
import { type Streams, startStreams } from "#server/socket/streams";
import { createCatalogue, type ReloadableCatalogue } from "#server/store/market/catalogue";
import type { TestDatabase } from "./database";
import { createMemoryKlines } from "./memory-klines";
import { freshAddress, startGround } from "./runtime";
import type { KeyIssuer } from "./stream-keys";

/** A client's credentials; by default the key of all tests. */
export type Connect = Partial<Credentials> & { transport?: Transport };

/** The real service without pages: database, access, markets, streams and HTTP, on a clock that the test advances. */
export interface StreamService extends KeyIssuer {
  readonly url: string;
  readonly server: Server;
  readonly clock: ManualClock;
  readonly db: TestDatabase;
  readonly access: Access;
  readonly usage: Usage;
  readonly metrics: Metrics;
  readonly markets: Readonly<Record<Venue, RunningMarket>>;
  /** Structured lines of the log so far, warnings and worse. */
  readonly logged: readonly Record<string, unknown>[];
  /** Publishes a control message; resolves when the service has received it. */
  tell(message: ControlMessage): Promise<void>;
  /** Pushes one tick, stamped now, by default of the live venue; throws when it is rejected. */
  tick(ticker: string, bid: number, ask: number, venue?: Venue): Promise<void>;
  /** Advances the clock while the network continues; each given client makes a round trip (two messages a step). */
  advance(ms: number, clients?: readonly StreamClient[]): Promise<void>;
  /** Opens a stream; resolves when it is connected. */
  connect(options?: Connect): Promise<StreamClient>;
  /** Opens a stream that is refused, and returns the refusal. */
  refused(options?: Connect): Promise<Refused>;
  /** Open stream connections of the test. */
  connections(): Promise<number>;
  /** Value of a counter of the stream. */
  counted(name: "messages" | "merged" | "closes"): Promise<number>;
  drain(draining: boolean): void;
  /**
   * Ends the streams as a shutdown does and advances the clock until they are closed, but not before these clients were
   * notified.
   */
  stopStreams(notified?: readonly StreamClient[]): Promise<void>;
  close(): Promise<void>;
}

type Markets = Readonly<Record<Venue, RunningMarket>>;
type Catalogues = Readonly<Record<Venue, ReloadableCatalogue>>;

/** Listens as the service does, without pages. */
async function listenOn(streams: Streams, addressOf: ReturnType<typeof createAddressReader>, log: pino.Logger, metrics: Metrics) {
  const keylessCalls = { call: () => undefined };
  const server = createHttpServer({
    api: createRestApi(),
    direct: {},
    socketIo: streams.socketIo.handleRequest,
    pages: (_, response) => response.writeHead(404).end("a page"),
    authRateLimit: () => undefined,
    keylessCalls,
    addressOf,
    keepAliveMs: 0,
    docsBase: "",
    log,
    metrics,
  });
  routeUpgrades(server, { streams, pages: () => false, keylessCalls, refusal: { docsBase: "", log } });
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket.once("close", () => sockets.delete(socket))));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const shut = () => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  };
  return { server, shut, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function startMarkets(catalogues: Catalogues, clock: ManualClock, log: pino.Logger, metrics: Metrics): Promise<Markets> {
  const start = (venue: Venue) => {
    const store = createMemoryKlines();
    const options = { venue, catalogue: catalogues[venue], store, writer: store, files: memoryFiles(), acceptsPush: true };
    return startMarket({ ...options, provider: "test", clock, log, metrics });
  };
  return { live: await start("live"), sandbox: await start("sandbox") };
}

/** Starts it; call it in `beforeAll`, `close` it in `afterAll`. */
export async function startStreamService(): Promise<StreamService> {
  let streams: Streams | undefined;
  let catalogues: Catalogues | undefined;
  /** What a message concerns is reloaded before the streams act on it. */
  async function follow(message: ControlMessage): Promise<void> {
    if (message.kind === "listings") await catalogues?.[message.venue].reload();
    if (message.kind === "calendars" || message.kind === "everything")
      await Promise.all([catalogues?.live.reload(), catalogues?.sandbox.reload()]);
    streams?.apply(message);
  }
  const ground = await startGround({
    variables: { LIVE_FEED: "push" },
    level: "warn",
    scopes: ["market:read", "market:stream"],
    follow,
  });
  const { db, clock, log, metrics, access, usage, isDraining, controlConnected } = ground;
  catalogues = { live: await createCatalogue(db, "live"), sandbox: await createCatalogue(db, "sandbox") };
  const markets = await startMarkets(catalogues, clock, log, metrics);
  const addressOf = createAddressReader({ env: { TRUSTED_PROXIES: ["127.0.0.1"], FORWARDED_HEADER: "x-forwarded-for" }, log });
  streams = startStreams({
    markets,
    access,
    usage,
    addressOf,
    draining: isDraining,
    controlConnected,
    publicUrl: undefined,
    clock,
    log,
    metrics,
  });
  ground.publish(markets, streams.requireConnectionRoom);
  const listening = await listenOn(streams, addressOf, log, metrics);

  const shared = await ground.issueKey({ account: "shared" });
  const running = streams;

  async function connect({ transport = "websocket", ...given }: Connect = {}): Promise<StreamClient> {
    const key = given.key === undefined && given.ticket === undefined ? shared.text : (given.key ?? null);
    const credentials = { address: freshAddress(), ...given, key };
    if (transport === "socket.io") return connectSocketIo(listening.url, credentials);
    return connectWebSocket(listening.url, credentials, transport === "msgpack" ? "msgpack" : "json");
  }
  /**
   * Its round trips show that the service has flushed everything due; Socket.IO, because it may stay without a subscription.
   */
  const watcher = await connect({ transport: "socket.io" });
  let stopping: Promise<void> | undefined;
  async function stopStreams(notified: readonly StreamClient[] = []): Promise<void> {
    ground.drain(true);
    stopping ??= running.stop();
    await Promise.all(notified.map((client) => client.next("server_shutdown")));
    await advanceUntil(clock, stopping);
  }

  return {
    ...ground,
    url: listening.url,
    server: listening.server,
    markets,
    async tick(ticker, bid, ask, venue = "live") {
      const judged = await markets[venue].leader.push([{ ticker, time_msc: clock.now(), bid, ask }]);
      if (judged[0] !== null) throw new Error(`tick refused: ${judged[0]}`);
    },
    advance: (ms, clients = []) => advanceWith(clock, ms, [watcher, ...clients]),
    connect,
    async refused(options) {
      const outcome = await connect(options).catch((error: unknown) => error);
      if (outcome instanceof Refused) return outcome;
      throw outcome instanceof Error ? outcome : new Error("the connection was admitted");
    },
    async connections() {
      const gauge = await metrics.registry.getSingleMetric("spotwire_stream_connections")?.get();
      return (gauge?.values[0]?.value ?? 0) - 1;
    },
    async counted(name) {
      const { values = [] } = (await metrics.registry.getSingleMetric(`spotwire_stream_${name}_total`)?.get()) ?? {};
      return values.reduce((sum, { value }) => sum + value, 0);
    },
    stopStreams,
    async close() {
      await stopStreams();
      await listening.shut();
      await Promise.all([markets.live.stop(), markets.sandbox.stop()]);
      await ground.close();
    },
  };
}
