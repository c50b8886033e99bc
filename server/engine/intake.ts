import type { TickRejection } from "#lib/contract/ingest";
import type { Venue } from "#lib/contract/primitives";
import type { Tick } from "#lib/domain/tick";
import { outcomesOf } from "#lib/market/ingest";
import type { Catalogue, MarketView } from "#lib/market/ports";
import type { Metrics } from "#lib/metrics";
import type { MarketEvent } from "#server/events/event";
import type { MarketFeed } from "#server/feed/feed";
import type { FeedFilter } from "#server/feed/filter/feed-filter";
import type { createEngine } from "./engine";

type Outcome = TickRejection | null;

/**
 * Events that are published together. Those of a large batch would all be alive when the young ones are collected, so that each
 * was copied, and would have left the caches before they are read.
 */
const PUBLISHED_EVENTS = 256;

interface IntakeOptions {
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
export function createIntake({ engine, publish, nowMs, wallMs, decided, count, filter, catalogue, view }: IntakeOptions) {
  const filtering = filter?.open({
    catalogue,
    quoteOf: view.quote,
    closeOf: (ticker) => view.recentKlines(ticker, "D1").at(-1)?.close,
    settled(tick, outcome) {
      count([outcome]);
      decided(tick, outcome, arrivals.get(tick) ?? receivedMs);
    },
  });
  let events: MarketEvent[] = [];
  let receivedMs = 0;
  /** When ticks came that are held. */
  const arrivals = new WeakMap<Tick, number>();

  function decide(tick: Tick, outcome: Outcome, cameMs = receivedMs): Outcome {
    if (outcome === null) engine.ingest(tick, events);
    decided(tick, outcome, cameMs);
    return outcome;
  }

  function take(tick: Tick): Outcome {
    const atMs = nowMs(tick);
    const rejection = engine.judge(tick, atMs);
    if (filtering === undefined) return decide(tick, rejection);
    if (rejection !== null) {
      filtering.refused(tick, rejection, atMs);
      return decide(tick, rejection);
    }
    const reason = filtering.judge(tick, atMs);
    for (const held of filtering.released()) count([decide(held, engine.judge(held, atMs), arrivals.get(held))]);
    if (!filtering.holds()) return decide(tick, reason);
    arrivals.set(tick, receivedMs);
    return reason;
  }

  function publishMade(): void {
    if (events.length === 0) return;
    const made = events;
    events = [];
    publish(made);
  }

  return {
    /** Takes ticks in order; returns why each was refused, null where it was taken. */
    take(ticks: readonly Tick[]): Outcome[] {
      receivedMs = wallMs();
      const outcomes = ticks.map((tick) => {
        const outcome = take(tick);
        if (events.length >= PUBLISHED_EVENTS) publishMade();
        return outcome;
      });
      publishMade();
      // A held tick is counted when its fate is known.
      count(filtering === undefined ? outcomes : outcomes.filter((outcome) => outcome !== "spike"));
      return outcomes;
    },
    /** Gives up ticks that have been held for too long. */
    expire(atMs: number): void {
      filtering?.expire(atMs);
    },
  };
}

interface PushTakerOptions {
  readonly feed?: Pick<MarketFeed, "choice"> | undefined;
  readonly metrics: Pick<Metrics, "ticks">;
  readonly venue: Venue;
}

/** Takes pushed ticks, where there are other providers only those for which pushes are in force. */
export function createPushTaker(
  { feed, metrics, venue }: PushTakerOptions,
  take: (ticks: readonly Tick[]) => (TickRejection | null)[],
) {
  const { choice } = feed ?? {};
  if (choice === undefined) return take;
  return (ticks: readonly Tick[]) => {
    const read = ticks.map((tick) => (choice.pushed(tick) ? tick : ("standby" as const)));
    const outcomes = outcomesOf<TickRejection>(read, take(read.filter((tick) => tick !== "standby")));
    metrics.ticks(
      venue,
      outcomes.filter((outcome) => outcome === "standby"),
    );
    return outcomes;
  };
}
