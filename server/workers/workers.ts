import cluster, { type Worker } from "node:cluster";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { Logger } from "#lib/log";
import type { Metrics } from "#lib/metrics";
import { type Backoff, repeat } from "#lib/repeat";
import { SECOND_MS } from "#lib/units";
import { socketAddress } from "#server/cluster/post-to";
import type { RunningMarket } from "#server/market/market";
import { type Channel, openChannel } from "#server/processes/channel";
import { logStderr } from "#server/processes/json-output";
import { watchProcess } from "#server/processes/watch";
import { createConnectionCounts } from "#server/socket/connection-counts";
import type { MetricTable, WorkerAnswers, WorkerQuestions, WorkerStart } from "./questions";
import { relayEvents } from "./relay";
import { closesUndelivered } from "./undelivered";

/** Time for a start: a cold one on a busy machine. */
const START_MAX_MS = 120_000;
/** Streams and requests in flight take part of it; it is shorter than the stop of the whole service. */
const STOP_MAX_MS = 7_000;
const RESTART: Backoff = { firstMs: 100, longestMs: 10 * SECOND_MS };
/** A worker that hangs must not hold up /metrics, which then has no numbers of it. */
const METRICS_MAX_MS = 1_000;
const NO_METRICS: MetricTable = [];

/** What the market process answers to every worker alike. */
type SharedAnswers = Omit<WorkerQuestions, keyof OwnAnswers>;
type OwnAnswers = Pick<WorkerQuestions, "begin" | "openConnection" | "hasConnectionRoom" | "closeConnection" | "failed">;

interface WorkersOptions {
  readonly count: number;
  readonly markets: Readonly<Record<Venue, RunningMarket>>;
  readonly answers: SharedAnswers;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "refused">;
}

type StartOptions = Pick<WorkerStart, "databaseUrl" | "poolSize" | "secret">;

/** The edge workers, seen from the market process. */
export interface Workers {
  /** Where the market process has to serve what they pass on. */
  readonly requestsPath: string;
  /**
   * Starts them; resolves with their common address when all listen.
   * @throws Error with the reason of the first one that cannot start
   */
  start(options: StartOptions): Promise<AddressInfo>;
  /** The metrics of those that answer. */
  metrics(): Promise<readonly MetricTable[]>;
  readonly count: number;
  /** How many of them serve clients. */
  running(): number;
  /** Ends them after the requests in flight, by force where they take too long. */
  stop(): Promise<void>;
}

/** One running process. */
interface Generation {
  readonly child: Worker["process"];
  readonly channel: Channel<WorkerAnswers>;
  /** Resolves when it listens. */
  readonly listening: Promise<AddressInfo>;
  /** Aborts when it has ended. */
  readonly ended: AbortSignal;
  /** Why it could not start. */
  readonly failure: () => string | undefined;
}

/** Opens what the workers need; none starts yet. */
export async function createWorkers({ count, markets, answers, clock, log, metrics }: WorkersOptions): Promise<Workers> {
  const folder = await mkdtemp(path.join(tmpdir(), "spotwire-"));
  const requestsPath = path.join(folder, "requests.sock");
  const onTooSlow = () => {
    metrics.refused("workers", "too_far_behind");
    log.error("an edge worker reads events too slowly and was cut off; it restarts");
  };
  const stopRelay = await relayEvents({ folder, address: socketAddress(requestsPath), markets, clock, onTooSlow });
  const connections = createConnectionCounts();
  const stopping = new AbortController();
  const current = new Map<number, Generation>();
  const serving = new Set<number>();
  let running: Promise<unknown> = Promise.resolve();

  function launch(worker: number, start: StartOptions): Generation {
    let failure: string | undefined;
    const forked = cluster.fork();
    logStderr(forked.process.stderr, log.child({ process: "worker", worker }));
    const own: OwnAnswers = {
      begin() {
        const told = { ...start, worker, requestsPath, folder };
        void channel.ask("start", told).catch(() => undefined);
      },
      openConnection: (id, owner, max) => connections.open(worker, id, owner, max),
      hasConnectionRoom: connections.hasRoom,
      closeConnection: (id) => connections.close(worker, id),
      failed: (reason) => {
        failure = reason;
      },
    };
    const ended = new AbortController();
    const closeUndelivered = closesUndelivered(forked.process);
    const end = () => {
      closeUndelivered();
      connections.free(worker);
      ended.abort();
    };
    forked.once("exit", end);
    forked.once("error", end);
    const listening = new Promise<AddressInfo>((resolve) => {
      forked.once("listening", ({ address, port, addressType }) =>
        resolve({ address, port, family: addressType === 6 ? "IPv6" : "IPv4" }),
      );
    });
    const channel = openChannel<WorkerAnswers>(forked.process, { ...answers, ...own }, clock);
    return { child: forked.process, channel, listening, ended: ended.signal, failure: () => failure };
  }

  /** Runs one worker until it ends. @throws Error with the reason */
  async function live(worker: number, start: StartOptions, onListening: (address: AddressInfo) => void): Promise<void> {
    const generation = launch(worker, start);
    const { child, listening, ended, failure } = generation;
    current.set(worker, generation);
    const address = await Promise.race([listening, clock.wait(START_MAX_MS, ended).then(() => undefined)]);
    if (address === undefined) child.kill("SIGKILL");
    else {
      serving.add(worker);
      log.info({ worker, pid: child.pid }, "an edge worker serves clients");
      onListening(address);
      await watchProcess(generation, `edge worker ${worker}`, { clock, log });
    }
    serving.delete(worker);
    if (!stopping.signal.aborted) throw new Error(failure() ?? `exit code ${child.exitCode ?? child.signalCode}`);
  }

  /** Keeps one worker running; resolves when it listens for the first time. */
  function keep(worker: number, start: StartOptions, onEnd: (ended: Promise<void>) => void): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      const onError = (error: unknown) => {
        const { message } = error as Error;
        reject(new Error(message));
        log.error({ worker, reason: message }, "an edge worker ended; starting it again");
      };
      const pausing = { clock, signal: stopping.signal, pause: RESTART, atOnce: true, onError };
      onEnd(
        repeat(pausing, (healthy) =>
          live(worker, start, (address) => {
            healthy();
            resolve(address);
          }),
        ),
      );
    });
  }

  async function end(): Promise<void> {
    stopping.abort();
    await Promise.all(
      [...current.values()].map(async ({ child, channel, ended }) => {
        if (ended.aborted) return;
        void channel.ask("stop").catch(() => undefined);
        await clock.wait(STOP_MAX_MS, ended);
        if (!ended.aborted) log.error("an edge worker does not stop; ending it");
        child.kill("SIGKILL");
      }),
    );
    await running;
    await stopRelay();
    await rm(folder, { recursive: true, force: true });
  }
  let stopped: Promise<void> | undefined;

  return {
    requestsPath,
    count,
    async start(start) {
      cluster.setupPrimary({
        args: ["worker"],
        stdio: ["ignore", "inherit", "pipe", "ipc"],
        execArgv: process.execArgv.filter((flag) => !flag.startsWith("--inspect")),
      });
      // The kernel would give most connections to the worker that waited last, and streams stay for hours.
      cluster.schedulingPolicy = cluster.SCHED_RR;
      const ends: Promise<void>[] = [];
      const starting = Array.from({ length: count }, (_, index) => keep(index + 1, start, (ended) => ends.push(ended)));
      running = Promise.all(ends);
      const [address] = await Promise.all(starting);
      return address as AddressInfo;
    },
    async metrics() {
      const asked = [...current.values()].map(({ channel }) =>
        Promise.race([channel.ask("metrics").catch(() => NO_METRICS), clock.wait(METRICS_MAX_MS).then(() => NO_METRICS)]),
      );
      return Promise.all(asked);
    },
    running: () => serving.size,
    stop() {
      stopped ??= end();
      return stopped;
    },
  };
}
