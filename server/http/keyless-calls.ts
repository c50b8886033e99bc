import type { IncomingMessage } from "node:http";
import { clientBlock, coarseAddress } from "#lib/access/address";
import type { BucketLimits } from "#lib/access/limits/bucket";
import { createMemoryBucketStore } from "#lib/access/limits/bucket-store";
import type { Clock } from "#lib/clock";
import {
  KEYLESS_CLIENT_PER_MINUTE_COUNT,
  KEYLESS_NETWORK_PER_MINUTE_COUNT,
  KEYLESS_PER_MINUTE_COUNT,
  KEYLESS_WORK_UNITS,
} from "#lib/contract/limits";
import { TICKET_PROTOCOL_PREFIX } from "#lib/contract/stream-ticket";
import { Fault } from "#lib/fault";
import { bearerOf } from "#lib/http/guards";
import type { Metrics } from "#lib/metrics";

/** Units at once, as a part of those of a minute. */
const BURST_PART = 6;
const limitsOf = (perMinute: number): BucketLimits => ({ restPerMinute: perMinute, restBurst: perMinute / BURST_PART });
const CLIENT = limitsOf(KEYLESS_CLIENT_PER_MINUTE_COUNT);
const NETWORK = limitsOf(KEYLESS_NETWORK_PER_MINUTE_COUNT);
const ALL = limitsOf(KEYLESS_PER_MINUTE_COUNT);
/** When all together asked too often: a network that rarely asks, as the health check of a load balancer, and all such networks. */
const RARE = limitsOf(KEYLESS_NETWORK_PER_MINUTE_COUNT / 10);
const RESERVE = limitsOf(KEYLESS_PER_MINUTE_COUNT / 5);
const EVERYONE = "everyone";
/** Every key and token starts with it. */
const KEY_START = "sw_";

/** Paths that take some work, and that no key opens. */
const WORK: ReadonlySet<string> = new Set(["/metrics", "/api/ready", "/openapi.json", "/asyncapi.json"]);
const NEEDS_NO_KEY: ReadonlySet<string> = new Set([...WORK, "/api/health", "/status.json"]);

interface KeylessOptions {
  readonly clock: Clock;
  readonly addressOf: (request: IncomingMessage) => string;
  readonly metrics: Pick<Metrics, "refused">;
}

/** Returns the fault of a request over the limit; undefined when it may pass. */
export type KeylessCalls = (request: IncomingMessage, path: string) => Fault | undefined;

/** True for a request that shows something that may be a key, a token or a ticket: if it is not, it counts as a failed authentication. */
function showsKey({ headers }: IncomingMessage): boolean {
  const { authorization, "sec-websocket-protocol": protocols } = headers;
  if (authorization !== undefined) return bearerOf(authorization)?.startsWith(KEY_START) ?? false;
  return protocols?.includes(TICKET_PROTOCOL_PREFIX) ?? false;
}

/**
 * Limits calls without a key on this node, before anything else looks at them: by client, by network and for all together. What
 * a few networks use up closes nothing for the others, which have a reserve. A call with a key never counts.
 */
export function createKeylessCalls({ clock, addressOf, metrics }: KeylessOptions): KeylessCalls {
  const buckets = createMemoryBucketStore(clock);

  /** Takes units; the seconds to wait when there are not enough. */
  function take(kind: string, name: string, limits: BucketLimits, cost: number): number {
    const { allowed, retryAfterS } = buckets.take(`${kind} ${name}`, limits, cost);
    if (!allowed) metrics.refused("keyless", kind);
    return retryAfterS;
  }

  /** From the common units, else from the reserve. */
  function takeCommon(network: string, cost: number): number {
    if (buckets.take(EVERYONE, ALL, cost).allowed) return 0;
    return take("rare", network, RARE, cost) || take("all", EVERYONE, RESERVE, cost);
  }

  return (request, path) => {
    if (!NEEDS_NO_KEY.has(path) && showsKey(request)) return undefined;
    const cost = WORK.has(path) ? KEYLESS_WORK_UNITS : 1;
    const address = addressOf(request);
    const network = coarseAddress(address) ?? address;
    const waitS =
      take("client", clientBlock(address), CLIENT, cost) || take("network", network, NETWORK, cost) || takeCommon(network, cost);
    if (waitS === 0) return undefined;
    const detail = `Too many requests without a key. Try again in ${waitS} s, or send a key.`;
    return new Fault("rate_limited", { detail, retry_after: waitS });
  };
}
