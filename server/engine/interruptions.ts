import type { Clock } from "#lib/clock";
import type { TickRejection } from "#lib/contract/ingest";
import type { LackReason } from "#lib/contract/portal-data";
import type { Tick } from "#lib/domain/tick";
import type { Catalogue, MarketView } from "#lib/market/ports";
import { SECOND_MS } from "#lib/units";
import type { FeedStart, MarketFeed } from "#server/feed/feed";

/** A feeder keeps what was not acknowledged and sends it again; after this time it is not sure that it still has everything. */
const RESENT_MAX_MS = 10 * SECOND_MS;

/** Told of ticks of these tickers from `fromMs` to `toMs` (Unix ms) that lack. */
type Lacks = (tickers: readonly string[], fromMs: number, toMs: number, reason: LackReason) => void;

interface Started {
  readonly feed?: Pick<MarketFeed, "keepsTime"> | undefined;
  readonly acceptsPush: boolean;
  readonly start: Pick<FeedStart, "fromMs">;
  readonly catalogue: Pick<Catalogue, "list">;
  readonly projection: { readonly view: Pick<MarketView, "quote"> };
  readonly clock: Clock;
}

/** Reports what nobody took between the last tick before a producer and its start. */
export function reportInterruption(
  { feed, acceptsPush, start, catalogue, projection, clock }: Started,
  lacks: Lacks | undefined,
) {
  const tickers = catalogue.list().map(({ ticker }) => ticker);
  const lastMs = start.fromMs ?? Math.max(0, ...tickers.map((ticker) => projection.view.quote(ticker)?.time_msc ?? 0));
  const nowMs = clock.now();
  const wasMissed = feed ? !feed.keepsTime : acceptsPush && nowMs - lastMs >= RESENT_MAX_MS;
  if (lastMs > 0 && lastMs < nowMs && wasMissed) lacks?.(tickers, lastMs, nowMs, "stopped");
}

/**
 * Remembers the tickers whose pushes are refused; reports those that were refused for long once a push of them is taken. Only listed
 * tickers are remembered: a key may send any others while pushes are refused, and there is no end of them.
 */
export function createRefusals(catalogue: Pick<Catalogue, "find">, lacks: Lacks | undefined) {
  /** Since when each ticker has been refused, Unix ms. */
  const since = new Map<string, number>();
  return {
    /** @param atMs when the push came, Unix ms */
    refused(read: readonly (Tick | TickRejection)[], atMs: number): void {
      for (const tick of read) {
        if (typeof tick === "string" || since.has(tick.ticker) || catalogue.find(tick.ticker) === undefined) continue;
        since.set(tick.ticker, atMs);
      }
    },
    /** @param atMs when the push came, Unix ms */
    taken(read: readonly (Tick | TickRejection)[], atMs: number): void {
      if (since.size === 0) return;
      for (const tick of read) {
        if (typeof tick === "string") continue;
        const { ticker } = tick;
        const sinceMs = since.get(ticker);
        if (sinceMs === undefined) continue;
        since.delete(ticker);
        if (atMs - sinceMs >= RESENT_MAX_MS) lacks?.([ticker], sinceMs, atMs, "refused");
      }
    },
  };
}
