import type { IncomingMessage } from "node:http";
import { createConnection } from "node:net";
import type { Duplex } from "node:stream";

/** Passes an upgrade and everything after it to the portal's process: hot reload, in development. */
export function passUpgrade(
  { method, url, rawHeaders }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  socketPath: string,
): void {
  const lines = [`${method} ${url} HTTP/1.1`];
  for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
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
