import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Server } from "socket.io";
import { type WebSocket, WebSocketServer } from "ws";
import type { TickLine } from "#lib/contract/ingest";
import type { QuoteMessage } from "#lib/contract/stream";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { toQuote } from "#lib/domain/quote";

/**
 * A rival of the fan-out bench: it takes the same ticks over HTTP, and sends each at once to everybody who subscribed to it. Without
 * keys, limits, klines or recent events. The argument says how: `ws`, which gets each message as bytes made once, or `socketio` with a
 * room for each ticker, over WebSocket.
 */

interface Subscribe {
  readonly tickers: readonly string[];
}

const digits = new Map(SANDBOX_LISTINGS.map((listing) => [listing.ticker, listing.digits]));
const sequences = new Map<string, number>();
const server = createServer((request, response) => void ingest(request).then((body) => response.end(body)));
const send = process.argv[2] === "ws" ? overWs() : overSocketIo();

function overWs(): (message: QuoteMessage) => void {
  const followers = new Map<string, Set<WebSocket>>();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false, clientTracking: false });
  sockets.on("connection", (socket) => {
    socket.on("message", (data: Buffer) => {
      const { tickers }: Subscribe = JSON.parse(data.toString()).params;
      for (const ticker of tickers) followers.set(ticker, (followers.get(ticker) ?? new Set()).add(socket));
      socket.send('{"type":"ack"}');
    });
    socket.on("close", () => {
      for (const set of followers.values()) set.delete(socket);
    });
  });
  return (message) => {
    const bytes = Buffer.from(JSON.stringify(message));
    for (const socket of followers.get(message.ticker) ?? []) socket.send(bytes, { binary: false });
  };
}

function overSocketIo(): (message: QuoteMessage) => void {
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
