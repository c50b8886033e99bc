import type { Side } from "#lib/domain/columns";
import type { Listing } from "#lib/domain/instrument";

/** Which prices a file of klines has, and as of when. Without either, it has all that shows now. Files of ticks have no other views. */
export interface FileView {
  /** Ask or mid prices in place of the bid, of the rows that have them. */
  readonly price?: Side | undefined;
  /** As they would have been answered at this instant, Unix seconds. */
  readonly asOf?: number | undefined;
}

/** Which file of a ticker is meant. */
export interface FileChoice extends FileView {
  /** The begin of its period, Unix seconds. */
  readonly start: number;
  /** The beginning of its hash; undefined for the file as it is made or shows now. */
  readonly revision?: string | undefined;
}

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
    range: FileView & { readonly from: number; readonly to: number; readonly limit: number },
    call: FileCall,
  ): Promise<readonly ListedFile[]>;
  open(listing: Listing, file: FileChoice, call: FileCall): Promise<OpenFile | undefined>;
}
