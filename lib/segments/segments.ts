import { LRUCache } from "lru-cache";
import { FEED_LAYER, type Statements } from "#lib/domain/fold";
import { decodeStatements, encodeStatements, type SegmentNames, segmentId } from "./parquet";
import { holdFromSweep, type Queries, requireIntact, type SegmentStore } from "./segment-store";

/** A row takes eight numbers of eight bytes, its layer and its instant. */
const ROW_BYTES = 8 * 8 + 4 + 8;
const MEGABYTE = 1_048_576;

/** Segments as columns, the latest of them kept in memory. They never change, so what is kept is never stale. */
export interface Segments {
  /** @throws SegmentMissing, SegmentDamaged */
  read(client: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, Statements>>;
  /** Stores statements. @returns the name of the segment */
  write(client: Queries, statements: Statements, names: Omit<SegmentNames, "venue">, digits: number): Promise<string>;
  readonly store: SegmentStore;
}

/** Statements in memory of their own: a column can be a part of a far longer one, all of which would stay in memory with it. */
function ownColumns(statements: Statements): Statements {
  const columns = Object.entries(statements).map(([name, column]) => [name, column.slice()]);
  return Object.fromEntries(columns) as Statements;
}

/** @param cacheMegabytes how much memory decoded segments may take */
export function createSegments(store: SegmentStore, cacheMegabytes: number): Segments {
  const kept = new LRUCache<string, Statements>({
    maxSize: cacheMegabytes * MEGABYTE,
    sizeCalculation: ({ time }) => ROW_BYTES * Math.max(1, time.length),
  });
  return {
    store,
    async read(client, ids) {
      const found = new Map<string, Statements>();
      const missing = new Set<string>();
      for (const id of ids) {
        const statements = kept.get(id);
        if (statements === undefined) missing.add(id);
        else found.set(id, statements);
      }
      if (missing.size === 0) return found;
      for (const [id, bytes] of await store.get(client, [...missing])) {
        requireIntact(id, bytes);
        const statements = await decodeStatements(bytes);
        kept.set(id, statements);
        found.set(id, statements);
      }
      return found;
    },
    async write(client, statements, names, digits) {
      const bytes = encodeStatements(statements, { venue: "live", ...names }, digits);
      const id = segmentId(bytes);
      await holdFromSweep(client, id);
      await store.put(client, id, bytes);
      kept.set(id, ownColumns(statements));
      return id;
    },
  };
}

/** Statements of one layer, all made at one instant (Unix milliseconds; NaN for the feed). */
export function saidBy(columns: Omit<Statements, "layer" | "known">, layer: number, knownMs: number): Statements {
  const rows = columns.time.length;
  const { time, open, high, low, close, tickVolume, realVolume, spread } = columns;
  const known = new Float64Array(rows).fill(layer === FEED_LAYER ? Number.NaN : knownMs);
  return { time, open, high, low, close, tickVolume, realVolume, spread, layer: new Int32Array(rows).fill(layer), known };
}
