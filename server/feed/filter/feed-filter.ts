import type { FilterReason, TickRejection } from "#lib/contract/ingest";
import { HELD_BACK_LISTED_COUNT, type HeldBackReason, type HeldBackTick, type HeldBackTicks } from "#lib/contract/portal-feeds";
import type { Tick } from "#lib/domain/tick";
import type { Catalogue, MarketView } from "#lib/market/ports";
import type { Metrics } from "#lib/metrics";
import { createTickFilter, type TickFilter } from "./tick-filter";

interface FeedFilterOptions {
  /** The label of the metrics: who speaks for a ticker. */
  readonly name: (ticker: string) => string;
  readonly off: readonly FilterReason[];
  readonly metrics: Pick<Metrics, "quarantined" | "wideSpread">;
}

interface VenueFilterOptions {
  readonly catalogue: Pick<Catalogue, "find" | "calendar" | "list">;
  readonly quoteOf: MarketView["quote"];
  /** The newest close that is stored of a ticker, for one without a quote. */
  readonly closeOf: (ticker: string) => number | undefined;
  /** Called when a tick that was held is given up. */
  readonly settled: (tick: Tick, outcome: FilterReason) => void;
}

/** A filter in front of an engine. */
interface VenueFilter extends TickFilter {
  /** Records a tick that the engine refuses, if its prices are why. */
  refused(tick: Tick, rejection: TickRejection, nowMs: number): void;
}

/** Keeps ticks out of a venue that cannot be true, and remembers them while the process runs. */
export interface FeedFilter {
  /** Makes the filter of one engine. */
  open(options: VenueFilterOptions): VenueFilter;
  report(): HeldBackTicks;
}

/** A price is like that of another instrument up to this share of it. */
const LIKE_SHARE = 0.01;

/** The other instrument that has such a price now: its symbol may be what is mapped to this ticker. */
function looksLike({ ticker, bid, ask }: HeldBackTick, { catalogue, quoteOf }: VenueFilterOptions): string | null {
  const mid = (bid + ask) / 2;
  const isLike = (other: string) => {
    const quote = quoteOf(other);
    return quote !== undefined && Math.abs(quote.mid - mid) <= LIKE_SHARE * quote.mid;
  };
  return catalogue.list().find((listing) => listing.ticker !== ticker && isLike(listing.ticker))?.ticker ?? null;
}

/** Makes the filter of a venue. Its memory is bounded; nothing that it keeps out is dropped without a trace. */
export function createFeedFilter({ name, off, metrics }: FeedFilterOptions): FeedFilter {
  const counts = new Map<HeldBackReason, number>();
  let newest: HeldBackTick[] = [];
  let wide = 0;
  let newestOptions: VenueFilterOptions | undefined;
  const withLikeness = (tick: HeldBackTick): HeldBackTick => {
    if (newestOptions === undefined || (tick.reason !== "implausible_price" && tick.reason !== "spike")) return tick;
    return { ...tick, looks_like: looksLike(tick, newestOptions) };
  };

  function add({ ticker, time_msc, bid, ask }: Tick, reason: HeldBackReason, at_ms: number): void {
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
    metrics.quarantined(name(ticker), reason);
    newest.push({ at_ms, ticker, time_msc, bid, ask, reason, looks_like: null });
    // Cut in groups, because time is short when bad ticks come in floods.
    if (newest.length >= 2 * HELD_BACK_LISTED_COUNT) newest = newest.slice(-HELD_BACK_LISTED_COUNT);
  }

  return {
    open(options) {
      const { catalogue, quoteOf, closeOf, settled } = options;
      newestOptions = options;
      const filter = createTickFilter({
        listingOf: catalogue.find,
        calendarOf: catalogue.calendar,
        quoteOf(ticker) {
          const close = closeOf(ticker);
          return quoteOf(ticker) ?? (close === undefined ? undefined : { bid: close, ask: close });
        },
        off: new Set(off),
        heldBack(tick, reason, nowMs) {
          add(tick, reason, nowMs);
          if (reason === "spike") settled(tick, reason);
        },
        wide({ ticker }) {
          wide += 1;
          metrics.wideSpread(name(ticker));
        },
      });
      return {
        ...filter,
        refused(tick, rejection, nowMs) {
          if (rejection === "bad_price" || rejection === "crossed_quote") add(tick, rejection, nowMs);
        },
      };
    },
    report: () => ({
      counts: [...counts].map(([reason, count]) => ({ reason, count })),
      wide,
      newest: newest.slice(-HELD_BACK_LISTED_COUNT).reverse().map(withLikeness),
    }),
  };
}
