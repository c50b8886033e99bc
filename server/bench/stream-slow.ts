import { TIMEFRAMES_ORDER } from "#lib/domain/timeframe";
import type { Subscribe } from "./stream-dialect";
import { startFeeder } from "./stream-feeder";
import { audienceOf, type Clients, seconds as pause, startClients } from "./stream-load";
import { listingsOf, mergedOf, type StreamContestant, startStreamSpotwire } from "./stream-measure";
import type { Row } from "./table";

const SOCKETS_COUNT = 1_000;
const TICKERS_COUNT = 40;
const TICKERS_EACH_COUNT = 10;
/** Few enough to stay far from all limits: half a core for the server. */
const PER_SECOND = 5;
const WARM_UP_S = 1;
const ROUNDS_COUNT = 3;
/** Many short windows and their median, because other work on the machine disturbs some of them. */
const WINDOW_S = 0.5;
/** Windows per round for each requested second; they must end before the slow socket is closed. */
const WINDOWS_PER_SECOND = 1;
const WINDOWS_MAX_COUNT = 10;
/** Time after which the system's buffers are full and the queue of the slow socket is conflated. */
const MERGE_MAX_S = 30;
const LOOK_S = 0.25;
const MIB = 1_048_576;

interface Window {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly residentBytes: number;
}

/** Subscriptions to all streams of the tickers, for the socket that will stop reading. */
function everythingOf(tickers: readonly string[]): Subscribe[] {
  const klines = TIMEFRAMES_ORDER.map((timeframe) => ({ stream: "kline", tickers, timeframe }));
  return [{ stream: "quote", tickers }, { stream: "snapshot", tickers }, ...klines];
}

async function measureWindows({ server }: StreamContestant, clients: Clients, count: number): Promise<Window[]> {
  const windows: Window[] = [];
  await clients.received();
  while (windows.length < count) {
    await pause(WINDOW_S);
    const { p50Ms, p99Ms } = await clients.received();
    windows.push({ p50Ms, p99Ms, residentBytes: server.residentBytes() });
  }
  return windows;
}

/** Waits until the server merges records for the socket that does not read. */
async function untilMerging(contestant: StreamContestant, before: number): Promise<void> {
  for (let waitedS = 0; waitedS < MERGE_MAX_S; waitedS += LOOK_S) {
    if ((await mergedOf(contestant)) > before) return;
    await pause(LOOK_S);
  }
  throw new Error(`the server merged nothing within ${MERGE_MAX_S} s for a socket that does not read`);
}

function median(windows: readonly Window[]): Window {
  const sorted = [...windows].sort((a, b) => a.p99Ms - b.p99Ms);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error("no round was measured");
  return { ...middle, residentBytes: Math.max(...windows.map(({ residentBytes }) => residentBytes)) };
}

function described({ p50Ms, p99Ms, residentBytes }: Window): string {
  return `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, server at most ${Math.round(residentBytes / MIB)} MiB resident`;
}

/** Measures rounds with one more socket that follows everything: first while it reads, then while it does not. */
async function rounds(
  contestant: StreamContestant,
  clients: Clients,
  seconds: number,
): Promise<[reads: Window[], stalls: Window[]]> {
  const { server, dialect, key } = contestant;
  const count = Math.max(1, Math.min(WINDOWS_MAX_COUNT, Math.round(seconds * WINDOWS_PER_SECOND)));
  const tickers = listingsOf(TICKERS_COUNT).map(({ ticker }) => ticker);
  const one = { url: server.url, dialect, key };
  await clients.open({ ...one, audience: audienceOf(tickers, SOCKETS_COUNT, TICKERS_EACH_COUNT) });
  const [reads, stalls]: [Window[], Window[]] = [[], []];
  for (let round = 0; round < ROUNDS_COUNT; round += 1) {
    await clients.open({ ...one, audience: [everythingOf(tickers)] });
    await pause(WARM_UP_S);
    reads.push(...(await measureWindows(contestant, clients, count)));
    const merged = await mergedOf(contestant);
    await clients.stall();
    await untilMerging(contestant, merged);
    stalls.push(...(await measureWindows(contestant, clients, count)));
    await clients.close(1);
  }
  return [reads, stalls];
}

/** Measures how one socket that stops reading affects a thousand others. */
export async function benchSlow(seconds: number): Promise<Row[]> {
  const clients = startClients();
  const contestant = await startStreamSpotwire();
  const { server, key } = contestant;
  const feeder = startFeeder({ url: server.url, key, listings: listingsOf(TICKERS_COUNT), perSecond: PER_SECOND });
  try {
    const [reads, stalls] = (await rounds(contestant, clients, seconds)).map(median);
    if (reads === undefined || stalls === undefined) throw new Error("no round was measured");
    const ratio = { value: stalls.p99Ms / reads.p99Ms, target: 1.1, against: "reading", bound: "at most" as const };
    return [
      { what: `${SOCKETS_COUNT} sockets, one more that follows everything and reads`, value: described(reads) },
      { what: "the same, and it stops reading: p99 of the others", value: described(stalls), ratio },
    ];
  } finally {
    await feeder.stop();
    await Promise.all([clients.stop(), server.stop()]);
  }
}
