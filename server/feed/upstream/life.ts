import type { Clock } from "#lib/clock";
import { SECOND_MS } from "#lib/units";
import type { FeedLife } from "../feed";
import type { Step, Upstream } from "./port";
import type { Lacking, PriceSilence } from "./price-silence";

/** How often it is said that a connection lives, for each ticker. */
const REPORT_MS = SECOND_MS;

/** What a connection shows of its life. */
export interface Life {
  step(step: Step): void;
  /** A batch is being taken, or was. */
  take(now: boolean): void;
  alive(): void;
  /** It ends: ticks lack since these instants. */
  lost(lacking: readonly Lacking[]): void;
}

/**
 * Says for each ticker that its connection lives once everything that came before is taken: each message says so of the one before
 * it. Only while prices come, because before that ticks are missed, and not of tickers that fell silent.
 */
export function createLife(
  { declares }: Pick<Upstream, "declares">,
  prices: Pick<PriceSilence, "tickers" | "isSilent">,
  clock: Clock,
  life: FeedLife | undefined,
): Life {
  let live = false;
  let taking = false;
  let beforeMs: number | undefined;
  let provenMs: number | undefined;
  let saidMs = Number.NEGATIVE_INFINITY;

  function say(): void {
    if (provenMs === undefined || provenMs === saidMs) return;
    saidMs = provenMs;
    for (const ticker of prices.tickers()) if (!prices.isSilent(ticker)) life?.alive(ticker, provenMs, declares.idleMs);
  }

  return {
    step(step) {
      live = step === "live";
    },
    take(now) {
      taking = now;
    },
    alive() {
      if (!live || taking || life === undefined) return;
      provenMs = beforeMs;
      beforeMs = clock.now();
      if (provenMs !== undefined && provenMs >= saidMs + REPORT_MS) say();
    },
    lost(lacking) {
      say();
      for (const { ticker, sinceMs } of lacking) life?.lost(ticker, sinceMs);
    },
  };
}
