import type pg from "pg";
import type { Clock } from "#lib/clock";
import type { Replace } from "#lib/contract/ingest-klines";
import { columnsOf, rowFrom } from "#lib/domain/columns";
import { FEED_LAYER } from "#lib/domain/fold";
import type { Kline } from "#lib/domain/kline";
import { Fault } from "#lib/fault";
import type { Mended, Mending, MendOutcome } from "#lib/market/mending";
import { DAY_MS, MINUTE_MS, MINUTE_S } from "#lib/units";
import type { Database } from "#server/store/database/db";
import { lockForChange } from "#server/store/history/lock";
import { readRange } from "#server/store/history/minutes";
import { inTransaction } from "#server/store/history/transaction";
import type { Segments } from "#server/store/segments/segments";
import { isSame, operatorsAmong, storeBatch } from "./kline-batches";
import { type LackingMinutes, noteLacking } from "./lacking-minutes";
import { noteWatched, type WatchedMinutes, watchedMinutes } from "./watched-minutes";
import { beginWritten } from "./written-import";

const VENUE = "live";
type MendedBy = Mending["by"];
type Pusher = Extract<MendedBy, { readonly keyId: string }>;
/** Batches that a key pushes with shorter pauses, on one day (UTC), are one import. */
const PUSH_PAUSE_MAX_MS = 10 * MINUTE_MS;
const RETRY_AFTER_S = 10;

/** Another node holds the venue's lease; nothing was written. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** Writes minutes after the fact. `token`: that of the venue's lease; null where one process runs the venue. */
export interface MinuteMender {
  /**
   * Stores closed M1 klines as a part of an import: all of them, or none. A minute that this service
   * watched itself or an operator corrected stays; of those that another import stored, only `all` replaces any. The klines of a minute must not repeat.
   * @throws LeaseLost; Fault service_unavailable while another command changes the same history, not_found when the import of a
   * repair is undone
   */
  mend(token: number | null, klines: readonly Kline[], mending: Mending): Promise<Mended>;
  /** Stores which minutes were watched. */
  noteWatched(token: number | null, ranges: readonly WatchedMinutes[]): Promise<void>;
  /** Stores of which minutes ticks lack. */
  noteLacking(token: number | null, ranges: readonly LackingMinutes[]): Promise<void>;
}

interface MinuteMenderOptions {
  readonly db: Pick<Database, "pool" | "segments">;
  readonly clock: Clock;
  /** Writes the audit entry of a new import of pushed klines, in its transaction. */
  record(client: pg.ClientBase, change: { action: "history.push"; target: string; after: unknown }): Promise<void>;
}

/** A concurrent undo holds the same lock, and an import that is undone is not continued. */
const OPEN_PUSH = `SELECT number FROM backfill
  WHERE pushed_by = $1 AND updated_at > $2 AND started_at >= $3 AND undone_at IS NULL
  ORDER BY number DESC LIMIT 1 FOR UPDATE`;
const COUNT_PUSH = "UPDATE backfill SET rows = rows + $2, updated_at = $3 WHERE number = $1";
const OPEN_REPAIR = "SELECT number FROM backfill WHERE number = $1 AND undone_at IS NULL FOR UPDATE";
/** Held until the commit that follows at once: nobody can take the lease in between. */
const HOLD_LEASE = `SELECT FROM venue_lease WHERE venue = '${VENUE}' AND token = $1 FOR SHARE`;

/** The klines of each ticker, with their places in the batch. */
function byTicker(klines: readonly Kline[]): Map<string, { readonly kline: Kline; readonly index: number }[]> {
  const groups = new Map<string, { kline: Kline; index: number }[]>();
  for (const [index, kline] of klines.entries()) {
    const group = groups.get(kline.ticker);
    if (group === undefined) groups.set(kline.ticker, [{ kline, index }]);
    else group.push({ kline, index });
  }
  // In the order of their names, so that two batches lock tickers in the same order.
  return new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The number of the import that a mending continues; null where a push has to begin one. */
async function openImport(client: pg.ClientBase, by: MendedBy, nowMs: number): Promise<number | null> {
  if ("number" in by) {
    const { rowCount } = await client.query(OPEN_REPAIR, [by.number]);
    if (rowCount === 1) return by.number;
    throw new Fault("not_found", { detail: `Import ${by.number} is undone.` });
  }
  const today = new Date(nowMs - (nowMs % DAY_MS));
  const values = [by.keyId, new Date(nowMs - PUSH_PAUSE_MAX_MS), today];
  const { rows } = await client.query<{ number: number }>(OPEN_PUSH, values);
  return rows[0]?.number ?? null;
}

/** Which klines of a ticker are to be stored; @param klines by time */
async function judge(
  client: pg.ClientBase,
  segments: Segments,
  klines: readonly Kline[],
  replace: Replace,
  own: number | null,
): Promise<MendOutcome[]> {
  const times = klines.map(({ time }) => time);
  const ticker = klines[0]?.ticker ?? "";
  const span = { from: Math.min(...times), to: Math.max(...times) + MINUTE_S };
  const { rows, struck } = await readRange(client, segments, { ticker, timeframe: "M1", ...span });
  const watched = await watchedMinutes(client, ticker, span);
  const isWatched = (time: number) => watched.some(({ from, to }) => time >= from && time < to);
  const corrected = new Set(struck.time);
  const operators = await operatorsAmong(client, rows.layer);
  const columns = columnsOf(klines);
  return klines.map((kline, index): MendOutcome => {
    const row = rowFrom(rows.time, kline.time);
    if (rows.time[row] !== kline.time) return corrected.has(kline.time) ? "corrected" : null;
    const layer = rows.layer[row] as number;
    if (isSame(rows, row, columns, index)) return "duplicate";
    if (operators.has(layer)) return "corrected";
    if (layer === FEED_LAYER) return isWatched(kline.time) ? "watched" : null;
    return layer === own || replace === "all" ? null : "stored";
  });
}

/** Makes the writer of the live venue's minutes. */
export function createMinuteMender({ db: { pool, segments }, clock, record }: MinuteMenderOptions): MinuteMender {
  async function beginPush(client: pg.ClientBase, by: Pusher, nowMs: number): Promise<number> {
    const number = await beginWritten(client, { label: `klines pushed with ${by.label}`, rows: 0, nowMs, pushedBy: by.keyId });
    await record(client, { action: "history.push", target: VENUE, after: { number, key: by.label } });
    return number;
  }

  async function store(client: pg.ClientBase, klines: readonly Kline[], { by, replace }: Mending): Promise<Mended> {
    const nowMs = clock.now();
    const outcomes: MendOutcome[] = new Array(klines.length).fill(null);
    const changed: Mended["changed"][number][] = [];
    let number = await openImport(client, by, nowMs);
    for (const [ticker, group] of byTicker(klines)) {
      const reason = await lockForChange(client, ticker, "transaction");
      if (reason !== null) throw new Fault("service_unavailable", { detail: reason, retry_after: RETRY_AFTER_S });
      const judged = await judge(
        client,
        segments,
        group.map(({ kline }) => kline),
        replace,
        number,
      );
      for (const [place, { index }] of group.entries()) outcomes[index] = judged[place] ?? null;
      const writes = group.map(({ kline }) => kline).filter((_, place) => judged[place] === null);
      if (writes.length === 0) continue;
      number ??= await beginPush(client, by as Pusher, nowMs);
      await storeBatch(client, segments, number, writes, nowMs);
      const times = writes.map(({ time }) => time);
      changed.push({ ticker, first: Math.min(...times), last: Math.max(...times) });
    }
    if (changed.length === 0 || number === null) return { outcomes, number: null, changed };
    if ("keyId" in by) {
      const stored = outcomes.filter((outcome) => outcome === null).length;
      await client.query(COUNT_PUSH, [number, stored, new Date(nowMs)]);
    }
    return { outcomes, number, changed };
  }

  return {
    async mend(token, klines, mending) {
      if (klines.length === 0) return { outcomes: [], number: null, changed: [] };
      return inTransaction(pool, async (client) => {
        const mended = await store(client, klines, mending);
        // Comes last: until the commit, the holder cannot renew its lease.
        if (token !== null && (await client.query(HOLD_LEASE, [token])).rowCount !== 1) throw new LeaseLost();
        return mended;
      });
    },
    noteWatched: (token, ranges) => noteWatched(pool, token, ranges, clock.now()),
    noteLacking: (token, ranges) => noteLacking(pool, token, ranges),
  };
}
