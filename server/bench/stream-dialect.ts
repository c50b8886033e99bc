import { decode, encode } from "@msgpack/msgpack";
import { SOCKET_IO_NAMESPACE, SOCKET_IO_PATH, STREAM_PATH, STREAM_PROTOCOLS } from "#lib/contract/stream";

/** A subscription request. */
export interface Subscribe {
  readonly stream: string;
  readonly tickers: readonly string[];
  readonly timeframe?: string;
}

/** How a connecting client reacts to a message: with replies, an ack, a refusal, or nothing. */
type Reaction = { readonly say: readonly string[] } | "acked" | "refused" | undefined;

/** How a client of a protocol connects and subscribes. */
export interface Dialect {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Messages to send once the WebSocket is open. */
  readonly hello: readonly (string | Uint8Array)[];
  /** The text of a message, with JSON in it; undefined for one that is compressed. */
  textOf(payload: Buffer): string | undefined;
  react(text: string): Reaction;
}

/** `msgpack` is the raw WebSocket in MessagePack, `deflate` in JSON with `permessage-deflate`. */
export type DialectName = "raw" | "msgpack" | "deflate" | "socket.io";

const utf8 = (payload: Buffer): string => payload.toString();

/** Spotwire lists rejected tickers in the ack. */
const REJECTED = '"rejected":[{';

function raw(key: string, subscribes: readonly Subscribe[]): Dialect {
  return {
    path: STREAM_PATH,
    headers: { authorization: `Bearer ${key}` },
    hello: subscribes.map((params) => JSON.stringify({ method: "subscribe", params })),
    textOf: utf8,
    react(text) {
      if (text.startsWith('{"type":"error"')) return "refused";
      if (!text.startsWith('{"type":"ack"')) return undefined;
      return text.includes(REJECTED) ? "refused" : "acked";
    },
  };
}

function msgpack(key: string, subscribes: readonly Subscribe[]): Dialect {
  const { path, headers, react } = raw(key, subscribes);
  return {
    path,
    headers: { ...headers, "sec-websocket-protocol": STREAM_PROTOCOLS.msgpack },
    hello: subscribes.map((params) => encode({ method: "subscribe", params })),
    textOf: (payload) => JSON.stringify(decode(payload)),
    react,
  };
}

/** The servers of the bench do not compress their acks. */
function deflate(key: string, subscribes: readonly Subscribe[]): Dialect {
  const dialect = raw(key, subscribes);
  return {
    ...dialect,
    headers: { ...dialect.headers, "sec-websocket-extensions": "permessage-deflate" },
    textOf: (payload) => (payload.toString("latin1", 0, 7) === '{"type"' ? utf8(payload) : undefined),
  };
}

/** Engine.IO 4 and Socket.IO 5 over a WebSocket, as far as a subscriber needs them. */
function socketIo(key: string, subscribes: readonly Subscribe[]): Dialect {
  const subscribe = (params: Subscribe, id: number) => `42${SOCKET_IO_NAMESPACE},${id}${JSON.stringify(["subscribe", params])}`;
  return {
    path: `${SOCKET_IO_PATH}?EIO=4&transport=websocket`,
    headers: {},
    hello: [],
    textOf: utf8,
    react(text) {
      if (text.startsWith("0")) return { say: [`40${SOCKET_IO_NAMESPACE},${JSON.stringify({ key })}`] };
      if (text.startsWith(`40${SOCKET_IO_NAMESPACE},`)) return { say: subscribes.map(subscribe) };
      if (text.startsWith(`44${SOCKET_IO_NAMESPACE},`)) return "refused";
      if (!text.startsWith(`43${SOCKET_IO_NAMESPACE},`)) return undefined;
      return text.includes(REJECTED) || text.includes('"type":"error"') ? "refused" : "acked";
    },
  };
}

/** The opening of a client that subscribes. */
export function dialectOf(name: DialectName, key: string, subscribes: readonly Subscribe[]): Dialect {
  return { raw, msgpack, deflate, "socket.io": socketIo }[name](key, subscribes);
}
