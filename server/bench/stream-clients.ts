import { answerCalls } from "./stream-calls";
import { type Dialect, type DialectName, dialectOf, type Subscribe } from "./stream-dialect";
import { headBytesOf } from "./stream-frames";
import { openSocket, type StreamSocket } from "./stream-socket";
import { elapsedMs, stampNow, stampOf } from "./stream-stamp";

/**
 * The clients of the stream benches, in a separate process. It counts frames and parses one message of many, so that it keeps
 * up with servers that send several hundred thousand messages per second.
 */

const OPENING_AT_ONCE_COUNT = 64;
const READ_BYTES = 65_536;
/** One in this many messages is parsed; a prime, so that the parsed messages have different tickers. */
const SAMPLE_EVERY = 31;
const SAMPLES_MAX_COUNT = 1_000_000;

/** Sockets to open: one for each entry of `audience`, which is what it subscribes to. */
export interface OpenSockets {
  readonly url: string;
  readonly dialect?: DialectName | undefined;
  readonly key: string;
  readonly audience: readonly (readonly Subscribe[])[];
}

/** What the clients received since the last report. */
export interface Received {
  readonly messages: number;
  /** Their frames. */
  readonly bytes: number;
  /** From the push of a tick to the receipt of its record, ms; NaN without a record. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Sockets closed by the server. */
  readonly lost: number;
}

const buffer = Buffer.allocUnsafe(READ_BYTES);
const sockets: StreamSocket[] = [];
let messages = 0;
let receivedBytes = 0;
let lost = 0;
let latencies: number[] = [];

function take({ textOf }: Dialect, bytes: number, from: Buffer | undefined, at: number): void {
  messages += 1;
  receivedBytes += headBytesOf(bytes) + bytes;
  if (messages % SAMPLE_EVERY !== 0 || from === undefined || latencies.length >= SAMPLES_MAX_COUNT) return;
  const text = textOf(from.subarray(at, at + bytes));
  if (text === undefined) return;
  const { type, event, data } = JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
  if (type === "quote" && event === "update") latencies.push(elapsedMs(stampOf(data.bid), stampNow()));
}

async function open({ url, dialect: name = "raw", key, audience }: OpenSockets): Promise<void> {
  let next = 0;
  const openSome = async () => {
    for (;;) {
      const subscribes = audience[next];
      next += 1;
      if (subscribes === undefined) return;
      const onLost = () => {
        lost += 1;
      };
      const acks = subscribes.length;
      const dialect = dialectOf(name, key, subscribes);
      sockets.push(await openSocket({ url, dialect, acks, buffer, take: (...frame) => take(dialect, ...frame), onLost }));
    }
  };
  await Promise.all(Array.from({ length: OPENING_AT_ONCE_COUNT }, openSome));
}

function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function received(): Received {
  const sorted = Float64Array.from(latencies).sort();
  const result = { messages, bytes: receivedBytes, p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99), lost };
  messages = 0;
  receivedBytes = 0;
  lost = 0;
  latencies = [];
  return result;
}

answerCalls({
  open,
  received,
  /** Closes the newest `count` sockets; all by default. */
  close: (count = sockets.length) => {
    for (const socket of sockets.splice(-count, count)) socket.close();
  },
});
