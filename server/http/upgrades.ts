import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { URI_MAX_BYTES } from "#lib/contract/limits";
import { SOCKET_IO_PATH, STREAM_PATH } from "#lib/contract/stream";
import { Fault } from "#lib/fault";
import { type RefusalContext, refuseUpgrade } from "#server/socket/refuse-upgrade";
import type { Streams } from "#server/socket/streams";
import { pathOf, settleTarget } from "./target";

interface UpgradeOptions {
  streams: Pick<Streams, "webSocket" | "socketIo">;
  /** Next's own upgrades (hot reload in development); false when it takes none. */
  pages: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean;
  refusal: RefusalContext;
}

/** True for a request to Socket.IO. */
export function isSocketIo(path: string): boolean {
  return path.startsWith(SOCKET_IO_PATH) || path === SOCKET_IO_PATH.slice(0, -1);
}

/**
 * Sends each upgrade to whom it is for by its path. Some clients (curl, Java) ask for HTTP/2 with every plain request; such
 * an upgrade may be ignored (RFC 9110, 7.8), so they get the answer they came for.
 */
export function routeUpgrades(server: Server, { streams, pages, refusal }: UpgradeOptions): void {
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const fault = faultOfTarget(request);
    const path = pathOf(request.url ?? "/");
    const protocol = request.headers.upgrade?.toLowerCase() ?? "";
    if (fault !== undefined) refuseUpgrade(request, socket, fault, refusal);
    else if (protocol !== "websocket") answerPlainly(server, request, socket, refusal);
    else if (path === STREAM_PATH) streams.webSocket(request, socket as Socket, head);
    else if (isSocketIo(path)) streams.socketIo.handleUpgrade(request, socket, head);
    else if (!path.startsWith("/_next/") || !pages(request, socket, head))
      refuseUpgrade(request, socket, new Fault("not_found", { detail: "No WebSocket is served under this path." }), refusal);
  });
}

/** What is wrong with the target of an upgrade, undefined when nothing is; one in absolute form is brought to its path. */
function faultOfTarget(request: IncomingMessage): Fault | undefined {
  if (!settleTarget(request)) return new Fault("invalid_parameter", { detail: "The target is neither a path nor an address." });
  if ((request.url ?? "").length <= URI_MAX_BYTES) return undefined;
  return new Fault("uri_too_long", { detail: `Path and query together are at most ${URI_MAX_BYTES} bytes.`, max: URI_MAX_BYTES });
}

/** Answers as if no upgrade had been asked for, once. A body cannot be read any more: its parser is gone. */
function answerPlainly(server: Server, request: IncomingMessage, socket: Duplex, refusal: RefusalContext): void {
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
  if (length !== "0" || encoding !== undefined) {
    const detail = "A request with a body must not ask for another protocol: leave the Upgrade header out.";
    refuseUpgrade(request, socket, new Fault("invalid_parameter", { detail, parameter: "Upgrade" }), refusal);
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
