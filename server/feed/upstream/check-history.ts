import type { Clock } from "#lib/clock";
import type { FeedFinding } from "#lib/contract/portal-feeds";
import { DAY_S, MINUTE_S, SECOND_MS } from "#lib/units";
import { withTimeout } from "#lib/with-timeout";
import { problemOf } from "./hide";
import type { Upstream } from "./port";

/** The history that is asked for: enough to reach back over a weekend. */
const SPAN_S = 3 * DAY_S;
const SPAN_TEXT = "the last 3 days";
/** How long after its end a provider has a minute. */
const SETTLED_S = 10;
const HISTORY_MAX_MS = 20 * SECOND_MS;
const NO_HISTORY: FeedFinding = {
  step: "history",
  state: "noted",
  text: "this provider has no minutes of bid prices",
  next: "Minutes that are missed stay gaps until a file fills them: npm run import.",
};

/** Reads minutes of one instrument, as the repair of missed minutes does. */
export async function checkHistory(
  { upstream, clock }: { readonly upstream: Pick<Upstream, "minutes" | "secrets">; readonly clock: Clock },
  symbol: string,
  signal: AbortSignal,
): Promise<FeedFinding> {
  if (upstream.minutes === undefined) return NO_HISTORY;
  const to = Math.floor((clock.now() / SECOND_MS - SETTLED_S) / MINUTE_S) * MINUTE_S;
  const over = new AbortController();
  const pages = upstream.minutes(symbol, to - SPAN_S, to, { signal: AbortSignal.any([signal, over.signal]), clock });
  const count = async () => {
    let minutes = 0;
    for await (const page of pages) minutes += page.length;
    return minutes;
  };
  try {
    const minutes = await withTimeout(count(), HISTORY_MAX_MS, clock, signal);
    if (minutes > 0) return { step: "history", state: "ok", text: `${minutes} minutes of ${symbol} in ${SPAN_TEXT}` };
    const next = "If its market was open, check whether the account includes history of this instrument.";
    return { step: "history", state: "noted", text: `no minutes of ${symbol} in ${SPAN_TEXT}`, next };
  } catch (error) {
    const next = "Ticks come, but missed minutes cannot be filled. Check whether the account includes history, or try again.";
    return { step: "history", state: "failed", text: problemOf(upstream, error), next };
  } finally {
    over.abort();
  }
}
