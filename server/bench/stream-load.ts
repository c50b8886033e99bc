import { type Child, startProcess } from "./child";
import type { OpenSockets, Received } from "./stream-clients";
import type { Subscribe } from "./stream-dialect";

/** The interface of a stream bench to its clients. */
export interface Clients {
  /** Opens sockets; resolves when all are subscribed. */
  open(sockets: OpenSockets): Promise<void>;
  /** Returns what arrived since the last call. @throws Error when the server closed a socket, unless that is expected */
  received(mayLose?: boolean): Promise<Received>;
  /** Closes the newest `count` sockets; all by default. */
  close(count?: number): Promise<void>;
  cpuSeconds: Child["cpuSeconds"];
  stop: Child["stop"];
}

/** Starts the client process, without open sockets. */
export function startClients(): Clients {
  const child = startProcess("server/bench/stream-clients.ts");
  return {
    open: (sockets) => child.call("open", sockets),
    async received(mayLose = false) {
      const received = await child.call<Received>("received");
      if (received.lost > 0 && !mayLose) throw new Error(`the server closed ${received.lost} sockets`);
      return received;
    },
    close: (count) => child.call("close", count),
    cpuSeconds: child.cpuSeconds,
    stop: child.stop,
  };
}

/** A repeatable sequence of whole numbers below `end` (a linear congruential generator). */
function chances(seed: number): (end: number) => number {
  let state = seed;
  return (end) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
}

/** The subscriptions of `count` sockets: the quotes of `each` random tickers, identical in every run. */
export function audienceOf(tickers: readonly string[], count: number, each: number): Subscribe[][] {
  const chance = chances(1);
  return Array.from({ length: count }, () => {
    const left = [...tickers];
    const chosen = Array.from({ length: each }, () => left.splice(chance(left.length), 1)).flat();
    return [{ stream: "quote", tickers: chosen }];
  });
}

/** Resolves after this many seconds. */
export function seconds(count: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, count * 1000));
}
