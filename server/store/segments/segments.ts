import { setImmediate as nextTurn } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { KlineColumns } from "#lib/domain/columns";
import { FEED_LAYER, type Statements } from "#lib/domain/fold";
import type { TickColumns } from "#lib/domain/tick-columns";
import { isHistoryDamaged, SegmentMissing, SegmentStoreAway } from "#lib/storage-errors";
import { MINUTE_MS } from "#lib/units";
import { decodeStatements, encodeStatements, type SegmentNames } from "./parquet";
import { segmentId } from "./parquet-file";
import { holdForPut, type Queries, requireIntact, type SegmentStore } from "./segment-store";
import { decodeTicks, encodeTicks } from "./tick-parquet";

/** Of a number, or a reference to a text. */
const VALUE_BYTES = 8;
const MEGABYTE = 1_048_576;
const IDLE_MS = MINUTE_MS;
/** Sizes that are known: a bucket is asked for each one. */
const SIZES_KEPT_COUNT = 100_000;

/**
 * Segments as columns, the latest of them kept in memory until none was read or written for a minute. They never change, so what is
 * kept is never stale.
 */
export interface Segments {
  /** Segments as they are stored, past what is in memory. @throws as `read` */
  bytes(client: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
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
  /** Stores the bytes of a segment. @returns its name */
  put(client: Queries, bytes: Uint8Array): Promise<string>;
  /** How many bytes segments have as they are stored, without those that are not there. */
  sizes(client: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  readonly store: SegmentStore;
  /** Those of which one could not be read, to be looked at: at most SUSPECTS_MAX_COUNT. */
  readonly suspects: Set<string>;
  /** Notes some of which one is damaged or missing. */
  suspect(ids: Iterable<string>): void;
  /**
   * From now on writes only while the database records the place with this mark, null for the database itself. While it records
   * another one, what is missing here may be there: then this is away, not damaged.
   */
  settle(mark: string | null): void;
}

/** Segments to look at; of more that are damaged at a time, some are not counted. */
const SUSPECTS_MAX_COUNT = 1_000;

type Columns = Statements | TickColumns;

/** Memory that columns take. */
function bytesOf(columns: Columns): number {
  return Object.values(columns).reduce((sum, { length }) => sum + VALUE_BYTES * length, 0);
}

/**
 * Columns in one block of memory of their own. A column can be a part of a far longer one, all of which would stay in memory with it;
 * and a large block is given back to the system when it is dropped, which many small ones among others are not.
 */
function ownColumns<Kind extends Columns>(columns: Kind): Kind {
  const entries = Object.entries(columns) as [name: string, column: Float64Array | Int32Array | readonly string[]][];
  const block = new ArrayBuffer(bytesOf(columns));
  let at = 0;
  const own = entries.map(([name, column]) => {
    if (!ArrayBuffer.isView(column)) return [name, column];
    const copy = new (column.constructor as Float64ArrayConstructor | Int32ArrayConstructor)(block, at, column.length);
    copy.set(column);
    at += VALUE_BYTES * column.length;
    return [name, copy];
  });
  return Object.fromEntries(own) as Kind;
}

/** A store in which what is missing may have been stored elsewhere: then `requirePlace` throws why. */
function elsewhereOrMissing(store: SegmentStore, requirePlace: (client: Queries) => Promise<void>): SegmentStore {
  async function there<Result>(client: Queries, work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof SegmentMissing) await requirePlace(client);
      throw error;
    }
  }
  return {
    ...store,
    get: (client, ids) => there(client, store.get(client, ids)),
    sizes: (client, ids) => there(client, store.sizes(client, ids)),
    range: (client, ...asked) => there(client, store.range(client, ...asked)),
  };
}

/** @param cacheMegabytes how much memory decoded segments may take */
export function createSegments(given: SegmentStore, cacheMegabytes: number): Segments {
  const kept = new LRUCache<string, Columns>({
    maxSize: cacheMegabytes * MEGABYTE,
    // The cache takes no size of 0.
    sizeCalculation: (columns) => bytesOf(columns) + VALUE_BYTES,
  });
  const idle = setTimeout(() => kept.clear(), IDLE_MS).unref();

  let settled: string | null | undefined;

  /** @throws SegmentStoreAway where another process has recorded another place since this one began */
  async function requirePlace(client: Queries): Promise<void> {
    if (settled === undefined) return;
    const { rows } = await client.query<{ place: string; mark: string | null }>("SELECT place, mark FROM history_place");
    const [recorded] = rows;
    if (recorded === undefined || recorded.mark === settled) return;
    const place = recorded.mark === null ? "the database" : recorded.place;
    throw new SegmentStoreAway(
      `The files of history lie in ${place} now, not where HISTORY_URL of this process says. Set it, and start again.`,
    );
  }

  const store = elsewhereOrMissing(given, requirePlace);

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

  const suspects = new Set<string>();
  function suspect(ids: Iterable<string>): void {
    for (const id of ids) if (suspects.size < SUSPECTS_MAX_COUNT) suspects.add(id);
  }

  const knownSizes = new LRUCache<string, number>({ max: SIZES_KEPT_COUNT });

  /** @throws what `use` throws; what one of them is damaged for is noted */
  async function suspecting<Result>(ids: Iterable<string>, use: () => Promise<Result>): Promise<Result> {
    try {
      return await use();
    } catch (error) {
      if (isHistoryDamaged(error)) suspect(ids);
      throw error;
    }
  }

  async function intactBytes(client: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    return suspecting(ids, async () => {
      const found = await store.get(client, ids);
      for (const [id, bytes] of found) requireIntact(id, bytes);
      return found;
    });
  }

  async function readAll<Kind extends Columns>(
    client: Queries,
    ids: readonly string[],
    decode: (bytes: Uint8Array) => Promise<Kind>,
  ): Promise<ReadonlyMap<string, Kind>> {
    idle.refresh();
    const found = new Map<string, Kind>();
    const missing = new Set<string>();
    for (const id of ids) {
      // A name stands for its bytes, which are of one kind.
      const columns = kept.get(id) as Kind | undefined;
      if (columns === undefined) missing.add(id);
      else found.set(id, columns);
    }
    if (missing.size === 0) return found;
    await suspecting(missing, async () => {
      for (const [id, bytes] of await store.get(client, [...missing])) {
        // Decoding ten years of minutes takes a second, in which other requests are answered.
        await nextTurn();
        requireIntact(id, bytes);
        const columns = ownColumns(await decode(bytes));
        kept.set(id, columns);
        found.set(id, columns);
      }
    });
    return found;
  }

  async function put(client: Queries, bytes: Uint8Array): Promise<string> {
    const id = segmentId(bytes);
    await holdForPut(client, id);
    // After the lock: a move that had it before has recorded another place.
    await requirePlace(client);
    await store.put(client, id, bytes);
    return id;
  }

  return {
    store,
    suspects,
    suspect,
    settle(mark) {
      settled = mark;
    },
    put,
    bytes: intactBytes,
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
      idle.refresh();
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
