import type { StreamName, Timeframe } from "#lib/contract/primitives";
import type { PushMessage } from "#lib/contract/stream";

/** Records that never came. */
export interface Gap {
  readonly stream: StreamName;
  readonly ticker: string;
  /** Of klines only. */
  readonly timeframe: Timeframe | undefined;
  /** Of the record that showed the gap. */
  readonly epoch: string;
  /** The sequence that was due; null when another epoch began, in which nobody knows what was missed. */
  readonly expected: number | null;
  /** The sequence that came: `received - expected` records are missing. */
  readonly received: number;
}

/** The last record of one (stream, ticker, timeframe) that was taken. */
export interface Position {
  readonly epoch: string;
  readonly seq: number;
}

/**
 * Judges a record by the last one: `stale` was taken before (a replay overlaps what came), `gap` shows that records are
 * missing, `next` follows. A record that says `merged: n` stands for n before it too, so its jump of n + 1 is no gap.
 */
export function judge(last: Position | undefined, message: PushMessage): "stale" | "gap" | "next" {
  if (last === undefined) return "next";
  const { event, epoch, seq, merged = 0 } = message;
  // A snapshot in a new epoch is how the service says "from here on"; an update without one leaves the start unknown.
  if (epoch !== last.epoch) return event === "snapshot" ? "next" : "gap";
  // The current record comes again for one who subscribes later.
  if (seq < last.seq || (seq === last.seq && event === "update")) return "stale";
  return seq - merged > last.seq + 1 ? "gap" : "next";
}

/** The gap a record showed, in the words of the stream's callback. */
export function gapOf(last: Position, message: PushMessage): Gap {
  const { type: stream, ticker, epoch, seq } = message;
  const timeframe = message.type === "kline" ? message.timeframe : undefined;
  return { stream, ticker, timeframe, epoch, expected: epoch === last.epoch ? last.seq + 1 : null, received: seq };
}
