import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type pg from "pg";
import type { Database } from "#lib/db";

/** Bytes of the beginning and the end of a file that distinguish it from others of the same size. */
const PROBE_BYTES = 65_536;

/** The state of an import of one file. */
export interface Job {
  readonly id: string;
  /** Rows of the file that are stored. */
  readonly rows: number;
  readonly done: boolean;
}

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

/** The identity of an import; moving or copying the file does not change it. */
export async function jobId({ venue, ticker, file, part, reading }: JobKey): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify([venue, ticker, part, reading]));
  for (const piece of await probe(file)) hash.update(piece);
  return hash.digest("hex");
}

/** How far a file is stored: its first `rows` rows. */
export interface JobState {
  readonly id: string;
  readonly key: JobKey;
  readonly rows: number;
}

/** Started imports, stored in the database. */
export interface Jobs {
  /** The current state of the job; a new job has no rows. */
  find(id: string): Promise<Job>;
  /** Saves how far jobs are stored, on the connection that stores their klines. */
  save(client: pg.ClientBase, jobs: readonly JobState[], done: boolean): Promise<void>;
}

const SAVE = `INSERT INTO import_job AS j (id, venue, ticker, file, rows, done, batches) VALUES ($1, $2, $3, $4, $5, $6, ARRAY[$7::integer])
  ON CONFLICT (id) DO UPDATE SET file = $4, rows = $5, done = $6, updated_at = now(),
    batches = CASE WHEN j.batches @> ARRAY[$7::integer] THEN j.batches ELSE j.batches || $7::integer END`;

/** @param batch the number of the import that saves */
export function createJobs({ prisma }: Pick<Database, "prisma">, batch: number): Jobs {
  return {
    async find(id) {
      const found = await prisma.importJob.findUnique({ where: { id } });
      return { id, rows: Number(found?.rows ?? 0), done: found?.done ?? false };
    },
    async save(client, jobs, done) {
      for (const { id, key, rows } of jobs) await client.query(SAVE, [id, key.venue, key.ticker, key.file, rows, done, batch]);
    },
  };
}

/** A trial reads every file from its start. */
export const NO_JOBS: Jobs = { find: async (id) => ({ id, rows: 0, done: false }), save: async () => undefined };
