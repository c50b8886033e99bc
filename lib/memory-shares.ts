import { MIB_BYTES } from "#lib/units";

/** What the processes of a node may take of its memory, MiB. */
interface MemoryShares {
  /** Heap of the portal's process: one that leaks ends there and is started again, instead of taking the machine's memory. */
  readonly portalHeapMiB: number;
  /** What the embedded PostgreSQL keeps of its files. */
  readonly databaseMiB: number;
}

/** Pages need a hundred; what is beyond 768 would be a leak. */
const PORTAL_HEAP_MIB = { min: 192, max: 768 };
/** Of what it keeps beyond 256 a venue reads little: what is read often is in the caches of the processes too. */
const DATABASE_MIB = { min: 32, max: 256 };

const within = ({ min, max }: { readonly min: number; readonly max: number }, value: number) =>
  Math.min(max, Math.max(min, Math.floor(value)));

/**
 * The shares of so many bytes. The heaps of the market process and of edge workers are limited by Node itself, to half of the
 * memory and at most 4 GiB.
 */
export function memoryShares(bytes: number): MemoryShares {
  const mib = bytes / MIB_BYTES;
  return { portalHeapMiB: within(PORTAL_HEAP_MIB, mib / 4), databaseMiB: within(DATABASE_MIB, mib / 8) };
}
