import type { Server as EngineServer, Socket as EngineSocket } from "engine.io";
import { type ServerOptions, WebSocket, WebSocketServer } from "ws";
import type { Clock } from "#lib/clock";
import { CLOSES } from "#lib/contract/close-codes";
import type { Metrics } from "#lib/metrics";
import { MessageRateLimit, READER_RATE } from "./message-rate";
import { LIMITS } from "./websocket";

/**
 * Bounds what a connection of Engine.IO sends below and beside its messages. Those are events of Socket.IO, and the session counts
 * them; the library takes everything else without a limit: other packets, control frames of WebSocket, and what comes before a
 * client is admitted or after its connection was closed.
 */

type RefusalMetrics = Pick<Metrics, "refused">;

/** Types of packets in Socket.IO's protocol that carry an event: EVENT and BINARY_EVENT. */
const EVENT_TYPES = new Set(["2", "5"]);

const isEvent = (type: string, data: unknown) => type === "message" && typeof data === "string" && EVENT_TYPES.has(data[0] ?? "");

/** The WebSocket below a connection; undefined while it polls. */
export function webSocketOf({ transport }: { readonly transport: object }): WebSocket | undefined {
  return (transport as { readonly socket?: WebSocket }).socket;
}

/** Makes the class of the library's WebSocket server. Its sockets count control frames, and messages that come while they close. */
export function boundedWebSockets(clock: Clock, metrics: RefusalMetrics): new (options: ServerOptions) => WebSocketServer {
  class BoundedWebSocket extends WebSocket {
    readonly #limit = new MessageRateLimit(clock.now(), READER_RATE);
    #ended = false;

    constructor(...parts: ConstructorParameters<typeof WebSocket>) {
      super(...parts);
      this.on("ping", this.#count);
      this.on("pong", this.#count);
      this.on("message", () => this.readyState === this.OPEN || this.#count());
    }

    readonly #count = (): void => {
      if (this.#ended || this.#limit.judge(clock.now()) !== "flooding") return;
      this.#ended = true;
      metrics.refused("socket.io", "too_many_frames");
      this.close(CLOSES.flooding.code, CLOSES.flooding.reason);
      // What still comes is not parsed.
      this.pause();
    };
  }
  return class extends WebSocketServer {
    constructor(options: ServerOptions) {
      super({ ...options, ...LIMITS, WebSocket: BoundedWebSocket as unknown as typeof WebSocket });
    }
  };
}

/** Counts the packets of each connection that carry no event. */
export function countPackets(engine: EngineServer, clock: Clock, metrics: RefusalMetrics) {
  const counters = new WeakMap<EngineSocket, () => void>();
  engine.on("connection", (socket: EngineSocket) => {
    const limit = new MessageRateLimit(clock.now(), READER_RATE);
    let awaitsPong = false;
    socket.on("packetCreate", ({ type }: { type: string }) => {
      if (type === "ping") awaitsPong = true;
    });
    socket.on("packet", ({ type, data }: { type: string; data?: unknown }) => {
      const counted = counters.get(socket);
      if (type === "pong" && awaitsPong) awaitsPong = false;
      else if (counted === undefined) {
        if (limit.judge(clock.now()) !== "flooding") return;
        metrics.refused("socket.io", "too_many_frames");
        socket.close(true);
        webSocketOf(socket)?.pause();
      } else if (!isEvent(type, data)) counted();
    });
  });
  return {
    /** Lets the session of an admitted connection count its packets from now on. */
    count: (socket: EngineSocket, counted: () => void) => void counters.set(socket, counted),
  };
}
