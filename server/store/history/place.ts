import { randomUUID } from "node:crypto";
import type pg from "pg";
import { NODE_SILENT_AFTER_S } from "#lib/contract/portal-health";
import { isHistoryAway } from "#lib/storage-errors";
import { EnvError } from "#server/env";
import { MARK_NAME, type MarkedPlace, type Queries } from "#server/store/segments/segment-store";
import type { Segments } from "#server/store/segments/segments";

/** What a place is called that is the database itself. */
const IN_DATABASE = "database";
/** Processes that start at the same time choose the place one after the other. */
const PLACE_LOCK = 0x706c6163;
/** Files that are looked for in a place of which nothing is recorded. Their names are hashes, so the first ones are any. */
const SAMPLE_COUNT = 8;
/** Sorts before all names of segments. */
const BEFORE_ALL = "0".repeat(64);

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

const NAMED = ["history_layer", "history_visible", "history_derived", "tick_segment"]
  .map((table) => `(SELECT content FROM ${table} WHERE content IS NOT NULL ORDER BY content LIMIT ${SAMPLE_COUNT})`)
  .join(" UNION ");
const REPORTING = `SELECT FROM node_report WHERE reported_at > clock_timestamp() - interval '${NODE_SILENT_AFTER_S} seconds' LIMIT 1`;
const RECORD = `INSERT INTO history_place (place, mark) VALUES ($1, $2)
  ON CONFLICT (one) DO UPDATE SET place = excluded.place, mark = excluded.mark`;

async function readRecord(client: Queries): Promise<Recorded | undefined> {
  return (await client.query<Recorded>("SELECT place, mark FROM history_place")).rows[0];
}

const writeRecord = (client: Queries, { place, mark }: Recorded) => client.query(RECORD, [place, mark]);

/** Some of the files that rows name. */
async function namedFiles(client: Queries): Promise<string[]> {
  return (await client.query<{ content: string }>(NAMED)).rows.map(({ content }) => content);
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
  const query = { beforeMs: Number.POSITIVE_INFINITY, after: BEFORE_ALL, limit: 1 };
  const isEmpty = store.marked === undefined || (await store.list(client, query)).length === 0;
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
  const named = await namedFiles(client);
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
  return (await namedFiles(client)).length === 0 && (await client.query(REPORTING)).rowCount === 0;
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
  const client = await db.pool.connect();
  try {
    await client.query("BEGIN");
    const mark = await settle(client, db);
    await client.query("COMMIT");
    client.release();
    db.segments.settle(mark);
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** Where the files of the history of a database lie, if not in itself. */
export async function historyPlaceOf(client: Queries): Promise<string | null> {
  const { place = IN_DATABASE } = (await readRecord(client)) ?? {};
  return place === IN_DATABASE ? null : place;
}
