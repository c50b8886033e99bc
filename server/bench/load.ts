import autocannon from "autocannon";
import type { Contestant } from "./child";

const CONNECTIONS_COUNT = 32;
const WARM_UP_S = 2;

/** A measurement: the rate the clients saw and the cost to the server. */
export interface Measurement {
  readonly requestsPerSecond: number;
  /** Requests per CPU-second of the serving process, which the benches compare because the load generator needs a core too. */
  readonly requestsPerCpuSecond: number;
  readonly p99Ms: number;
}

/** Loads one path with keep-alive connections; throws when an answer is not 200. */
export async function load(
  server: Contestant,
  path: string,
  headers: Record<string, string>,
  seconds: number,
): Promise<Measurement> {
  const run = (duration: number) =>
    autocannon({ url: `${server.url}${path}`, connections: CONNECTIONS_COUNT, duration, headers });
  await run(WARM_UP_S);
  const cpuBefore = server.cpuSeconds();
  const result = await run(seconds);
  const cpu = server.cpuSeconds() - cpuBefore;
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${path}: ${result.non2xx} requests were not answered with 200, ${result.errors} errors`);
  return {
    requestsPerSecond: result.requests.total / result.duration,
    requestsPerCpuSecond: result.requests.total / cpu,
    p99Ms: result.latency.p99,
  };
}

/** Measures contestants in turn for several rounds, and returns the median round of each. */
export async function compare(
  contestants: Record<string, { server: Contestant; path: string; headers: Record<string, string> }>,
  rounds: number,
  seconds: number,
): Promise<Record<string, Measurement>> {
  const results: Record<string, Measurement[]> = {};
  for (let round = 0; round < rounds; round += 1)
    for (const [name, { server, path, headers }] of Object.entries(contestants)) {
      results[name] ??= [];
      results[name].push(await load(server, path, headers, seconds));
    }
  return Object.fromEntries(Object.entries(results).map(([name, list]) => [name, median(list)]));
}

function median(list: readonly Measurement[]): Measurement {
  const sorted = [...list].sort((a, b) => a.requestsPerCpuSecond - b.requestsPerCpuSecond);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error("no round was measured");
  return middle;
}
