import type { Listing } from "#lib/domain/instrument";
import type { KlineQuery, Market } from "./ports";

/** The body of a request, as it arrives. It can be read once. */
export interface SentBody {
  readonly body: AsyncIterable<Uint8Array> | null;
  /** The Content-Encoding header. */
  readonly encoding: string | null;
}

/** One request to a venue. */
export interface Call<Query> {
  /** The parsed query; shared between equal requests, so never change it. */
  readonly query: Query;
  /** The venue of the caller's key. */
  readonly market: Market;
  /** False for an instrument the caller may not read; to the caller it then does not exist. */
  readonly mayRead: (listing: Listing) => boolean;
  /** Tickers the caller's key may push; none: all. */
  readonly tickers: readonly string[];
  /** When the request is answered, Unix milliseconds. */
  readonly nowMs: number;
  /** Nothing older is answered, Unix milliseconds; 0 where the plan has all of the history. */
  readonly oldestMs: number;
  /** The body of the request; null for a method without one. */
  readonly sent: SentBody | null;
  /** Counts pushed ticks beyond INGEST_PUSH_MIN_TICKS; throws a Fault to refuse them. */
  readonly admitTicks?: ((ticks: number) => Promise<void>) | undefined;
  /** Called before days of history are computed for the call, with their number; throws a Fault to refuse them. */
  readonly admitDays?: KlineQuery["admitDays"];
}

/** Data to be put in the envelope. */
export interface DataReply {
  readonly data: object;
}

/** A complete answer that is already encoded, including the envelope. */
export interface EncodedReply {
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** The data in the body, when available: an answer in another format then need not parse a long body. */
  readonly data?: () => object;
  /** Present when the answer can no longer change, or is unlikely to. */
  readonly lasting?: {
    /** Strong validator of the body, with its quotes. */
    readonly etag: string;
    /** Seconds for which clients may cache it without revalidation; 0 when they must ask whether it still holds. */
    readonly maxAgeS: number;
  };
}

export type Reply = DataReply | EncodedReply;

/** A kind of request to a market. It answers synchronously where it can: a promise costs every request a tick of the loop. */
export type Question<Query> = (call: Call<Query>) => Reply | Promise<Reply>;

/** Around the JSON of the data of a successful answer. */
export const SUCCESS_HEAD = '{"code":0,"message":"success","data":';
export const SUCCESS_TAIL = "}";
