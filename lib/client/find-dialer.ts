import { SpotwireError } from "./errors";
import { type Dialer, webSocketDialer } from "./socket";
import { wsDialer } from "./socket-ws";

/** True on Node itself; Bun and Deno name a Node version too, but their `ws` does not tell why a handshake was refused. */
function runsOnNode(): boolean {
  const { process, Bun, Deno } = globalThis as { process?: { versions?: { node?: string } }; Bun?: unknown; Deno?: unknown };
  return process?.versions?.node !== undefined && Bun === undefined && Deno === undefined;
}

/**
 * The best dialer there is: on Node the package `ws`, where it is installed, because it can send the key and read refusals;
 * else the built-in WebSocket, with a ticket.
 * @throws SpotwireError websocket_unavailable where there is neither
 */
export async function findDialer(): Promise<Dialer> {
  if (runsOnNode()) {
    try {
      // Bundlers for browsers have to leave this line alone: there is no `ws` to find there.
      const { WebSocket } = await import(/* webpackIgnore: true */ /* @vite-ignore */ "ws");
      return wsDialer(WebSocket);
    } catch {
      // Not installed: what the runtime has built in does as well.
    }
  }
  if (typeof globalThis.WebSocket === "function") return webSocketDialer(globalThis.WebSocket);
  throw new SpotwireError("websocket_unavailable", "This runtime has no WebSocket. Install the package: npm install ws");
}
