import autocannon from "autocannon";
import { type Contestant, startProcess } from "./child";
import { startSpotwire } from "./quotes";
import type { Row } from "./table";

const PATH = "/api/v1/market/quotes/latest?tickers=EURUSD,XAUUSD";
const ATTEMPTS_PER_SECOND = 100;
const CLIENTS_COUNT = 16;
/** The load of the market's clients, well below the capacity of the server. */
const ASKED_PER_SECOND = 4_000;
const ROUNDS_COUNT = 3;
/** The allowed burst is over by then. */
const SETTLE_MS = 5_000;
const TARGET = 0.95;

interface Served {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly refused: number;
  readonly sent: number;
}

interface Flood {
  readonly server: Contestant & { testKey: string };
  readonly attackers: ReturnType<typeof startProcess>;
  readonly seconds: number;
}

async function serveUnder({ server, attackers, seconds }: Flood, signIn: boolean): Promise<Served> {
  await attackers.call("start", { url: server.url, perSecond: ATTEMPTS_PER_SECOND, signIn });
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const result = await autocannon({
    url: server.url + PATH,
    connections: CLIENTS_COUNT,
    duration: seconds,
    overallRate: ASKED_PER_SECOND,
    headers: { authorization: `Bearer ${server.testKey}` },
  });
  const { sent, refused } = await attackers.call<{ sent: number; refused: number }>("stop");
  if (result.non2xx > 0) throw new Error(`${result.non2xx} market requests were not answered with 200`);
  return { perSecond: result.requests.total / result.duration, p99Ms: result.latency.p99, sent, refused };
}

function median(list: readonly Served[]): Served {
  const middle = [...list].sort((a, b) => a.perSecond - b.perSecond)[list.length >> 1];
  if (middle === undefined) throw new Error("no round was measured");
  return middle;
}

/**
 * Measures how a flood of sign-ins, each from another address, slows down market clients, against as many plain requests by
 * the same attackers, because those also take cores of the machine.
 */
export async function benchFlood(seconds: number): Promise<Row[]> {
  const server = await startSpotwire("counted", { TRUSTED_PROXIES: "127.0.0.1", PORTAL: "on" });
  const attackers = startProcess("server/bench/flood-attackers.ts");
  const flood = { server, attackers, seconds };
  try {
    const plain: Served[] = [];
    const under: Served[] = [];
    for (let round = 0; round < ROUNDS_COUNT; round += 1) {
      plain.push(await serveUnder(flood, false));
      under.push(await serveUnder(flood, true));
    }
    const [before, during] = [median(plain), median(under)];
    const row = ({ perSecond, p99Ms }: Served) => `${Math.round(perSecond)} of ${ASKED_PER_SECOND} req/s, p99 ${p99Ms} ms`;
    return [
      { what: `quotes/latest beside ${2 * ATTEMPTS_PER_SECOND} plain requests/s`, value: row(before) },
      {
        what: `quotes/latest beside ${ATTEMPTS_PER_SECOND} sign-ins/s, each from another address`,
        value: `${row(during)}; ${during.refused} responses 429 to ${during.sent} sign-ins`,
        ratio: { value: during.perSecond / before.perSecond, target: TARGET, against: "plain" },
      },
    ];
  } finally {
    await Promise.all([attackers.stop(), server.stop()]);
  }
}
