import type { WebSocket } from "ws";
import { asSpotwireError, errorOfAnswer, type SpotwireError } from "./errors";
import { ABNORMAL_CLOSE, type Dialer, NORMAL_CLOSE } from "./socket";

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
