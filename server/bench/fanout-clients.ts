import { STREAM_PATH } from "#lib/contract/stream";
import { answerCalls } from "./calls";
import { type CloseClient, openClient, type Reaction } from "./client-socket";
import { quantile } from "./spread";
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
  react(text: string, tickers: readonly string[]): Reaction;
}

const DIALECTS: Record<DialectName, Dialect> = {
  raw: {
    path: STREAM_PATH,
    hello: (tickers) => JSON.stringify({ method: "subscribe", params: { stream: "quote", tickers } }),
    react(text) {
      if (text.startsWith('{"type":"error"') || text.includes('"rejected":[{')) return "refused";
      return text.startsWith('{"type":"ack"') ? "open" : undefined;
    },
  },
  // Packets of Engine.IO, whose first digit is their type, and in them those of Socket.IO.
  socketio: {
    path: "/socket.io/?EIO=4&transport=websocket",
    hello: () => undefined,
    react(text, tickers) {
      if (text.startsWith("0{")) return { say: "40" };
      if (text.startsWith("40{")) return { say: `420${JSON.stringify(["subscribe", { tickers }])}` };
      return text.startsWith("430") ? "open" : undefined;
    },
  },
};

const clients = new Set<CloseClient>();
let messages = 0;
let lost = 0;
let latencies: number[] = [];

function take(bytes: Buffer, from: number, to: number): string | undefined {
  if (to - from === PING.length) return PONG;
  messages += 1;
  if (messages % SAMPLE_EVERY !== 0 || latencies.length >= SAMPLES_MAX_COUNT) return undefined;
  const text = bytes.toString("utf8", from, to);
  const { type, event, data } = JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
  if (type === "quote" && event === "update") latencies.push(elapsedMs(stampOf(data.bid), stampNow()));
  return undefined;
}

/** Resolves when the client is subscribed. */
async function openOne({ url, dialect, key }: OpenSockets, tickers: readonly string[]): Promise<void> {
  const { path, hello, react } = DIALECTS[dialect];
  const close = await openClient({
    url: new URL(path, url),
    headers: { authorization: `Bearer ${key}` },
    hello: hello(tickers),
    react: (text) => react(text, tickers),
    take,
    lost() {
      lost += 1;
      clients.delete(close);
    },
  });
  clients.add(close);
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
  const result = { messages, p99Ms: quantile(sorted, 0.99), lost };
  messages = 0;
  lost = 0;
  latencies = [];
  return result;
}

function close(): void {
  for (const closeOne of clients) closeOne();
  clients.clear();
}

answerCalls({ open, received, close });
