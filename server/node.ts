import type { BucketBanks } from "#lib/access/limits/bucket-bank";
import type { BucketLender } from "#lib/access/limits/bucket-lender";
import type { Brand } from "#lib/brand";
import type { Venue } from "#lib/contract/primitives";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import type { Runtime } from "#lib/runtime";
import type { createSteadyClock } from "#lib/steady-clock";
import type { ChangeTargets } from "#server/cluster/change-follower";
import type { KeylessCalls } from "#server/http/keyless-calls";
import type { RunningMarket } from "#server/market/market";
import type { Portal } from "#server/portal/process";
import type { Channel } from "#server/processes/channel";
import type { ParentAnswers } from "#server/processes/parent";
import type { Connections } from "#server/socket/connections";
import type { Workers } from "#server/workers/workers";

/** What a process does, each role with those that it comes on top of. Those that come on top of none are the kinds of processes. */
const ROLES = {
  /** Has the database, leads or follows the venues, and serves clients where no edge worker does. */
  market: ["market"],
  /** Serves clients from the events of the market process. */
  worker: ["worker"],
  /** Runs Next: pages, accounts and their API. */
  portal: ["portal"],
  /** Starts the edge workers, and answers what they pass on. */
  workers: ["market"],
  /** Starts the portal's process, and passes requests for pages on to it. */
  pages: ["market"],
  /** Sends webhooks, mails and warnings, and does upkeep. */
  jobs: ["market", "portal"],
  /** Listens at METRICS_PORT. */
  operators: ["market"],
} as const;

const KINDS = ["market", "worker", "portal"] as const satisfies readonly Role[];

export type Role = keyof typeof ROLES;
type Below<R extends Role> = (typeof ROLES)[R][number];
type Kind = Below<Role>;

type Stop = () => Promise<void> | void;

/** Whether this word names a role. */
export const isRole = (word: string): word is Role => Object.hasOwn(ROLES, word);

/** The kind of a process with these roles. */
export const kindOf = (roles: readonly Role[]): Kind => KINDS.find((kind) => roles.includes(kind)) ?? "market";

/** What a process has before its first part starts. */
interface Base {
  readonly env: Env;
  readonly brand: Brand;
  readonly kind: Kind;
  readonly clock: ReturnType<typeof createSteadyClock>;
  readonly log: Logger;
  /** Serving accepts everything; leaving accepts no new connections; drained accepts no new requests either. */
  readonly stage: { now: "serving" | "leaving" | "drained" };
  /** Aborts when the process begins to stop. */
  readonly stopping: AbortSignal;
  /** Registers what must be stopped, as soon as it has started: what was registered last stops first. */
  onStop(part: string, stop: Stop): void;
  /** Stops the process, which then ends with this code. */
  leave(code: number): void;
  /** Prints a text for who reads at a terminal; nothing where lines of the log are read. */
  print(text: string): void;
}

/** What only some roles have, or what starts after a part that asks for it: read it when it is needed. */
interface Perhaps extends Partial<Pick<Runtime, "metrics">> {
  /** The process that started this one. */
  readonly parent?: Pick<Channel<ParentAnswers<never>>, "ask">;
  /** The number of this edge worker. */
  readonly worker?: number;
  /** What edge workers share, at the market process. */
  readonly lending?: { readonly lender: BucketLender; readonly useTicket: Runtime["access"]["useTicket"] };
  readonly connections?: Connections;
  /** The buckets that edge workers lease from. */
  readonly bank?: BucketBanks;
  readonly changeTargets?: ChangeTargets;
  /** True while every control message arrives. */
  readonly controlConnected?: () => boolean;
  readonly markets?: Readonly<Record<Venue, RunningMarket>>;
  readonly keylessCalls?: KeylessCalls;
  readonly runtime?: Runtime;
  readonly portal?: Portal;
  readonly workers?: Workers;
}
type Node = Base & Perhaps;

type Nodes = Readonly<Record<Role, Node>>;
/** What a part of these roles gets: what all processes with one of them have. */
type NodeOf<Has extends Nodes, In extends Role> = In extends Role ? Has[In] & Has[Below<In>] : never;
type Grown<Has extends Nodes, In extends Role, Offer> = {
  readonly [R in Role]: R extends In ? Has[R] & (Offer extends object ? Offer : unknown) : Has[R];
};

/** A part of a process. */
interface Part {
  readonly name: string;
  /** A process with one of them has this part. */
  readonly roles: readonly Role[];
  start(node: never): Promise<unknown>;
}

/** The parts of all processes in the order in which they start. */
interface Parts<Has extends Nodes> {
  readonly list: readonly Part[];
  /**
   * Adds a part. It gets what parts before it offer in each of its roles, which the compiler checks, and returns what it offers to
   * those after it.
   */
  part<In extends Role, Offer>(
    name: string,
    roles: readonly In[],
    start: (node: NodeOf<Has, In>) => Promise<Offer>,
  ): Parts<Grown<Has, In, Offer>>;
}

/** A table of parts, to which `part` adds. */
export function parts<Has extends Nodes = Nodes>(list: readonly Part[] = []): Parts<Has> {
  return { list, part: (name, roles, start) => parts([...list, { name, roles, start }]) };
}

/** The parts of a process with these roles, in the order of their start. */
export function partsOf(list: readonly Part[], roles: readonly Role[]): readonly Part[] {
  return list.filter((part) => part.roles.some((role) => roles.includes(role)));
}

/**
 * Makes a process of parts. `start` starts them one after the other; when one fails, the parent of this process hears why, what has
 * started is stopped, and the error is thrown. `stop` stops everything in the reverse order; a failure is logged, and does not keep
 * the others from stopping.
 */
export function createNode(base: Omit<Base, "stage" | "stopping" | "onStop">, list: readonly Part[]) {
  const stops: { readonly part: string; readonly stop: Stop }[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;
  const onStop: Base["onStop"] = (part, stop) => void stops.push({ part, stop });
  const node: Node = { ...base, stage: { now: "serving" }, stopping: signal, onStop };
  async function stopAll(): Promise<void> {
    stopping.abort();
    for (let last = stops.pop(); last !== undefined; last = stops.pop()) {
      const { part, stop } = last;
      try {
        await stop();
      } catch (error) {
        base.log.error({ err: error, part }, "component did not stop cleanly");
      }
    }
  }
  let stopped: Promise<void> | undefined;
  function stop(): Promise<void> {
    stopped ??= stopAll();
    return stopped;
  }
  return {
    async start(): Promise<void> {
      try {
        for (const part of list) if (!signal.aborted) Object.assign(node, await part.start(node as never));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (!signal.aborted) await node.parent?.ask("failed", reason).catch(() => undefined);
        await stop();
        throw error;
      }
    },
    stop,
  };
}
