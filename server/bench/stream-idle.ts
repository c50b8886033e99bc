import { rounded } from "./spread";
import { audienceOf, type Clients, seconds, startClients } from "./stream-load";
import { listingsOf, type StreamContestant, startStreamAnchor, startStreamSpotwire } from "./stream-measure";
import type { Row } from "./table";

const SOCKETS_COUNT = 10_000;
const TICKERS_COUNT = 40;
const TICKERS_EACH_COUNT = 10;
/** The first sockets are not measured, because they include one-time costs and fill spare room of the heap. */
const FIRST_SOCKETS_COUNT = 2_000;
/** Time after which every connection has had a heartbeat. */
const SETTLE_S = 16;

/** Resident memory per socket, bytes. */
async function perSocket({ server, key }: StreamContestant, clients: Clients, subscribed: boolean): Promise<number> {
  const tickers = listingsOf(TICKERS_COUNT).map(({ ticker }) => ticker);
  const open = (count: number) => {
    const audience = subscribed ? audienceOf(tickers, count, TICKERS_EACH_COUNT) : Array.from({ length: count }, () => []);
    return clients.open({ url: server.url, key, audience });
  };
  await open(FIRST_SOCKETS_COUNT);
  const before = server.residentBytes();
  await open(SOCKETS_COUNT - FIRST_SOCKETS_COUNT);
  if (subscribed) await seconds(SETTLE_S);
  const after = server.residentBytes();
  await clients.received();
  await clients.close();
  return (after - before) / (SOCKETS_COUNT - FIRST_SOCKETS_COUNT);
}

/** Measures ten thousand sockets with ten quiet tickers each, against as many that are only connected to bare `ws`. */
export async function benchIdle(): Promise<Row[]> {
  const clients = startClients();
  const contestants: StreamContestant[] = [];
  try {
    const [bare, own] = [await startStreamAnchor(), await startStreamSpotwire()];
    contestants.push(bare, own);
    const anchor = await perSocket(bare, clients, false);
    const result = await perSocket(own, clients, true);
    return [
      {
        what: `${SOCKETS_COUNT} idle sockets, ${TICKERS_EACH_COUNT} subscriptions each, resident memory`,
        value: `${rounded(result / 1024)} KiB per socket`,
        anchor: `${rounded(anchor / 1024)} KiB per socket`,
        ratio: { value: result / anchor, target: 1.5, against: "bare ws, only connected", bound: "at most" },
      },
    ];
  } finally {
    await Promise.all([clients, ...contestants.map(({ server }) => server)].map((child) => child.stop()));
  }
}
