import type { Queries } from "#server/store/segments/segment-store";

/** Advisory locks that keep imports and undos of the same rows apart: of a batch, and of a ticker of the live venue. */
const BATCH_LOCK = 0x62617463;
const TICKER_LOCK = 0x7469636b;

/** The longest that a command waits for a lock for which others then wait in turn. */
export const LOCK_MAX_MS = 2_000;

/** Whether PostgreSQL gave up waiting for a lock. */
export const isLockRefused = (error: unknown): boolean => (error as { code?: string } | undefined)?.code === "55P03";

const TAKE = {
  /** Until the connection ends. */
  session: { batch: "pg_try_advisory_lock($1, $2)", ticker: "pg_try_advisory_lock($1, hashtext($2))" },
  /** Until the transaction ends. */
  transaction: { batch: "pg_try_advisory_xact_lock($1, $2)", ticker: "pg_try_advisory_xact_lock($1, hashtext($2))" },
} as const;

type Extent = keyof typeof TAKE;

async function take(client: Queries, call: string, key: readonly unknown[]): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(`SELECT ${call} AS taken`, [...key]);
  return rows[0]?.taken ?? false;
}

/** Takes the lock of a batch, or returns false while another connection has it. */
export function lockBatch(client: Queries, batch: number, extent: Extent): Promise<boolean> {
  return take(client, TAKE[extent].batch, [BATCH_LOCK, batch]);
}

/** Takes the lock of a ticker's history, or returns false while another connection has it. */
export function lockTicker(client: Queries, ticker: string, extent: Extent): Promise<boolean> {
  return take(client, TAKE[extent].ticker, [TICKER_LOCK, ticker]);
}

/**
 * Takes the lock of a ticker whose history is to be changed.
 * @returns null, or why it cannot be changed now
 */
export async function lockForChange(client: Queries, ticker: string, extent: Extent): Promise<string | null> {
  return (await lockTicker(client, ticker, extent))
    ? null
    : `Another command is changing the history of ${ticker}. Try again when it has ended.`;
}
