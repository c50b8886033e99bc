import { randomUUID } from "node:crypto";
import type pg from "pg";
import { NODE_SILENT_AFTER_S } from "#lib/contract/portal-health";
import { isHistoryAway } from "#lib/storage-errors";
import { EnvError } from "#server/env";
import { MARK_NAME, type MarkedPlace, type Queries, type SegmentStore } from "#server/store/segments/segment-store";
import type { Segments } from "#server/store/segments/segments";
import { LOCK_MAX_MS } from "./lock";
import { NAMING_TABLES } from "./sweep";
import { inTransaction } from "./transaction";

/** What a place is called that is the database itself. */
export const IN_DATABASE = "database";
/** Processes that start at the same time choose the place one after the other. */
const PLACE_LOCK = 0x706c6163;
/** Files that are looked for in a place of which nothing is recorded. Their names are hashes, so the first ones are any. */
const SAMPLE_COUNT = 8;
/** Sorts before all names of segments. */
const BEFORE_ALL = "0".repeat(64);
/** A list of one file, however new. */
const ANY_FILE = { beforeMs: Number.POSITIVE_INFINITY, after: BEFORE_ALL, limit: 1 };

/** Where the database says that its files lie. */
interface Recorded {
  readonly place: string;
  /** Null for the database itself. */
  readonly mark: string | null;
}

/** What this needs of the database. */
interface Placed {
  readonly pool: Pick<pg.Pool, "query" | "connect">;
  readonly segments: Segments;
}

const SAMPLE = NAMING_TABLES.map(
  (table) => `(SELECT content FROM ${table} WHERE content IS NOT NULL ORDER BY content LIMIT ${SAMPLE_COUNT})`,
).join(" UNION ");
const REPORTING = `SELECT FROM node_report WHERE reported_at > clock_timestamp() - interval '${NODE_SILENT_AFTER_S} seconds' LIMIT 1`;
const RECORD = `INSERT INTO history_place (place, mark) VALUES ($1, $2)
  ON CONFLICT (one) DO UPDATE SET place = excluded.place, mark = excluded.mark`;

async function readRecord(client: Queries): Promise<Recorded | undefined> {
  return (await client.query<Recorded>("SELECT place, mark FROM history_place")).rows[0];
}

const writeRecord = (client: Queries, { place, mark }: Recorded) => client.query(RECORD, [place, mark]);

/** Some of the files that rows name. */
async function sampleOf(client: Queries): Promise<string[]> {
  return (await client.query<{ content: string }>(SAMPLE)).rows.map(({ content }) => content);
}

/** What this process is set to, as the beginning of a refusal. */
const isSet = (marked: MarkedPlace | undefined) => `HISTORY_URL is ${marked === undefined ? "not set" : marked.url}`;

function otherMark({ place, mark }: Recorded, { url }: MarkedPlace, found: string | null): string {
  const what = `has ${found === null ? "no" : "another"} file ${MARK_NAME}`;
  const instead =
    place === url
      ? "Mount its disk, or put its files back."
      : `The files of history of this database lie in ${place}: set HISTORY_URL to that.`;
  return `HISTORY_URL is ${url}, but this ${what}. ${instead} A copy of all these files counts with its ${MARK_NAME}, which contains ${mark}.`;
}

/**
 * Compares the place of this process with the recorded one.
 * @returns what is wrong, for an operator; null where it is the same
 * @throws SegmentStoreAway where the place of the recorded URL cannot be reached
 */
async function differenceOf(recorded: Recorded, marked: MarkedPlace | undefined): Promise<string | null> {
  if (recorded.place === IN_DATABASE)
    return marked === undefined ? null : `${isSet(marked)}, but the files of history lie in the database. Unset HISTORY_URL.`;
  const set = `Set HISTORY_URL to that, for every node and every command.`;
  if (marked === undefined) return `${isSet(marked)}, but the files of history lie in ${recorded.place}. ${set}`;
  try {
    const found = await marked.readMark();
    return found === recorded.mark ? null : otherMark(recorded, marked, found);
  } catch (error) {
    if (!isHistoryAway(error) || recorded.place === marked.url) throw error;
    return `${isSet(marked)}, but the files of history lie in ${recorded.place}. ${set} ${(error as Error).message}`;
  }
}

const refusal = (text: string) => new EnvError(`Wrong configuration:\n  ${text}`);

/** What is wrong with the place of this process, for an operator; null for nothing. @throws pg's error */
export async function placeProblem({ pool, segments }: Placed): Promise<string | null> {
  const recorded = await readRecord(pool);
  try {
    return recorded === undefined ? null : await differenceOf(recorded, segments.store.marked);
  } catch (error) {
    if (!isHistoryAway(error)) throw error;
    return (error as Error).message;
  }
}

/** @throws EnvError where what rows name is not in the place of this process, or what is there is of another database */
async function requireOwnFiles(client: Queries, { segments }: Placed, named: readonly string[], mark: string | null) {
  const { store } = segments;
  const there = (await segments.sizes(client, named)).size;
  if (there * 2 > named.length) return;
  const isEmpty = store.marked === undefined || (await store.list(client, ANY_FILE)).length === 0;
  if (named.length === 0 && isEmpty) return;
  if (named.length === 0)
    throw refusal(
      `${isSet(store.marked)}, which has files of history that this database does not name: they would be deleted. Use an empty directory or prefix.`,
    );
  // An operator who wrote it says that the files are lost, and that new ones lie here.
  if (isEmpty && mark !== null) return;
  throw refusal(
    `${isSet(store.marked)}, but of ${named.length} files of history that the database names, ${there} are ${store.marked === undefined ? "in the database" : "there"}. Set HISTORY_URL to where they lie; unset it if that is the database. If they are lost, write a file ${MARK_NAME} with any text into an empty directory, and start with that.`,
  );
}

/** Records the place of this process, with a mark in it. @returns the mark */
async function claim(client: Queries, db: Placed): Promise<string | null> {
  const { marked } = db.segments.store;
  const found = (await marked?.readMark()) ?? null;
  const named = await sampleOf(client);
  await requireOwnFiles(client, db, named, found);
  if (marked === undefined) {
    await writeRecord(client, { place: IN_DATABASE, mark: null });
    return null;
  }
  // A mark in a place without files is of a start that failed, or of another database that has stored nothing: its nodes then notice.
  const mark = named.length === 0 || found === null ? randomUUID() : found;
  if (mark !== found) await marked.writeMark(mark);
  await writeRecord(client, { place: marked.url, mark });
  return mark;
}

/** A place may be changed until the first file is stored, while no node uses it. */
async function isUnused(client: Queries): Promise<boolean> {
  return (await sampleOf(client)).length === 0 && (await client.query(REPORTING)).rowCount === 0;
}

/** The same at a start: what cannot be reached is taken for the recorded place, whose URL it has. */
async function startProblem(recorded: Recorded, marked: MarkedPlace | undefined): Promise<string | null> {
  try {
    return await differenceOf(recorded, marked);
  } catch (error) {
    if (isHistoryAway(error)) return null;
    throw error;
  }
}

/** Compares with what is recorded, and records what is not. @returns the mark @throws EnvError */
async function settle(client: Queries, db: Placed): Promise<string | null> {
  await client.query("SELECT pg_advisory_xact_lock($1)", [PLACE_LOCK]);
  const recorded = await readRecord(client);
  const { marked } = db.segments.store;
  const wrong = recorded === undefined ? null : await startProblem(recorded, marked);
  if (wrong !== null && !(await isUnused(client))) throw refusal(wrong);
  if (recorded === undefined || wrong !== null) return claim(client, db);
  const place = marked?.url ?? IN_DATABASE;
  // It was moved, or has another path on this machine.
  if (place !== recorded.place) await writeRecord(client, { ...recorded, place });
  return recorded.mark;
}

/**
 * Lets a process use the files of history only where the database has them: with another HISTORY_URL, what it writes could not be
 * read by others, and a sweep would delete what they have. The first process records the place of its HISTORY_URL. A place that
 * cannot be reached is used once it can be; only the first start needs it.
 * @throws EnvError with what to do; SegmentStoreAway; pg's error
 */
export async function settleHistoryPlace(db: Placed): Promise<void> {
  db.segments.settle(await inTransaction(db.pool, (client) => settle(client, db)));
}

/** Where the files of the history of a database lie, if not in itself. */
export async function historyPlaceOf(client: Queries): Promise<string | null> {
  const { place = IN_DATABASE } = (await readRecord(client)) ?? {};
  return place === IN_DATABASE ? null : place;
}

/** A move of all files to another place, until it is recorded. */
export interface Move {
  /** As an operator reads it. */
  readonly from: string;
  readonly to: string;
  /** Of the place that is recorded until then. */
  readonly fromMark: string | null;
  /** By which the row knows this move; the mark of the new place, if that is not the database. */
  readonly mark: string;
  /** Nothing of an earlier move lies there. */
  readonly isFresh: boolean;
}

interface Moving extends Recorded {
  readonly move_to: string | null;
  readonly move_mark: string | null;
}

const MOVING = "SELECT place, mark, move_to, move_mark FROM history_place";
const BEGIN_MOVE = "UPDATE history_place SET move_to = $1, move_mark = $2";
const END_MOVE = "UPDATE history_place SET place = $1, mark = $2, move_to = NULL, move_mark = NULL";

/** Locks the record until the transaction ends, and reads it. Every process that has opened the history has written it. */
async function lockRecord(client: Queries): Promise<Moving> {
  await client.query("SELECT pg_advisory_xact_lock($1)", [PLACE_LOCK]);
  return (await client.query<Moving>(MOVING)).rows[0] ?? { place: IN_DATABASE, mark: null, move_to: null, move_mark: null };
}

const nameOf = (place: string) => (place === IN_DATABASE ? "the database" : place);

/** @throws Error where what is at the target may be of another database, or of a place of which nodes may still read */
async function requireFree(client: Queries, target: SegmentStore, found: string | null, earlier: string | null) {
  if (target.marked === undefined || (found !== null && found === earlier)) return;
  const { url } = target.marked;
  const instead = "Use an empty directory or prefix, or delete what lies there if no database needs it.";
  if (found !== null)
    throw new Error(
      `${url} has a file ${MARK_NAME}: it is the place of another database, or one from which this database was moved. ${instead}`,
    );
  if ((await target.list(client, ANY_FILE)).length > 0) throw new Error(`${url} has files of history already. ${instead}`);
}

/**
 * Prepares the move of all files to a place, and marks that place. To begin again is to continue; to move to where they lie gives up a
 * move that has begun.
 * @param db whose process has settled its own place, which is the recorded one
 * @returns null where they lie there already
 * @throws Error where what is there is of others, with what to do; SegmentStoreAway; pg's error
 */
export async function beginMove({ pool }: { readonly pool: pg.Pool }, target: SegmentStore): Promise<Move | null> {
  const { marked } = target;
  const to = marked?.url ?? IN_DATABASE;
  const found = (await marked?.readMark()) ?? null;
  const move = await inTransaction(pool, async (client): Promise<Move | null> => {
    const { place, mark: fromMark, move_mark } = await lockRecord(client);
    if (to === place || (found !== null && found === fromMark)) {
      await client.query(BEGIN_MOVE, [null, null]);
      return null;
    }
    await requireFree(client, target, found, move_mark);
    const mark = found ?? randomUUID();
    // Before the place has its mark: a kill in between leaves a mark that is known.
    await client.query(BEGIN_MOVE, [to, mark]);
    return { from: nameOf(place), to: nameOf(to), fromMark, mark, isFresh: marked !== undefined && found === null };
  });
  if (move?.isFresh) await marked?.writeMark(move.mark);
  return move;
}

/**
 * Records the new place in the caller's transaction, which must hold the writers (`holdWriters`) since before the last file was copied.
 * @throws Error where the record or the mark of the new place is not that of this move any more
 */
export async function recordMove(client: Queries, { marked }: SegmentStore, move: Move): Promise<void> {
  const { mark, move_mark } = await lockRecord(client);
  if (mark !== move.fromMark || move_mark !== move.mark)
    throw new Error("Another command has begun to move the files of history, or has moved them.");
  if (marked !== undefined && (await marked.readMark()) !== move.mark)
    throw new Error(`${move.to} has lost its file ${MARK_NAME}: somebody else changes it.`);
  await client.query(END_MOVE, marked === undefined ? [IN_DATABASE, null] : [marked.url, move.mark]);
}

/**
 * Deletes the files that a move has left in the database, and gives the disk space back.
 * @returns how many there were
 * @throws Error where they are or will be in use, with what to do; pg's error, `isLockRefused` while a backup reads them
 */
export async function dropFormerFiles(pool: pg.Pool): Promise<number> {
  return inTransaction(pool, async (client) => {
    const { place, move_to } = await lockRecord(client);
    if (place === IN_DATABASE) throw new Error("The files of history lie in the database: nothing was deleted.");
    if (move_to === IN_DATABASE)
      throw new Error(
        "The files of history are being moved into the database: nothing was deleted. Continue with npm run history -- move database, or give that up with npm run history -- move and the URL where they lie.",
      );
    const { rows } = await client.query<{ count: number }>("SELECT count(*)::int AS count FROM history_content");
    // A backup that is being made reads them.
    await client.query(`SET LOCAL lock_timeout = ${LOCK_MAX_MS}`);
    await client.query("TRUNCATE history_content");
    return rows[0]?.count ?? 0;
  });
}
