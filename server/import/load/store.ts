import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type pg from "pg";
import type { Clock } from "#lib/clock";
import type { KlineColumns } from "#lib/domain/columns";
import { sidesFromTicks } from "#lib/domain/price-sides";
import { sortTicks, type TickColumns } from "#lib/domain/tick-columns";
import { countText } from "#server/cli/words";
import { FileChanged, ImportFailure } from "#server/import/failure";
import type { Database } from "#server/store/database/db";
import { digitsOf, periodsOf } from "#server/store/history/layers";
import { lockBatch, lockForChange } from "#server/store/history/lock";
import { storeTicks } from "#server/store/history/tick-days";
import { inTransaction, STORED_LATER } from "#server/store/history/transaction";
import { changeHistory, computeLonger, type SwitchedSeries, switchImport } from "#server/store/klines/import-undo";
import { type BatchCounts, createTrial, type Part, storeColumns } from "#server/store/klines/kline-batches";

/** Klines of a file with the ticks that made them; no ticks of a file of klines. */
interface FilePart extends Part {
  readonly ticks: TickColumns;
}

type Save = (client: pg.ClientBase) => Promise<void>;

interface BatchOptions {
  readonly database: Pick<Database, "pool" | "segments" | "client" | "control">;
  readonly clock: Clock;
  /** The number of the batch; null for a trial. */
  readonly number: number | null;
}

/** The klines of a part, with the ask and mid prices of the ticks that made them. */
async function withPrices(client: pg.ClientBase, { series, klines, ticks }: FilePart): Promise<KlineColumns> {
  if (ticks.time.length === 0) return klines;
  return { ...klines, ...sidesFromTicks(sortTicks(ticks), klines, await digitsOf(client, series.ticker)) };
}

/** Where an import puts its klines and ticks: the store, or nowhere in a trial. */
export type Batch = Awaited<ReturnType<typeof openBatch>>;

/** Begins a batch. Its connection holds the locks, so they end with the process. */
export async function openBatch({ database, clock, number }: BatchOptions) {
  const { pool, segments } = database;
  const client = database.client();
  // A connection that breaks is reported by the next query, too.
  client.on("error", () => undefined);
  await client.connect();
  if (number !== null && !(await lockBatch(client, number, "session"))) {
    await client.end();
    throw new ImportFailure(`the same command runs already, as import ${number}`);
  }
  const claimed = new Set<string>();
  const trial = createTrial(segments);

  async function claim(ticker: string): Promise<void> {
    if (number === null || claimed.has(ticker)) return;
    const busy = await lockForChange(client, ticker, "session");
    if (busy !== null) throw new ImportFailure(busy);
    claimed.add(ticker);
  }

  async function add(part: FilePart, save: Save): Promise<BatchCounts> {
    if (number === null) return trial(client, part);
    const work = async (connection: pg.ClientBase) => {
      const { series, ticks } = part;
      const klines = await withPrices(connection, part);
      const counts = await storeColumns(connection, segments, number, { series, klines }, clock.now());
      await storeTicks(connection, segments, { ticker: series.ticker, layer: number }, ticks);
      await save(connection);
      return counts;
    };
    return inTransaction(pool, work, STORED_LATER);
  }

  return {
    /**
     * Keeps other imports and undos away from the history of a ticker until the batch is closed.
     * @throws ImportFailure while another command changes it
     */
    claim,
    /**
     * Begins a file. The function takes its klines of one series whose ticker was claimed, and counts them. They are stored with their
     * ticks and what `save` writes, or nothing is; they do not show before `show`. Safe from a crash of the database after the next ordinary write. A second call may begin
     * before the first has ended; it waits for it. A part that failed takes all behind it along: the position that one of them saves would
     * skip its rows.
     */
    file() {
      let previous: Promise<unknown> = Promise.resolve();
      return function put(part: FilePart, save: Save): Promise<BatchCounts> {
        const stored = previous.then(() => add(part, save));
        previous = stored;
        return stored;
      };
    },
    /**
     * Shows all that the import has stored, now and before it was interrupted, with what `save` writes: in one transaction, of which a kill
     * leaves nothing. Then all running servers are notified. A trial shows nothing.
     * @returns what shows otherwise since
     * @throws ImportFailure while another command changes the history of a ticker
     */
    async show(save: Save): Promise<readonly SwitchedSeries[]> {
      if (number === null) return [];
      for (const { ticker } of await periodsOf(client, number)) await claim(ticker);
      const series = await changeHistory(database, async (connection) => {
        const changed = await switchImport(connection, segments, number, true, new Date(clock.now()));
        await save(connection);
        return changed;
      });
      await computeLonger(database, series);
      return series;
    },
    close: () => client.end(),
  };
}

/** Bytes of the beginning and the end of a file that distinguish it from others of the same size. */
const PROBE_BYTES = 65_536;

/** Everything that determines what an import stores; equal values are the same job. */
export interface JobKey {
  readonly venue: string;
  readonly ticker: string;
  readonly file: string;
  /** Entry of an archive, path of a .bi5 file: they determine what the content means. */
  readonly part: string;
  /** The format, clock and digits in use. */
  readonly reading: string;
}

async function probe(file: string): Promise<Buffer[]> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const first = await handle.read(Buffer.alloc(PROBE_BYTES), 0, PROBE_BYTES, 0);
    const last = await handle.read(Buffer.alloc(PROBE_BYTES), 0, PROBE_BYTES, Math.max(0, size - PROBE_BYTES));
    return [Buffer.from(String(size)), first.buffer.subarray(0, first.bytesRead), last.buffer.subarray(0, last.bytesRead)];
  } finally {
    await handle.close();
  }
}

/** The identity of an import of a file; moving or copying the file does not change it. */
export async function jobId({ venue, ticker, part, reading }: JobKey, file: string): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify([venue, ticker, part, reading]));
  for (const piece of await probe(file)) hash.update(piece);
  return hash.digest("hex");
}

/** The import of one file. */
export interface Job {
  readonly id: string;
  readonly key: JobKey;
  /** Rows of the file that are stored, from its beginning. */
  readonly rows: number;
  /** The SHA-256 of the file that they are of; null where it is not known. */
  readonly digest: string | null;
}

const SAVE = `INSERT INTO import_job (id, venue, ticker, file, rows, done, batches, digest)
  VALUES ($1, $2, $3, $4, $5, $6, ARRAY[$7::integer], $8)
  ON CONFLICT (id) DO UPDATE SET file = $4, rows = $5, done = $6, updated_at = now(), batches = ARRAY[$7::integer], digest = $8`;

/** What is stored of a file. */
interface StoredJob extends Pick<Job, "rows" | "digest"> {
  readonly done: boolean;
}

const NO_JOB: StoredJob = { rows: 0, digest: null, done: false };

/** The error of an import that would continue in another file than it began with. */
export const otherFile = (file: string, rows: number) =>
  new FileChanged(`${file}, as it is read now, is not the file whose first ${countText(rows)} rows an earlier run stored`);

/** Started imports, stored in the database. @param batch the number of the import that saves */
export const createJobs = ({ prisma }: Pick<Database, "prisma">, batch: number) => ({
  /**
   * What is stored of a file: by an import that shows, or so far by this one. Nothing of a new one.
   * @throws FileChanged where this import has stored rows of another file of this name
   */
  async find(id: string, { file }: JobKey): Promise<StoredJob> {
    const other = { id: { not: id }, file, done: false, batches: { has: batch } };
    const before = await prisma.importJob.findFirst({ where: other });
    if (before !== null) throw otherFile(file, Number(before.rows));
    const found = await prisma.importJob.findUnique({ where: { id } });
    if (found === null || !(found.done || found.batches.includes(batch))) return NO_JOB;
    return { rows: Number(found.rows), digest: found.digest, done: found.done };
  },
  /** Saves how far files are stored, on the connection that stores their klines. @param done whether they show */
  async save(client: pg.ClientBase, jobs: readonly Job[], done: boolean): Promise<void> {
    for (const { id, key, rows, digest } of jobs)
      await client.query(SAVE, [id, key.venue, key.ticker, key.file, rows, done, batch, digest]);
  },
});
export type Jobs = ReturnType<typeof createJobs>;

/** A trial reads every file from its start. */
export const NO_JOBS: Jobs = { find: async () => NO_JOB, save: async () => undefined };
