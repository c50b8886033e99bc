import type { Bucket, BucketLimits } from "./bucket";

/** Unspent units are returned after this time. Long enough that a busy client does not need a call for each request. */
export const LEASE_MS = 2_000;
/** A lease is recorded for longer than it can be spent, so that units returned at its end still count. */
export const LEASE_NOTED_MS = 2 * LEASE_MS;
/** A lease takes at most 1/n of the remaining units, so that a process that the client does not use does not hold the last ones. */
export const LEASE_PART = 4;

/** The arguments of a node's call for a bucket. */
export interface BucketCall {
  /** Identifies the node. */
  readonly node: string;
  readonly limits: BucketLimits;
  /** Cost of the waiting request; 0 without one. */
  readonly cost: number;
  /** Additional units that the node wants to hold. */
  readonly want: number;
  /** Units that the node holds during the call; it may have spent some when the reply arrives. */
  readonly held: number;
  /** Held units that the node returns. */
  readonly back: number;
  /** Units that the node allowed while the lender was unreachable. */
  readonly owed: number;
  /** True for a request, which can begin a window; false for background work, which cannot. */
  readonly opens: boolean;
  /** The node's copy of the bucket, in case the lender has lost it; undefined without a copy. */
  readonly known: Bucket | undefined;
}

interface BucketReply {
  /** The shared bucket before the cost and the lease are subtracted, in the node's time; `take` applies the cost to it. */
  readonly bucket: Bucket;
  /** Units leased by this call. */
  readonly leased: number;
  /** How long after the call the held and leased units can be spent; 0 once their window is over. */
  readonly lastsMs: number;
}

/** Where the buckets are that several processes share: in Redis, or in the market process. */
export interface BucketLender {
  /** Decides on one call for a bucket, in one step. Rejects when the lender is unreachable. */
  ask(key: string, call: BucketCall): Promise<BucketReply>;
  /** False while it is known to be unreachable. */
  connected(): boolean;
}
