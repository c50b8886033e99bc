import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "#lib/clock";
import { KLINE_CLOSE_DELAY_MS } from "#lib/contract/limits";
import type { Database } from "#lib/db";
import { FEED_LAYER } from "#lib/domain/fold";
import type { Listing } from "#lib/domain/instrument";
import { Fault } from "#lib/fault";
import { readRange, untilFound } from "#lib/history/minutes";
import { monthAt, monthsOf } from "#lib/history/months";
import { type Period, periodOf } from "#lib/history/period";
import { createTurns } from "#lib/in-turn";
import { requireIntact } from "#lib/segments/segment-store";
import { saidBy } from "#lib/segments/segments";
import { MINUTE_S, SECOND_MS } from "#lib/units";
import { awaitsConversion, unconverted } from "./conversion-state";
import type { FileSource, ListedFile, OpenFile } from "./file-source";
import type { FileThread } from "./file-thread";
import type { MadeFiles } from "./made-files";

/** Segments whose size is known, and those whose bytes were found intact. */
const KNOWN_MAX_COUNT = 20_000;
/** Whole segments that are read at once, to check them. */
const CHECKED_AT_ONCE_COUNT = 2;
const WAITING_MAX_COUNT = 64;
const BUSY_RETRY_AFTER_S = 2;

interface Options {
  readonly db: Pick<Database, "pool" | "segments">;
  readonly made: MadeFiles;
  readonly thread: FileThread;
  readonly clock: Pick<Clock, "now">;
}

const offersMinutes = ({ timeframes }: Listing) => timeframes.includes("M1");

/** The files of M1 klines of the live venue. Of a month that is over, what shows is a segment, and that is the file. */
export function createKlineFiles({ db: { pool, segments }, made, thread, clock }: Options): FileSource {
  const { store } = segments;
  const isUnconverted = awaitsConversion();
  const sizes = new LRUCache<string, number>({ max: KNOWN_MAX_COUNT });
  const intact = new LRUCache<string, true>({ max: KNOWN_MAX_COUNT });
  const inTurn = createTurns({
    runningMaxCount: CHECKED_AT_ONCE_COUNT,
    waitingMaxCount: WAITING_MAX_COUNT,
    refusal: () =>
      new Fault("service_unavailable", { detail: "Too many files are being read.", retry_after: BUSY_RETRY_AFTER_S }),
  });

  async function requireConverted({ ticker }: Listing): Promise<void> {
    if (await isUnconverted(pool, ticker)) throw unconverted(ticker);
  }

  async function sizesOf(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const unknown = ids.filter((id) => !sizes.has(id));
    const found = unknown.length === 0 ? new Map<string, number>() : await store.sizes(pool, unknown);
    for (const [id, size] of found) sizes.set(id, size);
    return new Map(ids.map((id) => [id, found.get(id) ?? sizes.get(id) ?? 0]));
  }

  /** The bytes of a segment. @throws SegmentMissing, SegmentDamaged */
  async function wholeOf(content: string): Promise<Uint8Array> {
    const bytes = (await store.get(pool, [content])).get(content) as Uint8Array;
    requireIntact(content, bytes);
    intact.set(content, true);
    sizes.set(content, bytes.length);
    return bytes;
  }

  const csvOf = ({ ticker }: Listing, sha256: string, rows: number, whole: () => Promise<Uint8Array>) =>
    made.find(`csv-${sha256}`, async () => ({ rows, bytes: await thread.csv(await whole(), ticker) }));

  async function openSegment(listing: Listing, content: string, rows: number): Promise<OpenFile> {
    // A part is not checked by itself: before the first one is sent, the whole has to be right.
    if (!intact.has(content)) await inTurn(() => wholeOf(content));
    const size = (await sizesOf([content])).get(content) ?? 0;
    return {
      rows,
      sha256: content,
      parquet: { size, read: (from, to) => store.range(pool, content, from, to) },
      csv: () => csvOf(listing, content, rows, () => wholeOf(content)),
    };
  }

  /** A month that is not whole in a segment, up to the last minute that is over. */
  async function openMonth(listing: Listing, { from, to }: Period, state: string): Promise<OpenFile> {
    const { ticker, digits } = listing;
    const key = createHash("sha256").update(`${ticker} ${from} ${to} ${state}`).digest("hex");
    const file = await made.find(`klines-${key}`, async () => {
      const { rows } = await readRange(pool, segments, { ticker, timeframe: "M1", from, to });
      const statements = saidBy(rows, FEED_LAYER, Number.NaN);
      return {
        rows: rows.time.length,
        bytes: await thread.parquet(statements, { venue: "live", ticker, timeframe: "M1" }, digits),
      };
    });
    const { rows, sha256, size } = file;
    return { rows, sha256, parquet: file, csv: () => csvOf(listing, sha256, rows, () => file.read(0, size)) };
  }

  async function openOnce(listing: Listing, start: number, revision: string | undefined): Promise<OpenFile | undefined> {
    const month = periodOf("M1", start);
    const overS = Math.floor((clock.now() - KLINE_CLOSE_DELAY_MS) / SECOND_MS / MINUTE_S) * MINUTE_S;
    const { content, rows, open, state } = await monthAt(pool, listing.ticker, month, Math.min(month.to, overS));
    const isOver = !open && clock.now() >= month.to * SECOND_MS;
    if (content !== null && !open && (isOver || revision === undefined) && content.startsWith(revision ?? ""))
      return openSegment(listing, content, rows);
    if (revision !== undefined || (content === null && state === null)) return undefined;
    return openMonth(listing, { from: month.from, to: Math.min(month.to, overS) }, `${content} ${state}`);
  }

  return {
    rowsName: "M1",
    period: "month",
    async list(listing, { limit, ...range }) {
      if (!offersMinutes(listing)) return [];
      await requireConverted(listing);
      return untilFound(async () => {
        const months = (await monthsOf(pool, listing.ticker, range, limit)).map(({ start, content, open, rows }) => {
          const { from, to } = periodOf("M1", start);
          return { from, to, rows, content: open || clock.now() < to * SECOND_MS ? null : content };
        });
        const sizes = await sizesOf(months.flatMap(({ content }) => content ?? []));
        return months.map(({ from, to, rows, content }): ListedFile => {
          const made = content === null ? null : { rows, bytes: sizes.get(content) ?? 0, sha256: content };
          return { from, to, made };
        });
      });
    },
    async open(listing, start, revision) {
      if (!offersMinutes(listing) || periodOf("M1", start).from !== start) return undefined;
      await requireConverted(listing);
      return untilFound(() => openOnce(listing, start, revision));
    },
  };
}
