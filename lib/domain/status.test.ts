import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DISPLAY_CLASS, MARKET_DATA_STATES, MarketStatus } from "#lib/contract/status";
import { HOUR_MS, SECOND_MS } from "#lib/units";
import { compileCalendar, type SessionAnswer } from "./calendar";
import { SEED_CALENDARS } from "./calendars/index";
import { marketDataState, marketStatus, type StatusFacts } from "./status";

const OPEN = Date.parse("2026-06-07T21:00:00Z");
const CLOSE = Date.parse("2026-06-12T21:00:00Z");
const forex = compileCalendar(SEED_CALENDARS.forex, []);
const listing = { ticker: "EURUSD", staleAfterS: 60, openGraceS: 300 };

function statusAt(atMs: number, lastTickMs: number | null, changes: Partial<StatusFacts> = {}) {
  const session = changes.session ?? forex.sessionAt(atMs);
  const facts = { listing, session, lastTickMs, atMs, provider: "sandbox", offered: true, projected: false, updatedAtMs: atMs };
  return marketStatus({ ...facts, ...changes });
}

/** The three words that a badge shows. */
function badge(atMs: number, lastTickMs: number | null, changes: Partial<StatusFacts> = {}): string {
  const { market_data_state, final_display_state, reason } = statusAt(atMs, lastTickMs, changes);
  return `${market_data_state} ${final_display_state} ${reason}`;
}

describe("an open market", () => {
  const later = OPEN + HOUR_MS;

  test.each([
    ["a fresh tick of this session", later, later - 1_000, "live open null"],
    ["a tick exactly as old as the threshold", later, later - 60_000, "live open null"],
    ["a tick a millisecond older", later, later - 60_001, "stale open_data_stale quote_older_than_threshold"],
    ["a tick stamped a little ahead", later, later + 4_000, "live open null"],
    ["the tick of the open itself", OPEN, OPEN, "live open null"],
    ["the first instant, last tick before the weekend", OPEN, OPEN - 172_800_000, "stale open awaiting_first_quote"],
    ["the last second of the grace", OPEN + 300_000, OPEN - 1, "stale open awaiting_first_quote"],
    ["a second past the grace", OPEN + 301_000, OPEN - 1, "stale late_open_data_stale no_quote_since_open"],
    ["within the grace, never a tick", OPEN + 300_000, null, "missing open awaiting_first_quote"],
    ["past the grace, never a tick", OPEN + 300_001, null, "missing open_data_missing no_quote_since_open"],
    ["a tick a millisecond before the open is not of this session", OPEN + 1_000, OPEN - 1, "live open awaiting_first_quote"],
  ])("an open market has the right status: %s", (_, atMs, lastTickMs, expected) => {
    expect(badge(atMs, lastTickMs)).toBe(expected);
  });

  test("in a session without a start any tick counts and there is no grace period", () => {
    const session = compileCalendar({ kind: "always" }, []).sessionAt(OPEN);
    expect(badge(OPEN, null, { session })).toBe("missing open_data_missing no_quote_since_open");
    expect(badge(OPEN, 0, { session })).toBe("stale open_data_stale quote_older_than_threshold");
  });
});

test.each([
  ["while it is open", OPEN + HOUR_MS, null, "missing"],
  ["while it is closed", CLOSE + HOUR_MS, null, "missing"],
  ["after quotes of an earlier provider", OPEN + HOUR_MS, OPEN + 1_000, "stale"],
])("an instrument that the feed does not bring is not offered, which is no outage: %s", (_, atMs, lastTickMs, data) => {
  expect(badge(atMs, lastTickMs, { offered: false })).toBe(`${data} not_offered not_offered`);
  expect(DISPLAY_CLASS.not_offered).toBe("neutral");
  expect(badge(atMs, null, { offered: false, projected: true })).toMatch(/projected$/);
});

describe("a closed market", () => {
  test.each([
    ["at the instant of the close", CLOSE, CLOSE - 1, "live closed weekend"],
    ["without a tick ever", CLOSE, null, "missing closed weekend"],
    ["with ticks still arriving", CLOSE + 5_000, CLOSE, "live closed ticks_while_closed"],
    ["after ticks that arrived while closed and have stopped", CLOSE + 90_000, CLOSE + 20_000, "stale closed weekend"],
  ])("a closed market has the right status: %s", (_, atMs, lastTickMs, expected) => {
    expect(badge(atMs, lastTickMs)).toBe(expected);
  });

  test("a millisecond before the close the market is open", () => {
    expect(badge(CLOSE - 1, CLOSE - 2)).toBe("live open null");
  });

  test("an operator's override is named as source and reason", () => {
    const closed = compileCalendar(SEED_CALENDARS.forex, [{ state: "closed", fromMs: OPEN, untilMs: null }]);
    expect(statusAt(OPEN, null, { session: closed.sessionAt(OPEN) })).toMatchObject({
      final_display_state: "closed",
      reason: "operator_override",
      calendar_source: "operator_override",
      next_open_at: null,
    });
  });
});

test("a market with an unknown calendar is unknown, whatever its data", () => {
  const missing = compileCalendar(undefined, []).sessionAt(OPEN);
  expect(badge(OPEN, OPEN, { session: missing })).toBe("live unknown calendar_missing");
  expect(badge(OPEN, null, { session: missing })).toBe("missing unknown calendar_missing");
  const past = Date.parse("2031-01-01T00:00:00Z");
  expect(badge(past, past)).toBe("live unknown calendar_horizon");
});

test("a future status uses only the calendar", () => {
  expect(badge(OPEN, OPEN - 1, { projected: true })).toBe("missing open projected");
  expect(badge(CLOSE, CLOSE, { projected: true })).toBe("missing closed projected");
  const past = Date.parse("2031-01-01T00:00:00Z");
  expect(badge(past, OPEN, { projected: true })).toBe("missing unknown projected");
});

test("a status has every field of the API's answer", () => {
  expect(statusAt(CLOSE, CLOSE - 120_000, { updatedAtMs: CLOSE + 1_234 })).toEqual({
    ticker: "EURUSD",
    calendar_state: "closed",
    market_data_state: "stale",
    final_display_state: "closed",
    next_open_at: "2026-06-14T21:00:00.000Z",
    next_close_at: "2026-06-19T21:00:00.000Z",
    reason: "weekend",
    calendar_source: "session_rules",
    provider_source: "sandbox",
    updated_at: "2026-06-12T21:00:01.234Z",
  });
});

test("an instant past the year 9999 has no ISO form and is null", () => {
  const flip = compileCalendar(SEED_CALENDARS.flip, []);
  const end = Date.parse("9999-12-31T23:59:59Z");
  const { next_open_at, next_close_at } = statusAt(end, null, { session: flip.sessionAt(end), projected: true });
  expect([next_open_at, next_close_at]).toEqual([null, null]);
});

describe("the table is total", () => {
  const instant = fc.integer({ min: 0, max: Date.parse("2100-01-01T00:00:00Z") });
  const maybe = fc.option(instant, { nil: null });
  const session: fc.Arbitrary<SessionAnswer> = fc.oneof(
    fc
      .tuple(fc.constantFrom(...Object.values(SEED_CALENDARS), undefined), instant)
      .map(([definition, atMs]) => compileCalendar(definition, []).sessionAt(atMs)),
    fc.record({
      state: fc.constantFrom("open", "closed", "unknown"),
      reason: fc.constantFrom(null, "weekend", "holiday", "calendar_missing"),
      source: fc.constantFrom("session_rules", "holiday_calendar", "operator_override", "unavailable"),
      openedAt: maybe,
      closedAt: maybe,
      nextOpen: maybe,
      nextClose: maybe,
    }),
  );
  const facts: fc.Arbitrary<StatusFacts> = fc.record({
    listing: fc.record({ ticker: fc.constant("EURUSD"), staleAfterS: fc.nat(100_000), openGraceS: fc.nat(2_000_000_000) }),
    session,
    lastTickMs: maybe,
    atMs: instant,
    provider: fc.option(fc.constant("sandbox"), { nil: null }),
    offered: fc.boolean(),
    projected: fc.boolean(),
    updatedAtMs: instant,
  });

  test("every combination of facts has an answer that the contract allows, and its three states agree", () => {
    fc.assert(
      fc.property(facts, (given) => {
        const status = marketStatus(given);
        expect(MarketStatus.parse(status)).toEqual(status);
        expect(status.calendar_state).toBe(given.session.state);
        const { final_display_state: final } = status;
        if (!given.offered && !given.projected) expect(final).toBe("not_offered");
        else if (status.calendar_state !== "open") expect(final).toBe(status.calendar_state);
        else expect(["closed", "unknown"]).not.toContain(final);
        expect(DISPLAY_CLASS[final] === "warning").toBe(
          final !== "open" && final !== "not_offered" && status.calendar_state === "open",
        );
        if (given.projected) expect([status.market_data_state, status.reason]).toEqual(["missing", "projected"]);
      }),
      { numRuns: 500 },
    );
  });

  test("age alone moves data from live to stale, at the second", () => {
    fc.assert(
      fc.property(instant, fc.nat(100_000), (tickMs, staleAfterS) => {
        const edge = tickMs + staleAfterS * SECOND_MS;
        expect(marketDataState(tickMs, edge, staleAfterS)).toBe("live");
        expect(marketDataState(tickMs, edge + 1, staleAfterS)).toBe("stale");
        expect(MARKET_DATA_STATES).toContain(marketDataState(null, edge, staleAfterS));
      }),
    );
  });
});
