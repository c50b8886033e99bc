import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Fault } from "#lib/fault";
import { requestIdOf } from "#lib/http/request-id";
import { type Answer, failureOf, faultOf, jsonHeaders } from "#lib/http/respond";
import type { Logger } from "#lib/log";
import { requestAddress } from "#lib/request-address";

/**
 * Writes a complete HTTP response to a raw socket and closes both directions; otherwise an HTTP server leaves the socket half
 * open until the client closes it.
 */
export function endWith(socket: Duplex, { status, headers, body }: Answer, reason = STATUS_CODES[status]): void {
  const text = String(body ?? "");
  const head = [`HTTP/1.1 ${status} ${reason}`, "Connection: close", `Content-Length: ${Buffer.byteLength(text)}`];
  for (const [name, value] of Object.entries(headers)) head.push(`${name}: ${value}`);
  socket.once("finish", () => socket.destroy());
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
}

/** Context of a refusal. */
export interface RefusalContext {
  /** PUBLIC_URL in front of the paths of docs pages; empty: the address that the request reached the service by. */
  readonly docsBase: string;
  readonly log: Logger;
}

/** The fault of a failed handshake; an internal error is logged with the request id. */
export function handshakeFault(error: unknown, requestId: string, log: Logger): Fault {
  const fault = faultOf(error);
  if (fault.id === "internal_error") log.error({ err: error, request_id: requestId }, "handshake failed");
  return fault;
}

/** The request id of a handshake. */
export function handshakeId({ headers }: IncomingMessage): string {
  return requestIdOf(headers["x-request-id"]?.toString() ?? null);
}

/** What stands in front of the paths of docs pages in the answer to this request. */
export function docsBaseFor({ headers }: IncomingMessage, publicUrl: string): string {
  return requestAddress((name) => headers[name]?.toString(), publicUrl === "" ? undefined : publicUrl) ?? "";
}

/** Refuses an upgrade with the error envelope of what was thrown. */
export function refuseUpgrade(request: IncomingMessage, socket: Duplex, error: unknown, { docsBase, log }: RefusalContext): void {
  const id = handshakeId(request);
  endWith(socket, failureOf(handshakeFault(error, id, log), jsonHeaders(id), docsBaseFor(request, docsBase)));
}
