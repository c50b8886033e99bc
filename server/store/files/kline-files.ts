import { createHash } from "node:crypto";
import type { Clock } from "#lib/clock";
import { KLINE_CLOSE_DELAY_MS, KLINES_AS_OF_MAX_MINUTES, KLINES_SIDES_SETTLE_S } from "#lib/contract/limits";
import { FEED_LAYER } from "#lib/domain/fold";
import type { Listing } from "#lib/domain/instrument";
import { type Period, periodOf } from "#lib/domain/period";
import type { FileChoice, FileSource, FileView, ListedFile, OpenFile } from "#lib/market/file-source";
import { MINUTE_S, SECOND_MS } from "#lib/units";
import { untilFound } from "#server/store/history/minutes";
import { monthAt, monthsOf } from "#server/store/history/months";
import { type Periods, periodsThen } from "#server/store/history/periods";
import { createStoredReads } from "#server/store/klines/kline-store";
import { saidBy } from "#server/store/segments/segments";
import { createSegmentFiles, type SegmentFilesOptions } from "./segment-files";

interface Options extends SegmentFilesOptions {
  readonly clock: Pick<Clock, "now">;
}

/** The minutes of a month that a file has, and what is different whenever they are. */
interface Month extends Period {
  readonly state: string;
}

type ListedRange = Parameters<FileSource["list"]>[1];

const offersMinutes = ({ timeframes }: Listing) => timeframes.includes("M1");
const monthOf = (time: number) => periodOf("M1", time).from;

/**
 * The files of M1 klines of the live venue. Of a month that is over, what shows is a segment, and that is the file. Every other file is
 * made when it is opened: of the running month, of ask or mid prices, and as of an instant.
 */
export function createKlineFiles({ clock, ...options }: Options): FileSource {
  const { db, thread } = options;
  const { pool, segments } = db;
  const files = createSegmentFiles("klines", options);
  const { reader, readAt } = createStoredReads(db);

  /** The end of the last minute that is over, and of which a view knows the prices; Unix seconds. */
  function knownTo({ price }: FileView): number {
    const settleMs = price === undefined ? KLINE_CLOSE_DELAY_MS : KLINES_SIDES_SETTLE_S * SECOND_MS;
    return Math.floor((clock.now() - settleMs) / SECOND_MS / MINUTE_S) * MINUTE_S;
  }

  function openMade(listing: Listing, { from, to, state }: Month, view: FileView): Promise<OpenFile> {
    const { ticker, digits } = listing;
    const { price, asOf } = view;
    const key = createHash("sha256")
      .update(JSON.stringify([ticker, from, to, state, price, asOf]))
      .digest("hex");
    return files.make(listing, `klines-${key}`, async () => {
      const all = { limit: Number.MAX_SAFE_INTEGER, end: "oldest" } as const;
      const query = { ticker, timeframe: "M1", from, to, price, sides: true, ...all } as const;
      const columns = asOf === undefined ? (await reader.read(pool, query)).columns : await readAt(pool, query, asOf);
      const said = { ...(price !== undefined && { price }), ...(asOf !== undefined && { as_of: String(asOf) }) };
      return thread.klines(saidBy(columns, FEED_LAYER, Number.NaN), { venue: "live", ticker, timeframe: "M1", ...said }, digits);
    });
  }

  function periodsAt(ticker: string, range: Period, atS: number): Promise<Periods> {
    const past = { atS, maxStatements: KLINES_AS_OF_MAX_MINUTES };
    return periodsThen(pool, segments, { ticker, timeframes: ["M1"], range }, past);
  }

  /** The months that had minutes at an instant, ascending. What changed since then may turn out to have had none. */
  async function listAt({ ticker }: Listing, range: ListedRange, atS: number): Promise<ListedFile[]> {
    const whole = { from: monthOf(range.from), to: periodOf("M1", range.to - 1).to };
    const { periods, tail } = await periodsAt(ticker, whole, atS);
    const filled = periods.filter(({ folded, rows, sides }) => folded !== null || (range.price === undefined ? rows : sides) > 0);
    const starts = new Set([...filled, ...tail].map(({ start }) => monthOf(start)));
    return [...starts]
      .sort((a, b) => a - b)
      .slice(0, range.limit)
      .map((from) => {
        const { to } = periodOf("M1", from);
        return { from, to, complete: to <= atS, made: null };
      });
  }

  async function openAt(listing: Listing, file: FileChoice, atS: number): Promise<OpenFile | undefined> {
    const month = periodOf("M1", file.start);
    const { periods, tail } = await periodsAt(listing.ticker, month, atS);
    if (periods.length === 0 && tail.length === 0) return undefined;
    const state = JSON.stringify([periods.map(({ content, layers }) => layers ?? content), tail]);
    return openMade(listing, { ...month, state }, file);
  }

  async function openNow(listing: Listing, file: FileChoice): Promise<OpenFile | undefined> {
    const { start, revision, price } = file;
    const month = periodOf("M1", start);
    const to = Math.min(month.to, knownTo(file));
    const { content, rows, open, state } = await monthAt(pool, listing.ticker, month, to);
    const isOver = !open && clock.now() >= month.to * SECOND_MS;
    const isSegment = price === undefined && content !== null && !open;
    if (isSegment && (isOver || revision === undefined) && content.startsWith(revision ?? ""))
      return files.open(listing, content, rows);
    if (revision !== undefined || (content === null && state === null)) return undefined;
    return openMade(listing, { from: month.from, to, state: `${content} ${state}` }, file);
  }

  async function listNow({ ticker }: Listing, range: ListedRange): Promise<ListedFile[]> {
    const found = await monthsOf(pool, ticker, range);
    const filled = found.filter(({ open, sides }) => range.price === undefined || open || sides > 0);
    const months = filled.slice(0, range.limit).map(({ start, content, open, rows }) => {
      const { from, to } = periodOf("M1", start);
      const complete = !open && clock.now() >= to * SECOND_MS;
      return { from, to, rows, complete, content: complete && range.price === undefined ? content : null };
    });
    const sizes = await files.sizesOf(months.flatMap(({ content }) => content ?? []));
    return months.map(({ from, to, rows, complete, content }): ListedFile => {
      const made = content === null ? null : { rows, bytes: sizes.get(content) ?? 0, sha256: content };
      return { from, to, complete, made };
    });
  }

  return {
    rowsName: "M1",
    period: "month",
    async list(listing, range) {
      if (!offersMinutes(listing)) return [];
      const { asOf } = range;
      return untilFound(() => (asOf === undefined ? listNow(listing, range) : listAt(listing, range, asOf)));
    },
    async open(listing, file) {
      const { start, asOf } = file;
      if (!offersMinutes(listing) || monthOf(start) !== start) return undefined;
      return untilFound(() => (asOf === undefined ? openNow(listing, file) : openAt(listing, file, asOf)));
    },
  };
}
