/** Counts the open stream connections of each owner; a handshake under way counts already. */
export interface Connections {
  /** Takes a place; false when the owner has `max` already. */
  open(owner: string, max: number): boolean;
  /** Gives a place back. */
  close(owner: string): void;
  count(owner: string): number;
}

/** Counts in this process's memory. */
export function createConnections(): Connections {
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
  };
}
