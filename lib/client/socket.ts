import { SpotwireError } from "./errors";

/** The parameters of a connection. */
export interface Handshake {
  readonly protocols: readonly string[];
  /** Only for a dialer that `sendsHeaders`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** How a socket ended. `error` is set if it never opened: the rejection of the server, or why the server was not reached. */
export interface SocketEnd {
  readonly code: number;
  readonly reason: string;
  readonly error?: SpotwireError | undefined;
}

/** Callbacks of a socket. */
export interface SocketHandlers {
  onText(text: string): void;
  /** Called for binary messages, by a dialer that is `binary`. */
  onBytes?(bytes: Uint8Array): void;
  /** Called once, as the last callback. */
  onEnd(end: SocketEnd): void;
}

/** An open or opening socket. */
export interface Socket {
  send(text: string): void;
  /** Sends a binary message; for a dialer that is `binary`. */
  sendBytes?(bytes: Uint8Array): void;
  /** Closes with 1000. */
  close(): void;
  /** Closes the connection without a close handshake, because the other side is gone. */
  drop(): void;
}

/** Opens WebSockets in one runtime. */
export interface Dialer {
  /** True if a handshake can have headers: they carry the key, and a rejection can be read. */
  readonly sendsHeaders: boolean;
  /** True if its sockets have binary messages; the client offers MessagePack only then. */
  readonly binary?: boolean;
  /** @throws the runtime's error for an invalid address or protocol */
  dial(url: string, handshake: Handshake, handlers: SocketHandlers): Socket;
}

/** Close code of the protocol for a connection that ended without a close frame. */
export const ABNORMAL_CLOSE = 1006;
export const NORMAL_CLOSE = 1000;

/** The WebSocket that browsers, Deno, Bun and Node 22 have built in: no headers, and no reason for a rejected handshake. */
export function webSocketDialer(WebSocketClass: typeof WebSocket): Dialer {
  return {
    sendsHeaders: false,
    binary: true,
    dial(url, { protocols }, { onText, onBytes, onEnd }) {
      const socket = new WebSocketClass(url, [...protocols]);
      socket.binaryType = "arraybuffer";
      let opened = false;
      socket.onopen = () => {
        opened = true;
      };
      socket.onmessage = ({ data }) => {
        if (typeof data === "string") onText(data);
        else onBytes?.(new Uint8Array(data));
      };
      // The close event that follows has the same information, but some runtimes print an unhandled error event.
      socket.onerror = () => {};
      socket.onclose = ({ code, reason }) => {
        const error = opened ? undefined : new SpotwireError("network_error", `${url} could not be opened.`);
        onEnd({ code, reason, error });
      };
      const drop = () => socket.close(NORMAL_CLOSE);
      return {
        send: (text) => socket.send(text),
        sendBytes: (bytes) => socket.send(bytes as Uint8Array<ArrayBuffer>),
        close() {
          // Browsers print an error for a socket that is closed before it is open.
          if (socket.readyState === WebSocketClass.CONNECTING) socket.onopen = drop;
          else drop();
        },
        drop,
      };
    },
  };
}
