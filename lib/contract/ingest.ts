import { z } from "zod";
import { INGEST_REJECTIONS_LISTED_COUNT } from "./limits";
import { Ticker, UnixMilliseconds } from "./primitives";

/** One pushed line: a bid/ask quote. `volume` is the provider's real volume, if it has one. */
export const TickLine = z
  .object({
    ticker: Ticker,
    time_msc: UnixMilliseconds.describe("Quote time, Unix milliseconds."),
    bid: z.number().positive().describe("Bid price."),
    ask: z.number().positive().describe("Ask price; must not be below the bid."),
    volume: z.number().min(0).optional().describe("Real volume, if the provider has one."),
  })
  .meta({ id: "TickLine", description: "One line of a batch of ticks." });
export type TickLine = z.infer<typeof TickLine>;

/** Why a tick that is well-formed is held back: it cannot be true. */
export const FILTER_REASONS = ["market_closed", "spike", "volume_out_of_range", "implausible_price"] as const;
export type FilterReason = (typeof FILTER_REASONS)[number];

export const TICK_REJECTIONS = [
  "malformed_line",
  "line_too_long",
  "unknown_ticker",
  "bad_price",
  "crossed_quote",
  "duplicate",
  "out_of_order",
  "too_late",
  "in_future",
  "standby",
  ...FILTER_REASONS,
] as const;
/**
 * Why a tick was rejected. `standby`: another provider of the venue speaks for its ticker now. `spike` is taken nevertheless if the next ticks within a second agree with it. `duplicate` is what a repeated batch returns: nothing is
 * lost, nothing is counted twice.
 */
export type TickRejection = (typeof TICK_REJECTIONS)[number];

/** What is wrong with what was pushed, where its fields are. */
export const RejectionDetail = z
  .string()
  .optional()
  .describe("What is wrong with its fields. Only for `malformed_line`, and for a `bad_price` that is not a positive number.");

/** The fields of the result of a batch: its lines, counted. @param accepted what is said of accepted lines */
export const lineCounts = <Reason extends string>(reasons: readonly Reason[], accepted: string) => ({
  received: z.int().min(0).describe("Number of lines read."),
  accepted: z.int().min(0).describe(accepted),
  rejected: z.int().min(0).describe("Number of lines rejected."),
  reasons: z.partialRecord(z.enum(reasons), z.int().min(1)).describe("Number of lines rejected for each reason."),
  rejections: z
    .array(
      z.object({
        line: z.int().min(1).describe("Line number in the request body, starting at 1."),
        reason: z.enum(reasons).describe("Why the line was rejected."),
        detail: RejectionDetail,
      }),
    )
    .describe(`The first ${INGEST_REJECTIONS_LISTED_COUNT} rejected lines by line number. The rest are only counted.`),
});

/** Result of a pushed batch. Accepted lines are in the engine and survive a clean shutdown. */
export const IngestReceipt = z
  .object(lineCounts(TICK_REJECTIONS, "Number of lines accepted."))
  .meta({ id: "IngestReceipt", description: "Result of a batch of ticks." });
export type IngestReceipt = z.infer<typeof IngestReceipt>;

export const ingestReceiptExample: IngestReceipt = {
  received: 4,
  accepted: 2,
  rejected: 2,
  reasons: { duplicate: 1, malformed_line: 1 },
  rejections: [
    { line: 3, reason: "duplicate" },
    { line: 4, reason: "malformed_line", detail: "`time_msc` is required." },
  ],
};
