import { MINUTE_S, SECOND_MS } from "#lib/units";
import { type KlineColumns, rowFrom, SIDES, type SideColumns, unknownSides } from "./columns";
import { midOf, roundTo } from "./price";
import type { TickColumns } from "./tick-columns";

/**
 * The ask and mid prices of minutes, from the ticks that made them, rounded as quotes are. Those of a minute stay unknown where not every
 * tick of it is known: then there are fewer or more than its tick volume.
 * @param ticks ascending by time
 * @param minutes M1 klines
 * @param digits of the instrument
 */
export function sidesFromTicks(
  { time, bid, ask }: Pick<TickColumns, "time" | "bid" | "ask">,
  minutes: Pick<KlineColumns, "time" | "tickVolume">,
  digits: number,
): SideColumns {
  const sides = unknownSides(minutes.time.length);
  for (const [row, open] of minutes.time.entries()) {
    const first = rowFrom(time, open * SECOND_MS);
    const last = rowFrom(time, (open + MINUTE_S) * SECOND_MS);
    if (last === first || last - first !== minutes.tickVolume[row]) continue;
    for (const side of ["ask", "mid"] as const) {
      const [openName, highName, lowName, closeName] = SIDES[side];
      let [high, low] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
      for (let at = first; at < last; at += 1) {
        const askAt = roundTo(ask[at] as number, digits);
        const price = side === "ask" ? askAt : midOf(roundTo(bid[at] as number, digits), askAt, digits);
        if (at === first) sides[openName][row] = price;
        if (at === last - 1) sides[closeName][row] = price;
        if (price > high) high = price;
        if (price < low) low = price;
      }
      sides[highName][row] = high;
      sides[lowName][row] = low;
    }
  }
  return sides;
}
