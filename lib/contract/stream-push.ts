import { z } from "zod";
import { SECOND_MS } from "#lib/units";
import { Kline } from "./kline";
import { KLINE_CLOSE_DELAY_MS, STREAM_CORRECTIONS_MAX_RECORDS, STREAM_MESSAGE_ID_MAX_CHARACTERS } from "./limits";
import { Ticker, Timeframe } from "./primitives";
import { Quote } from "./quote";
import { Snapshot } from "./snapshot";

export const Epoch = z
  .string()
  .max(STREAM_MESSAGE_ID_MAX_CHARACTERS)
  .describe(
    "Identifies a run of sequence numbers. A restart of the source starts a new epoch, and how many records are missing before it is unknown.",
  );
export const Sequence = z
  .int()
  .min(0)
  .describe("Increases by 1 with each record of (stream, ticker, timeframe) within an epoch.");

const PUSH = {
  event: z
    .enum(["snapshot", "update"])
    .describe("`snapshot`: the current record, sent when you subscribe. `update`: a new record."),
  ticker: Ticker,
  epoch: Epoch,
  seq: Sequence,
  merged: z
    .int()
    .min(1)
    .optional()
    .describe("Number of records replaced by this one because the connection was slow. This is not a gap. Absent if none."),
};

export const QuoteMessage = z
  .object({ type: z.literal("quote").describe("Type of the message."), ...PUSH, data: Quote })
  .meta({ id: "QuoteMessage", description: "A quote. `data` is the same object that REST returns." });
export const SnapshotMessage = z
  .object({ type: z.literal("snapshot").describe("Type of the message."), ...PUSH, data: Snapshot })
  .meta({ id: "SnapshotMessage", description: "A snapshot. `data` is the same object that REST returns." });
export const KlineMessage = z
  .object({
    type: z.literal("kline").describe("Type of the message."),
    ...PUSH,
    event: z
      .enum(["snapshot", "update", "correction", "removal"])
      .describe(
        `\`snapshot\`: the current record, sent when you subscribe. \`update\`: a new record. \`correction\`: the new values of a closed kline, because stored minutes changed: an outage was repaired, or history was imported or undone. It can be a kline that was missing before. \`removal\`: an operator struck the kline out because its prices were wrong; \`data\` is what it was. Of a large change, the newest ${STREAM_CORRECTIONS_MAX_RECORDS} klines of each ticker and timeframe are sent.`,
      ),
    timeframe: Timeframe,
    closed: z
      .boolean()
      .describe(
        `True when the kline is final. Each kline is sent once as an update with \`closed: true\`, ${KLINE_CLOSE_DELAY_MS / SECOND_MS} seconds after its end. Corrections and removals always have it.`,
      ),
    data: Kline,
  })
  .meta({ id: "KlineMessage", description: "A kline. `data` is the same object that REST returns." });
export type QuoteMessage = z.infer<typeof QuoteMessage>;
export type SnapshotMessage = z.infer<typeof SnapshotMessage>;
export type KlineMessage = z.infer<typeof KlineMessage>;
/** A market record as it is sent to clients. */
export type PushMessage = QuoteMessage | SnapshotMessage | KlineMessage;
