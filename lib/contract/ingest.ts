import { z } from "zod";
import { Ticker, UnixMilliseconds } from "./primitives";

/** One pushed line: a bid/ask price state. `volume` is the provider's real volume, where it has one. */
export const TickLine = z
  .object({
    ticker: Ticker,
    time_msc: UnixMilliseconds.describe("Quote time, Unix milliseconds."),
    bid: z.number().positive().describe("Bid price."),
    ask: z.number().positive().describe("Ask price; not below the bid."),
    volume: z.number().min(0).optional().describe("Real volume, where the provider has one."),
  })
  .meta({ id: "TickLine", description: "One line of a pushed batch." });
export type TickLine = z.infer<typeof TickLine>;

const TICK_REJECTIONS = [
  "malformed_line",
  "line_too_long",
  "unknown_ticker",
  "bad_price",
  "crossed_quote",
  "duplicate",
  "out_of_order",
  "too_late",
  "in_future",
] as const;
/** Why a tick was not taken. `duplicate` is what a repeated batch answers: nothing was lost, nothing counted twice. */
export type TickRejection = (typeof TICK_REJECTIONS)[number];

/** What became of a pushed batch. Accepted lines are in the engine and survive a clean stop. */
export const IngestReceipt = z
  .object({
    received: z.int().min(0).describe("Lines read."),
    accepted: z.int().min(0).describe("Lines taken."),
    rejected: z.int().min(0).describe("Lines not taken."),
    reasons: z.partialRecord(z.enum(TICK_REJECTIONS), z.int().min(1)).describe("How many lines each reason refused."),
    rejections: z
      .array(z.object({ line: z.int().min(1), reason: z.enum(TICK_REJECTIONS) }))
      .describe("The first refused lines, by number; the rest are only counted."),
  })
  .meta({ id: "IngestReceipt", description: "What became of a pushed batch." });
export type IngestReceipt = z.infer<typeof IngestReceipt>;

export const ingestReceiptExample: IngestReceipt = {
  received: 3,
  accepted: 2,
  rejected: 1,
  reasons: { duplicate: 1 },
  rejections: [{ line: 3, reason: "duplicate" }],
};
