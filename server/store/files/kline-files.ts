import { createHash } from "node:crypto";
import type { Clock } from "#lib/clock";
import { KLINE_CLOSE_DELAY_MS } from "#lib/contract/limits";
import { FEED_LAYER, type Statements } from "#lib/domain/fold";
import type { Listing } from "#lib/domain/instrument";
import { type Period, periodOf } from "#lib/domain/period";
import type { FileSource, ListedFile, OpenFile } from "#lib/market/file-source";
import { MINUTE_S, SECOND_MS } from "#lib/units";
import { readRange, untilFound } from "#server/store/history/minutes";
import { monthAt, monthsOf } from "#server/store/history/months";
import { withSides } from "#server/store/history/sides";
import { saidBy } from "#server/store/segments/segments";
import { createSegmentFiles, type SegmentFilesOptions } from "./segment-files";

interface Options extends SegmentFilesOptions {
  readonly clock: Pick<Clock, "now">;
}

const offersMinutes = ({ timeframes }: Listing) => timeframes.includes("M1");

/** The files of M1 klines of the live venue. Of a month that is over, what shows is a segment, and that is the file. */
export function createKlineFiles({ clock, ...options }: Options): FileSource {
  const { db, thread } = options;
  const { pool, segments } = db;
  const files = createSegmentFiles("klines", options);

  /** A month that is not whole in a segment, up to the last minute that is over. */
  async function openMonth(listing: Listing, { from, to }: Period, state: string): Promise<OpenFile> {
    const { ticker, digits } = listing;
    const key = createHash("sha256").update(`${ticker} ${from} ${to} ${state}`).digest("hex");
    return files.make(listing, `klines-${key}`, async () => {
      const completeTail = (tail: Statements) => withSides(pool, segments, ticker, tail);
      const { rows } = await readRange(pool, segments, { ticker, timeframe: "M1", from, to, completeTail });
      return thread.klines(saidBy(rows, FEED_LAYER, Number.NaN), { venue: "live", ticker, timeframe: "M1" }, digits);
    });
  }

  async function openOnce(listing: Listing, start: number, revision: string | undefined): Promise<OpenFile | undefined> {
    const month = periodOf("M1", start);
    const overS = Math.floor((clock.now() - KLINE_CLOSE_DELAY_MS) / SECOND_MS / MINUTE_S) * MINUTE_S;
    const { content, rows, open, state } = await monthAt(pool, listing.ticker, month, Math.min(month.to, overS));
    const isOver = !open && clock.now() >= month.to * SECOND_MS;
    if (content !== null && !open && (isOver || revision === undefined) && content.startsWith(revision ?? ""))
      return files.open(listing, content, rows);
    if (revision !== undefined || (content === null && state === null)) return undefined;
    return openMonth(listing, { from: month.from, to: Math.min(month.to, overS) }, `${content} ${state}`);
  }

  return {
    rowsName: "M1",
    period: "month",
    async list(listing, { limit, ...range }) {
      if (!offersMinutes(listing)) return [];
      return untilFound(async () => {
        const months = (await monthsOf(pool, listing.ticker, range, limit)).map(({ start, content, open, rows }) => {
          const { from, to } = periodOf("M1", start);
          return { from, to, rows, content: open || clock.now() < to * SECOND_MS ? null : content };
        });
        const sizes = await files.sizesOf(months.flatMap(({ content }) => content ?? []));
        return months.map(({ from, to, rows, content }): ListedFile => {
          const made = content === null ? null : { rows, bytes: sizes.get(content) ?? 0, sha256: content };
          return { from, to, complete: made !== null, made };
        });
      });
    },
    async open(listing, start, revision) {
      if (!offersMinutes(listing) || periodOf("M1", start).from !== start) return undefined;
      return untilFound(() => openOnce(listing, start, revision));
    },
  };
}
