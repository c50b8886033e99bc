import type pg from "pg";
import type { Calendar } from "#lib/domain/calendar";
import { type Minutes, openWithout } from "./coverage";
import { NUMBERS } from "./kline-rows";

/** Minutes that an import wrote, or a repair, as runs; and those that were watched, or that an operator struck out. */
const SETTLED = `SELECT min(time), max(time) + 60 FROM (
    SELECT time, time / 60 - row_number() OVER (ORDER BY time) AS run FROM kline
    WHERE venue = 'live' AND ticker = $1 AND timeframe = 'M1' AND time >= $2 AND time < $3 AND batch IS NOT NULL
  ) AS minutes GROUP BY run
  UNION ALL SELECT from_s, to_s FROM watched_minutes
    WHERE venue = 'live' AND ticker IN ('', $1) AND to_s > $2 AND from_s < $3
  UNION ALL SELECT time, time + 60 FROM struck_minute WHERE ticker = $1 AND time >= $2 AND time < $3
  ORDER BY 1`;

/** Ascending ranges without overlaps. */
function merged(ranges: readonly Minutes[]): Minutes[] {
  const found: { from: number; to: number }[] = [];
  for (const { from, to } of ranges) {
    const last = found.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else found.push({ from, to });
  }
  return found;
}

/**
 * The open minutes of a span that a provider's history can mend, as ascending ranges: those without a kline, and those that this
 * service saw only in part. A watched minute without a kline had no price. None where the calendar is unknown.
 */
export async function mendableMinutes(
  pool: Pick<pg.Pool, "query">,
  ticker: string,
  span: Minutes,
  calendar: Pick<Calendar, "sessionsBetween"> | undefined,
): Promise<Minutes[]> {
  const sessions = calendar?.sessionsBetween(span.from * 1_000, span.to * 1_000);
  if (!sessions) return [];
  const read = { text: SETTLED, values: [ticker, span.from, span.to], rowMode: "array" as const, types: NUMBERS };
  const { rows } = await pool.query<[number, number]>(read);
  return openWithout(span, merged(rows.map(([from, to]) => ({ from, to }))), sessions);
}
