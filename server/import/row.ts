/** What a file contains: ticks or klines. */
export type RowKind = "ticks" | "klines";

/**
 * One row of a file, normalized; NaN where the source has no such column. Readers reuse one object for all rows, so copy what
 * you keep.
 */
export interface Row {
  /** Unix milliseconds (UTC once the clock of the source is known); the open time of a kline. */
  timeMs: number;
  bid: number;
  ask: number;
  /** Real volume of a tick. */
  volume: number;
  /** Of a recorded tick: when it came, Unix milliseconds (NaN where it is not known), and what became of it. */
  receivedMs?: number;
  outcome?: string;
  open: number;
  high: number;
  low: number;
  close: number;
  tickVolume: number;
  realVolume: number;
  /** Price units. */
  spread: number;
}

/** Receives what a reader finds, in the order of the file. What it has no function for is left out. */
export interface RowSink {
  /** `line` counts from 1; in a binary file it is the record. */
  row(row: Row, line: number): void;
  /** A row that cannot be read, and why. */
  malformed?(line: number, reason: string): void;
  /** A valid row without bid and ask (a last price, a volume). */
  withoutQuote?(line: number): void;
  /** A recorded tick that the service did not take. */
  notTaken?(line: number): void;
}

/** Parses the bytes of a file into rows. */
export interface RowReader {
  push(chunk: Buffer): void;
  end(): void;
}

/** What a reader needs besides the bytes. */
export interface ReaderSettings {
  /** Converts the clock of the source to UTC, both in milliseconds; NaN for a time that the clock skips. */
  toUtcMs(localMs: number): number;
  /** Decimal places of whole-number prices; null when prices are plain decimals. */
  readonly pointDigits: number | null;
  /** Decimal places of one point of spread; null when spreads are in price units. */
  readonly spreadDigits: number | null;
  /** True when the operator's clock overrides the offsets in the times. */
  readonly overrulesOffset: boolean;
  /** True to read recorded ticks whatever became of them; by default only those that were taken. */
  readonly everyOutcome?: boolean;
}

/** Times on the clock of the file, and numbers as they are written. */
export const AS_WRITTEN: ReaderSettings = {
  toUtcMs: (ms) => ms,
  pointDigits: null,
  spreadDigits: null,
  overrulesOffset: false,
};

/** An empty row. */
export function emptyRow(): Row {
  const none = Number.NaN;
  return {
    timeMs: none,
    bid: none,
    ask: none,
    volume: none,
    open: none,
    high: none,
    low: none,
    close: none,
    tickVolume: none,
    realVolume: none,
    spread: none,
  };
}
