/** Counts the stream connections of each owner, including handshakes in progress. */
export interface Connections {
  /** Takes a slot; false when the owner already has `max` on all nodes together. Never rejects. */
  open(owner: string, max: number): boolean | Promise<boolean>;
  /** Whether the owner has fewer than `max` on all nodes together; takes nothing. Never rejects. */
  hasRoom(owner: string, max: number): boolean | Promise<boolean>;
  /** Releases a slot; never throws. */
  close(owner: string): void;
  /** Connections of an owner on this node. */
  count(owner: string): number;
  /** Announces this node to the others until the signal aborts, then removes it. */
  run(signal: AbortSignal): Promise<void>;
}

/** Counts in memory, for a single node. */
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
    hasRoom: (owner, max) => count(owner) < max,
    run: () => Promise.resolve(),
  };
}
