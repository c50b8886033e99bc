import type { Listing } from "#lib/domain/instrument";
import type { Market } from "./ports";

/** What one request asks of a venue. */
export interface Call<Query> {
  /** The parsed query; shared between equal requests, so never change it. */
  readonly query: Query;
  /** The venue of the caller's key. */
  readonly market: Market;
  /** False for an instrument the caller's account may not read; it does not exist for the caller then. */
  readonly mayRead: (listing: Listing) => boolean;
  /** When the request is answered, Unix milliseconds. */
  readonly nowMs: number;
  /** The request itself, for its body; null where there is none. */
  readonly request: Request | null;
}

/** Data to be put in the envelope. */
export interface DataReply {
  readonly data: object;
}

/** A whole answer that was encoded before, envelope included. */
export interface EncodedReply {
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** Present when the answer cannot change any more. */
  readonly lasting?: {
    /** Strong validator of the body, with its quotes. */
    readonly etag: string;
    /** Seconds for which it may be kept without asking again. */
    readonly maxAgeS: number;
  };
}

export type Reply = DataReply | EncodedReply;

/** One thing that may be asked of a market. It answers at once where it can: a promise costs every request a turn. */
export type Question<Query> = (call: Call<Query>) => Reply | Promise<Reply>;

/** Around the JSON of the data of a successful answer. */
export const SUCCESS_HEAD = '{"code":0,"message":"success","data":';
export const SUCCESS_TAIL = "}";
