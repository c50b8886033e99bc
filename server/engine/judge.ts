import type { TickRejection } from "#lib/contract/ingest";
import type { Tick } from "#lib/domain/tick";
import type { Catalogue, MarketView, Outcome } from "#lib/market/ports";
import type { MarketEvent } from "#server/events/event";
import type { FeedFilter } from "#server/feed/filter/feed-filter";
import type { createEngine } from "./engine";

/**
 * Events that are published together. Those of a large batch would all be alive when the young ones are collected, so that each
 * was copied, and would have left the caches before they are read.
 */
const PUBLISHED_EVENTS = 256;

interface JudgeOptions {
  readonly engine: Pick<ReturnType<typeof createEngine>, "judge" | "ingest">;
  /** Gets the events of the ticks that were taken, in order: those of a large batch in parts. */
  readonly publish: (events: readonly MarketEvent[]) => void;
  /** The instant of a tick, Unix milliseconds. */
  readonly nowMs: (tick: Tick) => number;
  /**
   * Called with why a tick was refused, null where it was taken, and when it came. A held one is not decided before its fate is
   * known.
   */
  readonly decided: (tick: Tick, outcome: Outcome, receivedMs: number) => void;
  /** The wall clock, Unix milliseconds. */
  readonly wallMs: () => number;
  /** Counts what became of ticks. */
  readonly count: (outcomes: readonly Outcome[]) => void;
  readonly filter: FeedFilter | undefined;
  readonly catalogue: Pick<Catalogue, "find" | "calendar" | "list">;
  readonly view: Pick<MarketView, "quote" | "recentKlines">;
}

/** Decides which ticks reach an engine: not what it refuses, and not what cannot be true. */
export function createJudge({ engine, publish, nowMs, wallMs, decided, count, filter, catalogue, view }: JudgeOptions) {
  const filtering = filter?.open({
    catalogue,
    quoteOf: view.quote,
    closeOf: (ticker) => view.recentKlines(ticker, "D1").at(-1)?.close,
    settled: (tick, outcome) => void note(tick, outcome, arrivals.get(tick)),
  });
  let events: MarketEvent[] = [];
  let outcomes: Outcome[] = [];
  let receivedMs = 0;
  /** When ticks came that are held. */
  const arrivals = new WeakMap<Tick, number>();

  function note(tick: Tick, outcome: Outcome, cameMs = receivedMs): Outcome {
    outcomes.push(outcome);
    decided(tick, outcome, cameMs);
    return outcome;
  }

  function take(tick: Tick, outcome: Outcome, cameMs = receivedMs): Outcome {
    if (outcome === null) engine.ingest(tick, events);
    return note(tick, outcome, cameMs);
  }

  function judge(tick: Tick): Outcome {
    const atMs = nowMs(tick);
    const rejection = engine.judge(tick, atMs);
    if (filtering === undefined) return take(tick, rejection);
    if (rejection !== null) {
      filtering.refused(tick, rejection, atMs);
      return take(tick, rejection);
    }
    const reason = filtering.judge(tick, atMs);
    for (const held of filtering.released()) take(held, engine.judge(held, atMs), arrivals.get(held));
    if (!filtering.holds()) return take(tick, reason);
    arrivals.set(tick, receivedMs);
    return reason;
  }

  function publishMade(): void {
    if (events.length === 0) return;
    const made = events;
    events = [];
    publish(made);
  }

  function countOutcomes(): void {
    if (outcomes.length === 0) return;
    count(outcomes);
    outcomes = [];
  }

  return {
    /** Takes ticks in order. @returns for each why it was refused, null where it was taken; a reason stays as it is */
    judge(read: readonly (Tick | TickRejection)[]): Outcome[] {
      receivedMs = wallMs();
      const judged = read.map((tick) => {
        const outcome = typeof tick === "string" ? tick : judge(tick);
        if (events.length >= PUBLISHED_EVENTS) publishMade();
        return outcome;
      });
      publishMade();
      countOutcomes();
      return judged;
    },
    /** Gives up ticks that have been held for too long. */
    expire(atMs: number): void {
      filtering?.expire(atMs);
      countOutcomes();
    },
  };
}
