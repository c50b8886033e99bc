import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { Server as EngineServer, type Socket as EngineSocket } from "engine.io";
import { type DefaultEventsMap, Server, type Socket as SocketIoSocket } from "socket.io";
import type { Clock } from "#lib/clock";
import type { CloseId } from "#lib/contract/close-codes";
import { afterClose, CLOSES } from "#lib/contract/close-codes";
import {
  SOCKET_IO_OPENING_CLIENT_MAX_COUNT,
  SOCKET_IO_OPENING_MAX_COUNT,
  SOCKET_IO_OPENING_NETWORK_MAX_COUNT,
  STREAM_FIRST_SUBSCRIBE_TIMEOUT_S,
  STREAM_MESSAGE_MAX_BYTES,
  STREAM_PING_INTERVAL_S,
  STREAM_PONG_TIMEOUT_S,
} from "#lib/contract/limits";
import { SOCKET_IO_NAMESPACE } from "#lib/contract/stream";
import { Fault } from "#lib/fault";
import { failureBody, failureOf, jsonHeaders } from "#lib/http/respond";
import type { Metrics } from "#lib/metrics";
import type { Outgoing } from "#server/hub/outgoing";
import type { Admission, Admissions, Credentials } from "./handshake";
import { requireNoKeyInQuery, traceparentOf } from "./handshake";
import { createHandshakeLimits } from "./handshake-limits";
import { boundedWebSockets, countPackets, webSocketOf } from "./packets";
import type { Peer } from "./peer";
import { readMessage } from "./protocol";
import { docsBaseFor, handshakeFault, handshakeId, type RefusalContext, refuseUpgrade } from "./refuse-upgrade";
import { sessionId } from "./session-ids";
import type { Sessions } from "./sessions";

const HANDSHAKE_LIMITS = {
  client: SOCKET_IO_OPENING_CLIENT_MAX_COUNT,
  network: SOCKET_IO_OPENING_NETWORK_MAX_COUNT,
  all: SOCKET_IO_OPENING_MAX_COUNT,
};
/** The protocol of Engine.IO that clients of Socket.IO 3 and 4 speak. */
const ENGINE_VERSION = "4";
/** Longest key, token or ticket that is accepted. */
const CREDENTIAL_MAX_CHARACTERS = 1_000;

type Connected = SocketIoSocket<DefaultEventsMap, DefaultEventsMap, DefaultEventsMap, { admission?: Admission }>;

interface SocketIoOptions {
  sessions: Sessions;
  admissions: Admissions;
  addressOf: (request: IncomingMessage) => string;
  refusal: RefusalContext;
  clock: Clock;
  metrics: Pick<Metrics, "refused">;
  /** The number of this edge worker, which its session ids name; undefined where there are no others. */
  worker?: number | undefined;
}

/** Socket.IO on our own HTTP server. */
interface SocketIoTransport {
  /** Long polling and the first request of every client. */
  handleRequest(request: IncomingMessage, response: ServerResponse): void;
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Closes what is still open. */
  close(): void;
}

/** A message as one packet: type EVENT, the namespace, and the event with its argument, which is JSON (Socket.IO protocol 5). */
function packetOf(message: Outgoing): string {
  message.packet ??= `2${SOCKET_IO_NAMESPACE},["${message.type}",${message.payload}]`;
  return message.packet;
}

/** One Socket.IO connection, over its current transport. Engine.IO pings it and detects its end. */
class SocketIoPeer implements Peer {
  readonly awaitsSubscribe = false;
  readonly encoding = "json";
  readonly #socket: Connected;
  #drained = 0;

  constructor(socket: Connected) {
    this.#socket = socket;
  }

  /** Calls `flush` whenever the connection can take more. */
  onReady(flush: () => void): void {
    const { conn } = this.#socket;
    const onReady = () => {
      this.#drained += 1;
      flush();
    };
    conn.transport.on("ready", onReady);
    conn.on("upgrade", (transport) => {
      transport.on("ready", onReady);
      flush();
    });
  }

  ready(): boolean {
    const { conn } = this.#socket;
    return conn.readyState === "open" && conn.transport.writable && this.#buffered() === 0;
  }

  // Writes directly to the connection: `emit` would serialize each message again for every reader.
  write(messages: readonly Outgoing[]): void {
    for (const message of messages) this.#socket.conn.write(packetOf(message));
  }

  progress(): number {
    return this.#drained;
  }

  // A long-polling client between two requests has nothing in flight.
  pending(): boolean {
    const { transport } = this.#socket.conn;
    return this.#buffered() > 0 || (transport.name === "websocket" && !transport.writable);
  }

  close(id: CloseId, last?: Outgoing): void {
    if (last !== undefined) this.write([last]);
    // Client libraries reconnect after a lost connection, but not after a disconnect packet.
    if (afterClose(CLOSES[id].code) === "terminal") this.#socket.disconnect(true);
    else this.#socket.conn.close(id === "slow_consumer");
    if (id === "flooding" || id === "protocol_abuse") webSocketOf(this.#socket.conn)?.pause();
  }

  // Engine.IO pings on its own schedule.
  probe(): void {}
  sweep(): void {}

  #buffered(): number {
    return (this.#socket.conn as unknown as { writeBuffer: unknown[] }).writeBuffer.length;
  }
}

/** A field of the handshake's `auth`; null unless it is a string of an accepted length. */
function textOf(value: unknown): string | null {
  return typeof value === "string" && value.length > 0 && value.length <= CREDENTIAL_MAX_CHARACTERS ? value : null;
}

function credentialsOf({ handshake, request }: Connected, address: string): Credentials {
  requireNoKeyInQuery(new URLSearchParams(handshake.url.split("?")[1] ?? ""));
  const { key, ticket } = handshake.auth;
  const { origin, host } = request.headers;
  return {
    key: textOf(key),
    ticket: key === undefined ? textOf(ticket) : null,
    origin: origin ?? null,
    host: host ?? null,
    address,
    id: handshakeId(request),
    traceparent: traceparentOf(request),
  };
}

const queryOf = ({ url = "" }: IncomingMessage) => new URLSearchParams(url.split("?")[1] ?? "");

/** True for a request that opens a connection: later ones name their session. */
const opensSession = (request: IncomingMessage) => !queryOf(request).has("sid");

/** The fault of a client of Socket.IO 2: the library would answer its WebSocket only after the handshake, with text instead of frames. */
function versionFault(request: IncomingMessage): Fault | undefined {
  if (queryOf(request).get("EIO") === ENGINE_VERSION) return undefined;
  const detail = `\`EIO\` must be ${ENGINE_VERSION}, which Socket.IO clients of version 3 or later send.`;
  return new Fault("invalid_parameter", { parameter: "EIO", detail });
}

interface OpeningOptions extends Pick<SocketIoOptions, "addressOf" | "clock" | "metrics"> {
  engine: EngineServer;
}

/**
 * Bounds connections that have not been admitted, and ends each at its deadline. The library's own timeout waits until a client
 * has read what is queued for it, and one that never reads would stay.
 */
function boundHandshakes({ engine, addressOf, clock, metrics }: OpeningOptions) {
  const handshakes = createHandshakeLimits(HANDSHAKE_LIMITS);
  const ends = new WeakMap<EngineSocket, () => void>();
  engine.on("connection", (socket: EngineSocket) => {
    const admitted = new AbortController();
    const leave = handshakes.enter(addressOf(socket.request));
    const end = () => {
      leave();
      admitted.abort();
    };
    ends.set(socket, end);
    socket.once("close", end);
    void clock.wait(STREAM_FIRST_SUBSCRIBE_TIMEOUT_S * 1000, admitted.signal).then(() => {
      if (admitted.signal.aborted) return;
      metrics.refused("socket.io", "not_admitted");
      socket.close(true);
    });
  });
  return {
    /** Call it for an admitted connection. */
    admitted: (socket: EngineSocket) => ends.get(socket)?.(),
    /** The fault of a request of an old client, or that would open one connection too many. */
    faultOf(request: IncomingMessage): Fault | undefined {
      if (!opensSession(request)) return undefined;
      const old = versionFault(request);
      if (old !== undefined || handshakes.fullFor(addressOf(request)) === undefined) return old;
      metrics.refused("socket.io", "too_many_openings");
      const detail = "Too many connections from here are open that have not shown a key.";
      return new Fault("rate_limited", { detail, retry_after: STREAM_FIRST_SUBSCRIBE_TIMEOUT_S });
    },
  };
}

/** Creates the Socket.IO transport, with the same sessions as the raw WebSocket, in one namespace. */
export function createSocketIo(options: SocketIoOptions): SocketIoTransport {
  const { sessions, admissions, addressOf, refusal, clock, metrics, worker } = options;
  const { docsBase, log } = refusal;
  const engine = new EngineServer({
    maxHttpBufferSize: STREAM_MESSAGE_MAX_BYTES,
    pingInterval: STREAM_PING_INTERVAL_S * 1000,
    pingTimeout: (STREAM_PONG_TIMEOUT_S - STREAM_PING_INTERVAL_S) * 1000,
    perMessageDeflate: false,
    wsEngine: boundedWebSockets(clock, metrics),
    // Any page may connect; the allowed origins of its key decide. No cookie is involved.
    cors: { origin: true, methods: ["GET", "POST"] },
  });
  if (worker !== undefined) engine.generateId = () => sessionId(worker);
  const io = new Server({ serveClient: false, connectTimeout: STREAM_FIRST_SUBSCRIBE_TIMEOUT_S * 1000 });
  io.bind(engine);
  const handshakes = boundHandshakes({ engine, addressOf, clock, metrics });
  const packets = countPackets(engine, clock, metrics);

  /** An error in the form the client library exposes: the identifier as its message, the envelope as its data. */
  function refusalOf(error: unknown, request: IncomingMessage): Error {
    const id = handshakeId(request);
    const fault = handshakeFault(error, id, log);
    return Object.assign(new Error(fault.id), { data: failureBody(fault.id, fault.data, id, docsBaseFor(request, docsBase)) });
  }

  async function admit(socket: Connected): Promise<void> {
    const admission = await admissions.admit(credentialsOf(socket, addressOf(socket.request)));
    if (socket.conn.readyState !== "open") return admissions.release(admission);
    socket.data.admission = admission;
    // The client may disconnect between admission and connection.
    socket.conn.once("close", () => {
      if (socket.data.admission !== undefined) admissions.release(admission);
    });
  }

  function open(socket: Connected): void {
    const { admission } = socket.data;
    if (admission === undefined) return;
    delete socket.data.admission;
    handshakes.admitted(socket.conn as unknown as EngineSocket);
    const peer = new SocketIoPeer(socket);
    const session = sessions.open(admission, peer);
    peer.onReady(() => session.flush());
    packets.count(socket.conn as unknown as EngineSocket, () => session.countFrame());
    socket.onAny((method: string, ...args: unknown[]) => {
      const respond = args.at(-1);
      const params = typeof respond === "function" && args.length === 1 ? undefined : args[0];
      const read = () => readMessage({ method, ...(params !== undefined && params !== null && { params }) });
      session.receive(read, typeof respond === "function" ? (answer) => respond(answer) : undefined);
    });
    socket.on("disconnect", () => {
      sessions.remove(session);
      // Leaving only the namespace would keep the connection open without counting it.
      socket.conn.close();
    });
  }

  io.use((_, next) => next(Object.assign(new Error("not_found"), { data: { namespaces: [SOCKET_IO_NAMESPACE] } })));
  const namespace = io.of(SOCKET_IO_NAMESPACE);
  namespace.use((socket, next) => {
    admit(socket).then(
      () => next(),
      (error: unknown) => next(refusalOf(error, socket.request)),
    );
  });
  namespace.on("connection", open);

  return {
    handleRequest(request, response) {
      const fault = handshakes.faultOf(request);
      if (fault === undefined) return void engine.handleRequest(request, response);
      const { status, headers, body } = failureOf(fault, jsonHeaders(handshakeId(request)), docsBaseFor(request, docsBase));
      response.writeHead(status, { ...headers, "access-control-allow-origin": "*" }).end(body);
    },
    handleUpgrade(request, socket, head) {
      const fault = handshakes.faultOf(request);
      if (fault === undefined) engine.handleUpgrade(request, socket, head);
      else refuseUpgrade(request, socket, fault, refusal);
    },
    close: () => {
      io.disconnectSockets(true);
      engine.close();
    },
  };
}
