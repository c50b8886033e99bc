import { z } from "zod";
import { Kline } from "./kline";
import { STREAM_MESSAGE_ID_MAX_CHARACTERS } from "./limits";
import { Ticker, Timeframe } from "./primitives";
import { Quote } from "./quote";
import { Snapshot } from "./snapshot";

export const Epoch = z
  .string()
  .max(STREAM_MESSAGE_ID_MAX_CHARACTERS)
  .describe("Names one life of the sequences: a restart of the source starts another.");
export const Sequence = z.int().min(0).describe("Grows by 1 for each record of (stream, ticker, timeframe) within an epoch.");

const PUSH = {
  event: z.enum(["snapshot", "update"]).describe("snapshot: the current record, sent on subscribe. update: the next one."),
  ticker: Ticker,
  epoch: Epoch,
  seq: Sequence,
  merged: z
    .int()
    .min(1)
    .optional()
    .describe("So many records before this one were left out, because the connection was slow: no gap. Absent for none."),
};

export const QuoteMessage = z
  .object({ type: z.literal("quote"), ...PUSH, data: Quote })
  .meta({ id: "QuoteMessage", description: "A quote; `data` is what REST gives." });
export const SnapshotMessage = z
  .object({ type: z.literal("snapshot"), ...PUSH, data: Snapshot })
  .meta({ id: "SnapshotMessage", description: "A snapshot; `data` is what REST gives." });
export const KlineMessage = z
  .object({
    type: z.literal("kline"),
    ...PUSH,
    timeframe: Timeframe,
    closed: z.boolean().describe("True when the kline cannot change any more; it is sent once so, two seconds after its end."),
    data: Kline,
  })
  .meta({ id: "KlineMessage", description: "A kline; `data` is what REST gives." });
export type QuoteMessage = z.infer<typeof QuoteMessage>;
export type SnapshotMessage = z.infer<typeof SnapshotMessage>;
export type KlineMessage = z.infer<typeof KlineMessage>;
/** A market record on its way. */
export type PushMessage = QuoteMessage | SnapshotMessage | KlineMessage;
