import type { LocalFollower } from "#server/bus/local-follower";
import { type MarketOptions, type RunningMarket, readSide } from "#server/market";
import { createProjection, type Projection } from "#server/view/projection";
import { createFollowing } from "./following";
import type { TickForwarder } from "./tick-forwarder";

/** Before the first event. */
const NO_EPOCH = "none";

interface FedMarketOptions
  extends Pick<MarketOptions, "venue" | "catalogue" | "store" | "files" | "acceptsPush" | "provider" | "clock" | "log"> {
  /** True where pushed klines are stored. */
  readonly acceptsKlines: boolean;
}

/** The way of an edge worker to the market process. */
interface Feeding {
  readonly follower: LocalFollower;
  /** Where the market process accepts pushed ticks. */
  readonly address: string;
  readonly forwarder: Pick<TickForwarder, "forward" | "forwardKlines">;
}

/** A venue of an edge worker, before its events come. */
interface Fed {
  readonly projection: Projection;
  /** Starts it, once the projection is filled. */
  start(feeding: Feeding): RunningMarket;
}

/** Makes a venue whose events come from the market process of this node, which also takes what is pushed. */
export function createFedMarket(options: FedMarketOptions): Fed {
  const { venue, catalogue, store, acceptsPush, acceptsKlines, provider, clock } = options;
  const log = options.log.child({ venue });
  const projection = createProjection({ catalogue, store, clock, epoch: NO_EPOCH, sinceMs: clock.now() });
  return {
    projection,
    start({ follower, address, forwarder }) {
      const stopping = new AbortController();
      const status = () => follower.status(venue);
      const { lookBack, dropWhileBehind, ...following } = createFollowing({
        projection,
        reachedMs: () => status()?.reachedMs,
        problem: () => follower.problem(venue),
        keepsTime: () => status()?.keepsTime ?? false,
        clock,
        log,
      });
      const dropping = dropWhileBehind(stopping.signal);
      void lookBack();
      return {
        ...readSide(options, projection),
        ...following,
        get epoch() {
          return projection.recent.epoch();
        },
        providerOf(ticker) {
          const speakers = status()?.speakers;
          return speakers === undefined ? provider : (speakers[ticker] ?? null);
        },
        now: () => (status()?.keepsTime ? following.closedUpTo() : clock.now()),
        feedProblem: () => follower.problem(venue),
        ...(acceptsPush && { forwardPush: (body, tickers) => forwarder.forward({ venue, tickers }, address, body) }),
        ...(acceptsKlines && { forwardKlines: (body, push) => forwarder.forwardKlines({ venue, ...push }, address, body) }),
        handOver: async () => undefined,
        async stop() {
          stopping.abort();
          await dropping;
        },
      };
    },
  };
}
