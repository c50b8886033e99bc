import { STREAM_HEARTBEAT_INTERVAL_S } from "#lib/contract/limits";
import type { ServerMessage, Welcome } from "#lib/contract/stream";
import type { ClientClock } from "./clock";
import { asSpotwireError, fieldsOf, parseJson, SpotwireError } from "./errors";
import { ABNORMAL_CLOSE, type Dialer, type Handshake, NORMAL_CLOSE, type Socket, type SocketEnd } from "./socket";

/** Longest time from dialling to the first message of the server. */
const WELCOME_TIMEOUT_MS = 15_000;
/** Heartbeat intervals without any message after which a connection is dead, whatever the state of its socket. */
const MUTE_AFTER_INTERVALS = 2.5;

/** Length of the excerpt of an unreadable message. */
const SHOWN_CHARACTERS = 80;

/** A library for MessagePack, for example `@msgpack/msgpack`. It decodes integers to numbers, not to bigints. */
export interface MessagePack {
  encode(value: unknown): Uint8Array;
  decode(bytes: Uint8Array): unknown;
}

/** Writes a message. Without absent fields, as in JSON: libraries would write them, each in another way. */
function pack({ encode }: MessagePack, message: object): Uint8Array {
  return encode(JSON.parse(JSON.stringify(message)));
}

/** The value of a message; undefined for one that cannot be read. */
function unpack({ decode }: MessagePack, bytes: Uint8Array): unknown {
  try {
    return decode(bytes);
  } catch {
    return undefined;
  }
}

/** The options and callbacks of one connection. */
interface ConnectionOptions {
  readonly dialer: Dialer;
  readonly url: string;
  readonly handshake: Handshake;
  readonly clock: ClientClock;
  /** For a connection on which the service sends MessagePack. */
  readonly messagePack: MessagePack | undefined;
  /** Closes the connection. */
  readonly signal: AbortSignal;
  /** Called when the server is ready; `send` accepts messages until the connection ends. */
  onWelcome(welcome: Welcome, send: (message: object) => void): void;
  onMessage(message: ServerMessage): void;
  /** Called for data that is not a valid message; the data is skipped. */
  onUnreadable(error: SpotwireError): void;
}

/** How a connection ended. */
export interface Ending extends SocketEnd {
  /** Milliseconds since its welcome message; undefined without one. */
  readonly livedMs: number | undefined;
}

/**
 * Opens one connection and resolves when it has ended. Never rejects: the result contains the failure.
 * The server, the network, the signal or silence ends it.
 */
export function runConnection(options: ConnectionOptions): Promise<Ending> {
  const { dialer, url, handshake, clock, messagePack, signal } = options;
  return new Promise((resolve) => {
    const over = new AbortController();
    let socket: Socket | undefined;
    let welcomeAtMs: number | undefined;
    let heardAtMs = clock.now();
    let silenceMs = WELCOME_TIMEOUT_MS;

    function end(ending: SocketEnd): void {
      if (over.signal.aborted) return;
      over.abort();
      signal.removeEventListener("abort", leave);
      resolve({ ...ending, livedMs: welcomeAtMs === undefined ? undefined : clock.now() - welcomeAtMs });
    }

    function leave(): void {
      socket?.close();
      end({ code: NORMAL_CLOSE, reason: "closed by the client" });
    }

    const onText = (text: string) => take(parseJson(text), text.slice(0, SHOWN_CHARACTERS), undefined);

    function onBytes(bytes: Uint8Array): void {
      if (messagePack !== undefined) take(unpack(messagePack, bytes), `${bytes.length} bytes`, messagePack);
    }

    /** Takes a message; `shown` says what it was if it is none, `packing` how the service sent it. */
    function take(message: unknown, shown: string, packing: MessagePack | undefined): void {
      if (over.signal.aborted) return;
      heardAtMs = clock.now();
      const { type } = fieldsOf(message);
      try {
        if (type === "welcome") onWelcome(message as Welcome, packing);
        else if (typeof type === "string") options.onMessage(message as ServerMessage);
        else throw new TypeError("The message has no type.");
      } catch (cause) {
        options.onUnreadable(new SpotwireError("bad_answer", `Not a message: ${shown}`, { cause }));
      }
    }

    /** The service reads messages in the encoding in which it sends them. */
    function onWelcome(welcome: Welcome, packing: MessagePack | undefined): void {
      welcomeAtMs = heardAtMs;
      silenceMs = (welcome.heartbeat_interval_s || STREAM_HEARTBEAT_INTERVAL_S) * 1000 * MUTE_AFTER_INTERVALS;
      options.onWelcome(welcome, (sent) => {
        if (over.signal.aborted) return;
        if (packing === undefined) socket?.send(JSON.stringify(sent));
        else socket?.sendBytes?.(pack(packing, sent));
      });
    }

    async function watch(): Promise<void> {
      while (!over.signal.aborted) {
        const leftMs = heardAtMs + silenceMs - clock.now();
        if (leftMs > 0) {
          await clock.wait(leftMs, over.signal);
          continue;
        }
        const detail = `No message from ${url} for ${silenceMs / 1000} s.`;
        socket?.drop();
        end({ code: ABNORMAL_CLOSE, reason: "mute", error: new SpotwireError("connection_lost", detail) });
      }
    }

    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) return leave();
    try {
      socket = dialer.dial(url, handshake, { onText, onBytes, onEnd: end });
    } catch (thrown) {
      return end({ code: ABNORMAL_CLOSE, reason: "", error: asSpotwireError(thrown, `${url} could not be opened`) });
    }
    void watch();
  });
}
