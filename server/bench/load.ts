import { randomInt } from "node:crypto";
import { importTool } from "#lib/testing/tools";
import type { Contestant } from "./child";
import { type Compared, comparedOf } from "./table";

const CONNECTIONS_COUNT = 32;
const WARM_UP_STEP_S = 0.5;
const WARM_UP_MAX_COUNT = 40_000;
const TRIES_MAX_COUNT = 5;
const ANSWER_MAX_S = 60;

/** How long a bench measures: `rounds` times `seconds` for each contestant. */
export interface Effort {
  readonly seconds: number;
  readonly rounds: number;
  /** Processor time of a server before it is measured, in which V8 compiles: a busy machine lets it do little in a second. */
  readonly warmUpCpuS: number;
}

/** Requests to send to a server, all alike. */
export interface Target {
  /** What it costs is the processor time of this process. */
  readonly server: Pick<Contestant, "url" | "cpuSeconds">;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The status of every answer. */
  readonly status: number;
  /** Headers that differ from request to request. */
  readonly vary?: () => Readonly<Record<string, string>>;
}

/** Only a proxy can name the IP addresses of its clients. */
export const BEHIND_PROXY = { TRUSTED_PROXIES: "127.0.0.1" };
/** An address of any network, because one network is refused after some wrong keys, or many pages. */
export const anyAddress = () => ({
  "x-forwarded-for": `${11 + randomInt(100)}.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}`,
});

interface Client {
  /** The package joins bodies into texts that nobody reads, which takes longer than large answers take the server. */
  readonly pipelinedRequests: { addBody(data: Buffer): void };
}
interface Request {
  readonly headers?: Readonly<Record<string, string>>;
}
interface Options {
  readonly url: string;
  readonly connections: number;
  readonly duration: number;
  readonly timeout: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly setupClient: (client: Client) => void;
  readonly requests?: readonly { readonly setupRequest: (request: Request) => Request }[];
}
interface Result {
  readonly requests: { readonly total: number };
  readonly errors: number;
  readonly statusCodeStats?: Readonly<Record<string, { readonly count: number }>>;
}
type Autocannon = (options: Options) => Promise<Result>;

async function send({ server, path, headers, vary }: Target, seconds: number): Promise<Result> {
  const { default: autocannon } = await importTool<{ default: Autocannon }>("autocannon", "bench");
  return autocannon({
    url: server.url + path,
    connections: CONNECTIONS_COUNT,
    duration: seconds,
    timeout: ANSWER_MAX_S,
    headers,
    setupClient(client) {
      client.pipelinedRequests.addBody = () => undefined;
    },
    ...(vary && { requests: [{ setupRequest: (request) => ({ ...request, headers: { ...request.headers, ...vary() } }) }] }),
  });
}

/**
 * Requests and the processor time of the serving process, which does not depend on how many cores the load generator leaves to it.
 * @throws Error when an answer has another status
 */
async function load(target: Target, seconds: number): Promise<{ readonly count: number; readonly cpuS: number }> {
  const before = target.server.cpuSeconds();
  const { requests, errors, statusCodeStats } = await send(target, seconds);
  const cpuS = target.server.cpuSeconds() - before;
  const right = statusCodeStats?.[`${target.status}`]?.count ?? 0;
  if (errors > 0 || right !== requests.total)
    throw new Error(`${target.path}: ${right} of ${requests.total} answers had status ${target.status}, ${errors} errors`);
  return { count: requests.total, cpuS };
}

/** Requests per CPU-second; again and for longer, while a machine with other work leaves no time for a single one. */
async function perCpuSecond(target: Target, seconds: number): Promise<number> {
  for (let again = 0; again < TRIES_MAX_COUNT; again += 1) {
    const { count, cpuS } = await load(target, seconds * 2 ** again);
    if (count > 0 && cpuS > 0) return count / cpuS;
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

/** Measures servers in turn; who is first changes from round to round, so that a busier machine favours none. */
export async function compare(
  own: Target,
  rivals: readonly Target[],
  { seconds, rounds, warmUpCpuS }: Effort,
): Promise<Compared[]> {
  const rates = new Map([own, ...rivals].map((target) => [target, [] as number[]]));
  for (const target of rates.keys()) await warmUp(target, warmUpCpuS);
  for (let round = 0; round < rounds; round += 1)
    for (const [target, measured] of round % 2 === 0 ? rates : [...rates].reverse())
      measured.push(await perCpuSecond(target, seconds));
  return rivals.map((rival) => comparedOf(rates.get(own) ?? [], rates.get(rival) ?? []));
}
