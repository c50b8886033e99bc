import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type RawData, WebSocket, WebSocketServer } from "ws";
import type { Clock } from "#lib/clock";
import { CLOSES, type CloseId } from "#lib/contract/close-codes";
import { STREAM_MESSAGE_MAX_BYTES, STREAM_PING_INTERVAL_S, STREAM_PONG_TIMEOUT_S } from "#lib/contract/limits";
import { STREAM_PROTOCOLS, type StreamEncoding } from "#lib/contract/stream";
import { Fault } from "#lib/fault";
import type { Outgoing } from "#server/hub/outgoing";
import { FrameJoiner, frameOf } from "./frames";
import type { Admission, Admissions } from "./handshake";
import { credentialsOf } from "./handshake";
import type { Peer } from "./peer";
import { READERS } from "./protocol";
import { type RefusalContext, refuseUpgrade } from "./refuse-upgrade";
import type { Session } from "./session";
import type { Sessions } from "./sessions";

/** A client that does not answer a close is cut after this. */
const CLOSE_TIMEOUT_MS = 2_000;
/** A probed client has this long to answer. */
const PROBE_TIMEOUT_MS = 3_000;
/** Fragments of one message; there is no reason for more than a few. */
const FRAGMENTS_MAX_COUNT = 64;

/** Options that are newer than the types of `ws`. */
export const LIMITS = { maxFragments: FRAGMENTS_MAX_COUNT, closeTimeout: CLOSE_TIMEOUT_MS };

/** Handles an upgrade to the raw stream. */
export type UpgradeHandler = (request: IncomingMessage, socket: Socket, head: Buffer) => void;

interface WebSocketOptions {
  sessions: Sessions;
  admissions: Admissions;
  addressOf: (request: IncomingMessage) => string;
  refusal: RefusalContext;
  clock: Clock;
}

/** A socket that knows its connection, so that all sockets share the same listeners: one of its own takes 100 bytes a socket. */
class StreamWebSocket extends WebSocket {
  peer: WebSocketPeer | undefined;
  session: Session | undefined;
}

/** What a socket of our server knows; `ws` types the `this` of a listener as any socket. */
function connectionOf(webSocket: WebSocket): Pick<StreamWebSocket, "peer" | "session"> {
  return webSocket as StreamWebSocket;
}

interface PeerParts {
  webSocket: StreamWebSocket;
  socket: Socket;
  encoding: StreamEncoding;
  joiner: FrameJoiner;
}

/** One WebSocket. A class, so that many connections share its methods. */
class WebSocketPeer implements Peer {
  readonly awaitsSubscribe = true;
  readonly encoding: StreamEncoding;
  readonly #webSocket: StreamWebSocket;
  readonly #socket: Socket;
  readonly #joiner: FrameJoiner;
  #pingMs: number;
  #pongMs: number;
  #awaitsPong = false;
  /** Deadline for the answer to a probe; infinite while none is expected. */
  #answerByMs = Number.POSITIVE_INFINITY;
  #awaitsDrain = false;

  constructor({ webSocket, socket, encoding, joiner }: PeerParts, nowMs: number) {
    this.encoding = encoding;
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#joiner = joiner;
    this.#pingMs = nowMs + STREAM_PING_INTERVAL_S * 1000;
    this.#pongMs = nowMs;
  }

  ready(): boolean {
    if (this.#webSocket.readyState !== this.#webSocket.OPEN) return false;
    if (this.#socket.writableNeedDrain) this.#flushOnDrain();
    return !this.#socket.writableNeedDrain;
  }

  // Writes directly to the socket. `ws` writes pongs and closes to it as well; both write whole frames, so order is kept.
  write(messages: readonly Outgoing[]): void {
    this.#joiner.send(messages, this.#socket);
  }

  progress(): number {
    return this.#socket.bytesWritten - this.#socket.writableLength;
  }

  pending(): boolean {
    return this.#socket.writableLength > 0;
  }

  close(id: CloseId, last?: Outgoing): void {
    if (last !== undefined && this.#webSocket.readyState === this.#webSocket.OPEN) this.#socket.write(frameOf(last));
    const { code, reason } = CLOSES[id];
    this.#webSocket.close(code, reason);
    if (id === "flooding") this.#readNoMore();
  }

  probe(nowMs: number): void {
    if (this.#answerByMs !== Number.POSITIVE_INFINITY || this.#webSocket.readyState !== this.#webSocket.OPEN) return;
    this.#answerByMs = nowMs + PROBE_TIMEOUT_MS;
    this.#ping();
  }

  sweep(nowMs: number): void {
    if (this.#webSocket.readyState !== this.#webSocket.OPEN) return;
    const silent = nowMs - this.#pongMs >= STREAM_PONG_TIMEOUT_S * 1000 || nowMs >= this.#answerByMs;
    if (silent) this.#webSocket.terminate();
    else if (nowMs >= this.#pingMs) {
      this.#pingMs = nowMs + STREAM_PING_INTERVAL_S * 1000;
      this.#ping();
    }
  }

  /** Records a pong. Returns false for one that answers no ping: a client may send such (RFC 6455, 5.5.3). */
  pong(nowMs: number): boolean {
    const awaited = this.#awaitsPong;
    this.#awaitsPong = false;
    this.#pongMs = nowMs;
    this.#answerByMs = Number.POSITIVE_INFINITY;
    return awaited;
  }

  #ping(): void {
    this.#awaitsPong = true;
    this.#webSocket.ping();
  }

  /** What still comes is not parsed. The client has its close frame and the end of the stream, and is cut soon. */
  #readNoMore(): void {
    this.#webSocket.pause();
    this.#socket.end();
  }

  /** Few connections ever have to wait, so that they listen only while they do. */
  #flushOnDrain(): void {
    if (this.#awaitsDrain) return;
    this.#awaitsDrain = true;
    this.#socket.once("drain", () => {
      this.#awaitsDrain = false;
      this.#webSocket.session?.flush();
    });
  }
}

const ignore = () => undefined;

/** The encoding of each subprotocol. */
const ENCODINGS: ReadonlyMap<string, StreamEncoding> = new Map([
  [STREAM_PROTOCOLS.json, "json"],
  [STREAM_PROTOCOLS.msgpack, "msgpack"],
]);

/** Creates the raw WebSocket transport. A refused handshake gets an HTTP response; an accepted one gets a session. */
export function createWebSocketTransport({ sessions, admissions, addressOf, refusal, clock }: WebSocketOptions): UpgradeHandler {
  const joiners: Readonly<Record<StreamEncoding, FrameJoiner>> = { json: new FrameJoiner(), msgpack: new FrameJoiner() };
  const server = new WebSocketServer({
    noServer: true,
    WebSocket: StreamWebSocket,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: STREAM_MESSAGE_MAX_BYTES,
    ...LIMITS,
    handleProtocols: (offered) => [...offered].find((name) => ENCODINGS.has(name)) ?? false,
  });
  server.on("wsClientError", (error, socket, request) => {
    const fault = new Fault("invalid_parameter", { detail: `The request is not a valid WebSocket handshake: ${error.message}.` });
    refuseUpgrade(request, socket, fault, refusal);
  });

  function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
    const { peer, session } = connectionOf(this);
    if (peer !== undefined) session?.receive(() => READERS[peer.encoding](data as Buffer, isBinary));
  }

  function onPing(this: WebSocket): void {
    connectionOf(this).session?.countFrame();
  }

  function onPong(this: WebSocket): void {
    const { peer, session } = connectionOf(this);
    if (peer?.pong(clock.now()) === false) session?.countFrame();
  }

  function onClose(this: WebSocket): void {
    const { session } = connectionOf(this);
    if (session !== undefined) sessions.remove(session);
  }

  function open(webSocket: StreamWebSocket, socket: Socket, admission: Admission): void {
    const encoding = ENCODINGS.get(webSocket.protocol) ?? "json";
    const peer = new WebSocketPeer({ webSocket, socket, encoding, joiner: joiners[encoding] }, clock.now());
    webSocket.peer = peer;
    webSocket.session = sessions.open(admission, peer);
    webSocket.on("message", onMessage);
    webSocket.on("ping", onPing);
    webSocket.on("pong", onPong);
    webSocket.on("close", onClose);
    // `ws` closes with the code of the protocol (1002, 1007, 1009) and then says so here.
    webSocket.on("error", ignore);
  }

  async function upgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const admission = await admissions.admit(credentialsOf(request, addressOf(request)));
    if (socket.destroyed) return admissions.release(admission);
    let opened = false;
    server.handleUpgrade(request, socket, head, (webSocket) => {
      opened = true;
      open(webSocket, socket, admission);
    });
    if (!opened) admissions.release(admission);
  }

  return (request, socket, head) => {
    // Until `ws` has the socket, a reset would end the process.
    socket.on("error", ignore);
    upgrade(request, socket, head).then(
      () => socket.off("error", ignore),
      (error: unknown) => refuseUpgrade(request, socket, error, refusal),
    );
  };
}
