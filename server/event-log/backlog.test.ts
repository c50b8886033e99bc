import { expect, test } from "vitest";
import { klineExample } from "#lib/contract/kline";
import { quoteExample } from "#lib/contract/quote";
import type { MarketEvent } from "#server/events/event";
import { eventOf } from "#server/testing/events";
import { unexplained } from "#server/testing/log-scene";
import { createBacklog } from "./backlog";

const MAX_EVENTS = 1_000;
const STEP_EVENTS = 50;
const LIMITS = { maxEvents: MAX_EVENTS, stepEvents: STEP_EVENTS };
const TICKERS = ["EURUSD", "GBPUSD", "USDJPY", "XAUUSD"];
const quote = (seq: number) => eventOf({ ...quoteExample, ticker: TICKERS[seq % 4] ?? "" }, { seq: Math.floor(seq / 4) + 1 });
const quotes = (count: number) => Array.from({ length: count }, (_, index) => quote(index));
const closed = (minute: number) =>
  eventOf({ ...klineExample, timeframe: "M1", time: minute * 60 }, { seq: minute, closed: true });
const takeAll = (backlog: ReturnType<typeof createBacklog>) => backlog.take(backlog.size()).map(({ event }) => event);

test("a backlog within its bound keeps every event", () => {
  const backlog = createBacklog(LIMITS);
  const events = quotes(MAX_EVENTS);
  backlog.add(events, 0);
  expect(takeAll(backlog)).toEqual(events);
});

test("an overflow conflates only one step of the oldest events", () => {
  const backlog = createBacklog(LIMITS);
  const events = quotes(MAX_EVENTS + 1);
  backlog.add(events, 0);
  expect(backlog.size()).toBe(MAX_EVENTS + 1 - STEP_EVENTS + TICKERS.length);
  const kept = takeAll(backlog);
  expect(kept.slice(TICKERS.length)).toEqual(events.slice(STEP_EVENTS));
  expect(unexplained(kept)).toEqual([]);
});

test("a backlog that overflows again and again stays bounded, and each event says how many it replaces", () => {
  const backlog = createBacklog(LIMITS);
  const events: MarketEvent[] = quotes(3 * MAX_EVENTS);
  for (let from = 0; from < events.length; from += 10) {
    backlog.add(events.slice(from, from + 10), from);
    expect(backlog.size()).toBeLessThanOrEqual(MAX_EVENTS);
  }
  expect(backlog.position()).toBe(events.length);
  expect(backlog.take(1)[0]?.event.merged).toBeGreaterThan(MAX_EVENTS / TICKERS.length);
});

test("closed klines in the backlog survive conflation, up to half of its bound", () => {
  const backlog = createBacklog(LIMITS);
  const minutes = Array.from({ length: MAX_EVENTS / 2 - 10 }, (_, index) => closed(index + 1));
  backlog.add(minutes, 0);
  backlog.add(quotes(2 * MAX_EVENTS), 0);
  expect(takeAll(backlog).filter(({ type }) => type === "kline")).toEqual(minutes);

  const more = Array.from({ length: 2 * MAX_EVENTS }, (_, index) => closed(index + 1));
  backlog.add(more, 0);
  expect(backlog.size()).toBeLessThanOrEqual(MAX_EVENTS);
  expect(takeAll(backlog).at(-1)).toEqual(more.at(-1));
});

test("a conflated batch claims no more closed klines than it carries", () => {
  const backlog = createBacklog(LIMITS);
  for (let minute = 1; minute <= MAX_EVENTS + 1; minute += 1) backlog.add([closed(minute)], minute * 60_000);
  const batch = backlog.take(10);
  expect(batch.map(({ reachedMs }) => reachedMs)).toEqual(batch.map(({ event }) => event.seq * 60_000));
});
