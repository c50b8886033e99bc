import autocannon from "autocannon";
import type { Contestant } from "./child";
import { type Spread, spreadOf } from "./spread";

const CONNECTIONS_COUNT = 32;
const WARM_UP_STEP_S = 0.5;
const WARM_UP_MAX_COUNT = 10_000;
const TRIES_MAX_COUNT = 5;

/** How long a bench measures: `rounds` times `seconds` for each contestant. */
export interface Effort {
  readonly seconds: number;
  readonly rounds: number;
  /** Processor time of a server before it is measured, in which V8 compiles: a busy machine lets it do little in a second. */
  readonly warmUpCpuS: number;
}

/** Requests to send to a server, all alike. */
export interface Target {
  readonly server: Contestant;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The status of every answer. */
  readonly status: number;
  /** Headers that differ from request to request. */
  readonly vary?: () => Readonly<Record<string, string>>;
}

/** Requests per CPU-second of two servers in the same rounds, and of each round the ratio of the first to the second. */
interface Compared {
  readonly own: Spread;
  readonly anchor: Spread;
  readonly ratio: Spread;
}

interface Loaded {
  /** Answers. */
  readonly count: number;
  readonly perCpuSecond: number;
  readonly perSecond: number;
  readonly p99Ms: number;
}

/** The part of a client that the package's types lack. */
interface Receiver {
  readonly pipelinedRequests: { addBody(data: Buffer): void };
}

/**
 * Drops bodies as they arrive. The package joins them into texts that nobody reads, which takes longer than compressed klines take
 * the server: it waited for the load most of the time, and each wait costs it more than a request.
 */
export function dropBodies(client: autocannon.Client): void {
  (client as unknown as Receiver).pipelinedRequests.addBody = () => undefined;
}

async function send({ server, path, headers, vary }: Target, seconds: number) {
  const requests = vary && [
    { setupRequest: (request: autocannon.Request) => ({ ...request, headers: { ...request.headers, ...vary() } }) },
  ];
  const connections = {
    url: server.url + path,
    connections: CONNECTIONS_COUNT,
    duration: seconds,
    headers,
    setupClient: dropBodies,
  };
  return autocannon({ ...connections, ...(requests && { requests }) });
}

/**
 * Requests per CPU-second of the serving process, which do not depend on how many cores the load generator leaves to it; NaN
 * when there was no time for any.
 * @throws Error when an answer has another status
 */
export async function load(target: Target, seconds: number): Promise<Loaded> {
  const before = target.server.cpuSeconds();
  const result = await send(target, seconds);
  const cpu = target.server.cpuSeconds() - before;
  const { total } = result.requests;
  const right = result.statusCodeStats?.[`${target.status}`]?.count ?? 0;
  if (result.errors > 0 || right !== total)
    throw new Error(`${target.path}: ${right} of ${total} answers had status ${target.status}, ${result.errors} errors`);
  return {
    count: total,
    perCpuSecond: total > 0 ? total / cpu : Number.NaN,
    perSecond: total / result.duration,
    p99Ms: result.latency.p99,
  };
}

/** The same, again and for longer, while a machine with other work leaves no time for a single request. */
async function loadSome(target: Target, seconds: number): Promise<Loaded> {
  for (let again = 0; again < TRIES_MAX_COUNT; again += 1) {
    const result = await load(target, seconds * 2 ** again);
    if (result.perCpuSecond > 0) return result;
  }
  throw new Error(`${target.path}: no request was answered in ${TRIES_MAX_COUNT} tries`);
}

/** Loads a server until it has worked for long enough on these requests, or answered many that cost it little. */
async function warmUp(target: Target, cpuS: number): Promise<void> {
  const doneAt = target.server.cpuSeconds() + cpuS;
  let answered = 0;
  while (target.server.cpuSeconds() < doneAt && answered < WARM_UP_MAX_COUNT)
    answered += (await load(target, WARM_UP_STEP_S)).count;
}

/** Measures two servers in turn; who is first changes from round to round, so that a busier machine favours neither. */
export async function compare(own: Target, anchor: Target, { seconds, rounds, warmUpCpuS }: Effort): Promise<Compared> {
  for (const target of [anchor, own]) await warmUp(target, warmUpCpuS);
  const owns: number[] = [];
  const anchors: number[] = [];
  for (let round = 0; round < rounds; round += 1)
    for (const target of round % 2 === 0 ? [anchor, own] : [own, anchor])
      (target === own ? owns : anchors).push((await loadSome(target, seconds)).perCpuSecond);
  const ratio = spreadOf(owns.map((value, round) => value / (anchors[round] ?? Number.NaN)));
  return { own: spreadOf(owns), anchor: spreadOf(anchors), ratio };
}
