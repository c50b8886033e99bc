import { expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import {
  INGEST_KLINES_MAX_AGE_S,
  INGEST_KLINES_MAX_BYTES,
  INGEST_KLINES_MAX_ROWS,
  KLINE_CLOSE_DELAY_MS,
} from "#lib/contract/limits";
import type { Kline } from "#lib/domain/kline";
import { isFault } from "#lib/fault";
import type { MendedMarket } from "#lib/market/ingest-klines";
import { createLeader } from "#lib/market/leader";
import type { Mending, MendOutcome } from "#lib/market/mending";
import type { Market } from "#lib/market/ports";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { takeKlines } from "./answer";

const NOW_MS = Date.UTC(2026, 0, 7, 12, 0, 30);
const MINUTE_S = Date.UTC(2026, 0, 7, 11, 58) / 1000;
const FIELDS = { open: 1.1, high: 1.2, low: 1.0, close: 1.15, tick_volume: 7 };
const line = (more: object) => JSON.stringify({ ticker: "EURUSD", time: MINUTE_S, ...FIELDS, ...more });

/** Pushes a body with a key for EURUSD and XAUUSD; returns the receipt, or the fault. */
async function push(
  body: string,
  { outcome = null as MendOutcome, replace = undefined as "all" | undefined, mends = true, more = 0 } = {},
) {
  const stored: Kline[] = [];
  const mendings: Mending[] = [];
  const mend: MendedMarket["mend"] = async (klines, mending) => {
    stored.push(...klines);
    mendings.push(mending);
    return {
      outcomes: Array.from({ length: klines.length + more }, () => outcome),
      number: outcome === null ? 4 : null,
      changed: [],
    };
  };
  const about = { venue: "live" as const, catalogue: createSandboxCatalogue(), timeAt: (wallMs: number) => wallMs };
  const leader = createLeader({ market: about, push: null, mend: mends ? mend : null, clock: manualClock(NOW_MS) });
  const market = { ...about, leader } as unknown as Market;
  const sent = { body: new Blob([body]).stream(), encoding: null };
  const principal = { keyId: "key-1", prefix: "sw_live_abcd", last4: "wxyz" };
  const call = { sent, market, tickers: ["EURUSD", "XAUUSD"], query: { replace }, principal };
  const answer = await takeKlines(call).then(
    ({ data }) => data,
    (error: unknown) => (isFault(error) ? { id: error.id, ...error.data } : Promise.reject(error)),
  );
  return { answer, stored, mendings };
}

test("each line of a batch is judged on its own, and the reason is counted", async () => {
  const oldest = Math.ceil((NOW_MS / 1000 - INGEST_KLINES_MAX_AGE_S) / 60) * 60;
  const bad: readonly [line: string, reason: string, detail?: string][] = [
    ["nonsense", "malformed_line", "The line is not JSON."],
    [line({ timeframe: "M5" }), "malformed_line", "`timeframe` must be `M1`."],
    [line({ tick_volume: -1 }), "malformed_line", "`tick_volume` must be at least 0."],
    [line({ pad: "x".repeat(1_100) }), "line_too_long"],
    [line({ ticker: "GBPUSD" }), "unknown_ticker"],
    [line({ time: MINUTE_S + 1 }), "not_a_minute"],
    [line({ time: NOW_MS / 1000 - 30 }), "not_closed"],
    [line({ time: MINUTE_S + 6_000 }), "not_closed"],
    [line({ time: oldest - 60 }), "too_old"],
    [line({ low: 0 }), "bad_price", "`low` must be greater than 0."],
    [line({ high: 1.12 }), "bad_price"],
    [line({ low: 1.11 }), "bad_price"],
    [line({ low: 0.3 }), "bad_price"],
    [line({ open: 5, high: 5, low: 5, close: 5 }), "implausible_price"],
    [line({ real_volume: 1e300 }), "volume_out_of_range"],
    [line({ close: 1.1 }), "duplicate"],
  ];
  const good = [line({}), line({ time: oldest, timeframe: "M1", spread: null, real_volume: 3 })];
  const { answer, stored, mendings } = await push([...good, ...bad.map(([text]) => text)].join("\n"));
  const reasons: Record<string, number> = {};
  for (const [, reason] of bad) reasons[reason] = (reasons[reason] ?? 0) + 1;
  expect(answer).toEqual({
    received: bad.length + 2,
    accepted: 2,
    rejected: bad.length,
    reasons,
    import: 4,
    rejections: bad.map(([, reason, detail], index) => ({ line: index + 3, reason, detail })),
  });
  expect(stored).toMatchObject([
    { ...FIELDS, timeframe: "M1", time: MINUTE_S, spread: null, real_volume: null },
    { time: oldest, real_volume: 3 },
  ]);
  expect(mendings).toEqual([{ replace: "gaps", by: { keyId: "key-1", label: "sw_live_abcd…wxyz" } }]);
});

test("a minute can be pushed once its kline has closed", async () => {
  const minute = (NOW_MS - 30_000) / 1000 - 60;
  expect(KLINE_CLOSE_DELAY_MS).toBeLessThan(30_000);
  expect((await push(line({ time: minute }))).answer).toMatchObject({ accepted: 1 });
});

test("klines that the store did not take are rejected with the reason", async () => {
  const { answer, mendings } = await push(line({}), { outcome: "watched", replace: "all" });
  expect(answer).toEqual({
    received: 1,
    accepted: 0,
    rejected: 1,
    reasons: { watched: 1 },
    import: null,
    rejections: [{ line: 1, reason: "watched" }],
  });
  expect(mendings[0]?.replace).toBe("all");
});

test.each([
  [-1, "no outcome of line 3"],
  [1, "more outcomes than klines"],
])("with %i outcomes more than klines nothing is said of any of them", async (more, problem) => {
  const body = [line({}), "nonsense", line({ time: MINUTE_S - 60 })].join("\n");
  await expect(push(body, { more })).rejects.toThrow(problem);
});

test("a batch past the limits is refused, and nothing of it is stored", async () => {
  const many = Array.from({ length: INGEST_KLINES_MAX_ROWS + 1 }, (_, index) => line({ time: MINUTE_S - index * 60 })).join("\n");
  for (const body of [many, " ".repeat(INGEST_KLINES_MAX_BYTES + 1)]) {
    const { answer, stored } = await push(body);
    expect(answer).toMatchObject({ id: "payload_too_large", max: INGEST_KLINES_MAX_ROWS });
    expect(stored).toEqual([]);
  }
  const most = many.slice(0, many.lastIndexOf("\n"));
  expect((await push(most)).answer).toMatchObject({ accepted: INGEST_KLINES_MAX_ROWS });
});

test("a venue that stores no klines refuses them", async () => {
  expect((await push(line({}), { mends: false })).answer).toMatchObject({ id: "service_unavailable", retry_after: 60 });
});
