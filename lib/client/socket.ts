import { SpotwireError } from "./errors";

/** What a connection is opened with. */
export interface Handshake {
  readonly protocols: readonly string[];
  /** Only for a dialer that `sendsHeaders`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** How a socket ended. `error` is there when it never opened: the refusal of the server, or what kept it from being reached. */
export interface SocketEnd {
  readonly code: number;
  readonly reason: string;
  readonly error?: SpotwireError | undefined;
}

/** What a socket tells. */
export interface SocketHandlers {
  onText(text: string): void;
  /** Told once; nothing is told after it. */
  onEnd(end: SocketEnd): void;
}

/** An open or opening socket. */
export interface Socket {
  send(text: string): void;
  /** Says goodbye with 1000. */
  close(): void;
  /** Cuts the connection: nobody is there to answer a goodbye. */
  drop(): void;
}

/** Opens WebSockets in one runtime. */
export interface Dialer {
  /** True where a handshake can carry headers: the key travels there, and a refusal can be read. */
  readonly sendsHeaders: boolean;
  /** @throws whatever the runtime throws for an address or protocol it does not take */
  dial(url: string, handshake: Handshake, handlers: SocketHandlers): Socket;
}

/** Close code of the protocol for a connection that ended without a close frame. */
export const ABNORMAL_CLOSE = 1006;
export const NORMAL_CLOSE = 1000;

/** The WebSocket that browsers, Deno, Bun and Node 22 have built in: no headers, and no reason for a refused handshake. */
export function webSocketDialer(WebSocketClass: typeof WebSocket): Dialer {
  return {
    sendsHeaders: false,
    dial(url, { protocols }, { onText, onEnd }) {
      const socket = new WebSocketClass(url, [...protocols]);
      let opened = false;
      socket.onopen = () => {
        opened = true;
      };
      socket.onmessage = ({ data }) => {
        if (typeof data === "string") onText(data);
      };
      // It says nothing that the close after it does not; unhandled, some runtimes print it.
      socket.onerror = () => {};
      socket.onclose = ({ code, reason }) => {
        const error = opened ? undefined : new SpotwireError("network_error", `${url} could not be opened.`);
        onEnd({ code, reason, error });
      };
      const drop = () => socket.close(NORMAL_CLOSE);
      return {
        send: (text) => socket.send(text),
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
