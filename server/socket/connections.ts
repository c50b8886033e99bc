/** Counts the open stream connections of each owner; a handshake under way counts already. */
export interface Connections {
  /** Takes a place; false when the owner has `max` already, over all nodes. Never rejects. */
  open(owner: string, max: number): boolean | Promise<boolean>;
  /** Gives a place back; never throws. */
  close(owner: string): void;
  /** Connections of an owner at this node. */
  count(owner: string): number;
  /** Tells the other nodes of this one until the signal aborts, and then that it is gone. */
  run(signal: AbortSignal): Promise<void>;
}

/** Counts in the memory of this process. */
export function createLocalConnections(): Connections {
  const counts = new Map<string, number>();
  const count = (owner: string) => counts.get(owner) ?? 0;
  return {
    count,
    open(owner, max) {
      if (count(owner) >= max) return false;
      counts.set(owner, count(owner) + 1);
      return true;
    },
    close(owner) {
      const left = count(owner) - 1;
      if (left > 0) counts.set(owner, left);
      else counts.delete(owner);
    },
    run: () => Promise.resolve(),
  };
}
