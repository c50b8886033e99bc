import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { type WebSocket, WebSocketServer } from "ws";
import type { TickLine } from "#lib/contract/ingest";
import type { QuoteMessage } from "#lib/contract/stream";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { toQuote } from "#lib/domain/quote";
import { createFlusher } from "#server/hub/outbox";
import type { Subscribe } from "./stream-dialect";
import { serverFrame } from "./stream-frames";

/**
 * The anchor of the stream benches, the least that a stream can cost: it accepts the same ticks over HTTP, makes one frame of each, and
 * writes to each bare socket, at the product's own flush interval, the frames it follows in one piece. No engine, no klines, no
 * queue limits, no counting. Without a subscription it is bare `ws`.
 */

/** The frames that wait for one socket. */
class Pending {
  readonly #socket: Duplex;
  #frames: Buffer[] = [];

  constructor(socket: Duplex) {
    this.#socket = socket;
  }

  /** Adds a frame. True for the first since the last flush. */
  push(frame: Buffer): boolean {
    return this.#frames.push(frame) === 1;
  }

  flush(): void {
    const frames = this.#frames;
    this.#frames = [];
    this.#socket.write(frames.length === 1 ? (frames[0] ?? "") : Buffer.concat(frames));
  }
}

const flusher = createFlusher();
const followers = new Map<string, Set<Pending>>();
const digits = new Map(SANDBOX_LISTINGS.map((listing) => [listing.ticker, listing.digits]));
const sequences = new Map<string, number>();

function follow(webSocket: WebSocket, socket: Socket): void {
  const pending = new Pending(socket);
  webSocket.on("message", (data: Buffer) => {
    const { tickers }: Subscribe = JSON.parse(data.toString()).params;
    for (const ticker of tickers) followers.set(ticker, (followers.get(ticker) ?? new Set()).add(pending));
    webSocket.send('{"type":"ack"}');
  });
  webSocket.on("close", () => {
    for (const set of followers.values()) set.delete(pending);
  });
}

function take(line: string): void {
  const tick: TickLine = JSON.parse(line);
  const { ticker } = tick;
  const seq = (sequences.get(ticker) ?? 0) + 1;
  sequences.set(ticker, seq);
  const data = toQuote(tick, digits.get(ticker) ?? 5);
  const message: QuoteMessage = { type: "quote", event: "update", ticker, epoch: "00000000", seq, data };
  const frame = serverFrame(JSON.stringify(message));
  for (const pending of followers.get(ticker) ?? []) if (pending.push(frame)) flusher.add(pending);
}

/** Accepts a push of ticks, like Spotwire. */
async function ingest(request: IncomingMessage): Promise<string> {
  const lines = (await text(request)).split("\n").filter(Boolean);
  for (const line of lines) take(line);
  return JSON.stringify({ data: { accepted: lines.length } });
}

const server = createServer((request, response) => void ingest(request).then((body) => response.end(body)));
const sockets = new WebSocketServer({ server, perMessageDeflate: false, clientTracking: false });
sockets.on("connection", (webSocket, { socket }) => follow(webSocket, socket));
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
process.on("SIGTERM", () => process.exit(0));
