import type { Clock } from "#lib/clock";
import type { TradingAlignment } from "#lib/domain/timeframe";
import type { Hub } from "#server/hub/hub";
import type { StatusWatch } from "#server/hub/status-watch";
import type { RunningMarket } from "#server/market";

/** What the connections of one venue have in common. */
export interface VenueStreams {
  readonly market: RunningMarket;
  readonly hub: Hub;
  readonly watch: StatusWatch;
  readonly clock: Clock;
  readonly alignment: TradingAlignment;
}
