import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { CONNECTIONS_CLIENT_MAX_COUNT, CONNECTIONS_MAX_COUNT, CONNECTIONS_NETWORK_MAX_COUNT } from "#lib/contract/limits";
import type { Metrics } from "#lib/metrics";
import { createHandshakeLimits } from "#server/socket/handshake-limits";
import { createProxyCheck, peerOf } from "./address";
import { connectionRoom } from "./open-files";

const LIMITS = {
  client: CONNECTIONS_CLIENT_MAX_COUNT,
  network: CONNECTIONS_NETWORK_MAX_COUNT,
  // One more is accepted, and another one is closed for it.
  all: Number.POSITIVE_INFINITY,
};

interface BoundOptions {
  /** Their connections do not count: all clients behind them would be one. */
  readonly trustedProxies: readonly string[];
  readonly metrics: Pick<Metrics, "refused">;
  readonly limits?: typeof LIMITS;
  readonly maxCount?: number;
  /** How many connections and streams the files leave that this process may open. */
  readonly roomCount?: number;
}

/**
 * Bounds the connections of a server. A client or a network with too many gets no further one. When all together are too many,
 * the connection that asked for nothing for the longest time is closed: many networks that hold connections shut out nobody who
 * has something to ask. A connection that becomes a stream no longer counts: streams have limits of their own. Where few files may
 * be open, connections have half of them, and none is accepted for which there is no file: the kernel would close it, uncounted.
 */
export function boundConnections(
  server: Server,
  { trustedProxies, metrics, limits = LIMITS, maxCount = CONNECTIONS_MAX_COUNT, roomCount = connectionRoom() }: BoundOptions,
): void {
  const mostCount = Math.min(maxCount, Math.floor(roomCount / 2));
  if (Number.isFinite(roomCount)) server.maxConnections = roomCount;
  server.on("drop", () => metrics.refused("tcp", "too_many_files"));
  const isTrustedProxy = createProxyCheck(trustedProxies);
  const handshakes = createHandshakeLimits(limits);
  /** In the order of their last request. */
  const open = new Map<Socket, () => void>();

  function leave(socket: Socket): void {
    open.get(socket)?.();
    open.delete(socket);
    // A stream would keep it for as long as it lives.
    socket.off("close", onClose);
  }

  // One function for all sockets: one for each, and what `once` wraps around it, would take 250 bytes a connection.
  function onClose(this: Socket): void {
    leave(this);
  }

  server.on("connection", (socket: Socket) => {
    const address = peerOf({ socket });
    if (isTrustedProxy(address)) return;
    const full = handshakes.fullFor(address);
    if (full !== undefined) {
      metrics.refused("tcp", `too_many_of_${full}`);
      socket.destroy();
      return;
    }
    open.set(socket, handshakes.enter(address));
    socket.on("close", onClose);
    if (open.size <= mostCount) return;
    const [idle = socket] = open.keys();
    metrics.refused("tcp", "too_many");
    leave(idle);
    idle.destroy();
  });
  server.on("request", ({ socket }: IncomingMessage) => {
    const end = open.get(socket);
    if (end === undefined) return;
    open.delete(socket);
    open.set(socket, end);
  });
  server.on("upgrade", ({ socket }: IncomingMessage) => leave(socket));
}
