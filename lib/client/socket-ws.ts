import type { WebSocket } from "ws";
import { asSpotwireError, errorOfAnswer, SpotwireError } from "./errors";
import { ABNORMAL_CLOSE, type Dialer, NORMAL_CLOSE, webSocketDialer } from "./socket";

/** Longest body that is read of a rejection, which is one small envelope. */
const REFUSAL_MAX_CHARACTERS = 65_536;

/** The used fields of Node's response to a rejected handshake. */
interface Refusal {
  readonly statusCode?: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  setEncoding(encoding: "utf8"): unknown;
  on(event: "data", listener: (chunk: string) => void): unknown;
  on(event: "close", listener: () => void): unknown;
  destroy(): unknown;
}

/** Reads why the handshake was rejected and reports it; an incomplete body is reported as far as it was received. */
function readRefusal(response: Refusal, place: string, tell: (error: SpotwireError) => void): void {
  let text = "";
  response.setEncoding("utf8");
  response.on("data", (chunk) => {
    text += chunk;
    if (text.length > REFUSAL_MAX_CHARACTERS) response.destroy();
  });
  response.on("close", () => {
    const header = (name: string) => response.headers[name]?.toString();
    tell(errorOfAnswer(response.statusCode ?? 0, header, text, place));
  });
}

/** The dialer of the package `ws`: it sends the key with the handshake and reads the envelope of a rejection. */
export function wsDialer(WebSocketClass: typeof WebSocket): Dialer {
  return {
    sendsHeaders: true,
    binary: true,
    dial(url, { protocols, headers }, { onText, onBytes, onEnd }) {
      const socket = new WebSocketClass(url, [...protocols], { headers, perMessageDeflate: false });
      let refused = false;
      let failure: SpotwireError | undefined;
      socket.on("message", (data, isBinary) => {
        if (isBinary) onBytes?.(data as Buffer);
        else onText(String(data));
      });
      socket.on("unexpected-response", (request, response) => {
        refused = true;
        readRefusal(response, `The handshake with ${url}`, (error) => {
          request.destroy();
          onEnd({ code: ABNORMAL_CLOSE, reason: "", error });
        });
      });
      socket.on("error", (thrown) => {
        failure = asSpotwireError(thrown, `${url} could not be opened`);
      });
      let opened = false;
      socket.on("open", () => {
        opened = true;
      });
      socket.on("close", (code, reason) => {
        // A rejection is reported once its body was read.
        if (!refused) onEnd({ code, reason: reason.toString(), error: opened ? undefined : failure });
      });
      return {
        send: (text) => socket.send(text),
        sendBytes: (bytes) => socket.send(bytes),
        close: () => (opened ? socket.close(NORMAL_CLOSE) : socket.terminate()),
        drop: () => socket.terminate(),
      };
    },
  };
}

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
