import { AUTH_FAILURES_NETWORK_PER_MINUTE_COUNT, AUTH_FAILURES_PER_MINUTE_COUNT } from "#lib/contract/limits";
import { Fault } from "#lib/fault";
import { clientBlock, coarseAddress } from "../address";
import type { BucketLimits, Verdict } from "./bucket";
import { STRANGER } from "./bucket-bank";
import type { BucketStore } from "./bucket-store";

/** So many in a minute that starts with the first; a lower rate of refill never refuses one of them. */
const limitsOf = (perMinute: number): BucketLimits => ({ restPerMinute: perMinute, restBurst: perMinute });
const CLIENT = limitsOf(AUTH_FAILURES_PER_MINUTE_COUNT);
const NETWORK = limitsOf(AUTH_FAILURES_NETWORK_PER_MINUTE_COUNT);

/** Counts the failed authentications of each client and of each network. Without a promise where the buckets need none. */
export interface Failures {
  /** Counts one more failure. Returns its answer: the fault given, or rate_limited after too many. */
  add(address: string, fault: Fault): Fault | Promise<Fault>;
  /** True after too many failures of the client or its network, until the minute ends. */
  isBlocked(address: string): boolean | Promise<boolean>;
}

/** The buckets of an address: its client's and its network's. */
function bucketsOf(address: string): [string, BucketLimits][] {
  return [
    [`${STRANGER}failures client ${clientBlock(address)}`, CLIENT],
    [`${STRANGER}failures network ${coarseAddress(address) ?? address}`, NETWORK],
  ];
}

/**
 * Makes the counters.
 * @param buckets those of strangers, shared by all processes and nodes
 */
export function createFailures(buckets: BucketStore): Failures {
  /** Takes from each bucket; `judge` gets the verdicts, without a promise when each came without one. */
  function takeAll<Result>(address: string, cost: number, judge: (verdicts: Verdict[]) => Result): Result | Promise<Result> {
    const taken = bucketsOf(address).map(([name, limits]) => buckets.take(name, limits, cost));
    if (taken.some((one) => one instanceof Promise)) return Promise.all(taken).then(judge);
    return judge(taken as Verdict[]);
  }
  return {
    add: (address, fault) =>
      takeAll(address, 1, (verdicts) => {
        if (verdicts.every(({ allowed }) => allowed)) return fault;
        return new Fault("rate_limited", {
          detail: "Too many failed authentications from this IP address or its network.",
          retry_after: Math.max(...verdicts.map(({ retryAfterS }) => retryAfterS)),
        });
      }),
    isBlocked: (address) => takeAll(address, 0, (verdicts) => verdicts.some(({ remaining }) => remaining === 0)),
  };
}
