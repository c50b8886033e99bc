import { z } from "zod";
import type { Clock } from "#lib/clock";
import { MINUTE_MS, MINUTE_S, SECOND_MS } from "#lib/units";
import { withTimeout } from "#lib/with-timeout";
import { Upset } from "../../feed";
import type { Minute } from "../port";
import { integer, PRICE_PARTS } from "./wire";

/** The documented window of M1, 302,400,000 ms, is called five weeks there, and is three and a half days. */
const WINDOW_S = 302_400;
/** The most minutes of a window. */
export const WINDOW_MAX_ROWS = WINDOW_S / MINUTE_S;
/** The Open API takes five requests for history a second. */
const REQUEST_PAUSE_MS = 250;
const ANSWER_MAX_MS = 15 * SECOND_MS;

/** A bar of bid prices: the low, and how far the others are above it; a difference of 0 may be left out. */
const Trendbar = z.object({
  volume: integer,
  low: integer,
  deltaOpen: integer.default(0),
  deltaClose: integer.default(0),
  deltaHigh: integer.default(0),
  utcTimestampInMinutes: integer,
});
const Trendbars = z.object({ trendbar: z.array(Trendbar).default([]), hasMore: z.boolean().default(false) });

const minuteOf = ({ volume, low, deltaOpen, deltaClose, deltaHigh, utcTimestampInMinutes }: z.infer<typeof Trendbar>): Minute => {
  const price = (above: number) => (low + above) / PRICE_PARTS;
  const prices = { open: price(deltaOpen), high: price(deltaHigh), low: price(0), close: price(deltaClose) };
  return { time: utcTimestampInMinutes * MINUTE_S, ...prices, volume, spread: null };
};

interface PageOptions {
  /** Asks for the bars of [fromMs, toMs]; resolves with the payload of the answer. */
  readonly ask: (fromMs: number, toMs: number) => Promise<unknown>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The minutes with from <= time < to, ascending. Of a window with more bars than one answer holds, the newest come first. */
async function windowOf({ ask, clock, signal }: PageOptions, from: number, to: number): Promise<Minute[]> {
  const byTime = new Map<number, Minute>();
  for (let end = to; end > from; ) {
    const answer = Trendbars.safeParse(
      await withTimeout(ask(from * SECOND_MS, end * SECOND_MS - 1), ANSWER_MAX_MS, clock, signal),
    );
    if (!answer.success) throw new Upset("the trendbars cannot be read");
    const minutes = answer.data.trendbar.map(minuteOf).filter(({ time }) => time >= from && time < end);
    for (const minute of minutes) byTime.set(minute.time, minute);
    await clock.wait(REQUEST_PAUSE_MS, signal);
    signal.throwIfAborted();
    if (!answer.data.hasMore || minutes.length === 0) break;
    end = Math.min(...minutes.map(({ time }) => time));
  }
  return [...byTime.values()].sort((a, b) => a.time - b.time);
}

/** The closed minutes with from <= time < to (Unix seconds), ascending, a window at a time. */
export async function* trendbars(options: PageOptions, from: number, to: number): AsyncGenerator<readonly Minute[]> {
  for (let start = from; start < to; start += WINDOW_S) {
    const minutes = await windowOf(options, start, Math.min(start + WINDOW_S, to));
    const closed = minutes.filter(({ time }) => time * SECOND_MS + MINUTE_MS <= options.clock.now());
    if (closed.length > 0) yield closed;
  }
}
