import type pg from "pg";
import { SegmentDamaged, SegmentMissing } from "#lib/storage-errors";
import { segmentId } from "./parquet-file";

/** A connection or a pool. */
export type Queries = Pick<pg.ClientBase, "query">;

/** The name of the mark of a directory or bucket. */
export const MARK_NAME = "spotwire-history";

/** Ids are shorter; a longer file is none of ours. */
const MARK_MAX_CHARACTERS = 100;

/** A mark as it is stored. */
export const markBytes = (mark: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(`${mark}\n`);

/** The mark in what is stored, with whatever else an operator's editor left around it. */
export const markIn = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).trim().slice(0, MARK_MAX_CHARACTERS);

/** A directory or bucket, which a mark tells from others: an object with a random id in it. */
export interface MarkedPlace {
  /** As HISTORY_URL names it. */
  readonly url: string;
  /** Null where there is none. @throws SegmentStoreAway */
  readMark(): Promise<string | null>;
  /** @throws SegmentStoreAway */
  writeMark(mark: string): Promise<void>;
}

/**
 * Where the bytes of segments lie. A segment is named by the SHA-256 of its bytes, so it never changes, and the same bytes are kept once.
 *
 * An implementer must:
 * - have stored a segment for good when `put` resolves, or with the commit of the given connection's transaction, whichever is
 *   later: a segment that a committed row names is there;
 * - accept a `put` of what it has, also from several processes at once;
 * - return from `get` exactly the bytes that were put, and throw SegmentMissing for what it does not have;
 * - answer in bounded time, and throw SegmentStoreAway where it cannot (in the database: pg's error).
 *
 * It must not delete a segment by itself: a sweep asks for what is old and not named any more (`list`, `drop`).
 */
export interface SegmentStore {
  put(client: Queries, id: string, bytes: Uint8Array): Promise<void>;
  /** @throws SegmentMissing */
  get(client: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  /** How many bytes each segment has, without reading them. @throws SegmentMissing */
  sizes(client: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Bytes [from, to) of a segment, for downloads. @throws SegmentMissing */
  range(client: Queries, id: string, from: number, to: number): Promise<Uint8Array>;
  /** The segments that were put before an instant (Unix milliseconds), in the order of their names, after `after`, at most `limit`. */
  list(client: Queries, query: { readonly beforeMs: number; readonly after: string; readonly limit: number }): Promise<string[]>;
  /** Deletes those of the segments that were put before an instant; what was put again since then stays. */
  drop(client: Queries, ids: readonly string[], beforeMs: number): Promise<void>;
  /** Absent for the database, which names itself. */
  readonly marked?: MarkedPlace;
}

/** Segments in PostgreSQL, in the transaction of the rows that name them. */
export const inPostgres: SegmentStore = {
  async put(client, id, bytes) {
    const text = "INSERT INTO history_content (id, bytes) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET written_at = now()";
    await client.query(text, [id, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)]);
  },
  async get(client, ids) {
    const text = "SELECT id, bytes FROM history_content WHERE id = ANY($1::text[])";
    const { rows } = await client.query<{ id: string; bytes: Buffer }>(text, [ids]);
    const found = new Map(rows.map(({ id, bytes }) => [id, bytes as Uint8Array]));
    for (const id of ids) if (!found.has(id)) throw new SegmentMissing(`segment ${id} is not in the database`);
    return found;
  },
  async sizes(client, ids) {
    const text = "SELECT id, octet_length(bytes) AS size FROM history_content WHERE id = ANY($1::text[])";
    const { rows } = await client.query<{ id: string; size: number }>(text, [ids]);
    const found = new Map(rows.map(({ id, size }) => [id, size]));
    for (const id of ids) if (!found.has(id)) throw new SegmentMissing(`segment ${id} is not in the database`);
    return found;
  },
  async range(client, id, from, to) {
    const text = "SELECT substring(bytes FROM $2 FOR $3) AS part FROM history_content WHERE id = $1";
    const { rows } = await client.query<{ part: Buffer }>(text, [id, from + 1, to - from]);
    if (rows[0] === undefined) throw new SegmentMissing(`segment ${id} is not in the database`);
    return rows[0].part;
  },
  async list(client, { beforeMs, after, limit }) {
    const text = "SELECT id FROM history_content WHERE written_at < $1 AND id > $2 ORDER BY id LIMIT $3";
    const { rows } = await client.query<{ id: string }>(text, [new Date(beforeMs), after, limit]);
    return rows.map(({ id }) => id);
  },
  async drop(client, ids, beforeMs) {
    const text = "DELETE FROM history_content WHERE id = ANY($1::text[]) AND written_at < $2";
    await client.query(text, [ids, new Date(beforeMs)]);
  },
};

/** A transaction that writes segments shares these locks; a sweep has to have one alone. */
const SWEEP_LOCK = 0x73776570;
/** Names of segments that begin with the same two digits have one lock, so that an import of thousands takes at most 256. */
const lockOf = (id: string) => Number.parseInt(id.slice(0, 2), 16);

/** A transaction that writes segments shares this lock; who records another place for them has it alone. */
const WRITERS_LOCK = 0x70757473;

/**
 * Until the transaction ends, keeps a segment from being swept although the row that names it is not committed yet, and the place of
 * all segments as it is recorded. Take it before `put`: a sweep that is about to drop these bytes then ends first, and so does a move.
 */
export async function holdForPut(client: Queries, id: string): Promise<void> {
  const text = "SELECT pg_advisory_xact_lock_shared($1), pg_advisory_xact_lock_shared($2, $3)";
  await client.query(text, [WRITERS_LOCK, SWEEP_LOCK, lockOf(id)]);
}

/** Waits until no transaction has written a segment that is not committed; none can write one until the caller's transaction ends. */
export async function holdWriters(client: Queries): Promise<void> {
  await client.query("SELECT pg_advisory_xact_lock($1)", [WRITERS_LOCK]);
}

/** Those of the segments that no transaction is writing; none can begin to until the caller's transaction ends. It waits for none. */
export async function claimForSweep(client: Queries, ids: readonly string[]): Promise<string[]> {
  const text = "SELECT lock FROM unnest($2::int[]) AS lock WHERE pg_try_advisory_xact_lock($1, lock)";
  const { rows } = await client.query<{ lock: number }>(text, [SWEEP_LOCK, [...new Set(ids.map(lockOf))]]);
  const claimed = new Set(rows.map(({ lock }) => lock));
  return ids.filter((id) => claimed.has(lockOf(id)));
}

/** @throws SegmentDamaged when bytes are not those of the segment of this name */
export function requireIntact(id: string, bytes: Uint8Array): void {
  if (segmentId(bytes) !== id) throw new SegmentDamaged(`segment ${id} was altered: its bytes have another SHA-256`);
}
