import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { requestIdOf } from "#lib/http/request-id";
import { type Answer, failureOf, jsonHeaders } from "#lib/http/respond";

/**
 * Writes a whole HTTP answer to a socket that no parser answers for, and ends it: both ways, for the sockets of an HTTP server
 * stay half open otherwise, as long as the far side likes.
 */
export function writeAnswer(socket: Duplex, { status, headers, body }: Answer, reason = STATUS_CODES[status]): void {
  const text = String(body ?? "");
  const head = [`HTTP/1.1 ${status} ${reason}`, "Connection: close", `Content-Length: ${Buffer.byteLength(text)}`];
  for (const [name, value] of Object.entries(headers)) head.push(`${name}: ${value}`);
  socket.once("finish", () => socket.destroy());
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
}

/** Answers an upgrade that is not made, with the envelope of what was thrown. */
export function refuseUpgrade(request: IncomingMessage, socket: Duplex, error: unknown, docsBase: string): void {
  const id = requestIdOf(request.headers["x-request-id"]?.toString() ?? null);
  writeAnswer(socket, failureOf(error, jsonHeaders(id), docsBase));
}
