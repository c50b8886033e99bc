import { decode, encode } from "@msgpack/msgpack";
import { quoteExample } from "#lib/contract/quote";
import { type QuoteMessage, STREAM_PROTOCOLS } from "#lib/contract/stream";
import { startChild } from "./child";
import type { Effort } from "./load";
import { rounded, spreadOf, spreadText } from "./spread";
import { audienceOf, type Clients, startClients } from "./stream-load";
import { listingsOf, measureStream, type StreamContestant, startStreamSpotwire } from "./stream-measure";
import { type Row, ratioOf } from "./table";

const SOCKETS_COUNT = 1_000;
const TICKERS_COUNT = 40;
const TICKERS_EACH_COUNT = 10;
/** Few enough that a server that compresses keeps up: a queue would be measured with it. */
const PER_SECOND = 1;
const BYTES_MAX_RATIO = 0.9;
const TIME_MAX_RATIO = 1.1;
const DECODED_COUNT = 200_000;

/** What one message costs in an encoding. */
interface Cost {
  readonly bytes: number;
  /** Of the server. */
  readonly microseconds: number;
  /** Resident memory of the server for each connection, with what it reserves once, bytes. */
  readonly memory: number;
}

type Encoded = StreamContestant & { readonly name: string };

/** Starts the loop over WebSockets of a library that compresses, or does not (see stream-deflate.ts). */
async function startLoop(kind: "ws" | "deflate" | "deflate-alone", name: string): Promise<Encoded> {
  const server = await startChild("server/bench/stream-deflate.ts", {}, { args: [kind] });
  return { name, server, key: "bench", dialect: kind === "ws" ? "raw" : "deflate" };
}

async function measure(contestant: StreamContestant, clients: Clients, seconds: number): Promise<Cost> {
  const { server, dialect, key } = contestant;
  const listings = listingsOf(TICKERS_COUNT);
  const tickers = listings.map(({ ticker }) => ticker);
  const before = server.residentBytes();
  await clients.open({ url: server.url, dialect, key, audience: audienceOf(tickers, SOCKETS_COUNT, TICKERS_EACH_COUNT) });
  const { messageBytes, messageUs } = await measureStream(contestant, { clients, listings, perSecond: PER_SECOND, seconds });
  const memory = (server.residentBytes() - before) / SOCKETS_COUNT;
  await clients.close();
  return { bytes: messageBytes, microseconds: messageUs, memory };
}

/** Memory is that of the first round, because later ones use what was freed. */
function rowOf(name: string, rounds: readonly Cost[]): Row {
  const bytes = spreadOf(rounds.map((round) => round.bytes)).median;
  const micros = spreadText(spreadOf(rounds.map((round) => round.microseconds)));
  const memory = rounded((rounds[0]?.memory ?? Number.NaN) / 1024);
  return {
    what: `${SOCKETS_COUNT.toLocaleString("en-US")} sockets, ${name}`,
    value: `${rounded(bytes)} bytes and ${micros} µs of the server a message, ${memory} KiB a connection with one-time costs`,
  };
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
export async function benchEncodings({ seconds, rounds }: Effort): Promise<Row[]> {
  const clients = startClients();
  const contestants: Encoded[] = [];
  try {
    contestants.push(
      { ...(await startStreamSpotwire("raw")), name: `Spotwire, ${STREAM_PROTOCOLS.json}` },
      { ...(await startStreamSpotwire("msgpack")), name: `Spotwire, ${STREAM_PROTOCOLS.msgpack}` },
      await startLoop("ws", "plain ws loop"),
      await startLoop("deflate", "ws, permessage-deflate"),
      await startLoop("deflate-alone", "ws, permessage-deflate without context"),
    );
    const measured = new Map<Encoded, Cost[]>(contestants.map((contestant) => [contestant, []]));
    for (let round = 0; round < rounds; round += 1)
      for (const [contestant, costs] of measured) costs.push(await measure(contestant, clients, seconds));
    const [json = [], packed = []] = [...measured.values()];
    const ratio = (of: (cost: Cost) => number, target: number) =>
      ratioOf(spreadOf(packed.map((cost, round) => of(cost) / of(json[round] ?? cost))), {
        target,
        against: "JSON",
        bound: "at most",
      });
    return [
      ...[...measured].map(([{ name }, costs]) => rowOf(name, costs)),
      { what: "MessagePack, bytes", value: "", ratio: ratio(({ bytes }) => bytes, BYTES_MAX_RATIO) },
      { what: "MessagePack, time of the server", value: "", ratio: ratio(({ microseconds }) => microseconds, TIME_MAX_RATIO) },
      decodingRow(),
    ];
  } finally {
    await Promise.all([clients, ...contestants.map(({ server }) => server)].map((child) => child.stop()));
  }
}
