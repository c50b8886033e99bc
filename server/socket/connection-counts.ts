import { type Connections, createLocalConnections } from "./connections";

/** The connections of all edge workers, which the market process counts. */
interface ConnectionCounts {
  /** Takes a place for a connection of a worker, which names it; false when the owner already has `max` at all of them. */
  open(worker: number, id: number, owner: string, max: number): boolean;
  /** Whether the owner has fewer than `max` at all workers; takes nothing. */
  hasRoom(owner: string, max: number): boolean;
  /** Releases a place; one that is not taken is ignored. */
  close(worker: number, id: number): void;
  /** Forgets all connections of a worker that has ended. */
  free(worker: number): void;
}

/** Makes the counter. */
export function createConnectionCounts(): ConnectionCounts {
  const all = createLocalConnections();
  const taken = new Map<number, Map<number, string>>();
  const release = (owner: string | undefined) => owner !== undefined && all.close(owner);
  return {
    open(worker, id, owner, max) {
      if (!all.open(owner, max)) return false;
      const own = taken.get(worker) ?? new Map<number, string>();
      taken.set(worker, own.set(id, owner));
      return true;
    },
    hasRoom: (owner, max) => all.count(owner) < max,
    close(worker, id) {
      const own = taken.get(worker);
      release(own?.get(id));
      own?.delete(id);
    },
    free(worker) {
      for (const owner of taken.get(worker)?.values() ?? []) release(owner);
      taken.delete(worker);
    },
  };
}

/** How a worker asks for the counts. */
interface CountKeeper {
  /** @throws when the market process does not answer */
  open(id: number, owner: string, max: number): Promise<boolean>;
  /** @throws when the market process does not answer */
  hasRoom(owner: string, max: number): Promise<boolean>;
  /** Never throws. */
  close(id: number): void;
}

/** An owner at this worker: the names of its connections, and how many wait for an answer. */
interface Owner {
  readonly ids: number[];
  taking: number;
}

/**
 * Counts over all workers of a node, by asking the market process. While it does not answer, this worker counts for itself.
 */
export function createAskedConnections(keeper: CountKeeper): Connections {
  const owners = new Map<string, Owner>();
  let last = 0;

  function forget(name: string, { ids, taking }: Owner): void {
    if (ids.length === 0 && taking === 0) owners.delete(name);
  }

  async function take(name: string, owner: Owner, max: number): Promise<boolean> {
    last += 1;
    const id = last;
    owner.taking += 1;
    const answer = await keeper.open(id, name, max).catch(() => undefined);
    owner.taking -= 1;
    const opened = answer ?? owner.ids.length < max;
    if (opened) owner.ids.push(id);
    // It may have been taken all the same.
    else if (answer === undefined) keeper.close(id);
    forget(name, owner);
    return opened;
  }

  return {
    count: (name) => owners.get(name)?.ids.length ?? 0,
    open(name, max) {
      const owner = owners.get(name) ?? { ids: [], taking: 0 };
      // Bounds the handshakes that wait, too.
      if (owner.ids.length + owner.taking >= max) return false;
      owners.set(name, owner);
      return take(name, owner, max);
    },
    hasRoom(name, max) {
      const { ids, taking } = owners.get(name) ?? { ids: [], taking: 0 };
      return ids.length + taking < max && keeper.hasRoom(name, max).catch(() => true);
    },
    close(name) {
      const owner = owners.get(name);
      const id = owner?.ids.pop();
      if (owner === undefined || id === undefined) return;
      keeper.close(id);
      forget(name, owner);
    },
    run: () => Promise.resolve(),
  };
}
