import { expect, test } from "vitest";
import type { PortalKey, RequestLogEntry } from "#lib/contract/portal";
import { replayLink } from "./replay";

const entry = (more: Partial<RequestLogEntry>) =>
  ({
    method: "GET",
    operation: "klines",
    path: "/api/v1/market/klines?ticker=EURUSD&timeframe=M1",
    key_id: "k1",
    ...more,
  }) as RequestLogEntry;
const key = (state: PortalKey["state"]) => [{ id: "k1", state } as PortalKey];

test("a request of the log opens in the playground with its parameters and its key", () => {
  expect(replayLink(entry({}), key("active"))).toBe("/playground?op=klines&ticker=EURUSD&timeframe=M1&key=k1");
});

test("a key that no longer works is not chosen, and a request cannot choose another operation or key", () => {
  const path = "/api/v1/market/klines?ticker=EURUSD&op=ticks&key=k2";
  expect(replayLink(entry({ path }), key("revoked"))).toBe("/playground?op=klines&ticker=EURUSD");
});

test("a request that writes, and one of a link, is not replayed", () => {
  expect(replayLink(entry({ operation: "link" }), key("active"))).toBeUndefined();
  expect(replayLink(entry({ method: "POST" }), key("active"))).toBeUndefined();
});
