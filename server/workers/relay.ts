import path from "node:path";
import type { Clock } from "#lib/clock";
import { VENUES, type Venue } from "#lib/contract/primitives";
import { createSocketLog } from "#server/event-log/socket-log";
import type { RunningMarket } from "#server/market/market";
import { newestRecords } from "#server/view/newest";

/** Path of the socket from which the events of a venue come. */
const eventsPath = (folder: string, venue: Venue) => path.join(folder, `${venue}.sock`);

/** The logs of the venues as a worker follows them. */
export const socketLogs = (folder: string, clock: Clock) => (venue: Venue) =>
  createSocketLog({ path: eventsPath(folder, venue), clock });

interface RelayOptions {
  readonly folder: string;
  /** Where this process takes what is pushed. */
  readonly address: string;
  readonly markets: Readonly<Record<Venue, RunningMarket>>;
  readonly clock: Clock;
  /** Called when a worker was cut off because it reads too slowly. */
  readonly onTooSlow: () => void;
}

/** Passes the events of the running venues on to the edge workers. @returns stops it */
export async function relayEvents({ folder, address, markets, clock, onTooSlow }: RelayOptions): Promise<() => Promise<void>> {
  const stopping = new AbortController();
  const stops = await Promise.all(
    VENUES.map(async (venue) => {
      const { catalogue, view, recent, standing, reachedMs, follow } = markets[venue];
      const log = createSocketLog({ path: eventsPath(folder, venue), clock, onTooSlow });
      const appender = await log.lead({
        token: 1,
        over: stopping.signal,
        standing: () => ({ ...standing(), address }),
        newest() {
          const tickers = catalogue.list().map(({ ticker }) => ticker);
          return newestRecords({ view, recent, epoch: standing().epoch, tickers });
        },
        onFenced: () => undefined,
      });
      const unfollow = follow((events) => appender.append(events, reachedMs()));
      return async () => {
        unfollow();
        await appender.stop();
      };
    }),
  );
  return async () => {
    stopping.abort();
    await Promise.all(stops.map((stop) => stop()));
  };
}
