import type pg from "pg";
import type { Clock } from "#lib/clock";
import type { Replace } from "#lib/contract/ingest-klines";
import { longQuery } from "#lib/db";
import type { Kline } from "#lib/domain/kline";
import { Fault } from "#lib/fault";
import { DAY_MS, DAY_S, MINUTE_MS } from "#lib/units";
import { lockTicker } from "./history-lock";
import { type BatchRange, storeBatch, valuesOf } from "./kline-batches";
import { type KlineRow, NUMBERS, rangesOf, toKline } from "./kline-rows";
import { VALUES } from "./kline-sql";
import { type LackingMinutes, noteLacking } from "./lacking-minutes";
import type { Mended, Mending, MendOutcome } from "./mending";
import { createPartitions, inTransaction } from "./partitions";
import { rebuildRange } from "./rebuild-range";
import { struckMinutes } from "./struck-minutes";
import { noteWatched, type WatchedMinutes, watchedMinutes } from "./watched-minutes";
import { beginWritten } from "./written-import";

const VENUE = "live";
type MendedBy = Mending["by"];
type Pusher = Extract<MendedBy, { readonly keyId: string }>;
/** Batches that a key pushes with shorter pauses, on one day (UTC), are one import. */
const PUSH_PAUSE_MAX_MS = 10 * MINUTE_MS;
const RETRY_AFTER_S = 10;
const MONTH_MAX_S = 32 * DAY_S;

/** Another node holds the venue's lease; nothing was written. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** Writes minutes after the fact. `token`: that of the venue's lease; null where one process runs the venue. */
export interface MinuteMender {
  /**
   * Stores closed M1 klines as a part of an import, with M5 to MN1 rebuilt: all of them, or none. A minute that this service
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
  readonly pool: pg.Pool;
  readonly clock: Clock;
  /** Writes the audit entry of a new import of pushed klines, in its transaction. */
  record(client: pg.ClientBase, change: { action: "history.push"; target: string; after: unknown }): Promise<void>;
}

const STORED = `SELECT time, ${VALUES.join(", ")}, batch FROM kline
  WHERE venue = '${VENUE}' AND ticker = $1 AND timeframe = 'M1' AND time = ANY($2::bigint[])`;
/** A concurrent undo holds the same lock, and an import that is undone is not continued. */
const OPEN_PUSH = `SELECT number FROM backfill
  WHERE pushed_by = $1 AND updated_at > $2 AND started_at >= $3 AND undone_at IS NULL AND sealed_at IS NULL
  ORDER BY number DESC LIMIT 1 FOR UPDATE`;
const COUNT_PUSH = "UPDATE backfill SET rows = rows + $2, updated_at = $3 WHERE number = $1";
const OPEN_REPAIR = "SELECT number FROM backfill WHERE number = $1 AND undone_at IS NULL AND sealed_at IS NULL FOR UPDATE";
const BY_OPERATOR = "SELECT number FROM backfill WHERE by_operator AND number = ANY($1::integer[])";
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

/** Which klines of a ticker are to be stored. */
async function judge(client: pg.ClientBase, ticker: string, klines: readonly Kline[], replace: Replace, own: number | null) {
  const [range] = rangesOf(klines);
  const { first = 0, last = 0 } = range ?? {};
  const times = klines.map(({ time }) => time);
  const read = longQuery({ text: STORED, values: [ticker, times], rowMode: "array" as const, types: NUMBERS });
  const { rows } = await client.query<[...KlineRow, number | null]>(read);
  const stored = new Map(
    rows.map((row) => {
      const [time] = row;
      return [time, { values: valuesOf(toKline(ticker, "M1", row as unknown as KlineRow)), batch: row[8] }];
    }),
  );
  const span = { from: first, to: last + 60 };
  const [watched, struck] = [await watchedMinutes(client, ticker, span), await struckMinutes(client, ticker, span)];
  const batches = [...new Set([...stored.values()].map(({ batch }) => batch))];
  const operators = new Set((await client.query<{ number: number }>(BY_OPERATOR, [batches])).rows.map(({ number }) => number));
  return klines.map((kline): MendOutcome => {
    const before = stored.get(kline.time);
    if (before === undefined) return struck.has(kline.time) ? "corrected" : null;
    if (before.values === valuesOf(kline)) return "duplicate";
    if (before.batch !== null && operators.has(before.batch)) return "corrected";
    if (before.batch === null) return watched.has(kline.time) ? "watched" : null;
    return before.batch === own || replace === "all" ? null : "stored";
  });
}

/** Makes the writer of the live venue's minutes. */
export function createMinuteMender({ pool, clock, record }: MinuteMenderOptions): MinuteMender {
  const ensurePartitions = createPartitions(pool);

  async function beginPush(client: pg.ClientBase, by: Pusher, nowMs: number): Promise<number> {
    const number = await beginWritten(client, { label: `klines pushed with ${by.label}`, rows: 0, nowMs, pushedBy: by.keyId });
    await record(client, { action: "history.push", target: VENUE, after: { number, key: by.label } });
    return number;
  }

  async function store(client: pg.ClientBase, klines: readonly Kline[], { by, replace }: Mending): Promise<Mended> {
    const nowMs = clock.now();
    const outcomes: MendOutcome[] = new Array(klines.length).fill(null);
    const changed: BatchRange[] = [];
    let number = await openImport(client, by, nowMs);
    for (const [ticker, group] of byTicker(klines)) {
      if (!(await lockTicker(client, ticker, "transaction")))
        throw new Fault("service_unavailable", {
          detail: `Another command is changing the history of ${ticker}.`,
          retry_after: RETRY_AFTER_S,
        });
      const judged = await judge(
        client,
        ticker,
        group.map(({ kline }) => kline),
        replace,
        number,
      );
      for (const [place, { index }] of group.entries()) outcomes[index] = judged[place] ?? null;
      const writes = group.map(({ kline }) => kline).filter((_, place) => judged[place] === null);
      const [range] = rangesOf(writes);
      if (range === undefined) continue;
      number ??= await beginPush(client, by as Pusher, nowMs);
      await storeBatch(client, number, writes);
      await client.query("DROP TABLE IF EXISTS incoming");
      await rebuildRange(client, range, nowMs);
      changed.push({ ticker, first: range.first, last: range.last });
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
      const [first, ...rest] = klines.map(({ time }) => time);
      if (first === undefined) return { outcomes: [], number: null, changed: [] };
      await ensurePartitions(
        // The month of the first minute may have begun in the year before.
        rest.reduce((a, b) => Math.min(a, b), first) - MONTH_MAX_S,
        rest.reduce((a, b) => Math.max(a, b), first),
      );
      return inTransaction(pool, async (client) => {
        const mended = await store(client, klines, mending);
        // Comes last: until the commit, the holder cannot renew its lease.
        if (token !== null && (await client.query(HOLD_LEASE, [token])).rowCount !== 1) throw new LeaseLost();
        return mended;
      });
    },
    noteWatched: (token, ranges) => noteWatched(pool, token, ranges, clock.now()),
    noteLacking: (token, ranges) => noteLacking(pool, token, ranges, clock.now()),
  };
}
