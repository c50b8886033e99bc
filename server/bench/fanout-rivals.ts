import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { Server } from "socket.io";
import { type WebSocket, WebSocketServer } from "ws";
import type { TickLine } from "#lib/contract/ingest";
import type { QuoteMessage } from "#lib/contract/stream";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { toQuote } from "#lib/domain/quote";
import { createFlusher } from "#server/hub/outbox";

/**
 * A rival of the fan-out bench: it takes the same ticks over HTTP, and sends each at once to everybody who subscribed to it. Without
 * keys, limits, klines or recent events. The argument says how: `ws`, which gets each message as bytes made once; `socketio` with a
 * room for each ticker, over WebSocket; or `sockets`, the least that a stream can cost: frames made once, and those of a socket in one
 * write, as often as the service writes.
 */

interface Subscribe {
  readonly tickers: readonly string[];
}

const digits = new Map(SANDBOX_LISTINGS.map((listing) => [listing.ticker, listing.digits]));
const sequences = new Map<string, number>();
const server = createServer((request, response) => void ingest(request).then((body) => response.end(body)));
type Send = (message: QuoteMessage) => void;

const WAYS: Readonly<Record<string, () => Send>> = { ws: overWs, socketio: overSocketIo, sockets: overSockets };
const send = WAYS[process.argv[2] ?? ""]?.() ?? failed();

function failed(): never {
  throw new Error(`The argument is one of ${Object.keys(WAYS).join(", ")}.`);
}

/** Who follows each ticker: what `open` makes of a connection. */
function followersOf<Follower>(open: (socket: WebSocket, wire: Socket) => Follower): Map<string, Set<Follower>> {
  const followers = new Map<string, Set<Follower>>();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false, clientTracking: false });
  sockets.on("connection", (socket, { socket: wire }) => {
    const follower = open(socket, wire);
    socket.on("message", (data: Buffer) => {
      const { tickers }: Subscribe = JSON.parse(data.toString()).params;
      for (const ticker of tickers) followers.set(ticker, (followers.get(ticker) ?? new Set()).add(follower));
      socket.send('{"type":"ack"}');
    });
    socket.on("close", () => {
      for (const set of followers.values()) set.delete(follower);
    });
  });
  return followers;
}

function overWs(): Send {
  const followers = followersOf((socket) => socket);
  return (message) => {
    const bytes = Buffer.from(JSON.stringify(message));
    for (const socket of followers.get(message.ticker) ?? []) socket.send(bytes, { binary: false });
  };
}

/** A text message of at most 65,535 bytes as the frame of a server (RFC 6455, 5.2). */
function frameOf(payload: Buffer): Buffer {
  const { length } = payload;
  const head = length < 126 ? [0x81, length] : [0x81, 126, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), payload]);
}

function overSockets(): Send {
  const flusher = createFlusher();
  const followers = followersOf((_socket, wire) => {
    let frames: Buffer[] = [];
    return {
      push: (frame: Buffer) => frames.push(frame),
      flush() {
        const [first = Buffer.alloc(0)] = frames;
        wire.write(frames.length === 1 ? first : Buffer.concat(frames));
        frames = [];
      },
    };
  });
  return (message) => {
    const frame = frameOf(Buffer.from(JSON.stringify(message)));
    for (const follower of followers.get(message.ticker) ?? []) if (follower.push(frame) === 1) flusher.add(follower);
  };
}

function overSocketIo(): Send {
  const io = new Server(server, { transports: ["websocket"], perMessageDeflate: false, serveClient: false });
  io.on("connection", (socket) => {
    socket.on("subscribe", ({ tickers }: Subscribe, done: () => void) => {
      void socket.join([...tickers]);
      done();
    });
  });
  return (message) => io.to(message.ticker).emit("quote", message);
}

function take(line: string): void {
  const tick: TickLine = JSON.parse(line);
  const { ticker } = tick;
  const seq = (sequences.get(ticker) ?? 0) + 1;
  sequences.set(ticker, seq);
  send({ type: "quote", event: "update", ticker, epoch: "00000000", seq, data: toQuote(tick, digits.get(ticker) ?? 5) });
}

/** Accepts a push of ticks, like the service. */
async function ingest(request: IncomingMessage): Promise<string> {
  const lines = (await text(request)).split("\n").filter(Boolean);
  for (const line of lines) take(line);
  return JSON.stringify({ data: { accepted: lines.length } });
}

server.listen(0, "127.0.0.1", () =>
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`),
);
process.on("SIGTERM", () => process.exit(0));
