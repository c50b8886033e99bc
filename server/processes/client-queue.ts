import { clientBlock, coarseAddress } from "#lib/access/address";

/** Bounds of a queue. */
interface ClientQueueOptions {
  /** Runs at the same time. */
  readonly runningMaxCount: number;
  /** Waiting in all. */
  readonly waitingMaxCount: number;
  /** Waiting of one client. */
  readonly clientWaitingMaxCount: number;
}

/** Who waits: a client, and the network that it is in. */
export interface QueuedClient {
  readonly client: string;
  readonly network: string;
}

/** Leaves the queue, or ends the run; again does nothing. */
type End = () => void;

interface Waiting {
  /** Called when it is its turn. */
  readonly run: (end: End) => void;
  /** Called when it lost its place to a smaller network or client. */
  readonly displaced: () => void;
}

/**
 * A bounded queue in which networks take turns, and clients within each, so that one with many requests delays the others by one
 * each.
 */
export interface ClientQueue {
  /**
   * Calls `run` when it is this client's turn, at once or later. In a full queue the newest of the largest network loses its place
   * to a smaller network; within a network, that of the largest client. Undefined when there is no place.
   */
  join(place: QueuedClient, waiting: Waiting): End | undefined;
  /** While closed, nothing starts to run. */
  open(open: boolean): void;
}

/** The place of an address: IPv4 in its /24, an IPv6 /64 in its /48. */
export function clientOf(address: string): QueuedClient {
  return { client: clientBlock(address), network: coarseAddress(address) ?? address };
}

interface Entry {
  begin(): void;
  readonly displaced: () => void;
}

/** What waits of one network, by client; the client whose turn is next comes first. */
interface Network {
  count: number;
  readonly clients: Map<string, Set<Entry>>;
}

/** The largest of a map's values; of equal ones the last, whose turn is farthest. */
function largestOf<Value>(values: Iterable<Value>, sizeOf: (value: Value) => number): Value | undefined {
  let largest: Value | undefined;
  for (const value of values) if (largest === undefined || sizeOf(value) >= sizeOf(largest)) largest = value;
  return largest;
}

/** Makes a queue, closed at first. */
export function createClientQueue({ runningMaxCount, waitingMaxCount, clientWaitingMaxCount }: ClientQueueOptions): ClientQueue {
  /** The network whose turn is next comes first. */
  const networks = new Map<string, Network>();
  let waiting = 0;
  let running = 0;
  let isOpen = false;

  function leave(place: QueuedClient, entry: Entry): boolean {
    const network = networks.get(place.network);
    const own = network?.clients.get(place.client);
    if (network === undefined || own?.delete(entry) !== true) return false;
    waiting -= 1;
    network.count -= 1;
    if (own.size === 0) network.clients.delete(place.client);
    if (network.count === 0) networks.delete(place.network);
    return true;
  }

  function next(): void {
    while (isOpen && running < runningMaxCount) {
      const [first] = networks;
      if (first === undefined) return;
      const [name, network] = first;
      const [[client = "", own] = []] = network.clients;
      const [entry] = own ?? [];
      if (own === undefined || entry === undefined || !leave({ network: name, client }, entry)) return;
      // To the end of their rows.
      if (network.clients.delete(client)) network.clients.set(client, own);
      if (networks.delete(name)) networks.set(name, network);
      running += 1;
      entry.begin();
    }
  }

  /** Takes the newest wait from a network larger than this one, or from a larger client of it; false when none is. */
  function makeRoom(place: QueuedClient): boolean {
    const own = networks.get(place.network);
    const largest = largestOf(networks, ([, { count }]) => count);
    if (largest === undefined) return false;
    const [name, { count, clients }] = largest;
    // One more than here: with a place less there and one more here, they would only have changed roles.
    const isLarger = count > (own?.count ?? 0) + 1;
    const network = isLarger ? clients : own?.clients;
    const ownWaiting = isLarger ? 0 : (own?.clients.get(place.client)?.size ?? 0) + 1;
    const [client = "", entries] = largestOf(network ?? [], ([, { size }]) => size) ?? [];
    if (entries === undefined || entries.size <= ownWaiting) return false;
    const newest = [...entries].at(-1);
    if (newest === undefined) return false;
    leave({ network: isLarger ? name : place.network, client }, newest);
    newest.displaced();
    return true;
  }

  return {
    join(place, { run, displaced }) {
      const ownWaiting = networks.get(place.network)?.clients.get(place.client)?.size ?? 0;
      if (ownWaiting >= clientWaitingMaxCount) return undefined;
      if (waiting >= waitingMaxCount && !makeRoom(place)) return undefined;
      let started = false;
      let ended = false;
      const end = () => {
        if (ended) return;
        ended = true;
        if (started) running -= 1;
        else leave(place, entry);
        next();
      };
      const entry: Entry = {
        begin() {
          started = true;
          run(end);
        },
        displaced,
      };
      const network = networks.get(place.network) ?? { count: 0, clients: new Map<string, Set<Entry>>() };
      networks.set(place.network, network);
      network.clients.set(place.client, (network.clients.get(place.client) ?? new Set()).add(entry));
      network.count += 1;
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
