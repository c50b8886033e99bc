import type { IncomingMessage } from "node:http";
import { clientBlock, coarseAddress } from "#lib/access/address";
import type { BucketLimits } from "#lib/access/limits/bucket";
import { STRANGER } from "#lib/access/limits/bucket-bank";
import type { BucketStore } from "#lib/access/limits/bucket-store";
import { KEY_PREFIX } from "#lib/contract/key-text";
import {
  KEYLESS_CLIENT_PER_MINUTE_COUNT,
  KEYLESS_NETWORK_PER_MINUTE_COUNT,
  KEYLESS_PAGE_UNITS,
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
/** What every key and token starts with. */
const KEY_START = new RegExp(`^${KEY_PREFIX}_`);

/** Paths that take some work, and that no key opens. */
const WORK: ReadonlySet<string> = new Set(["/metrics", "/openapi.json", "/asyncapi.json", "/grafana.json"]);
const NEEDS_NO_KEY: ReadonlySet<string> = new Set([...WORK, "/api/ready", "/api/health", "/status.json"]);

interface KeylessOptions {
  /** Those of strangers, shared by all processes and nodes. */
  readonly buckets: BucketStore;
  readonly addressOf: (request: IncomingMessage) => string;
  readonly metrics: Pick<Metrics, "refused">;
}

/** Counts requests without a key. Each resolves with the fault of a request over the limit; undefined when it may pass. */
export interface KeylessCalls {
  /** A call of anything but a page. One with a key passes without a promise. */
  call(request: IncomingMessage, path: string): Promise<Fault | undefined> | undefined;
  /** A request for a page by a reader who is not signed in: one from memory, or one that has to be rendered. */
  page(address: string, from: "memory" | "portal"): Promise<Fault | undefined>;
}

/** True for a request that shows something that may be a key, a token or a ticket: if it is not, it counts as a failed authentication. */
function showsKey({ headers }: IncomingMessage): boolean {
  const { authorization, "sec-websocket-protocol": protocols } = headers;
  if (authorization !== undefined) return KEY_START.test(bearerOf(authorization) ?? "");
  return protocols?.includes(TICKET_PROTOCOL_PREFIX) ?? false;
}

/**
 * Limits requests without a key before anything else looks at them: by client, by network and for all together. What a few
 * networks use up closes nothing for the others, which have a reserve. A call with a key never counts.
 */
export function createKeylessCalls({ buckets, addressOf, metrics }: KeylessOptions): KeylessCalls {
  /** Takes units; the seconds to wait when there are not enough. */
  async function take(kind: string, name: string, limits: BucketLimits, cost: number): Promise<number> {
    const { allowed, retryAfterS } = await buckets.take(`${STRANGER}keyless ${kind} ${name}`, limits, cost);
    if (!allowed) metrics.refused("keyless", kind);
    return retryAfterS;
  }

  /** From the common units, else from the reserve. */
  async function takeCommon(network: string, cost: number): Promise<number> {
    if ((await buckets.take(`${STRANGER}keyless ${EVERYONE}`, ALL, cost)).allowed) return 0;
    return (await take("rare", network, RARE, cost)) || take("all", EVERYONE, RESERVE, cost);
  }

  async function count(address: string, cost: number): Promise<Fault | undefined> {
    const network = coarseAddress(address) ?? address;
    const waitS =
      (await take("client", clientBlock(address), CLIENT, cost)) ||
      (await take("network", network, NETWORK, cost)) ||
      (await takeCommon(network, cost));
    if (waitS === 0) return undefined;
    const detail = `Too many requests without a key. Try again in ${waitS} s, or send a key.`;
    return new Fault("rate_limited", { detail, retry_after: waitS });
  }

  return {
    call(request, path) {
      if (!NEEDS_NO_KEY.has(path) && showsKey(request)) return undefined;
      return count(addressOf(request), WORK.has(path) ? KEYLESS_WORK_UNITS : 1);
    },
    page: (address, from) => count(address, from === "memory" ? 1 : KEYLESS_PAGE_UNITS),
  };
}
