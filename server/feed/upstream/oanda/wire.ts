import { z } from "zod";
import type { Minute, OddReason, Received } from "../port";

/** OANDA's v20 stream (oanda/v20-openapi, json/v20.json): one JSON object per line. */

const Bucket = z.object({ price: z.union([z.string(), z.number()]) });
const Price = z.object({
  instrument: z.string(),
  time: z.string(),
  bids: z.array(Bucket).default([]),
  asks: z.array(Bucket).default([]),
  status: z.string().optional(),
  tradeable: z.boolean().optional(),
});
const Message = z.object({ type: z.string() });

export const Instruments = z.object({
  instruments: z.array(z.object({ name: z.string(), displayPrecision: z.number().int().min(0).max(15) })),
});

const Price4 = z.object({ o: z.coerce.number(), h: z.coerce.number(), l: z.coerce.number(), c: z.coerce.number() });
export const Candles = z.object({
  candles: z.array(
    z.object({
      time: z.string(),
      complete: z.boolean(),
      volume: z.number().min(0),
      bid: Price4.optional(),
      ask: Price4.optional(),
    }),
  ),
});

/**
 * The closed minutes of a page of candles, and the time of its last one, complete or not (Unix seconds; null for an empty page). OANDA's
 * `volume` counts all prices, of which the stream sends some. The spread is the smaller one of the first and the last quote: no
 * smaller spread is known, so it bounds the smallest from above.
 */
export function readCandles({ candles }: z.infer<typeof Candles>): { readonly minutes: Minute[]; readonly last: number | null } {
  const minutes: Minute[] = [];
  let last: number | null = null;
  for (const { time: text, complete, volume, bid, ask } of candles) {
    const time = Math.floor(Date.parse(text) / 1_000);
    if (!Number.isFinite(time)) continue;
    last = time;
    if (!complete || bid === undefined) continue;
    const { o: open, h: high, l: low, c: close } = bid;
    const spread = ask === undefined ? null : Math.max(0, Math.min(ask.o - open, ask.c - close));
    minutes.push({ time, open, high, low, close, volume, spread });
  }
  return { minutes, last };
}

/** What a line of the stream holds. */
type Line = { readonly received: Received } | { readonly odd: OddReason } | "heartbeat";

/** The best price of one side. The first bucket need not be it, because a larger size may come first. */
function best(buckets: readonly z.infer<typeof Bucket>[], pick: (...prices: number[]) => number): number | null {
  const prices = buckets.map(({ price }) => Number(price)).filter((price) => price > 0 && Number.isFinite(price));
  return prices.length === 0 ? null : pick(...prices);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads a line of the stream. Times have nanoseconds, of which the milliseconds are kept. */
export function readLine(text: string): Line {
  const value = parsed(text);
  const message = Message.safeParse(value);
  if (!message.success) return { odd: "unreadable" };
  if (message.data.type === "HEARTBEAT") return "heartbeat";
  if (message.data.type !== "PRICE") return { odd: "unknown_type" };
  const price = Price.safeParse(value);
  if (!price.success) return { odd: "unreadable" };
  const { instrument, time, bids, asks, status, tradeable = status === undefined || status === "tradeable" } = price.data;
  const received = { symbol: instrument, timeMs: Date.parse(time), bid: best(bids, Math.max), ask: best(asks, Math.min) };
  // The price of a closed market is the last one before it closed.
  return { received: tradeable ? received : { ...received, doubt: "closed" } };
}
