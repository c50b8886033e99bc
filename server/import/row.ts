/** What a file holds: price states one by one, or klines. */
export type RowKind = "ticks" | "klines";

/**
 * One row of a file in the service's terms; NaN where the source has no such column. Readers keep one of these and fill
 * it anew for each row: whoever wants to keep something copies it.
 */
export interface Row {
  /** Unix milliseconds (UTC once the clock of the source is known); the open time of a kline. */
  timeMs: number;
  bid: number;
  ask: number;
  /** Real volume of a tick. */
  volume: number;
  open: number;
  high: number;
  low: number;
  close: number;
  tickVolume: number;
  realVolume: number;
  /** Price units. */
  spread: number;
}

/** Takes what a reader finds, in the order of the file. */
export interface RowSink {
  /** `line` counts from 1 as an editor does; in a binary file it is the record. */
  row(row: Row, line: number): void;
  /** A row that cannot be read, and why. */
  malformed(line: number, reason: string): void;
  /** A row that is fine but says nothing of bid and ask (a last price, a volume). */
  withoutQuote(line: number): void;
}

/** Turns the bytes of a file into rows. */
export interface RowReader {
  push(chunk: Buffer): void;
  end(): void;
}

/** What a reader has to know beyond the bytes. */
export interface ReaderSettings {
  /** From the clock of the source to UTC, both in milliseconds. */
  toUtcMs(localMs: number): number;
  /** Decimal places of whole-number prices; null where prices are plain decimals. */
  readonly pointDigits: number | null;
  /** Decimal places of one point of spread; null where spreads are in price units. */
  readonly spreadDigits: number | null;
  /** True when the operator's clock counts even where times name an offset of their own. */
  readonly overrulesOffset: boolean;
}

/** A row with nothing in it. */
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
