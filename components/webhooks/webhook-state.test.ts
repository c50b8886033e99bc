import { expect, test } from "vitest";
import type { WebhookDelivery } from "#lib/contract/webhooks";
import { deliveryState, webhookState } from "./webhook-state";

const DOWN = "The receiver answered 503.";
const SOON = "2026-11-23T12:00:05.000Z";
const LATER = "2026-11-23T12:05:00.000Z";

function delivery(given: Partial<WebhookDelivery> = {}): WebhookDelivery {
  const at = "2026-11-23T12:00:00.000Z";
  return {
    id: "d1",
    type: "incident.opened",
    created_at: at,
    state: "delivered",
    attempts: 1,
    next_at: null,
    status: 200,
    problem: null,
    ...given,
  };
}
const queued = delivery({ state: "waiting", attempts: 0, next_at: LATER, status: null });
const retried = delivery({ state: "waiting", next_at: SOON, status: 503, problem: DOWN });
const failed = delivery({ state: "failed", attempts: 6, status: 503, problem: DOWN });
const stateOf = (...deliveries: WebhookDelivery[]) => webhookState({ paused_because: null, deliveries });

test("a webhook is active while nothing was sent, and while its newest delivery that was tried arrived", () => {
  for (const deliveries of [[], [queued], [delivery()], [queued, delivery(), failed]])
    expect(stateOf(...deliveries)).toMatchObject({ word: "Active", problem: null });
});

test("a webhook whose newest delivery that was tried did not arrive is failing, with the error and the next attempt", () => {
  expect(stateOf(failed)).toEqual({ tone: "danger", word: "Failing", problem: DOWN, nextAt: null });
  expect(stateOf(queued, retried, delivery())).toEqual({ tone: "danger", word: "Failing", problem: DOWN, nextAt: SOON });
});

test("a paused webhook is paused, whatever happened before", () => {
  expect(webhookState({ paused_because: "Three deliveries failed.", deliveries: [failed] })).toMatchObject({ word: "Paused" });
});

test("a delivery that failed and is tried again says so", () => {
  expect([queued, retried, failed, delivery()].map((one) => deliveryState(one).word)).toEqual([
    "Waiting",
    "Retrying",
    "Failed",
    "Delivered",
  ]);
});
