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
export type Lacks = (tickers: readonly string[], fromMs: number, toMs: number, reason: LackReason) => void;

type Push = (ticks: readonly Tick[]) => Promise<(TickRejection | null)[]>;

interface Started {
  readonly feed?: Pick<MarketFeed, "keepsTime"> | undefined;
  readonly acceptsPush: boolean;
  readonly start: Pick<FeedStart, "fromMs">;
  readonly catalogue: Pick<Catalogue, "list" | "find">;
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
 * The same pushes; reports tickers whose ticks were refused for long, once a push is taken again. Only listed tickers are
 * remembered: a key may send any others while pushes are refused, and there is no end of them.
 */
export function reportRefusals(
  push: Push,
  { catalogue, lacks, clock }: Pick<Started, "catalogue" | "clock"> & { readonly lacks: Lacks | undefined },
): Push {
  /** Since when each ticker has been refused, Unix ms. */
  const refused = new Map<string, number>();
  return async (ticks) => {
    const atMs = clock.now();
    try {
      const judged = await push(ticks);
      const taken = new Set(ticks.map(({ ticker }) => ticker));
      for (const ticker of taken) {
        const sinceMs = refused.get(ticker);
        if (sinceMs === undefined) continue;
        refused.delete(ticker);
        if (atMs - sinceMs >= RESENT_MAX_MS) lacks?.([ticker], sinceMs, atMs, "refused");
      }
      return judged;
    } catch (error) {
      for (const { ticker } of ticks) if (!refused.has(ticker) && catalogue.find(ticker) !== undefined) refused.set(ticker, atMs);
      throw error;
    }
  };
}
