import { readFileSync } from "node:fs";
import autocannon from "autocannon";
import type { Contestant } from "./child";
import { dropBodies, type Effort } from "./load";
import { processorSeconds } from "./processor-time";
import { startSpotwire } from "./product";
import { spreadOf } from "./spread";
import type { Row } from "./table";

const PATH = "/api/v1/market/quotes/latest?tickers=EURUSD,XAUUSD";
/** Enough for a process to have compiled its code. */
const WARM_UP_COUNT = 40_000;
/** About as many as a process answers: processor time is counted in steps of 10 ms. */
const REQUESTS_PER_SECOND = 20_000;
const CONNECTIONS_COUNT = 32;
/** The cores for which the throughput is computed. */
const CORES_COUNT = 4;
const TARGET_RATIO = 3.4;

/** What a service with so many edge workers costs, in seconds of a core. */
interface Cost {
  /** Each second without requests: the market process, and all workers together. */
  readonly idleMarket: number;
  readonly idleWorkers: number;
  /** Each request on top of that. */
  readonly market: number;
  readonly workers: number;
}

/** The edge workers of a service. */
function workersOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
  return children.filter((child) => readFileSync(`/proc/${child}/cmdline`, "utf8").includes("edge-main"));
}

const used = (pid: number) => ({
  market: processorSeconds(pid),
  workers: workersOf(pid).reduce((sum, worker) => sum + processorSeconds(worker), 0),
});

/** What `work` costs the processes, and how long it took. */
async function measured<Result>(pid: number, work: () => Promise<Result>) {
  const [before, startMs] = [used(pid), performance.now()];
  const result = await work();
  const [after, endMs] = [used(pid), performance.now()];
  return {
    result,
    market: after.market - before.market,
    workers: after.workers - before.workers,
    seconds: (endMs - startMs) / 1000,
  };
}

/** A service with so many edge workers. */
interface Service extends Contestant {
  readonly count: number;
  readonly testKey: string;
}

/** Each worker gets the load that a single process gets, so that its code is compiled as much and its turns are as full. */
async function run({ url, testKey, count }: Service, amount: number): Promise<number> {
  const { non2xx, errors, requests } = await autocannon({
    url: url + PATH,
    connections: CONNECTIONS_COUNT * count,
    amount: amount * count,
    headers: { authorization: `Bearer ${testKey}` },
    setupClient: dropBodies,
  });
  if (non2xx > 0 || errors > 0) throw new Error(`${non2xx} requests were not answered with 200, ${errors} errors`);
  return requests.total;
}

async function costOf(service: Service, seconds: number): Promise<Cost> {
  const { pid } = service;
  const idle = await measured(pid, () => new Promise((resolve) => setTimeout(resolve, seconds * 1000)));
  const [idleMarket, idleWorkers] = [idle.market / idle.seconds, idle.workers / idle.seconds];
  const loaded = await measured(pid, () => run(service, REQUESTS_PER_SECOND * seconds));
  const each = (spent: number, idleEach: number) => Math.max(0, spent - idleEach * loaded.seconds) / loaded.result;
  return { idleMarket, idleWorkers, market: each(loaded.market, idleMarket), workers: each(loaded.workers, idleWorkers) };
}

function medianOf(costs: readonly Cost[]): Cost {
  const middle = (name: keyof Cost) => spreadOf(costs.map((cost) => cost[name])).median;
  return {
    ...{ idleMarket: middle("idleMarket"), idleWorkers: middle("idleWorkers") },
    ...{ market: middle("market"), workers: middle("workers") },
  };
}

/** Requests a second on so many cores, which all processes share. */
const capacity = ({ idleMarket, idleWorkers, market, workers }: Cost, cores: number) =>
  (cores - idleMarket - idleWorkers) / (market + workers);

const micro = (seconds: number) => `${(seconds * 1e6).toFixed(1)} µs`;

/**
 * What edge workers cost. The throughput on four cores is computed from processor time, measured in turn: without requests, and
 * for each request, of the market process and of the workers. Four cores give four workers and the market process between them
 * what their costs leave; one core gives it to a single process.
 */
export async function benchWorkers({ seconds, rounds }: Effort): Promise<Row[]> {
  const counts = [1, 2, CORES_COUNT];
  const start = async (count: number) => ({ ...(await startSpotwire({ WORKERS: String(count) })), count });
  const services = await Promise.all(counts.map(start));
  try {
    for (const service of services) await run(service, WARM_UP_COUNT);
    const costs = services.map((): Cost[] => []);
    for (let round = 0; round < rounds; round += 1)
      for (const [index, service] of services.entries()) costs[index]?.push(await costOf(service, seconds));
    const medians = costs.map(medianOf);
    const [single, , four] = medians;
    if (single === undefined || four === undefined) throw new Error("a contestant is missing");
    const rows = medians.map(({ idleMarket, idleWorkers, market, workers }, index) => ({
      what: `quotes/latest, WORKERS=${counts[index]}: processor time of a request`,
      value: `${micro(market)} market process, ${micro(workers)} workers; idle ${idleMarket.toFixed(3)} and ${idleWorkers.toFixed(3)} cores`,
    }));
    const ratio = {
      value: capacity(four, CORES_COUNT) / capacity(single, 1),
      target: TARGET_RATIO,
      against: "one process on one core",
    };
    const value = `${Math.round(capacity(four, CORES_COUNT))} req/s computed`;
    return [...rows, { what: `${CORES_COUNT} workers and the market process on ${CORES_COUNT} cores`, value, ratio }];
  } finally {
    await Promise.all(services.map((service) => service.stop()));
  }
}
