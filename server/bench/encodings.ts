import { decode, encode } from "@msgpack/msgpack";
import { quoteExample } from "#lib/contract/quote";
import { type QuoteMessage, STREAM_PROTOCOLS } from "#lib/contract/stream";
import { audienceOf, type Clients, startClients } from "./stream-load";
import { listingsOf, measureStream, type StreamContestant, startRival, startStreamSpotwire } from "./stream-measure";
import { memoryOf } from "./stream-memory";
import type { Row } from "./table";

const SOCKETS_COUNT = 1_000;
const TICKERS_COUNT = 40;
const TICKERS_EACH_COUNT = 10;
/** Few enough that a server that compresses keeps up: a queue would be measured with it. */
const PER_SECOND = 1;
const ROUNDS_COUNT = 3;
const DECODED_COUNT = 200_000;

/** What one message costs in an encoding. */
interface Cost {
  readonly bytes: number;
  /** Of the server. */
  readonly microseconds: number;
  /** Resident memory of the server for each connection, with what it reserves once, bytes. */
  readonly memory: number;
}

async function measure(contestant: StreamContestant, clients: Clients, seconds: number): Promise<Cost> {
  const { server, dialect, key } = contestant;
  const listings = listingsOf(TICKERS_COUNT);
  const tickers = listings.map(({ ticker }) => ticker);
  const before = await memoryOf(server);
  await clients.open({ url: server.url, dialect, key, audience: audienceOf(tickers, SOCKETS_COUNT, TICKERS_EACH_COUNT) });
  const measured = await measureStream(contestant, { clients, listings, perSecond: PER_SECOND, seconds });
  const after = await memoryOf(server);
  await clients.close();
  return {
    bytes: measured.bytesPerMessage,
    microseconds: 1_000_000 / measured.messagesPerCpuSecond,
    memory: (after.resident - before.resident) / SOCKETS_COUNT,
  };
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Bytes and time are medians of the rounds; memory is that of the first, because later ones use what was freed. */
function medianCost(rounds: readonly Cost[]): Cost {
  return {
    bytes: medianOf(rounds.map(({ bytes }) => bytes)),
    microseconds: medianOf(rounds.map(({ microseconds }) => microseconds)),
    memory: rounds[0]?.memory ?? Number.NaN,
  };
}

function rowOf(name: string, { bytes, microseconds, memory }: Cost): Row {
  const value = `${bytes.toFixed(0)} bytes and ${microseconds.toFixed(1)} µs of the server per message, ${(memory / 1024).toFixed(0)} KiB per connection, with one-time costs`;
  return { what: `${SOCKETS_COUNT} sockets, ${name}`, value };
}

/** Microseconds that this runtime takes to decode a message. */
function decodingTime(decodeOne: () => unknown): number {
  for (let count = 0; count < DECODED_COUNT / 10; count += 1) decodeOne();
  const { user, system } = process.cpuUsage();
  for (let count = 0; count < DECODED_COUNT; count += 1) decodeOne();
  const after = process.cpuUsage();
  return (after.user + after.system - user - system) / DECODED_COUNT;
}

function decodingRow(): Row {
  const message: QuoteMessage = {
    type: "quote",
    event: "update",
    ticker: "EURUSD",
    epoch: "3f9c2a71",
    seq: 8_131,
    data: quoteExample,
  };
  const text = Buffer.from(JSON.stringify(message));
  const packed = encode(message);
  const [json, msgpack] = [decodingTime(() => JSON.parse(text.toString())), decodingTime(() => decode(packed))];
  return { what: "a client in Node decodes a quote", value: `JSON ${json.toFixed(1)} µs, MessagePack ${msgpack.toFixed(1)} µs` };
}

/**
 * Measures what a message costs in each encoding, for a thousand sockets with ten tickers each, and what compression would cost.
 * The service does not compress: a plain loop over WebSockets of the same library stands in, once with and once without it.
 */
export async function benchEncodings(seconds: number): Promise<Row[]> {
  const clients = startClients();
  const contestants: StreamContestant[] = [];
  try {
    contestants.push(
      { ...(await startStreamSpotwire("raw")), name: `Spotwire, ${STREAM_PROTOCOLS.json}` },
      { ...(await startStreamSpotwire("msgpack")), name: `Spotwire, ${STREAM_PROTOCOLS.msgpack}` },
      await startRival("ws"),
      await startRival("deflate"),
      await startRival("deflate-alone"),
    );
    const rounds = new Map<StreamContestant, Cost[]>(contestants.map((contestant) => [contestant, []]));
    for (let round = 0; round < ROUNDS_COUNT; round += 1)
      for (const [contestant, costs] of rounds) costs.push(await measure(contestant, clients, seconds));
    const costs = [...rounds.values()].map(medianCost);
    const [json, packed] = costs as [Cost, Cost];
    const ratio = (value: number, target: number) => ({ value, target, against: "JSON", bound: "at most" as const });
    return [
      ...costs.map((cost, index) => rowOf(contestants[index]?.name ?? "", cost)),
      { what: "MessagePack, bytes", value: "", ratio: ratio(packed.bytes / json.bytes, 0.9) },
      { what: "MessagePack, time of the server", value: "", ratio: ratio(packed.microseconds / json.microseconds, 1.1) },
      decodingRow(),
    ];
  } finally {
    await Promise.all([clients, ...contestants.map(({ server }) => server)].map((child) => child.stop()));
  }
}
