import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { decode, encode } from "@msgpack/msgpack";
import { io, type Socket as SocketIoSocket } from "socket.io-client";
import { WebSocket } from "ws";
import { type AfterClose, afterClose } from "#lib/contract/close-codes";
import type { Failure } from "#lib/contract/envelope";
import {
  type Ack,
  type ErrorMessage,
  SERVER_MESSAGES,
  type ServerMessage,
  SOCKET_IO_NAMESPACE,
  SOCKET_IO_PATH,
  STREAM_PATH,
  STREAM_PROTOCOLS,
  type StreamEncoding,
} from "#lib/contract/stream";
import { createMailbox, type Mailbox } from "./stream-mailbox";

/** The ways to connect: a raw WebSocket with JSON or with MessagePack, and Socket.IO. */
export const TRANSPORTS = ["websocket", "msgpack", "socket.io"] as const;
export type Transport = (typeof TRANSPORTS)[number];
type MessageType = ServerMessage["type"];
type MessageOf<Type extends MessageType> = Extract<ServerMessage, { type: Type }>;

/** What a client sends when it connects. */
export interface Credentials {
  /** Null or absent for none. */
  readonly key?: string | null;
  readonly ticket?: string;
  readonly origin?: string;
  /** The client's address, as a trusted proxy reports it. */
  readonly address: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Appended to the path, with its question mark. */
  readonly query?: string;
  /** Raw WebSocket: false never answers a ping. */
  readonly pongs?: boolean;
  /** Raw WebSocket: the offered subprotocols; by default that of the encoding, and the ticket if there is one. */
  readonly protocols?: readonly string[];
  /** Socket.IO's own transports. */
  readonly transports?: readonly ("websocket" | "polling")[];
}

/** How a connection ended. */
interface Closed {
  /** Code of the close frame; null over Socket.IO, which has none. */
  readonly code: number | null;
  readonly reason: string;
  /** What a client does next. */
  readonly after: AfterClose;
}

/** A real client that checks each message against the contract. */
export interface StreamClient {
  readonly transport: Transport;
  /** Every message so far, in order. */
  readonly received: readonly ServerMessage[];
  readonly closed: Promise<Closed>;
  /** The first message of a type that was not taken yet, now or when it arrives; rejects when the connection ends first. */
  next<Type extends MessageType>(type: Type): Promise<MessageOf<Type>>;
  /** Sends a message without waiting; over a raw WebSocket with the id, if one is given. */
  send(method: string, params?: unknown, id?: unknown): void;
  /** Sends a message and returns its answer. */
  ask(method: string, params?: unknown): Promise<Ack | ErrorMessage>;
  /** The underlying TCP connection. */
  readonly socket: Socket;
  /** Raw WebSocket: the connection itself. */
  readonly raw: WebSocket;
  /** Socket.IO: the connection itself. */
  readonly io: SocketIoSocket;
  close(): Promise<Closed>;
}

/** A refused handshake, as its client sees it. */
export class Refused extends Error {
  /** Null over Socket.IO. */
  readonly status: number | null;
  readonly headers: IncomingHttpHeaders;
  /** The envelope. */
  readonly body: Failure;

  constructor(status: number | null, headers: IncomingHttpHeaders, body: Failure) {
    super(`refused: ${JSON.stringify(body)}`);
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/** Validates a message and puts it into the mailbox; an invalid one ends the mailbox. */
function deliver(mailbox: Mailbox<ServerMessage>, type: string, message: unknown): void {
  const schema = SERVER_MESSAGES[type as MessageType];
  const parsed = schema?.safeParse(message);
  if (parsed?.success) mailbox.put(message as ServerMessage);
  else mailbox.end(new Error(`against the contract: ${JSON.stringify(message)}: ${parsed?.error.message ?? "unknown type"}`));
}

type Common = Pick<StreamClient, "received" | "closed" | "next">;

function common(mailbox: Mailbox<ServerMessage>, closed: Promise<Closed>): Common {
  void closed.then((how) => mailbox.end(new Error(`the connection ended: ${JSON.stringify(how)}`)));
  const next = <Type extends MessageType>(type: Type) =>
    mailbox.take((message): message is MessageOf<Type> => message.type === type);
  return { received: mailbox.received, closed, next };
}

const unavailable = (what: string) => (): never => {
  throw new Error(`not with ${what}`);
};

/** The headers that both transports send with the handshake. */
function headersOf({ origin, address, headers }: Credentials): Record<string, string> {
  return { "x-forwarded-for": address, ...(origin !== undefined && { origin }), ...headers };
}

/**
 * Opens the raw WebSocket; resolves after the handshake.
 * @throws Refused with the HTTP answer
 */
export async function connectWebSocket(
  url: string,
  credentials: Credentials,
  encoding: StreamEncoding = "json",
): Promise<StreamClient> {
  const { key, ticket, query = "", pongs = true } = credentials;
  const protocol = STREAM_PROTOCOLS[encoding];
  const offered = credentials.protocols ?? (ticket === undefined ? [protocol] : [protocol, `ticket.${ticket}`]);
  const headers = { ...headersOf(credentials), ...(key && { authorization: `Bearer ${key}` }) };
  const options = { headers, autoPong: pongs, perMessageDeflate: false };
  const raw = new WebSocket(url.replace("http", "ws") + STREAM_PATH + query, [...offered], options);
  const mailbox = createMailbox<ServerMessage>();
  raw.on("message", (data, isBinary) => {
    const packed = encoding === "msgpack";
    if (isBinary !== packed) return mailbox.end(new Error(`a ${isBinary ? "binary" : "text"} message`));
    const message = (packed ? decode(data as Buffer) : JSON.parse(String(data))) as ServerMessage;
    deliver(mailbox, message.type, message);
  });
  const closed = new Promise<Closed>((resolve) =>
    raw.on("close", (code, reason) => resolve({ code, reason: String(reason), after: afterClose(code) })),
  );
  await new Promise<void>((resolve, reject) => {
    raw.once("open", resolve);
    raw.on("error", reject);
    raw.on("unexpected-response", async (_, response) => {
      const text = (await response.toArray()).join("");
      reject(new Refused(response.statusCode ?? 0, response.headers, JSON.parse(text)));
    });
  });
  let lastId = 1_000;
  const send = (method: string, params?: unknown, id?: unknown) =>
    raw.send(
      encoding === "msgpack" ? encode({ id, method, params }, { ignoreUndefined: true }) : JSON.stringify({ id, method, params }),
    );
  return {
    transport: encoding === "msgpack" ? "msgpack" : "websocket",
    ...common(mailbox, closed),
    send,
    ask(method, params) {
      lastId += 1;
      const id = lastId;
      send(method, params, id);
      return mailbox.take((message): message is Ack | ErrorMessage => "id" in message && message.id === id);
    },
    get socket() {
      return (raw as unknown as { _socket: Socket })._socket;
    },
    raw,
    get io() {
      return unavailable("a raw WebSocket")();
    },
    close() {
      raw.close();
      return closed;
    },
  };
}

/**
 * Opens Socket.IO's namespace; resolves when it is connected.
 * @throws Refused with the envelope of connect_error
 */
export async function connectSocketIo(url: string, credentials: Credentials): Promise<StreamClient> {
  const { key, ticket, query = "", transports = ["websocket"] } = credentials;
  const client = io(url + SOCKET_IO_NAMESPACE + query, {
    path: SOCKET_IO_PATH,
    transports: [...transports],
    auth: { ...(key && { key }), ...(ticket !== undefined && { ticket }) },
    extraHeaders: headersOf(credentials),
    // Tests make their own certificates, and this client does not read NODE_TLS_REJECT_UNAUTHORIZED.
    rejectUnauthorized: false,
    reconnection: false,
    forceNew: true,
  });
  const mailbox = createMailbox<ServerMessage>();
  client.onAny((type: string, message: unknown) => deliver(mailbox, type, message));
  const closed = new Promise<Closed>((resolve) =>
    client.on("disconnect", (reason) =>
      resolve({ code: null, reason, after: reason === "io server disconnect" ? "terminal" : "retry" }),
    ),
  );
  await new Promise<void>((resolve, reject) => {
    client.once("connect", resolve);
    client.once("connect_error", (error: Error & { data?: Failure }) => {
      client.disconnect();
      reject(error.data === undefined ? error : new Refused(null, {}, { ...error.data, message: error.message } as Failure));
    });
  });
  return {
    transport: "socket.io",
    ...common(mailbox, closed),
    send: (method, params) => void client.emit(method, ...(params === undefined ? [] : [params])),
    ask: (method, params) =>
      new Promise((resolve, reject) => {
        void closed.then((how) => reject(new Error(`the connection ended: ${JSON.stringify(how)}`)));
        client.emit(method, ...(params === undefined ? [] : [params]), resolve);
      }),
    get socket() {
      const { transport } = client.io.engine as unknown as { transport: { ws: { _socket: Socket } } };
      return transport.ws._socket;
    },
    get raw() {
      return unavailable("Socket.IO")();
    },
    io: client,
    close() {
      client.disconnect();
      return closed;
    },
  };
}
