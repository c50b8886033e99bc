import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "#lib/clock";
import { SANDBOX_FILES_MONTHS_COUNT } from "#lib/contract/limits";
import { emptyColumns, type KlineColumns, rowsBetween } from "#lib/domain/columns";
import { FEED_LAYER } from "#lib/domain/fold";
import type { Listing } from "#lib/domain/instrument";
import { type Period, periodOf } from "#lib/history/period";
import type { FileCall, FileSource, ListedFile } from "#lib/market/file-source";
import type { FileThread } from "#lib/market/file-thread";
import type { MadeFile, MadeFiles } from "#lib/market/made-files";
import { saidBy } from "#lib/segments/segments";
import { DAY_S, MINUTE_S, SECOND_MS } from "#lib/units";
import type { BlockStore } from "./block-store";
import { rowAt } from "./blocks";
import { emptySum } from "./columns";
import { HISTORY_START_S } from "./klines";
import type { PriceSeries, SandboxPrices } from "./prices";

interface Options {
  readonly prices: SandboxPrices;
  readonly blocks: BlockStore;
  readonly made: MadeFiles;
  readonly thread: FileThread;
  readonly clock: Pick<Clock, "now">;
}

/**
 * The files of M1 klines of the sandbox: of its latest complete months, made when they are asked for and then kept, so that all that
 * anybody can have computed is each of them once. The same bytes on every node.
 */
export function createSandboxFiles({ prices, blocks, made, thread, clock }: Options): FileSource {
  /** The months that have files, ascending. */
  function months(): Period[] {
    const found: Period[] = [];
    let month = periodOf("M1", clock.now() / SECOND_MS);
    while (found.length < SANDBOX_FILES_MONTHS_COUNT) {
      month = periodOf("M1", month.from - 1);
      found.unshift(month);
    }
    return found.filter(({ from }) => from >= HISTORY_START_S);
  }

  /** The minutes of a month that have a tick. A day is done at a time, so that requests are answered meanwhile. */
  async function minutesOf(series: PriceSeries, { from, to }: Period, admitDays: FileCall["admitDays"]): Promise<KlineColumns> {
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

  /** The file of a month; undefined without a row. */
  async function find(listing: Listing, month: Period, admitDays: FileCall["admitDays"]): Promise<MadeFile | undefined> {
    const { ticker, timeframes, digits } = listing;
    const series = timeframes.includes("M1") ? prices.series(ticker) : undefined;
    if (series === undefined) return undefined;
    const file = await made.find(`sandbox-${month.from}-${series.inputs.key}`, async () => {
      const statements = saidBy(await minutesOf(series, month, admitDays), FEED_LAYER, Number.NaN);
      const names = { venue: "sandbox", ticker, timeframe: "M1" };
      return { rows: statements.time.length, bytes: await thread.parquet(statements, names, digits) };
    });
    return file.rows === 0 ? undefined : file;
  }

  return {
    rowsName: "M1",
    period: "month",
    async list(listing, { from, to, limit }, { admitDays }) {
      const listed: ListedFile[] = [];
      for (const month of months().filter((one) => one.from < to && one.to > from)) {
        const file = await find(listing, month, admitDays);
        if (file === undefined) continue;
        const { rows, size, sha256 } = file;
        listed.push({ from: month.from, to: month.to, made: { rows, bytes: size, sha256 } });
      }
      return listed.slice(0, limit);
    },
    async open(listing, start, revision, { admitDays }) {
      const month = months().find(({ from }) => from === start);
      const file = month && (await find(listing, month, admitDays));
      if (file === undefined || !file.sha256.startsWith(revision ?? "")) return undefined;
      const { rows, sha256, size } = file;
      return {
        rows,
        sha256,
        parquet: file,
        csv: () =>
          made.find(`csv-${sha256}`, async () => ({ rows, bytes: await thread.csv(await file.read(0, size), listing.ticker) })),
      };
    },
  };
}
