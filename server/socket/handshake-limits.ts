import { clientBlock, coarseAddress } from "#lib/access/address";

/** How many may be open at once. */
interface HandshakeMaxCounts {
  readonly client: number;
  readonly network: number;
  readonly all: number;
}

/** Which limit is reached. */
type Full = keyof HandshakeMaxCounts;

/** Counts connections of which nobody knows yet who opened them. */
interface HandshakeLimits {
  /** The limit that leaves no room for one more of this client: its own, that of its network or that of all; undefined for none. */
  fullFor(address: string): Full | undefined;
  /** Counts one more; the returned function ends it, once. */
  enter(address: string): () => void;
}

function createCounts() {
  const counts = new Map<string, number>();
  return {
    of: (name: string) => counts.get(name) ?? 0,
    add(name: string, change: 1 | -1): void {
      const count = (counts.get(name) ?? 0) + change;
      if (count > 0) counts.set(name, count);
      else counts.delete(name);
    },
  };
}

/** Makes the counters, which hold only what is open now. */
export function createHandshakeLimits(limits: HandshakeMaxCounts): HandshakeLimits {
  const clients = createCounts();
  const networks = createCounts();
  let all = 0;
  const networkOf = (address: string) => coarseAddress(address) ?? address;
  return {
    fullFor(address) {
      if (all >= limits.all) return "all";
      if (clients.of(clientBlock(address)) >= limits.client) return "client";
      return networks.of(networkOf(address)) >= limits.network ? "network" : undefined;
    },
    enter(address) {
      const [client, network] = [clientBlock(address), networkOf(address)];
      let inside = true;
      const count = (change: 1 | -1) => {
        clients.add(client, change);
        networks.add(network, change);
        all += change;
      };
      count(1);
      return () => {
        if (inside) count(-1);
        inside = false;
      };
    },
  };
}
