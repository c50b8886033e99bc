import type { Calendar } from "#lib/domain/calendar";
import { FEED_LAYER } from "#lib/domain/fold";
import { type Minutes, merged, openWithout } from "#lib/market/coverage";
import { readRange } from "#server/store/history/minutes";
import { runsOf } from "#server/store/history/runs";
import type { Queries } from "#server/store/segments/segment-store";
import type { Segments } from "#server/store/segments/segments";
import { watchedMinutes } from "./watched-minutes";

/**
 * The open minutes of a span that a provider's history can mend, as ascending ranges: those without a kline, and those that this
 * service saw only in part. A watched minute without a kline had no price; one that an import or a repair wrote, or that an operator
 * struck out, stays as it is. None where the calendar is unknown.
 */
export async function mendableMinutes(
  client: Queries,
  segments: Segments,
  ticker: string,
  span: Minutes,
  calendar: Pick<Calendar, "sessionsBetween"> | undefined,
): Promise<Minutes[]> {
  const sessions = calendar?.sessionsBetween(span.from * 1_000, span.to * 1_000);
  if (!sessions) return [];
  const watched = await watchedMinutes(client, ticker, span);
  const { rows, struck } = await readRange(client, segments, { ticker, timeframe: "M1", ...span });
  const imported = rows.time.filter((_, row) => rows.layer[row] !== FEED_LAYER);
  return openWithout(span, merged([...runsOf(imported), ...runsOf(struck.time), ...watched]), sessions);
}
