import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { SOCKET_IO_PATH, STREAM_PATH } from "#lib/contract/stream";
import { Fault } from "#lib/fault";
import { refuseUpgrade } from "./socket/refuse-upgrade";
import type { Streams } from "./streams";

interface UpgradeOptions {
  streams: Pick<Streams, "webSocket" | "socketIo">;
  /** Next's own upgrades (hot reload in development); false when it takes none. */
  pages: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean;
  docsBase: string;
}

/** True for a request to Socket.IO. */
export function isSocketIo(path: string): boolean {
  return path.startsWith(SOCKET_IO_PATH) || path === SOCKET_IO_PATH.slice(0, -1);
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? "/").split("?")[0] ?? "/";
}

/**
 * Sends each upgrade to whom it is for by its path. Some clients (curl, Java) ask for HTTP/2 with every plain request; such
 * an upgrade may be ignored (RFC 9110, 7.8), so they get the answer they came for.
 */
export function routeUpgrades(server: Server, { streams, pages, docsBase }: UpgradeOptions): void {
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const path = pathOf(request);
    const protocol = request.headers.upgrade?.toLowerCase() ?? "";
    if (protocol !== "websocket") answerPlainly(server, request, socket, docsBase);
    else if (path === STREAM_PATH) streams.webSocket(request, socket as Socket, head);
    else if (isSocketIo(path)) streams.socketIo.handleUpgrade(request, socket, head);
    else if (!path.startsWith("/_next/") || !pages(request, socket, head))
      refuseUpgrade(request, socket, new Fault("not_found", { detail: "No WebSocket is served under this path." }), docsBase);
  });
}

/** Answers as if no upgrade had been asked for, once. A body cannot be read any more: its parser is gone. */
function answerPlainly(server: Server, request: IncomingMessage, socket: Duplex, docsBase: string): void {
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
  if (length !== "0" || encoding !== undefined) {
    const detail = "A request with a body must not ask for another protocol: leave the Upgrade header out.";
    refuseUpgrade(request, socket, new Fault("invalid_parameter", { detail, parameter: "Upgrade" }), docsBase);
    return;
  }
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  response.on("finish", () => {
    response.detachSocket(socket as Socket);
    (socket as Socket).destroySoon();
  });
  socket.on("error", () => undefined);
  server.emit("request", request, response);
}
