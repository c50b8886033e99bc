import { z } from "zod";
import { lineCounts, RejectionDetail, TICK_REJECTIONS } from "./ingest";
import { INGEST_REJECTIONS_LISTED_COUNT, STREAM_INGEST_TICKS_PER_MESSAGE_MAX_COUNT } from "./limits";

const IngestSequence = z.int().min(0);

/** What a feeder pushes in one message. */
export const IngestParams = z
  .object({
    seq: IngestSequence.describe(
      "Number of this message. The first one of a connection can have any; each further one must be 1 higher.",
    ),
    ticks: z
      .array(z.unknown())
      .min(1)
      .max(STREAM_INGEST_TICKS_PER_MESSAGE_MAX_COUNT)
      .describe(
        "Ticks in order, each an object with the fields of a line of `POST /api/v1/ingest/ticks`. Each one is accepted or rejected on its own.",
      ),
  })
  .meta({ id: "IngestParams", description: "Ticks that a feeder pushes." });
export type IngestParams = z.infer<typeof IngestParams>;

const { received, accepted, rejected, reasons } = lineCounts(TICK_REJECTIONS, "Number of ticks accepted.");

/** What became of the ticks of a message. */
export const IngestResult = z.object({
  seq: IngestSequence.describe("The `seq` of the message. All messages up to this one are handled."),
  received,
  accepted,
  rejected,
  reasons,
  rejections: z
    .array(
      z.object({
        index: z.int().min(0).describe("Position of the tick in `ticks`, starting at 0."),
        reason: z.enum(TICK_REJECTIONS).describe("Why the tick was rejected."),
        detail: RejectionDetail,
      }),
    )
    .describe(`The rejected ticks by their place in the message, at most ${INGEST_REJECTIONS_LISTED_COUNT}.`),
});
export type IngestResult = z.infer<typeof IngestResult>;
