import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { ERRORS, type ErrorId, httpStatus } from "#lib/contract/errors";
import { quoteExample } from "#lib/contract/quote";
import type { ClientMessage, QuoteMessage, Welcome } from "#lib/contract/stream";

/** A queue whose items a test can wait for. */
export interface Inbox<Item> {
  put(item: Item): void;
  /** The next item, now or when it arrives. */
  next(): Promise<Item>;
  /** Number of items that have not been taken. */
  readonly size: number;
}

export function createInbox<Item>(): Inbox<Item> {
  const items: Item[] = [];
  const takers: ((item: Item) => void)[] = [];
  return {
    put(item) {
      const taker = takers.shift();
      if (taker === undefined) items.push(item);
      else taker(item);
    },
    next: () => new Promise((resolve) => (items.length > 0 ? resolve(items.shift() as Item) : takers.push(resolve))),
    get size() {
      return items.length;
    },
  };
}

/** A scripted answer. */
export interface ScriptedAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Never ends its body; for a refused handshake. */
  readonly endless?: boolean;
}

/** A successful answer. */
export const succeed = (data: object, headers: Readonly<Record<string, string>> = {}): ScriptedAnswer => ({
  status: 200,
  headers,
  body: { code: 0, message: "success", data },
});

/** The failed answer of an error of the contract. */
export function fail(id: ErrorId, data: object = {}, headers: Readonly<Record<string, string>> = {}): ScriptedAnswer {
  const failure = { detail: ERRORS[id].title, request_id: "req-1", docs_url: "/docs", ...data };
  return { status: httpStatus(id), headers, body: { code: ERRORS[id].code, message: id, data: failure } };
}

/** A received request. */
interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

const welcomeExample: Welcome = {
  type: "welcome",
  protocol: "market.v1",
  connection_id: "c-1",
  venue: "sandbox",
  time_msc: 1_767_225_600_000,
  epoch: "e1",
  heartbeat_interval_s: 15,
  limits: {
    connections: 2,
    subscriptions: 50,
    messages_per_second: 5,
    messages_burst: 20,
    message_max_bytes: 16_384,
    tickers_per_message: 100,
  },
};

/** A quote to send. */
export function quote(ticker: string, seq: number, more: Partial<QuoteMessage> = {}): QuoteMessage {
  return { type: "quote", event: "update", ticker, epoch: "e1", seq, data: { ...quoteExample, ticker }, ...more };
}

/** One connection, seen from the service. */
export interface Peer {
  readonly headers: IncomingHttpHeaders;
  readonly messages: Inbox<ClientMessage & { id: number }>;
  /** Resolves with the client's close code. */
  readonly closed: Promise<number>;
  /** Sends an object as JSON, a text as it is, and bytes as a binary message. */
  send(message: object | string | Uint8Array): void;
  /** Accepts every ticker of the next message and returns the message. */
  ack(refused?: readonly string[]): Promise<ClientMessage & { id: number }>;
  close(code: number, reason?: string): void;
  /** Drops the connection without a close. */
  cut(): void;
}

function createPeer(socket: WebSocket, headers: IncomingHttpHeaders): Peer {
  const messages = createInbox<ClientMessage & { id: number }>();
  socket.on("message", (data) => messages.put(JSON.parse(String(data))));
  const send = (message: object | string | Uint8Array) =>
    socket.send(typeof message === "string" || message instanceof Uint8Array ? message : JSON.stringify(message));
  return {
    headers,
    messages,
    closed: new Promise((resolve) => socket.on("close", resolve)),
    send,
    async ack(refused = []) {
      const message = await messages.next();
      if (message.method !== "subscribe" && message.method !== "unsubscribe")
        throw new Error(`not to be acked: ${message.method}`);
      const { tickers } = message.params;
      const accepted = tickers.filter((ticker) => !refused.includes(ticker));
      const rejected = refused.map((ticker) => ({ ticker, code: 40401, message: "unknown_ticker" }));
      const data = { accepted, rejected, quiet: [], subscriptions: accepted.length };
      send({ type: "ack", id: message.id, method: message.method, code: 0, message: "success", data });
      return message;
    },
    close: (code, reason) => socket.close(code, reason),
    cut: () => socket.terminate(),
  };
}

/** A real HTTP and WebSocket server that answers as the test specifies. */
export interface ScriptedService {
  readonly url: string;
  /** Every request, in order. */
  readonly requests: SeenRequest[];
  /** Sets how requests are answered from now on; "hang" never answers, "cut" drops the connection. */
  answer(handler: (request: SeenRequest) => ScriptedAnswer | "hang" | "cut"): void;
  /** Refuses the next handshakes with these answers, one each. */
  refuseHandshakes(...answers: ScriptedAnswer[]): void;
  /** Handshakes so far, including refused ones. */
  readonly handshakes: number;
  /** The next connection, before its welcome. */
  connection(): Promise<Peer>;
  /** The next connection, after its welcome. */
  welcomed(welcome?: Partial<Welcome>): Promise<Peer>;
  stop(): Promise<void>;
}

const textOf = ({ body }: ScriptedAnswer) => (typeof body === "string" ? body : JSON.stringify(body));

function seen(request: IncomingMessage): SeenRequest {
  const url = new URL(request.url ?? "/", "http://service");
  return { method: request.method ?? "", path: url.pathname, query: url.searchParams, headers: request.headers };
}

/** Starts a service on a free port. */
export async function startScriptedService(): Promise<ScriptedService> {
  const requests: SeenRequest[] = [];
  const refusals: ScriptedAnswer[] = [];
  const peers = createInbox<Peer>();
  const endless: Duplex[] = [];
  let handler: (request: SeenRequest) => ScriptedAnswer | "hang" | "cut" = () => fail("not_found");
  let handshakes = 0;

  function respond(request: IncomingMessage, response: ServerResponse): void {
    const it = seen(request);
    requests.push(it);
    const answer = handler(it);
    if (answer === "cut") request.socket.destroy();
    else if (answer !== "hang")
      response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers }).end(textOf(answer));
  }

  const http = createServer(respond);
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: (offered) => offered.has("market.v1") && "market.v1" });
  http.on("upgrade", (request, socket, head) => {
    handshakes += 1;
    const refusal = refusals.shift();
    if (refusal === undefined)
      return sockets.handleUpgrade(request, socket, head, (opened) => peers.put(createPeer(opened, request.headers)));
    // A client may disconnect before it has read all of a refusal.
    socket.on("error", () => {});
    const headers = Object.entries({ "content-type": "application/json", connection: "close", ...refusal.headers });
    const start = `HTTP/1.1 ${refusal.status} Refused\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
    socket.write(start + textOf(refusal));
    if (refusal.endless) endless.push(socket);
    else socket.end();
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    requests,
    answer(next) {
      handler = next;
    },
    refuseHandshakes: (...answers) => void refusals.push(...answers),
    get handshakes() {
      return handshakes;
    },
    connection: () => peers.next(),
    async welcomed(welcome = {}) {
      const peer = await peers.next();
      peer.send({ ...welcomeExample, ...welcome });
      return peer;
    },
    async stop() {
      for (const socket of sockets.clients) socket.terminate();
      // Nobody reads them, so that they would not notice that the client left.
      for (const socket of endless) socket.destroy();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
