import { clientBlock, coarseAddress } from "#lib/access/address";
import {
  SOCKET_IO_OPENING_CLIENT_MAX_COUNT,
  SOCKET_IO_OPENING_MAX_COUNT,
  SOCKET_IO_OPENING_NETWORK_MAX_COUNT,
} from "#lib/contract/limits";

/** Counts connections between their handshake and their admission: until then nobody has shown a key. */
interface Openings {
  /** False when the client, its network or all clients together have as many as they may. */
  hasRoom(address: string): boolean;
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
export function createOpenings(): Openings {
  const clients = createCounts();
  const networks = createCounts();
  let all = 0;
  const networkOf = (address: string) => coarseAddress(address) ?? address;
  return {
    hasRoom: (address) =>
      all < SOCKET_IO_OPENING_MAX_COUNT &&
      clients.of(clientBlock(address)) < SOCKET_IO_OPENING_CLIENT_MAX_COUNT &&
      networks.of(networkOf(address)) < SOCKET_IO_OPENING_NETWORK_MAX_COUNT,
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
