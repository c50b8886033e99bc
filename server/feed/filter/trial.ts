import { FILTER_REASONS, type FilterReason } from "#lib/contract/ingest";
import type { Calendar } from "#lib/domain/calendar";
import type { Listing } from "#lib/domain/instrument";
import { createRecentTicks, judgeTick, type Tick } from "#lib/domain/tick";
import { TAKEN } from "#lib/domain/tick-columns";
import { HOUR_MS } from "#lib/units";
import { createTickFilter, type TickFilter } from "./tick-filter";

/** Ticks that are kept as examples of each outcome. */
const EXAMPLES_COUNT = 3;
/** A series that goes back by more than this is another one. */
const BACK_MAX_MS = HOUR_MS;

interface TrialOptions {
  readonly listingOf: (ticker: string) => Listing | undefined;
  readonly calendarOf: (ticker: string) => Calendar | undefined;
  /** Reasons that do not count. */
  readonly off: readonly FilterReason[];
}

/** How many ticks, and the first of them. */
export interface Counted {
  readonly count: number;
  readonly examples: readonly Tick[];
}

/** What the filters made of the ticks of a ticker. */
export interface TickerTrial {
  readonly ticker: string;
  readonly ticks: number;
  /** By reason: those of the filters, and those for which the engine refuses a tick before any filter sees it. */
  readonly heldBack: ReadonlyMap<FilterReason, Counted>;
  readonly refused: ReadonlyMap<string, Counted>;
  /** Unusually wide spreads, which are let through. */
  readonly wide: number;
  /** Ticks that were recorded with their outcome, and those of another outcome now. */
  readonly compared: number;
  readonly differing: readonly (Counted & { readonly recorded: string; readonly now: string })[];
}

/** Ticks as they come to the filters again. */
export interface FilterTrial {
  /**
   * Judges the next tick of its ticker.
   * @param receivedMs when it came, Unix milliseconds; its own time where that is not known
   * @param recorded its outcome in a recording; null for a file of ticks
   */
  take(tick: Tick, receivedMs: number, recorded: string | null): void;
  /** The tickers by name. Ticks that are still held are held back. */
  results(): TickerTrial[];
}

class Count implements Counted {
  count = 0;
  readonly examples: Tick[] = [];
  add(tick: Tick): void {
    this.count += 1;
    if (this.examples.length < EXAMPLES_COUNT) this.examples.push(tick);
  }
}

/** Counts by name. */
function createCounts<Name extends string>() {
  const counts = new Map<Name, Count>();
  return {
    counts,
    add(name: Name, tick: Tick): void {
      const known = counts.get(name) ?? new Count();
      counts.set(name, known);
      known.add(tick);
    },
  };
}

const isFilterReason = (outcome: string): outcome is FilterReason => FILTER_REASONS.some((reason) => reason === outcome);

/** The trial of one ticker. */
function createTickerTrial(ticker: string, { listingOf, calendarOf, off }: TrialOptions) {
  const [heldBack, refused] = [createCounts<FilterReason>(), createCounts()];
  const differing = new Map<string, Count & { recorded: string; now: string }>();
  /** Held ticks, with what was recorded of them. */
  const held = new Map<Tick, string | null>();
  let [ticks, wide, compared] = [0, 0, 0];
  let lastMs = Number.NEGATIVE_INFINITY;
  let recent = createRecentTicks();
  let filter = makeFilter();

  function makeFilter(): TickFilter {
    return createTickFilter({
      listingOf,
      calendarOf,
      quoteOf: () => undefined,
      off: new Set(off),
      heldBack(tick, reason) {
        const recorded = held.get(tick);
        if (recorded === undefined) return;
        held.delete(tick);
        settle(tick, reason, recorded);
      },
      wide() {
        wide += 1;
      },
    });
  }

  function settle(tick: Tick, outcome: FilterReason | typeof TAKEN, recorded: string | null): void {
    if (outcome !== TAKEN) heldBack.add(outcome, tick);
    if (recorded === null) return;
    compared += 1;
    if (recorded === outcome) return;
    const name = `${recorded} ${outcome}`;
    const known = differing.get(name) ?? Object.assign(new Count(), { recorded, now: outcome });
    differing.set(name, known);
    known.add(tick);
  }

  /** Why the engine refuses a tick, null if it does not. A recording says so. */
  function refusal(tick: Tick, recorded: string | null): string | null {
    if (recorded !== null) return recorded === TAKEN || isFilterReason(recorded) ? null : recorded;
    const rejection = judgeTick(recent, tick, tick.time_msc);
    if (rejection === null) recent.add(tick);
    return rejection;
  }

  return {
    take(tick: Tick, receivedMs: number, recorded: string | null): void {
      ticks += 1;
      if (receivedMs < lastMs - BACK_MAX_MS) {
        filter.expire(Number.POSITIVE_INFINITY);
        filter = makeFilter();
        recent = createRecentTicks();
        lastMs = receivedMs;
      }
      lastMs = Math.max(lastMs, receivedMs);
      const rejection = refusal(tick, recorded);
      if (rejection !== null) {
        refused.add(rejection, tick);
        return;
      }
      filter.expire(receivedMs);
      const reason = filter.judge(tick, receivedMs);
      for (const released of filter.released()) {
        settle(released, TAKEN, held.get(released) ?? null);
        held.delete(released);
      }
      if (filter.holds()) held.set(tick, recorded);
      else settle(tick, reason ?? TAKEN, recorded);
    },
    result(): TickerTrial {
      filter.expire(Number.POSITIVE_INFINITY);
      return {
        ticker,
        ticks,
        wide,
        compared,
        heldBack: heldBack.counts,
        refused: refused.counts,
        differing: [...differing.values()],
      };
    },
  };
}

/** Makes a trial that has seen nothing. Its memory grows with the tickers only. */
export function createFilterTrial(options: TrialOptions): FilterTrial {
  const trials = new Map<string, ReturnType<typeof createTickerTrial>>();
  return {
    take(tick, receivedMs, recorded) {
      let trial = trials.get(tick.ticker);
      if (trial === undefined) {
        trial = createTickerTrial(tick.ticker, options);
        trials.set(tick.ticker, trial);
      }
      trial.take(tick, receivedMs, recorded);
    },
    results: () => [...trials.values()].map(({ result }) => result()).sort((a, b) => (a.ticker < b.ticker ? -1 : 1)),
  };
}
