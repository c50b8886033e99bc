import type { Columns } from "./columns";
import { SPREAD_WIDTH } from "./currencies";
import type { PriceModel } from "./model";
import { bits, exponential, seriesKey, textKey } from "./noise";
import { burst, MINUTES_PER_DAY, type Paths } from "./path";

const TICKS_PER_MINUTE_MIN_COUNT = 5;
const TICKS_PER_MINUTE_MAX_COUNT = 60;
/** Activity at which the most ticks arrive. */
const LIVELIEST = 2.2;
/** Largest step between the close of a minute and the open of the next one, in standard deviations of a minute. */
const OPEN_STEP = 0.15;
const DEVIATION_PER_DAILY = 1 / 37.95;
const MINUTES_PER_BURST = 30;

/** The price line of the day that is being computed, in points, at its 1441 minute boundaries; bids follow it. */
const line = new Float64Array(MINUTES_PER_DAY + 1);

function drawLine(model: PriceModel, paths: Paths, day: number): void {
  line.fill(0);
  for (const path of model.up) paths.add(line, path, day, 1);
  for (const path of model.down) paths.add(line, path, day, -1);
  for (let i = 0; i <= MINUTES_PER_DAY; i++) line[i] = model.mean * exponential(line[i] ?? 0);
}

/**
 * The closed form of all minutes of a UTC day: a pure function of (seed, model, day). A minute closes on the price line, opens
 * near the close of the previous minute, and its high and low lie slightly beyond both.
 * @param made the memory of the minutes, which are all written
 */
export function minuteDay(model: PriceModel, paths: Paths, seed: number, day: number, made: Columns): Columns {
  drawLine(model, paths, day);
  const own = seriesKey(seed, textKey(model.ticker));
  const shape = seriesKey(own, 1, day);
  const pace = seriesKey(own, 2, day);
  const bursts = seriesKey(own, 3);
  let lively = 0;
  let width = 0;
  for (let minute = 0; minute < MINUTES_PER_DAY; minute++) {
    if (minute % MINUTES_PER_BURST === 0) {
      const hour = Math.floor(minute / 60);
      lively = (model.hours[hour] ?? 1) * burst(bursts, (day * MINUTES_PER_DAY + minute) / MINUTES_PER_BURST);
      width = model.cost * (SPREAD_WIDTH[hour] ?? 1);
    }
    const from = line[minute] ?? 0;
    const deviation = from * model.daily * DEVIATION_PER_DAILY * lively;
    const random = bits(shape, minute);
    const up = (random & 1023) / 1024;
    const down = ((random >>> 10) & 1023) / 1024;
    const step = ((random >>> 20) / 2048 - 1) * OPEN_STEP;
    const open = Math.max(1, Math.round(from + step * deviation));
    const close = Math.max(1, Math.round(line[minute + 1] ?? 0));
    made.open[minute] = open;
    made.close[minute] = close;
    made.high[minute] = Math.max(open, close) + Math.round(up * up * deviation);
    made.low[minute] = Math.max(1, Math.min(open, close) - Math.round(down * down * deviation));
    const busy = bits(pace, minute);
    made.spread[minute] = Math.max(1, Math.round(from * width * (0.85 + (0.5 * (busy & 65535)) / 65536)));
    const share = Math.min(1, lively / LIVELIEST) * (0.4 + (0.6 * (busy >>> 16)) / 65536);
    made.count[minute] =
      TICKS_PER_MINUTE_MIN_COUNT + Math.round(share * (TICKS_PER_MINUTE_MAX_COUNT - TICKS_PER_MINUTE_MIN_COUNT));
  }
  return made;
}
