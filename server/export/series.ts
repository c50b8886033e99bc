import type { Clock } from "#lib/clock";
import { KLINE_CLOSE_DELAY_MS } from "#lib/contract/limits";
import type { Timeframe, Venue } from "#lib/contract/primitives";
import type { Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import type { Catalogue, KlineStore } from "#lib/market/ports";
import { SECOND_MS } from "#lib/units";
import { makeBlocksHere } from "#server/feed/sandbox/block-maker";
import { createBlockStore } from "#server/feed/sandbox/block-store";
import { createSandboxFiles } from "#server/feed/sandbox/files";
import { createSandboxKlines } from "#server/feed/sandbox/klines";
import { createSandboxPrices } from "#server/feed/sandbox/prices";
import type { Database } from "#server/store/database/db";
import { createFileThread } from "#server/store/files/file-thread";
import { createKlineFiles } from "#server/store/files/kline-files";
import type { MadeFiles } from "#server/store/files/made-files";
import { BEGIN_SNAPSHOT, inTransaction } from "#server/store/history/transaction";
import { createStoredReads } from "#server/store/klines/kline-store";
import { segmentId } from "#server/store/segments/parquet-file";

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

/** What the sandbox computes, in this process. */
function openSandbox(catalogue: Pick<Catalogue, "list" | "find" | "calendar">, seed: number) {
  return { prices: createSandboxPrices({ catalogue, seed }), blocks: createBlockStore(makeBlocksHere()) };
}

/** The computed klines of the sandbox. */
export function sandboxKlines(catalogue: Pick<Catalogue, "list" | "find" | "calendar">, seed: number, clock: Clock): KlineSource {
  const store = createSandboxKlines({ ...openSandbox(catalogue, seed), clock, alignment: createAlignment() });
  return { withKlines: async (range, work) => work(await closedKlines(store.read, range, clock.now())) };
}

/** Makes files anew each time. In an export, few have to be made, and each of them is asked for once. */
const madeAnew: MadeFiles = {
  async find(_key, make) {
    const { rows, bytes } = await make();
    return { rows, sha256: segmentId(bytes), size: bytes.length, read: async (from, to) => bytes.subarray(from, to) };
  },
};

interface FilesOptions {
  readonly venue: Venue;
  readonly db: Pick<Database, "pool" | "segments">;
  readonly catalogue: Pick<Catalogue, "list" | "find" | "calendar">;
  /** Of the sandbox. */
  readonly seed: number;
  readonly clock: Clock;
}

/** The files of M1 klines that the API offers of a venue. Call `close` in the end. */
export function openFiles({ venue, db, catalogue, seed, clock }: FilesOptions) {
  const thread = createFileThread(clock);
  const making = { made: madeAnew, thread, clock };
  const klines =
    venue === "live"
      ? createKlineFiles({ ...making, db })
      : createSandboxFiles({ ...making, ...openSandbox(catalogue, seed) }).klines;
  return { klines, close: thread.close };
}
