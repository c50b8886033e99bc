import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type PerMessageDeflateOptions, type WebSocket, WebSocketServer } from "ws";
import type { TickLine } from "#lib/contract/ingest";
import type { QuoteMessage } from "#lib/contract/stream";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { toQuote } from "#lib/domain/quote";
import type { Subscribe } from "./stream-dialect";

/**
 * What compression would cost: a plain loop over WebSockets of the library that Spotwire uses, with and without it. It accepts the
 * same ticks over HTTP and sends the same records. No engine, no klines, no guards but a check of the header.
 */

/** Sends a message to all subscribers of the ticker. */
type Broadcast = (ticker: string, message: QuoteMessage) => void;

/** Compresses every message, with what the connection was sent before as its dictionary, or each on its own. */
const DEFLATE: Readonly<Record<string, PerMessageDeflateOptions>> = {
  deflate: { threshold: 0 },
  "deflate-alone": { threshold: 0, serverNoContextTakeover: true },
};

/** Encodes each message once and sends the text to each subscriber, which the library compresses for each of them. */
function plainLoop(server: Server, perMessageDeflate: PerMessageDeflateOptions | false): Broadcast {
  const subscribers = new Map<string, Set<WebSocket>>();
  const sockets = new WebSocketServer({ server, perMessageDeflate, clientTracking: false });

  function onMessage(this: WebSocket, data: Buffer): void {
    const { tickers }: Subscribe = JSON.parse(data.toString()).params;
    for (const ticker of tickers) subscribers.set(ticker, (subscribers.get(ticker) ?? new Set()).add(this));
    this.send('{"type":"ack"}', { compress: false });
  }
  function onClose(this: WebSocket): void {
    for (const set of subscribers.values()) set.delete(this);
  }

  sockets.on("connection", (socket) => socket.on("message", onMessage).on("close", onClose));
  return (ticker, message) => {
    const line = JSON.stringify(message);
    for (const socket of subscribers.get(ticker) ?? []) socket.send(line);
  };
}

const server = createServer();
const [, , kind = "ws"] = process.argv;
const broadcast = plainLoop(server, DEFLATE[kind] ?? false);
const digits = new Map(SANDBOX_LISTINGS.map((listing) => [listing.ticker, listing.digits]));
const sequences = new Map<string, number>();

function take(line: string): void {
  const tick: TickLine = JSON.parse(line);
  const { ticker } = tick;
  const seq = (sequences.get(ticker) ?? 0) + 1;
  sequences.set(ticker, seq);
  const data = toQuote(tick, digits.get(ticker) ?? 5);
  broadcast(ticker, { type: "quote", event: "update", ticker, epoch: "00000000", seq, data });
}

/** Accepts a push of ticks, like Spotwire. */
async function ingest(request: IncomingMessage): Promise<string> {
  const lines = (await text(request)).split("\n").filter(Boolean);
  for (const line of lines) take(line);
  return JSON.stringify({ data: { accepted: lines.length } });
}

server.on("request", (request, response) => {
  if (request.url?.startsWith("/api/v1/ingest/ticks") !== true) return;
  if (request.headers.authorization?.startsWith("Bearer ") !== true) response.writeHead(401).end();
  else ingest(request).then((body) => response.end(body));
});

server.listen(0, "127.0.0.1");
await once(server, "listening");
process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
process.on("SIGTERM", () => process.exit(0));
