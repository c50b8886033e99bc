import WebSocket from "ws";
import { STREAM_PATH } from "#lib/contract/stream";
import { answerCalls } from "./calls";
import { elapsedMs, stampNow, stampOf } from "./stamp";

/** The clients of the fan-out bench, in a process of their own. It counts messages and parses one of many. */

const OPENING_AT_ONCE_COUNT = 64;
/** One in this many messages is parsed; a prime, so that the parsed messages have different tickers. */
const SAMPLE_EVERY = 31;
/** Packets of Engine.IO without data. */
const [PING, PONG] = ["2", "3"];
const SAMPLES_MAX_COUNT = 1_000_000;

/** How clients talk to a server: the service and `ws` take the same messages. */
export type DialectName = "raw" | "socketio";

/** Sockets to open: one for each entry of `audience`, the tickers to which it subscribes. */
export interface OpenSockets {
  readonly url: string;
  readonly dialect: DialectName;
  readonly key: string;
  readonly audience: readonly (readonly string[])[];
}

/** What the clients received since the last report. */
export interface Received {
  readonly messages: number;
  /** From the push of a tick to the receipt of its record, ms; NaN without a record. */
  readonly p99Ms: number;
  /** Sockets closed by the server. */
  readonly lost: number;
}

interface Dialect {
  readonly path: string;
  /** The first message of a client. */
  hello(tickers: readonly string[]): string | undefined;
  /** What a connecting client answers to a message: a text, that it is subscribed, that it was refused, or nothing. */
  react(text: string, tickers: readonly string[]): { readonly say: string } | "acked" | "refused" | undefined;
}

const DIALECTS: Record<DialectName, Dialect> = {
  raw: {
    path: STREAM_PATH,
    hello: (tickers) => JSON.stringify({ method: "subscribe", params: { stream: "quote", tickers } }),
    react(text) {
      if (text.startsWith('{"type":"error"') || text.includes('"rejected":[{')) return "refused";
      return text.startsWith('{"type":"ack"') ? "acked" : undefined;
    },
  },
  // Packets of Engine.IO, whose first digit is their type, and in them those of Socket.IO.
  socketio: {
    path: "/socket.io/?EIO=4&transport=websocket",
    hello: () => undefined,
    react(text, tickers) {
      if (text.startsWith("0{")) return { say: "40" };
      if (text.startsWith("40{")) return { say: `420${JSON.stringify(["subscribe", { tickers }])}` };
      return text.startsWith("430") ? "acked" : undefined;
    },
  },
};

const sockets = new Set<WebSocket>();
let messages = 0;
let lost = 0;
let latencies: number[] = [];

function take(bytes: Buffer): void {
  messages += 1;
  if (messages % SAMPLE_EVERY !== 0 || latencies.length >= SAMPLES_MAX_COUNT) return;
  const text = bytes.toString();
  const { type, event, data } = JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
  if (type === "quote" && event === "update") latencies.push(elapsedMs(stampOf(data.bid), stampNow()));
}

/** Resolves when the socket is subscribed. */
function openOne({ url, dialect, key }: OpenSockets, tickers: readonly string[]): Promise<void> {
  const { path, hello, react } = DIALECTS[dialect];
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(new URL(path, url.replace("http", "ws")), {
      headers: { authorization: `Bearer ${key}` },
      perMessageDeflate: false,
    });
    let isOpen = false;
    const first = hello(tickers);
    socket.on("open", () => first !== undefined && socket.send(first));
    socket.on("message", (bytes: Buffer) => {
      if (isOpen && bytes.length === PING.length) {
        // A ping of Engine.IO.
        socket.send(PONG);
        return;
      }
      if (isOpen) {
        take(bytes);
        return;
      }
      const reaction = react(bytes.toString(), tickers);
      if (reaction === "refused") reject(new Error(`a socket was refused: ${bytes}`));
      else if (reaction === "acked") {
        isOpen = true;
        sockets.add(socket);
        resolve();
      } else if (reaction !== undefined) socket.send(reaction.say);
    });
    socket.on("close", () => {
      if (sockets.delete(socket)) lost += 1;
      else reject(new Error("a socket was closed"));
    });
    socket.on("error", reject);
  });
}

async function open(asked: OpenSockets): Promise<void> {
  let next = 0;
  const openSome = async () => {
    for (let tickers = asked.audience[next++]; tickers !== undefined; tickers = asked.audience[next++])
      await openOne(asked, tickers);
  };
  await Promise.all(Array.from({ length: OPENING_AT_ONCE_COUNT }, openSome));
}

function received(): Received {
  const sorted = Float64Array.from(latencies).sort();
  const result = { messages, p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN, lost };
  messages = 0;
  lost = 0;
  latencies = [];
  return result;
}

function close(): void {
  const open = [...sockets];
  sockets.clear();
  for (const socket of open) socket.terminate();
}

answerCalls({ open, received, close });
