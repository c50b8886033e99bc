import { SpotwireError } from "./errors";
import { type Dialer, webSocketDialer } from "./socket";
import { wsDialer } from "./socket-ws";

/** True on Node. Bun and Deno report a Node version too, but their `ws` does not show why a handshake was rejected. */
function runsOnNode(): boolean {
  const { process, Bun, Deno } = globalThis as { process?: { versions?: { node?: string } }; Bun?: unknown; Deno?: unknown };
  return process?.versions?.node !== undefined && Bun === undefined && Deno === undefined;
}

/**
 * Finds the best dialer: on Node the package `ws` if it is installed, because it can send the key and read rejections; else
 * the built-in WebSocket, with a ticket.
 * @throws SpotwireError websocket_unavailable when there is neither
 */
export async function findDialer(): Promise<Dialer> {
  if (runsOnNode()) {
    try {
      // Webpack would look for `ws` in server code and fail where it is not installed; in pages, the package's `browser` field
      // leaves it out. No @vite-ignore: Vite's development server would keep the import, and fail to resolve it.
      const { WebSocket } = await import(/* webpackIgnore: true */ "ws");
      return wsDialer(WebSocket);
    } catch {
      // Not installed: use the WebSocket of the runtime.
    }
  }
  if (typeof globalThis.WebSocket === "function") return webSocketDialer(globalThis.WebSocket);
  throw new SpotwireError("websocket_unavailable", "This runtime has no WebSocket. Install the package: npm install ws");
}
