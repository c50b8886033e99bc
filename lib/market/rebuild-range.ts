import type pg from "pg";
import type { Timeframe } from "#lib/contract/primitives";
import { longQuery } from "#lib/db";
import { isClosed, type Kline } from "#lib/domain/kline";
import { createAlignment, type TradingAlignment } from "#lib/domain/timeframe";
import { createAggregation, MADE_OF } from "./aggregation";
import { showImported } from "./imported-klines";
import type { BatchRange } from "./kline-batches";
import { copyInto, readKlines } from "./kline-sql";

/** Rows read and written at once: few, because the running service rebuilds too, beside live ticks. */
const PAGE_ROWS = 5_000;
const VENUE = "live";
const DELETE = "DELETE FROM kline WHERE venue = $1 AND ticker = $2 AND timeframe = $3 AND time >= $4 AND time < $5";

/** The open times of the klines that are rebuilt, `to` exclusive: those that touch the range and are closed. */
function rebuilt(timeframe: Timeframe, { first, last }: BatchRange, nowMs: number, alignment: TradingAlignment) {
  const from = alignment.openTime(timeframe, first);
  let to = last + 1;
  // An open kline belongs to the running service; one that ended just now counts as open for the delay of late ticks.
  for (let time = alignment.openTime(timeframe, last); time >= from; time = alignment.openTime(timeframe, time - 1)) {
    if (isClosed({ timeframe, time }, nowMs, alignment)) break;
    to = time;
  }
  return { from, to };
}

/**
 * Replaces the closed klines of M5 to MN1 that touch a range by the aggregation of the stored M1 rows, in the caller's
 * transaction. Without rows, the newest imported kline of the interval shows, or none.
 */
export async function rebuildRange(client: pg.ClientBase, range: BatchRange, nowMs: number): Promise<void> {
  const { ticker, first, last } = range;
  const alignment = createAlignment();
  const stretches = new Map(MADE_OF.map(([timeframe]) => [timeframe, rebuilt(timeframe, range, nowMs, alignment)]));
  for (const [timeframe, { from, to }] of stretches)
    await client.query(longQuery({ text: DELETE, values: [VENUE, ticker, timeframe, from, to] }));
  // Grouped by timeframe, the order in which the table is written fastest.
  let waiting = new Map<Timeframe, Kline[]>();
  let size = 0;
  async function write(): Promise<void> {
    const klines = [...waiting.values()].flat();
    waiting = new Map();
    size = 0;
    if (klines.length > 0) await copyInto(client, "kline", VENUE, klines, null);
  }
  const aggregation = createAggregation(alignment, (kline) => {
    const { from, to } = stretches.get(kline.timeframe) ?? { from: 0, to: 0 };
    if (kline.time < from || kline.time >= to) return;
    const list = waiting.get(kline.timeframe);
    if (list === undefined) waiting.set(kline.timeframe, [kline]);
    else list.push(kline);
    size += 1;
  });
  // Complete weeks and months around the range.
  const until = Math.max(alignment.nextOpenTime("W1", last), alignment.nextOpenTime("MN1", last));
  let from = Math.min(alignment.openTime("W1", first), alignment.openTime("MN1", first));
  while (from < until) {
    const query = { ticker, timeframe: "M1", from, to: until, limit: PAGE_ROWS, end: "oldest" } as const;
    const rows = await readKlines(client, VENUE, query);
    rows.forEach(aggregation.push);
    from = rows.length < PAGE_ROWS ? until : (rows[rows.length - 1] as Kline).time + 1;
    if (size >= PAGE_ROWS) await write();
  }
  aggregation.finish();
  await write();
  for (const [timeframe, stretch] of stretches)
    await showImported(client, { ticker, timeframe, first: stretch.from, last: stretch.to - 1 });
}
