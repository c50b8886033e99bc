import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Access } from "#lib/access/access";
import type { Usage } from "#lib/access/usage/usage";
import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { ControlMessage } from "#lib/control";
import { createAlignment } from "#lib/domain/timeframe";
import type { Logger } from "#lib/log";
import type { Metrics } from "#lib/metrics";
import { createHub } from "#server/hub/hub";
import { createFlusher } from "#server/hub/outbox";
import { sharedOf } from "#server/hub/outgoing";
import { createStatusWatch } from "#server/hub/status-watch";
import type { RunningMarket } from "#server/market/market";
import type { Redis } from "#server/store/database/redis";
import { type Connections, createLocalConnections } from "./connections";
import { type Admissions, createAdmissions } from "./handshake";
import { createSessions } from "./sessions";
import { createSharedConnections } from "./shared-connections";
import { createSocketIo } from "./socket-io";
import type { VenueStreams } from "./subscriptions";
import { createWebSocketTransport, type UpgradeHandler } from "./websocket";

/** After the shutdown message, connections have this long to receive what is queued for them. */
const DRAIN_WAIT_MS = 500;
/** Then they are closed, and have this long to complete the closing handshake. */
const CLOSE_WAIT_MS = 2_500;
const CLOSE_LOOK_MS = 20;
/** Clients spread their reconnects over this time. */
const RECONNECT_AFTER_MS = 5_000;

/** The streams of both venues, over both transports. */
export interface Streams {
  /** Upgrades of the stream's own address. */
  readonly webSocket: UpgradeHandler;
  /** Requests and upgrades below Socket.IO's path. */
  readonly socketIo: {
    handleRequest(request: IncomingMessage, response: ServerResponse): void;
    handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  };
  readonly requireConnectionRoom: Admissions["requireConnectionRoom"];
  /** Applies a change that another process made; call it after reloading what changed. */
  apply(message: ControlMessage): void;
  /** Announces the shutdown, lets queues drain, and closes every connection. */
  stop(): Promise<void>;
}

interface StreamsOptions {
  markets: Readonly<Record<Venue, RunningMarket>>;
  access: Access;
  usage: Pick<Usage, "connected">;
  addressOf: (request: IncomingMessage) => string;
  draining: () => boolean;
  /** Shares the connection limits between nodes. */
  redis?: Redis | undefined;
  /** Counts the connections in an edge worker: those of all workers. */
  connections?: Connections;
  /** The number of this edge worker. */
  worker?: number;
  /** True while control messages arrive without gaps. */
  controlConnected: () => boolean;
  /** PUBLIC_URL: base of links to the documentation, and an origin of our own. */
  publicUrl: string | undefined;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
}

/** Starts hubs, sessions and transports on top of the running markets. */
export function startStreams(options: StreamsOptions): Streams {
  const { markets, access, usage, addressOf, draining, redis, controlConnected, publicUrl, clock, log, metrics } = options;
  const docsBase = publicUrl ?? "";
  const stopping = new AbortController();
  const alignment = createAlignment();
  const running: Promise<void>[] = [];

  function startVenue(venue: Venue): VenueStreams {
    const market = markets[venue];
    const hub = createHub();
    market.follow(hub.apply);
    const watch = createStatusWatch({ market, hub, clock });
    running.push(watch.run(stopping.signal));
    return { market, hub, watch, clock, alignment };
  }
  const venues = { live: startVenue("live"), sandbox: startVenue("sandbox") };

  const refusal = { docsBase, log };
  const connections = options.connections ?? (redis ? createSharedConnections({ redis, clock, log }) : createLocalConnections());
  running.push(connections.run(stopping.signal));
  const tally = { sent: metrics.streamSent, merged: metrics.streamMerged, closed: metrics.streamClosed };
  const flusher = createFlusher();
  const sessions = createSessions({ venues, access, connections, flusher, tally, usage, controlConnected, docsBase, clock, log });
  metrics.streamConnections(() => sessions.count());
  const admissions = createAdmissions({
    access,
    connections,
    draining,
    publicUrl,
    generation: sessions.generation,
    onFull: sessions.probe,
    metrics,
  });
  const webSocket = createWebSocketTransport({ sessions, admissions, addressOf, refusal, clock });
  const socketIo = createSocketIo({ sessions, admissions, addressOf, refusal, clock, metrics, worker: options.worker });
  running.push(sessions.run(stopping.signal));

  async function closeAll(): Promise<void> {
    const farewell = sharedOf({ type: "server_shutdown", time_msc: clock.now(), reconnect_after_ms: RECONNECT_AFTER_MS });
    sessions.each((session) => session.tell(farewell));
    if (sessions.count() > 0) await clock.wait(DRAIN_WAIT_MS);
    const untilMs = clock.now() + CLOSE_WAIT_MS;
    while (sessions.count() > 0 && clock.now() < untilMs) {
      // Includes connections that opened during the drain.
      sessions.each((session) => session.close("shutdown"));
      await clock.wait(CLOSE_LOOK_MS);
    }
  }

  return {
    webSocket,
    socketIo,
    requireConnectionRoom: admissions.requireConnectionRoom,
    apply: sessions.apply,
    async stop() {
      await closeAll();
      stopping.abort();
      await Promise.all(running);
      socketIo.close();
    },
  };
}
