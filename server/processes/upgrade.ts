import type { IncomingMessage } from "node:http";
import { createConnection } from "node:net";
import type { Duplex } from "node:stream";
import { ADDRESS_HEADER } from "#server/pages/visitor";

interface UpgradeTarget {
  readonly socketPath: string;
  /** The client's address, for a process that has to know it. */
  readonly address?: string;
}

/** Passes an upgrade and everything after it to another process of this node: hot reload, and sessions of other edge workers. */
export function passUpgrade(
  { method, url, rawHeaders }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  { socketPath, address }: UpgradeTarget,
): void {
  const lines = [`${method} ${url} HTTP/1.1`];
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() !== ADDRESS_HEADER) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  if (address !== undefined) lines.push(`${ADDRESS_HEADER}: ${address}`);
  const portal = createConnection(socketPath);
  portal.write(`${lines.join("\r\n")}\r\n\r\n`);
  portal.write(head);
  socket.pipe(portal).pipe(socket);
  for (const end of [portal, socket]) {
    end.on("error", () => undefined);
    end.once("close", () => {
      portal.destroy();
      socket.destroy();
    });
  }
}
