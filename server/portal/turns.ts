/** Bounds of a queue. */
interface TurnOptions {
  /** Runs at the same time. */
  readonly runningMaxCount: number;
  /** Waiting in all. */
  readonly waitingMaxCount: number;
  /** Waiting of one client. */
  readonly clientWaitingMaxCount: number;
}

/** Leaves the queue, or ends the run; again does nothing. */
type End = () => void;

/** A bounded queue in which clients take turns, so that one with many requests delays the others by one each. */
export interface Turns {
  /** Calls `run` when it is this client's turn, at once or later; undefined when the queue is full. */
  join(client: string, run: (end: End) => void): End | undefined;
  /** While closed, nothing starts to run. */
  open(open: boolean): void;
}

/** Makes a queue, closed at first. */
export function createTurns({ runningMaxCount, waitingMaxCount, clientWaitingMaxCount }: TurnOptions): Turns {
  /** Waiting runs by client; the client whose turn is next comes first. */
  const clients = new Map<string, Set<() => void>>();
  let waiting = 0;
  let running = 0;
  let isOpen = false;

  function leave(client: string, begin: () => void): boolean {
    const own = clients.get(client);
    if (own?.delete(begin) !== true) return false;
    waiting -= 1;
    if (own.size === 0) clients.delete(client);
    return true;
  }

  function next(): void {
    while (isOpen && running < runningMaxCount) {
      const [first] = clients;
      if (first === undefined) return;
      const [client, own] = first;
      const [begin] = own;
      if (begin === undefined || !leave(client, begin)) return;
      // To the end of the row.
      if (clients.delete(client)) clients.set(client, own);
      running += 1;
      begin();
    }
  }

  return {
    join(client, run) {
      const own = clients.get(client) ?? new Set();
      if (waiting >= waitingMaxCount || own.size >= clientWaitingMaxCount) return undefined;
      let started = false;
      let ended = false;
      const end = () => {
        if (ended) return;
        ended = true;
        if (started) running -= 1;
        else leave(client, begin);
        next();
      };
      const begin = () => {
        started = true;
        run(end);
      };
      clients.set(client, own.add(begin));
      waiting += 1;
      next();
      return end;
    },
    open(open) {
      isOpen = open;
      next();
    },
  };
}
