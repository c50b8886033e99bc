import { decode, encode } from "@msgpack/msgpack";
import { STREAM_PATH, STREAM_PROTOCOLS } from "#lib/contract/stream";

/** A subscription request. */
export interface Subscribe {
  readonly stream: string;
  readonly tickers: readonly string[];
  readonly timeframe?: string;
}

/** How a client connects and subscribes. */
export interface Dialect {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Messages to send once the WebSocket is open. */
  readonly hello: readonly (string | Uint8Array)[];
  /** The text of a message, with JSON in it; undefined for one that is compressed. */
  textOf(payload: Buffer): string | undefined;
  /** What a message to a connecting client means; undefined: nothing. */
  react(text: string): "acked" | "refused" | undefined;
}

/** `msgpack` is the raw WebSocket in MessagePack, `deflate` in JSON with `permessage-deflate`. */
export type DialectName = "raw" | "msgpack" | "deflate";

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

/** The opening of a client that subscribes. */
export function dialectOf(name: DialectName, key: string, subscribes: readonly Subscribe[]): Dialect {
  return { raw, msgpack, deflate }[name](key, subscribes);
}
