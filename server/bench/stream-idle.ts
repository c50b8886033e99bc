import { audienceOf, type Clients, seconds, startClients } from "./stream-load";
import { listingsOf, type StreamContestant, startRival, startStreamSpotwire } from "./stream-measure";
import { type Memory, memoryOf } from "./stream-memory";
import type { Row } from "./table";

const SOCKETS_COUNT = 10_000;
const TICKERS_COUNT = 40;
const TICKERS_EACH_COUNT = 10;
/** The first sockets are not measured, because they include one-time costs and fill spare room of the heap. */
const FIRST_SOCKETS_COUNT = 2_000;
/** Time after which every connection has had a heartbeat. */
const SETTLE_S = 16;

/** Memory per socket, bytes. */
async function perSocket({ server, dialect, key }: StreamContestant, clients: Clients, subscribed: boolean): Promise<Memory> {
  const tickers = listingsOf(TICKERS_COUNT).map(({ ticker }) => ticker);
  const open = (count: number) => {
    const audience = subscribed ? audienceOf(tickers, count, TICKERS_EACH_COUNT) : Array.from({ length: count }, () => []);
    return clients.open({ url: server.url, dialect, key, audience });
  };
  await open(FIRST_SOCKETS_COUNT);
  const before = await memoryOf(server);
  await open(SOCKETS_COUNT - FIRST_SOCKETS_COUNT);
  if (subscribed) await seconds(SETTLE_S);
  const after = await memoryOf(server);
  await clients.received();
  await clients.close();
  const share = (part: keyof Memory) => (after[part] - before[part]) / (SOCKETS_COUNT - FIRST_SOCKETS_COUNT);
  return { resident: share("resident"), used: share("used") };
}

function described({ resident, used }: Memory): string {
  return `${(resident / 1024).toFixed(1)} KiB resident, ${(used / 1024).toFixed(1)} KiB heap and buffers per socket`;
}

/** Measures ten thousand sockets with ten quiet tickers each, against as many that are only connected to bare `ws`. */
export async function benchIdle(): Promise<Row[]> {
  const clients = startClients();
  const contestants: StreamContestant[] = [];
  try {
    const [bare, own] = [await startRival("ws"), await startStreamSpotwire()];
    contestants.push(bare, own);
    const anchor = await perSocket(bare, clients, false);
    const result = await perSocket(own, clients, true);
    const ratio = (value: number) => ({ value, target: 2, against: "bare ws", bound: "at most" as const });
    return [
      { what: `${SOCKETS_COUNT} sockets, bare ws, only connected`, value: described(anchor) },
      {
        what: `${SOCKETS_COUNT} idle sockets, Spotwire, ${TICKERS_EACH_COUNT} subscriptions each, resident`,
        value: described(result),
        ratio: ratio(result.resident / anchor.resident),
      },
      { what: "the same, heap and buffers", value: "", ratio: ratio(result.used / anchor.used) },
    ];
  } finally {
    await Promise.all([clients, ...contestants.map(({ server }) => server)].map((child) => child.stop()));
  }
}
