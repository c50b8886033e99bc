import type { Clock } from "#lib/clock";
import { VENUES, type Venue } from "#lib/contract/primitives";
import { type LocalPublisher, type PublishedVenue, startLocalPublisher } from "#server/bus/local-publisher";
import type { RunningMarket } from "#server/market";
import { newestRecords } from "#server/view/newest";

interface PublishOptions {
  readonly path: string;
  readonly markets: Readonly<Record<Venue, RunningMarket>>;
  readonly clock: Clock;
  readonly onTooSlow: () => void;
}

/** How a running venue is published. */
function publishedOf(market: RunningMarket, clock: Clock): PublishedVenue {
  const tickers = () => market.catalogue.list().map(({ ticker }) => ticker);
  return {
    epoch: () => market.epoch,
    reachedMs: () =>
      Math.min(clock.now(), market.now?.() ?? Number.POSITIVE_INFINITY, market.closedUpTo?.() ?? Number.POSITIVE_INFINITY),
    status() {
      const { providerOf } = market;
      return {
        keepsTime: market.now !== undefined,
        problem: market.feedProblem(),
        ...(providerOf && { speakers: Object.fromEntries(tickers().map((ticker) => [ticker, providerOf(ticker)])) }),
      };
    },
    state: () => newestRecords({ view: market.view, recent: market.recent, epoch: market.epoch, tickers: tickers() }),
  };
}

/** Sends the events of the running venues to the edge workers. */
export async function publishMarkets({ path, markets, clock, onTooSlow }: PublishOptions): Promise<LocalPublisher> {
  const venues = { live: publishedOf(markets.live, clock), sandbox: publishedOf(markets.sandbox, clock) };
  const publisher = await startLocalPublisher({ path, venues, clock, onTooSlow });
  const leave = VENUES.map((venue) => markets[venue].follow((events) => publisher.publish(venue, events)));
  return {
    ...publisher,
    stop() {
      for (const unfollow of leave) unfollow();
      return publisher.stop();
    },
  };
}
