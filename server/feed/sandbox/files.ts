import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "#lib/clock";
import type { FileType } from "#lib/contract/files";
import { SANDBOX_FILES_DAYS_COUNT, SANDBOX_FILES_MONTHS_COUNT } from "#lib/contract/limits";
import { columnsOf, emptyColumns, type KlineColumns, klineAt, rowsBetween, type Side } from "#lib/domain/columns";
import { FEED_LAYER } from "#lib/domain/fold";
import type { Listing } from "#lib/domain/instrument";
import { toPublic } from "#lib/domain/kline";
import { type Period, periodOf } from "#lib/domain/period";
import type { FileCall, FileSource, FileView, ListedFile } from "#lib/market/file-source";
import { DAY_S, MINUTE_S, SECOND_MS } from "#lib/units";
import { csvFileOf } from "#server/store/files/csv-file";
import type { FileThread } from "#server/store/files/file-thread";
import type { Made, MadeFile, MadeFiles } from "#server/store/files/made-files";
import { takenChunk } from "#server/store/history/tick-tail";
import { saidBy } from "#server/store/segments/segments";
import type { BlockStore } from "./block-store";
import { rowAt } from "./blocks";
import { emptySum } from "./columns";
import { HISTORY_START_S } from "./klines";
import { createPastTicks } from "./past-ticks";
import type { PriceSeries, SandboxPrices } from "./prices";
import { sideKlines } from "./sides";

interface Options {
  readonly prices: SandboxPrices;
  readonly blocks: BlockStore;
  readonly made: MadeFiles;
  readonly thread: FileThread;
  readonly clock: Clock;
}

/** One type of files: their periods, and how one is made. */
interface Making {
  readonly type: FileType;
  readonly rowsName: string;
  readonly period: FileSource["period"];
  /** The newest of them; the others are complete. */
  readonly count: number;
  periodAt(time: number): Period;
  make(listing: Listing, series: PriceSeries, period: Period, call: FileCall, price: FileView["price"]): Promise<Made>;
}

function filesOf(
  { type, rowsName, period, count, periodAt, make }: Making,
  { prices, made, thread, clock }: Options,
): FileSource {
  /** The periods that have files, ascending. With `asOf`, only those that had ended by then. */
  function periods({ asOf = Number.POSITIVE_INFINITY }: FileView): Period[] {
    const found: Period[] = [];
    let one = periodAt(clock.now() / SECOND_MS);
    while (found.length < count) {
      one = periodAt(one.from - 1);
      found.unshift(one);
    }
    return found.filter(({ from, to }) => from >= HISTORY_START_S && to <= asOf);
  }

  /** The file of a period; undefined without a row. */
  async function find(listing: Listing, one: Period, { price }: FileView, call: FileCall): Promise<MadeFile | undefined> {
    const series = listing.timeframes.includes("M1") ? prices.series(listing.ticker) : undefined;
    if (series === undefined) return undefined;
    const key = `sandbox-${type}-${price ?? "bid"}-${one.from}-${series.inputs.key}`;
    const file = await made.find(key, () => make(listing, series, one, call, price));
    return file.rows === 0 ? undefined : file;
  }

  const csv = csvFileOf(type, made, thread);

  return {
    rowsName,
    period,
    async list(listing, { from, to, limit, price, asOf }, call) {
      const listed: ListedFile[] = [];
      for (const one of periods({ asOf }).filter((each) => each.from < to && each.to > from)) {
        const file = await find(listing, one, {}, call);
        if (file === undefined) continue;
        const { rows, size, sha256 } = file;
        const made = price === undefined && asOf === undefined ? { rows, bytes: size, sha256 } : null;
        listed.push({ from: one.from, to: one.to, complete: true, made });
      }
      return listed.slice(0, limit);
    },
    async open(listing, { start, revision, ...view }, call) {
      const one = periods(view).find(({ from }) => from === start);
      const file = one && (await find(listing, one, view, call));
      if (file === undefined || !file.sha256.startsWith(revision ?? "")) return undefined;
      const { rows, sha256, size } = file;
      return { rows, sha256, parquet: file, csv: () => csv(listing, sha256, () => file.read(0, size)) };
    },
  };
}

/** The minutes of a month that have a tick. A day is done at a time, so that requests are answered meanwhile. */
async function minutesOf(
  blocks: BlockStore,
  series: PriceSeries,
  { from, to }: Period,
  admitDays: FileCall["admitDays"],
): Promise<KlineColumns> {
  const endS = Math.min(to, series.endMs / SECOND_MS);
  const columns = emptyColumns((to - from) / MINUTE_S);
  let row = 0;
  if (endS > from) {
    const rows = await blocks.open(series.inputs, "M1", rowAt("M1", from), rowAt("M1", endS), admitDays);
    for (let time = from; time < endS; time += MINUTE_S) {
      if (time % DAY_S === 0) await nextTurn();
      const sum = emptySum();
      rows.add(sum, rowAt("M1", time), rowAt("M1", time) + 1);
      if (sum.count === 0) continue;
      columns.time[row] = time;
      columns.open[row] = sum.open / series.scale;
      columns.high[row] = sum.high / series.scale;
      columns.low[row] = sum.low / series.scale;
      columns.close[row] = sum.close / series.scale;
      columns.tickVolume[row] = sum.count;
      columns.realVolume[row] = Number.NaN;
      columns.spread[row] = sum.spread / series.scale;
      row += 1;
    }
  }
  return rowsBetween(columns, 0, row);
}

/** Minutes with the prices of a side in place of the bid. */
async function pricesOf(
  side: Side,
  series: PriceSeries,
  minutes: KlineColumns,
  admitDays: FileCall["admitDays"],
): Promise<KlineColumns> {
  const bids = Array.from(minutes.time, (_, row) => toPublic(klineAt(minutes, row, series.ticker, "M1")));
  return columnsOf(await sideKlines(series, bids, side, (time) => time + MINUTE_S, admitDays));
}

function dayAt(time: number): Period {
  const from = Math.floor(time / DAY_S) * DAY_S;
  return { from, to: from + DAY_S };
}

/**
 * The files of the sandbox: of its latest complete months of M1 klines and days of ticks, made when they are asked for and then kept, so
 * that all that anybody can have computed is each of them once. The same bytes on every node.
 */
export function createSandboxFiles(options: Options): Readonly<Record<FileType, FileSource>> {
  const { blocks, thread } = options;
  const readTicks = createPastTicks(options, HISTORY_START_S * SECOND_MS);
  const klines: Making = {
    type: "klines",
    rowsName: "M1",
    period: "month",
    count: SANDBOX_FILES_MONTHS_COUNT,
    periodAt: (time) => periodOf("M1", time),
    async make({ ticker, digits }, series, month, { admitDays }, price) {
      const minutes = await minutesOf(blocks, series, month, admitDays);
      const columns = price === undefined ? minutes : await pricesOf(price, series, minutes, admitDays);
      const names = { venue: "sandbox", ticker, timeframe: "M1", ...(price !== undefined && { price }) };
      return thread.klines(saidBy(columns, FEED_LAYER, Number.NaN), names, digits);
    },
  };
  const ticks: Making = {
    type: "ticks",
    rowsName: "ticks",
    period: "day",
    count: SANDBOX_FILES_DAYS_COUNT,
    periodAt: dayAt,
    async make({ ticker, digits }, _series, { from, to }, { admitDays }) {
      const range = { from: from * SECOND_MS, to: to * SECOND_MS, limit: Number.POSITIVE_INFINITY, end: "oldest" } as const;
      const chunk = takenChunk(await readTicks({ ticker, ...range, admitDays }), "sandbox");
      const part = { layer: FEED_LAYER, kind: null, content: null, rows: 0, ...chunk };
      return thread.ticks({ day: from, parts: [part], contents: new Map() }, { venue: "sandbox", ticker }, digits);
    },
  };
  return { klines: filesOf(klines, options), ticks: filesOf(ticks, options) };
}
