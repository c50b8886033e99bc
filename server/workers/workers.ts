import type { ChildProcess } from "node:child_process";
import cluster from "node:cluster";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { Logger } from "#lib/log";
import type { Metrics } from "#lib/metrics";
import { socketAddress } from "#server/cluster/post-to";
import type { RunningMarket } from "#server/market/market";
import { type Child, startChild } from "#server/processes/child";
import type { ParentAnswers } from "#server/processes/parent";
import { createConnectionCounts } from "#server/socket/connection-counts";
import type { MetricTable, WorkerQuestions, WorkerStart } from "./questions";
import { relayEvents } from "./relay";
import { closesUndelivered } from "./undelivered";

/** Streams and requests in flight take part of it; it is shorter than the stop of the whole service. */
const STOP_MAX_MS = 7_000;

/** What the market process answers to each worker by its number. */
type OwnAnswers = Pick<WorkerQuestions, "openConnection" | "hasConnectionRoom" | "closeConnection">;
/** What the market process answers to every worker alike. */
type SharedAnswers = Omit<WorkerQuestions, keyof OwnAnswers | keyof ParentAnswers<AddressInfo>>;

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

type WorkerProcess = Child<WorkerStart, AddressInfo, MetricTable>;

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
  const children: WorkerProcess[] = [];
  const serving = new Set<number>();

  function fork(worker: number): ChildProcess {
    const forked = cluster.fork();
    // Without a listener, an error of its process would end this one when Node repeats it here.
    forked.on("error", () => undefined);
    const closeUndelivered = closesUndelivered(forked.process);
    const end = () => {
      closeUndelivered();
      connections.free(worker);
    };
    forked.process.once("exit", end);
    forked.process.once("error", end);
    return forked.process;
  }

  function startWorker(worker: number): WorkerProcess {
    const own: OwnAnswers = {
      openConnection: (id, owner, max) => connections.open(worker, id, owner, max),
      hasConnectionRoom: connections.hasRoom,
      closeConnection: (id) => connections.close(worker, id),
    };
    return startChild({
      name: "an edge worker",
      kind: "worker",
      fork: () => fork(worker),
      answers: { ...answers, ...own },
      stopMaxMs: STOP_MAX_MS,
      clock,
      log: log.child({ worker }),
    });
  }

  async function end(): Promise<void> {
    await Promise.all(children.map((child) => child.stop()));
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
      const starting = Array.from({ length: count }, (_, index) => {
        const worker = index + 1;
        const child = startWorker(worker);
        children.push(child);
        return child.run(
          () => ({ ...start, worker, requestsPath, folder }),
          (_address, pid) => {
            serving.add(worker);
            log.info({ worker, pid }, "an edge worker serves clients");
            return () => serving.delete(worker);
          },
        );
      });
      const [address] = await Promise.all(starting);
      return address as AddressInfo;
    },
    async metrics() {
      const asked = await Promise.all(children.map((child) => child.metrics()));
      return asked.filter((table) => table !== undefined);
    },
    running: () => serving.size,
    stop() {
      stopped ??= end();
      return stopped;
    },
  };
}
