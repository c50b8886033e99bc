import { LRUCache } from "lru-cache";
import type { KlineColumns } from "#lib/domain/columns";
import { FEED_LAYER, type Statements } from "#lib/domain/fold";
import type { TickColumns } from "#lib/domain/tick-columns";
import { decodeStatements, encodeStatements, type SegmentNames } from "./parquet";
import { segmentId } from "./parquet-file";
import { holdFromSweep, type Queries, requireIntact, SegmentMissing, type SegmentStore } from "./segment-store";
import { decodeTicks, encodeTicks } from "./tick-parquet";

/** Of a number, or a reference to a text. */
const VALUE_BYTES = 8;
const MEGABYTE = 1_048_576;
/** Sizes that are known: a bucket is asked for each one. */
const SIZES_KEPT_COUNT = 100_000;

/** Segments as columns, the latest of them kept in memory. They never change, so what is kept is never stale. */
export interface Segments {
  /** @throws SegmentMissing, SegmentDamaged */
  read(client: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, Statements>>;
  /** Stores statements. @returns the name of the segment */
  write(client: Queries, statements: Statements, names: Omit<SegmentNames, "venue">, digits: number): Promise<string>;
  /** @throws as `read` */
  readTicks(client: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, TickColumns>>;
  /** Stores ticks. @returns the name of the segment, and its size */
  writeTicks(
    client: Queries,
    ticks: TickColumns,
    ticker: string,
    digits: number,
  ): Promise<{ readonly id: string; readonly bytes: number }>;
  /** How many bytes segments have as they are stored, without those that are not there. */
  sizes(client: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  readonly store: SegmentStore;
}

/** Statements in memory of their own: a column can be a part of a far longer one, all of which would stay in memory with it. */
function ownColumns(statements: Statements): Statements {
  const columns = Object.entries(statements).map(([name, column]) => [name, column.slice()]);
  return Object.fromEntries(columns) as Statements;
}

/** @param cacheMegabytes how much memory decoded segments may take */
export function createSegments(store: SegmentStore, cacheMegabytes: number): Segments {
  const kept = new LRUCache<string, Statements | TickColumns>({
    maxSize: cacheMegabytes * MEGABYTE,
    sizeCalculation: (columns) => Object.values(columns).reduce((sum, { length }) => sum + VALUE_BYTES * length, VALUE_BYTES),
  });
  /** The sizes of those that are there: one by one where one is not. */
  async function sizesThere(client: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    try {
      return await store.sizes(client, ids);
    } catch (error) {
      if (!(error instanceof SegmentMissing)) throw error;
      const parts = ids.length === 1 ? [] : ids.map((id) => [id]);
      const sizes = new Map<string, number>();
      for (const part of parts) for (const [id, size] of await sizesThere(client, part)) sizes.set(id, size);
      return sizes;
    }
  }

  const knownSizes = new LRUCache<string, number>({ max: SIZES_KEPT_COUNT });

  async function readAll<Columns extends Statements | TickColumns>(
    client: Queries,
    ids: readonly string[],
    decode: (bytes: Uint8Array) => Promise<Columns>,
  ): Promise<ReadonlyMap<string, Columns>> {
    const found = new Map<string, Columns>();
    const missing = new Set<string>();
    for (const id of ids) {
      // A name stands for its bytes, which are of one kind.
      const columns = kept.get(id) as Columns | undefined;
      if (columns === undefined) missing.add(id);
      else found.set(id, columns);
    }
    if (missing.size === 0) return found;
    for (const [id, bytes] of await store.get(client, [...missing])) {
      requireIntact(id, bytes);
      const columns = await decode(bytes);
      kept.set(id, columns);
      found.set(id, columns);
    }
    return found;
  }

  async function put(client: Queries, bytes: Uint8Array): Promise<string> {
    const id = segmentId(bytes);
    await holdFromSweep(client, id);
    await store.put(client, id, bytes);
    return id;
  }

  return {
    store,
    read: (client, ids) => readAll(client, ids, decodeStatements),
    readTicks: (client, ids) => readAll(client, ids, decodeTicks),
    async sizes(client, ids) {
      const wanted = [...new Set(ids)];
      const unknown = wanted.filter((id) => !knownSizes.has(id));
      const found = unknown.length === 0 ? new Map<string, number>() : await sizesThere(client, unknown);
      const sizes = new Map<string, number>();
      for (const id of wanted) {
        const size = found.get(id) ?? knownSizes.get(id);
        if (size === undefined) continue;
        knownSizes.set(id, size);
        sizes.set(id, size);
      }
      return sizes;
    },
    async write(client, statements, names, digits) {
      const id = await put(client, encodeStatements(statements, { venue: "live", ...names }, digits));
      kept.set(id, ownColumns(statements));
      return id;
    },
    async writeTicks(client, ticks, ticker, digits) {
      const bytes = encodeTicks(ticks, { venue: "live", ticker }, digits);
      return { id: await put(client, bytes), bytes: bytes.length };
    },
  };
}

/** Statements of one layer, all made at one instant (Unix milliseconds; NaN for the feed). */
export function saidBy(columns: KlineColumns, layer: number, knownMs: number): Statements {
  const rows = columns.time.length;
  const known = new Float64Array(rows).fill(layer === FEED_LAYER ? Number.NaN : knownMs);
  return { ...columns, known, layer: new Int32Array(rows).fill(layer) };
}
