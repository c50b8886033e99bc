import type { WebhookDelivery, WebhookInfo } from "#lib/contract/webhooks";
import type { Tone } from "../ui/badge";

interface Shown {
  readonly tone: Tone;
  readonly word: string;
}

/** What to say of a webhook as a whole. */
interface WebhookState extends Shown {
  /** What was wrong with the last attempt; null for one that works, and for a paused one, which says why. */
  readonly problem: string | null;
  /** When the next attempt is made, if one is. */
  readonly nextAt: string | null;
}

/** The state of a webhook by its deliveries, the newest first: it fails while the newest that was tried was not delivered. */
export function webhookState({ paused_because, deliveries }: Pick<WebhookInfo, "paused_because" | "deliveries">): WebhookState {
  if (paused_because !== null) return { tone: "warning", word: "Paused", problem: null, nextAt: null };
  const tried = deliveries.find(({ state, problem }) => state === "delivered" || problem !== null);
  if (tried === undefined || tried.state === "delivered")
    return { tone: "positive", word: "Active", problem: null, nextAt: null };
  const next = deliveries.flatMap(({ next_at }) => next_at ?? []).sort();
  return { tone: "danger", word: "Failing", problem: tried.problem, nextAt: next[0] ?? null };
}

/** The state of a delivery: one that failed and is tried again does not only wait. */
export function deliveryState({ state, problem }: Pick<WebhookDelivery, "state" | "problem">): Shown {
  if (state === "delivered") return { tone: "positive", word: "Delivered" };
  if (state === "failed") return { tone: "danger", word: "Failed" };
  return problem === null ? { tone: "neutral", word: "Waiting" } : { tone: "warning", word: "Retrying" };
}
