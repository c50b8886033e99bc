import type { Listing } from "#lib/domain/instrument";

/** A file of a list. */
export interface ListedFile {
  /** Its period, Unix seconds, `to` excluded. */
  readonly from: number;
  readonly to: number;
  /** Whether its period is over, and all of it is stored for good. */
  readonly complete: boolean;
  /** What it is as Parquet; null where it is made when it is opened. */
  readonly made: { readonly rows: number; readonly bytes: number; readonly sha256: string } | null;
}

/** Bytes that are read in parts. */
export interface ReadableBytes {
  readonly size: number;
  /** The bytes [from, to). @throws what says that they cannot be read now */
  read(from: number, to: number): Promise<Uint8Array>;
}

/** A file that can be sent. */
export interface OpenFile {
  readonly rows: number;
  /** Of its bytes as Parquet. */
  readonly sha256: string;
  readonly parquet: ReadableBytes;
  /** The same rows as CSV, compressed with gzip. @throws Fault service_unavailable when too much is being made */
  csv(): Promise<ReadableBytes>;
}

/** Who asks. */
export interface FileCall {
  /** Called before days of history are computed, with their number; throws to refuse them. */
  readonly admitDays?: ((days: number) => void) | undefined;
}

/**
 * The files of one type of rows of a venue. Time is cut into periods, and each period of a ticker has at most one file at a time.
 *
 * An implementer must:
 * - list at most `limit` files, the oldest of those whose period touches [from, to);
 * - open, for the hash of a file that it listed, just these bytes, on every node and for as long as they show, and undefined afterwards;
 * - check the bytes before they are sent, and throw what klines throw where they are damaged or missing;
 * - hold no more of a file than the part that was read last, because a reader can be slow;
 * - bound what it makes at once and what waits, and refuse the rest with Fault service_unavailable.
 */
export interface FileSource {
  /** What the rows are, in names of files, such as M1 or ticks. */
  readonly rowsName: string;
  /** How long periods are. They begin at midnight in UTC. */
  readonly period: "day" | "month";
  list(
    listing: Listing,
    range: { readonly from: number; readonly to: number; readonly limit: number },
    call: FileCall,
  ): Promise<readonly ListedFile[]>;
  /**
   * The file of the period that begins at `start`, Unix seconds.
   * @param revision the beginning of the hash of the file that is meant; undefined for the one that shows now
   */
  open(listing: Listing, start: number, revision: string | undefined, call: FileCall): Promise<OpenFile | undefined>;
}
