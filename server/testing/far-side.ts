import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { WebSocket, WebSocketServer } from "ws";

/** Servers that speak the wire of a source, scripted by one vocabulary, for the conformance suite. */

/** One connection, as its far side sees it. */
export interface Peer {
  /** Sends one message. */
  send(message: string): void;
  /** Sends a message in the smallest pieces that the wire allows. */
  sendSplit(message: string): void;
  /** Sends several messages at once. */
  sendTogether(messages: readonly string[]): void;
  /** Ends the connection in the middle of a message. */
  cutWithin(message: string): void;
  /** Ends the connection properly. */
  end(): void;
  /** Bytes that the other side has not read yet. */
  unread(): number;
}

/** How a connection is refused. */
interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface FarSide {
  readonly url: string;
  /** Connections that asked for prices, refused ones included. */
  connections(): number;
  /** Connections that are open now. */
  open(): number;
  /** What happens on each connection from now on. */
  script(onPeer: (peer: Peer) => void): void;
  /** Refuses connections from now on; null accepts them again. */
  refuse(refusal: Refusal | null): void;
  /** True to keep all silent: nothing is answered, not even a ping. */
  silence(silent: boolean): void;
  close(): Promise<void>;
}

const listen = (server: ReturnType<typeof createServer>) =>
  new Promise<number>((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));

/** Lines of JSON in an endless HTTP body; `lists` answers other paths that end with its keys; functions get the query. */
export async function lineFarSide(lists: Readonly<Record<string, unknown>>): Promise<FarSide> {
  let connections = 0;
  let onPeer: (peer: Peer) => void = () => undefined;
  let refusal: Refusal | null = null;
  const sockets = new Set<Socket>();
  const streams = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    const { pathname: path, searchParams } = new URL(request.url ?? "", "http://far.side");
    const list = Object.entries(lists).find(([end]) => path.endsWith(end));
    if (list === undefined || refusal !== null) connections += 1;
    if (refusal !== null) {
      response.writeHead(refusal.status, refusal.headers).end(refusal.body ?? "");
      return;
    }
    if (list !== undefined) {
      const [, made] = list;
      const answer = typeof made === "function" ? made(searchParams) : made;
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
      return;
    }
    streams.add(response);
    response.on("close", () => streams.delete(response));
    response.writeHead(200, { "content-type": "application/octet-stream" }).flushHeaders();
    response.socket?.setNoDelay(true);
    onPeer({
      send: (message) => response.write(`${message}\n`),
      sendSplit: (message) => {
        for (const byte of Buffer.from(`${message}\n`)) response.write(Buffer.from([byte]));
      },
      sendTogether: (messages) => response.write(messages.map((message) => `${message}\n`).join("")),
      cutWithin: (message) => response.write(message.slice(0, message.length / 2), () => response.socket?.destroy()),
      end: () => response.end(),
      unread: () => response.writableLength,
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    connections: () => connections,
    open: () => streams.size,
    script: (next) => {
      onPeer = next;
    },
    refuse: (next) => {
      refusal = next;
    },
    silence: () => undefined,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Messages over WebSocket. `greet` speaks the vendor's part before prices come, and says when they may.
 * @param counts which connections ask for prices: all, or those that get ready, where others only ask for lists
 */
export async function socketFarSide(
  greet: (send: (message: string) => void, received: (take: (message: string) => void) => void, ready: () => void) => void,
  counts: "all" | "ready" = "all",
): Promise<FarSide> {
  let connections = 0;
  let onPeer: (peer: Peer) => void = () => undefined;
  let refusal: Refusal | null = null;
  let silent = false;
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true, autoPong: false });
  server.on("upgrade", (request, socket: Socket, head) => {
    if (counts === "all" || refusal !== null) connections += 1;
    // The client may leave at any time.
    socket.on("error", () => undefined);
    if (refusal !== null) {
      const { status, headers = {}, body = "" } = refusal;
      const lines = Object.entries({ ...headers, "content-length": `${Buffer.byteLength(body)}`, connection: "close" });
      socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.map((line) => line.join(": ")).join("\r\n")}\r\n\r\n${body}`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (peer) => {
      peer.on("ping", (data) => !silent && peer.pong(data));
      const send = (message: string) => peer.readyState === WebSocket.OPEN && peer.send(message);
      const takers: ((message: string) => void)[] = [];
      peer.on("message", (data) => {
        for (const take of takers) take(data.toString());
      });
      greet(
        send,
        (take) => takers.push(take),
        () => {
          if (counts === "ready") connections += 1;
          onPeer({
            send,
            sendSplit: (message) => {
              const bytes = Buffer.from(message);
              bytes.forEach((byte, at) => void peer.send(Buffer.from([byte]), { fin: at === bytes.length - 1, binary: false }));
            },
            sendTogether: (messages) => {
              socket.cork();
              for (const message of messages) send(message);
              socket.uncork();
            },
            cutWithin: (message) => peer.send(message.slice(0, message.length / 2), { fin: false }, () => socket.destroy()),
            end: () => peer.close(1000),
            unread: () => socket.writableLength,
          });
        },
      );
    });
  });
  const port = await listen(server);
  return {
    url: `ws://127.0.0.1:${port}`,
    connections: () => connections,
    open: () => sockets.clients.size,
    script: (next) => {
      onPeer = next;
    },
    refuse: (next) => {
      refusal = next;
    },
    silence: (next) => {
      silent = next;
    },
    async close() {
      for (const client of sockets.clients) client.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
