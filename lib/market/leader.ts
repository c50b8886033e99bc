import type { Clock } from "#lib/clock";
import { Fault } from "#lib/fault";
import { ingestBody } from "./ingest";
import { ingestKlinesBody, type MendedMarket } from "./ingest-klines";
import type { Leader, Market } from "./ports";

const RETRY_AFTER_S = 60;
const PUSH_MAX_TICKS = 2_000;

interface LeaderOptions {
  readonly market: Pick<Market, "venue" | "catalogue" | "timeAt">;
  /** Null where the venue takes no pushed ticks. */
  readonly push: Leader["push"] | null;
  /** Null where klines are computed. */
  readonly mend: MendedMarket["mend"] | null;
  readonly clock: Pick<Clock, "now">;
}

/** Makes the leader of a venue that this process leads. */
export function createLeader({ market, push, mend, clock }: LeaderOptions): Leader {
  const { venue } = market;
  const refuse = (detail: string): never => {
    throw new Fault("service_unavailable", { detail, retry_after: RETRY_AFTER_S });
  };
  const takesNoTicks = () =>
    refuse(`The ${venue} venue does not accept pushed ticks. Start the service with LIVE_FEED=push, or with push in that list.`);
  return {
    pushMaxTicks: PUSH_MAX_TICKS,
    push: async (read) => (push === null ? takesNoTicks() : push(read)),
    takeTicks: async (body, tickers) => (push === null ? takesNoTicks() : ingestBody(body, push, tickers)),
    takeKlines: async (body, pushed) =>
      mend === null
        ? refuse(`The ${venue} venue does not accept pushed klines.`)
        : ingestKlinesBody(body, { ...market, mend }, pushed, clock.now()),
  };
}
