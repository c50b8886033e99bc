import autocannon from "autocannon";
import { createClient } from "#lib/client/index";
import { type Contestant, startProcess } from "./child";
import { memoryOfBoth } from "./processes";
import { startSpotwire } from "./quotes";
import type { Row } from "./table";

/** What strangers read in loops. */
const PATHS = ["/", "/status", "/docs/quickstart", "/docs/search.json", "/no/such/page", "/signin"];
const STRANGERS_COUNT = 32;
const QUOTES = "/api/v1/market/quotes/latest?tickers=EURUSD,XAUUSD";
const CLIENTS_COUNT = 4;
const ASKED_PER_SECOND = 200;
const FOLLOWED = ["EURUSD", "XAUUSD", "USDJPY", "GBPUSD"];
const ROUNDS_COUNT = 3;
const SLOWER_MAX = 2;
const DOCS_PER_SECOND = 1_500;
const STATUS_PER_SECOND = 1_000;

type Readers = ReturnType<typeof startProcess>;
type Server = Contestant & { testKey: string };

interface Read {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly failed: number;
}

interface Noticed {
  readonly quotesP50Ms: number;
  readonly quotesP99Ms: number;
  readonly ticksP99Ms: number;
}

const quantile = (values: readonly number[], share: number) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

/** What a client of the API and one of the stream notice during some seconds. The clock of sandbox ticks is this machine's. */
async function notice(server: Server, seconds: number): Promise<Noticed> {
  const ages: number[] = [];
  const stream = createClient({ baseUrl: server.url, key: server.testKey }).stream();
  const quotes = stream.subscribe({ stream: "quote", tickers: FOLLOWED }, ({ event, data }) => {
    if (event === "update") ages.push(Date.now() - data.time_msc);
  });
  await quotes.ready;
  const { latency, non2xx } = await autocannon({
    url: server.url + QUOTES,
    connections: CLIENTS_COUNT,
    duration: seconds,
    overallRate: ASKED_PER_SECOND,
    headers: { authorization: `Bearer ${server.testKey}` },
  });
  stream.close();
  await stream.closed;
  if (non2xx > 0) throw new Error(`${non2xx} quotes were not answered with 200`);
  return { quotesP50Ms: latency.p50, quotesP99Ms: latency.p99, ticksP99Ms: quantile(ages, 0.99) };
}

const medianOf = (rounds: readonly Noticed[], what: keyof Noticed) =>
  quantile(
    rounds.map((round) => round[what]),
    0.5,
  );

function noticedRow(what: string, rounds: readonly Noticed[]): Row {
  const [p50, p99, ticks] = (["quotesP50Ms", "quotesP99Ms", "ticksP99Ms"] as const).map((name) => medianOf(rounds, name));
  return { what, value: `quotes p50 ${p50} ms, p99 ${p99} ms; tick to client p99 ${ticks} ms` };
}

/** Pages of one kind per second, and per second of the market process. */
async function pagesOf(server: Server, readers: Readers, path: string, seconds: number): Promise<Row> {
  await readers.call("read", { url: server.url, paths: [path], connections: 8, seconds: 1 });
  const before = server.cpuSeconds();
  const { perSecond, failed } = await readers.call<Read>("read", { url: server.url, paths: [path], connections: 8, seconds });
  if (failed > 0) throw new Error(`${path}: ${failed} pages failed`);
  const perCore = (perSecond * seconds) / (server.cpuSeconds() - before);
  const target = path === "/status" ? STATUS_PER_SECOND : DOCS_PER_SECOND;
  return {
    what: `pages of ${path}`,
    value: `${Math.round(perSecond)} pages/s, ${Math.round(perCore)} pages per second of the market's processor time`,
    ratio: { value: perCore / target, target: 1, against: `${target} per core` },
  };
}

/**
 * Measures what clients of the market notice of strangers who read pages in loops, how many pages there are for them, and the
 * memory of both processes.
 */
export async function benchStrangers(seconds: number): Promise<Row[]> {
  const server = await startSpotwire("counted", { PORTAL: "on" });
  const readers = startProcess("server/bench/strangers-readers.ts");
  try {
    const idleMemory = await memoryOfBoth(server);
    const idle: Noticed[] = [];
    const under: Noticed[] = [];
    const read: Read[] = [];
    const loop = { url: server.url, paths: PATHS, connections: STRANGERS_COUNT };
    for (let round = 0; round < ROUNDS_COUNT; round += 1) {
      idle.push(await notice(server, seconds));
      const reading = readers.call<Read>("read", { ...loop, seconds: seconds + 1 });
      under.push(await notice(server, seconds));
      read.push(await reading);
    }
    const ratioOf = (what: keyof Noticed) => medianOf(under, what) / medianOf(idle, what);
    const atMost = { target: SLOWER_MAX, against: "idle", bound: "at most" } as const;
    const pages = Math.round(
      quantile(
        read.map(({ perSecond }) => perSecond),
        0.5,
      ),
    );
    return [
      noticedRow("clients, with no strangers", idle),
      {
        ...noticedRow(`clients beside ${STRANGERS_COUNT} connections that read pages (${pages} pages/s)`, under),
        ratio: { ...atMost, value: ratioOf("quotesP99Ms") },
      },
      { what: "", value: "tick to client, p99", ratio: { ...atMost, value: ratioOf("ticksP99Ms") } },
      await pagesOf(server, readers, "/docs/quickstart", seconds),
      await pagesOf(server, readers, "/status", seconds),
      { what: "resident memory before and after", value: `${idleMemory}; ${await memoryOfBoth(server)}` },
    ];
  } finally {
    await Promise.all([server.stop(), readers.stop()]);
  }
}
