import type { Clock } from "#lib/clock";
import { KLINE_CLOSE_DELAY_MS } from "#lib/contract/limits";
import type { Timeframe } from "#lib/contract/primitives";
import type { Database } from "#lib/db";
import type { Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import { BEGIN_SNAPSHOT, inTransaction } from "#lib/history/transaction";
import { createStoredReads } from "#lib/market/kline-store";
import type { Catalogue, KlineStore } from "#lib/market/ports";
import { SECOND_MS } from "#lib/units";
import { makeBlocksHere } from "#server/feed/sandbox/block-maker";
import { createBlockStore } from "#server/feed/sandbox/block-store";
import { createSandboxKlines } from "#server/feed/sandbox/klines";
import { createSandboxPrices } from "#server/feed/sandbox/prices";

/** Rows read at once. */
const PAGE_ROWS = 20_000;
/** A running service may still be writing the last ticks of a kline that closed more recently. */
const SETTLED_MS = 10 * SECOND_MS;

type Read = KlineStore["read"];

/** The range of a series to export: open times in Unix seconds, `to` excluded. */
interface SeriesRange {
  readonly ticker: string;
  readonly timeframe: Timeframe;
  readonly from: number;
  readonly to: number;
}

/** The klines of a range that are closed, page by page, ascending. */
export interface ClosedKlines {
  /** Open times of the first and last, Unix seconds; null when there is none. */
  readonly bounds: { readonly first: number; readonly last: number } | null;
  pages(): AsyncGenerator<readonly Kline[]>;
}

async function closedKlines(read: Read, range: SeriesRange, nowMs: number): Promise<ClosedKlines> {
  // The interval that holds this instant is open or not settled; all before it are.
  const settledS = Math.floor((nowMs - SETTLED_MS - KLINE_CLOSE_DELAY_MS) / SECOND_MS);
  const whole = { ...range, to: Math.min(range.to, createAlignment().openTime(range.timeframe, settledS)) };
  const [first] = await read({ ...whole, limit: 1, end: "oldest" });
  const [last] = await read({ ...whole, limit: 1, end: "newest" });
  return {
    bounds: first === undefined || last === undefined ? null : { first: first.time, last: last.time },
    async *pages() {
      for (let { from } = whole; ; ) {
        const page = await read({ ...whole, from, limit: PAGE_ROWS, end: "oldest" });
        const end = page.at(-1)?.time;
        if (end !== undefined) yield page;
        if (end === undefined || page.length < PAGE_ROWS) return;
        from = end + 1;
      }
    },
  };
}

/** Where the klines of a venue come from. */
export interface KlineSource {
  /** Runs `work` on the klines of a range, all as of one moment. */
  withKlines<Result>(range: SeriesRange, work: (klines: ClosedKlines) => Promise<Result>): Promise<Result>;
}

/** The stored klines of the live venue. An import or undo that ends during an export does not show in it. */
export function storedKlines(db: Pick<Database, "pool" | "segments">, clock: Pick<Clock, "now">): KlineSource {
  const { read } = createStoredReads(db);
  return {
    withKlines: (range, work) =>
      inTransaction(
        db.pool,
        async (client) => work(await closedKlines((query) => read(client, query), range, clock.now())),
        BEGIN_SNAPSHOT,
      ),
  };
}

/** The computed klines of the sandbox. */
export function sandboxKlines(catalogue: Pick<Catalogue, "list" | "find" | "calendar">, seed: number, clock: Clock): KlineSource {
  const store = createSandboxKlines({
    prices: createSandboxPrices({ catalogue, seed }),
    clock,
    alignment: createAlignment(),
    blocks: createBlockStore(makeBlocksHere()),
  });
  return { withKlines: async (range, work) => work(await closedKlines(store.read, range, clock.now())) };
}
