import type { KlineColumns } from "#lib/domain/columns";
import { sidesFromTicks } from "#lib/domain/price-sides";
import { chainTicks } from "#lib/domain/tick-columns";
import { DAY_S } from "#lib/units";
import type { Queries } from "#server/store/segments/segment-store";
import type { Segments } from "#server/store/segments/segments";
import { digitsOf } from "./layers";
import { ticksOfDay } from "./ticks";

/** Minutes of the feed, with the ask and mid prices of those of which every tick is kept. @throws as ticksOfDay */
export async function withSides<Columns extends KlineColumns>(
  client: Queries,
  segments: Segments,
  ticker: string,
  minutes: Columns,
): Promise<Columns> {
  const days = new Set(Array.from(minutes.time, (open) => Math.floor(open / DAY_S) * DAY_S));
  const ticks = [];
  for (const day of days) ticks.push(await ticksOfDay({ client, segments }, ticker, day));
  const known = chainTicks(ticks);
  if (known.time.length === 0) return minutes;
  return { ...minutes, ...sidesFromTicks(known, minutes, await digitsOf(client, ticker)) };
}
