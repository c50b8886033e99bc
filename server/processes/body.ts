import type { IncomingMessage } from "node:http";
import { SECOND_MS } from "#lib/units";

/** The most that is read of a body that nobody wants, and the longest time for it; its sender learns of the answer meanwhile. */
const DISCARD_MAX_BYTES = 64 * 1024 * 1024;
const DISCARD_MAX_MS = SECOND_MS / 2;

/** The body of a request. Who stops reading it early leaves the connection open, so that the answer can be sent. */
export function bodyOf(request: IncomingMessage): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }) };
}

/** Reads on to the end of a body that was answered before, so that the connection can be used again; past the bounds it is closed. */
export function discardRest(request: IncomingMessage): void {
  if (request.readableEnded || request.destroyed) return;
  const close = () => request.destroy();
  const timer = setTimeout(close, DISCARD_MAX_MS);
  let bytes = 0;
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DISCARD_MAX_BYTES) close();
  });
  request.on("error", () => undefined);
  request.once("close", () => clearTimeout(timer));
  request.resume();
}
