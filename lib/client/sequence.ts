import type { StreamName, Timeframe } from "#lib/contract/primitives";
import type { PushMessage } from "#lib/contract/stream";

/** Missing records. */
export interface Gap {
  readonly stream: StreamName;
  readonly ticker: string;
  /** For klines only. */
  readonly timeframe: Timeframe | undefined;
  /** The epoch of the record that revealed the gap. */
  readonly epoch: string;
  /** The expected sequence; null when a new epoch began or klines could not be recovered: how many records are missing is unknown. */
  readonly expected: number | null;
  /** The received sequence: `received - expected` records are missing. */
  readonly received: number;
}

/** The last accepted record of one (stream, ticker, timeframe). */
export interface Position {
  readonly epoch: string;
  readonly seq: number;
}

/**
 * Compares a record with the last one: `stale` was accepted before (a replay overlaps), `gap` means that records are missing,
 * `next` follows. A record with `merged: n` replaces n earlier records too, so its jump of n + 1 is not a gap.
 */
export function judge(last: Position | undefined, message: PushMessage): "stale" | "gap" | "next" {
  if (last === undefined) return "next";
  const { event, epoch, seq, merged = 0 } = message;
  // A snapshot is the current record, so that nothing but closed klines can be lost. After an update, the start is unknown.
  if (epoch !== last.epoch) return event === "snapshot" ? "next" : "gap";
  // A later subscription receives the current record again.
  if (seq < last.seq || (seq === last.seq && event !== "snapshot")) return "stale";
  return seq - merged > last.seq + 1 ? "gap" : "next";
}

/** The gap that a record revealed, in the form of the stream's callback. */
export function gapOf(last: Position, message: PushMessage): Gap {
  const { type: stream, ticker, epoch, seq } = message;
  const timeframe = message.type === "kline" ? message.timeframe : undefined;
  return { stream, ticker, timeframe, epoch, expected: epoch === last.epoch ? last.seq + 1 : null, received: seq };
}
