import { describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { OPEN_GRACE_DEFAULT_S, STALE_AFTER_DEFAULT_S, STREAM_HEARTBEAT_INTERVAL_S } from "#lib/contract/limits";
import type { MarketStatusMessage } from "#lib/contract/stream";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { createTestMarket } from "#server/testing/market";
import { TEST_START_MS } from "#server/testing/runtime";
import { createStreamReader, messageIn } from "#server/testing/stream-reader";
import { createHub, topicOf } from "./hub";
import { createStatusWatch } from "./status-watch";

/** Longest time until a change is reported. */
const LOOK_MS = 250;
/** The market of the forex calendar closes on Friday at 17:00 New York, and opens on Sunday. */
const FRIDAY_CLOSE_MS = Date.UTC(2026, 0, 9, 22);
const SUNDAY_OPEN_MS = Date.UTC(2026, 0, 11, 22);

/** A running watch over the sandbox's catalogue, with one reader. */
function createScene(startMs = TEST_START_MS) {
  const clock = manualClock(startMs);
  const catalogue = createSandboxCatalogue();
  const market = createTestMarket("sandbox", { ...catalogue, instrument: () => undefined });
  const hub = createHub();
  const watch = createStatusWatch({ market, hub, clock });
  const stopping = new AbortController();
  const running = watch.run(stopping.signal);
  const reader = createStreamReader(Number.POSITIVE_INFINITY);
  return {
    clock,
    catalogue,
    market,
    hub,
    watch,
    reader,
    follow(...tickers: string[]) {
      for (const ticker of tickers) {
        hub.subscribe(topicOf("quote", ticker), reader.outbox);
        watch.quiet(ticker);
      }
    },
    takeMessages() {
      reader.flush();
      return reader.taken.splice(0).map((message) => messageIn(message) as MarketStatusMessage);
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

const quiet = (ticker: string, final_display_state: string, reason: string | null) => ({ ticker, final_display_state, reason });

describe("the watch over the market status", () => {
  test("a market's close and open are each reported once, within one check", async () => {
    const { clock, follow, takeMessages, stop } = createScene(FRIDAY_CLOSE_MS - 60_000);
    follow("TESTFX");
    await clock.advance(60_000 - LOOK_MS);
    expect(takeMessages()).toEqual([]);
    await clock.advance(2 * LOOK_MS);
    expect(takeMessages()).toMatchObject([
      { type: "market_status", ticker: "TESTFX", data: { final_display_state: "closed", reason: "weekend" } },
    ]);
    clock.set(SUNDAY_OPEN_MS - LOOK_MS);
    await clock.advance(LOOK_MS - 1);
    expect(takeMessages()).toEqual([]);
    await clock.advance(LOOK_MS + 1);
    expect(takeMessages()).toMatchObject([
      { data: { calendar_state: "open", final_display_state: "open", reason: "awaiting_first_quote" } },
    ]);
    await clock.advance(10_000);
    expect(takeMessages()).toEqual([]);
    await stop();
  });

  test("a late first quote after the open is reported, and so is its arrival", async () => {
    const { clock, market, follow, takeMessages, stop } = createScene(SUNDAY_OPEN_MS);
    market.quote("TESTFX", 1.1, 1.1001, FRIDAY_CLOSE_MS - 1);
    follow("TESTFX");
    await clock.advance(OPEN_GRACE_DEFAULT_S * 1000);
    expect(takeMessages()).toEqual([]);
    await clock.advance(2 * LOOK_MS);
    expect(takeMessages()).toMatchObject([
      { data: { final_display_state: "late_open_data_stale", reason: "no_quote_since_open" } },
    ]);
    market.quote("TESTFX", 1.2, 1.2001, clock.now());
    await clock.advance(LOOK_MS);
    expect(takeMessages()).toMatchObject([{ data: { final_display_state: "open", reason: null } }]);
    await stop();
  });

  test("stale quotes are reported", async () => {
    const { clock, market, follow, takeMessages, stop } = createScene();
    market.quote("EURUSD", 1.1, 1.1001, clock.now());
    follow("EURUSD");
    await clock.advance(STALE_AFTER_DEFAULT_S * 1000);
    expect(takeMessages()).toEqual([]);
    await clock.advance(2 * LOOK_MS);
    expect(takeMessages()).toMatchObject([{ data: { market_data_state: "stale", final_display_state: "open_data_stale" } }]);
    await stop();
  });

  test("another provider that speaks for a ticker is reported to its subscribers", async () => {
    const { clock, market, follow, takeMessages, stop } = createScene();
    let speaker = "oanda";
    Object.assign(market, { providerOf: () => speaker });
    market.quote("EURUSD", 1.1, 1.1001, clock.now());
    follow("EURUSD");
    await clock.advance(LOOK_MS);
    speaker = "tiingo";
    await clock.advance(LOOK_MS);
    expect(takeMessages()).toMatchObject([{ type: "market_status", ticker: "EURUSD", data: { provider_source: "tiingo" } }]);
    await stop();
  });

  test("an operator's override is reported when it starts and when it ends", async () => {
    const { clock, catalogue, market, follow, takeMessages, stop } = createScene();
    market.quote("EURUSD", 1.1, 1.1001, clock.now());
    follow("EURUSD");
    await clock.advance(LOOK_MS);
    const fromMs = clock.now();
    catalogue.override("always", [{ state: "closed", fromMs, untilMs: fromMs + 5_000 }]);
    await clock.advance(LOOK_MS);
    expect(takeMessages()).toMatchObject([{ data: { final_display_state: "closed", calendar_source: "operator_override" } }]);
    await clock.advance(5_000 + LOOK_MS);
    expect(takeMessages().at(-1)).toMatchObject({ data: { calendar_state: "open" } });
    await stop();
  });

  test("changes of a ticker reach its subscribers only, and the watch forgets a ticker without subscribers", async () => {
    const { clock, hub, follow, takeMessages, reader, stop } = createScene(FRIDAY_CLOSE_MS - 1_000);
    follow("TESTFX", "EURUSD");
    hub.unsubscribe(topicOf("quote", "TESTFX"), reader.outbox);
    await clock.advance(2_000);
    expect(takeMessages()).toEqual([]);
    follow("TESTFX");
    await clock.advance(10 * LOOK_MS);
    expect(takeMessages()).toEqual([]);
    await stop();
  });

  test("a change already contained in the answer to a new subscriber is not reported again", async () => {
    const { clock, follow, takeMessages, stop } = createScene(FRIDAY_CLOSE_MS - 1);
    await clock.advance(1);
    follow("TESTFX");
    await clock.advance(10 * LOOK_MS);
    expect(takeMessages()).toEqual([]);
    await stop();
  });

  test("a status that no subscriber was ever told is not reported as a change", async () => {
    const { clock, hub, reader, takeMessages, stop } = createScene(FRIDAY_CLOSE_MS - 1_000);
    hub.subscribe(topicOf("quote", "TESTFX"), reader.outbox);
    await clock.advance(LOOK_MS);
    expect(takeMessages()).toEqual([]);
    await clock.advance(1_000);
    expect(takeMessages()).toMatchObject([{ data: { final_display_state: "closed" } }]);
    await stop();
  });

  test("a change is reported to those who heard of it no sooner, although a new subscriber did", async () => {
    const { clock, watch, follow, takeMessages, stop } = createScene(FRIDAY_CLOSE_MS - LOOK_MS - 1);
    follow("TESTFX");
    await clock.advance(LOOK_MS);
    clock.set(FRIDAY_CLOSE_MS);
    expect(watch.quiet("TESTFX")).toMatchObject({ final_display_state: "closed" });
    await clock.advance(LOOK_MS);
    expect(takeMessages()).toMatchObject([{ data: { final_display_state: "closed" } }]);
    await stop();
  });

  test.each([
    ["that closed right after its last quote", FRIDAY_CLOSE_MS, quiet("TESTFX", "closed", "weekend")],
    ["that opened right after a quote", SUNDAY_OPEN_MS, quiet("TESTFX", "open", "awaiting_first_quote")],
  ])("a ticker %s is quiet, although the quote is recent", async (_, atMs, expected) => {
    const { watch, market, stop } = createScene(atMs + 500);
    market.quote("TESTFX", 1.1, 1.1001, atMs - 500);
    expect(watch.quiet("TESTFX")).toMatchObject(expected);
    await stop();
  });

  test("a change right after the answer to a new subscriber is reported", async () => {
    const { clock, follow, takeMessages, stop } = createScene(FRIDAY_CLOSE_MS - 1);
    follow("TESTFX");
    await clock.advance(LOOK_MS);
    expect(takeMessages()).toMatchObject([{ data: { final_display_state: "closed" } }]);
    await stop();
  });

  test("instruments that are no longer listed are not reported", async () => {
    const { watch, clock, follow, takeMessages, stop } = createScene();
    follow("NOSUCH");
    expect(watch.quiet("NOSUCH")).toBeUndefined();
    await clock.advance(10 * LOOK_MS);
    expect(takeMessages()).toEqual([]);
    await stop();
  });

  test("each quiet ticker is reported with its reason, and an open, quoted one not at all", async () => {
    const { watch, clock, market, stop } = createScene();
    market.quote("EURUSD", 1.1, 1.1001, clock.now());
    expect(watch.quiet("EURUSD")).toBeUndefined();
    expect(watch.quiet("GBPUSD")).toMatchObject(quiet("GBPUSD", "open_data_missing", "no_quote_since_open"));
    expect(watch.quiet("TESTUNKNOWN")).toMatchObject(quiet("TESTUNKNOWN", "unknown", "calendar_missing"));
    expect(watch.quiet("TESTCLOSED")).toMatchObject({ final_display_state: "closed" });
    await clock.advance(STREAM_HEARTBEAT_INTERVAL_S * 1000);
    expect(watch.quiet("EURUSD")).toMatchObject(quiet("EURUSD", "open", null));
    market.quote("EURUSD", 1.2, 1.2001, clock.now());
    await clock.advance(LOOK_MS);
    expect(watch.quiet("EURUSD")).toBeUndefined();
    await stop();
  });
});
