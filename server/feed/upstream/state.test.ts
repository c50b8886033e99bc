import { describe, expect, test } from "vitest";
import { UPSTREAM_LOSSES_LISTED_COUNT, UPSTREAM_TICKERS_LISTED_COUNT } from "#lib/contract/portal-feeds";
import { type Calendar, compileCalendar } from "#lib/domain/calendar";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { HOUR_MS, SECOND_MS } from "#lib/units";
import { Refused, Upset } from "../feed";
import type { Declaration } from "./port";
import { createUpstreamWatch } from "./state";
import { matchSymbols } from "./symbols";

const NOW_MS = Date.UTC(2026, 0, 7, 12);
const listing = (name: string) => {
  const found = SANDBOX_LISTINGS.find(({ ticker }) => ticker === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
};
const [EUR, XAU, GBP] = [listing("EURUSD"), listing("XAUUSD"), listing("GBPUSD")];
const OPEN = compileCalendar({ kind: "always" }, []);
/** Closes ten minutes from now. */
const CLOSING = compileCalendar({ kind: "cycle", anchorS: NOW_MS / 1_000 - 3_000, openS: 3_600, closedS: 7_200 }, []);
const declares: Declaration = {
  stream: { kind: "every" },
  clock: "source",
  sides: "both",
  idleMs: 10_000,
  terms: { text: "For you alone.", url: "https://example.com/terms" },
};

function watched(
  calendarOf: (ticker: string) => Calendar = () => OPEN,
  more: Partial<Declaration> = {},
  isListed: (ticker: string) => boolean = () => true,
) {
  const upstream = { name: "oanda", declares: { ...declares, ...more }, expiresAt: () => NOW_MS + HOUR_MS };
  const watch = createUpstreamWatch({ upstream, calendarOf, isListed, nowMs: NOW_MS });
  const offered = [
    { symbol: "EUR_USD", digits: EUR.digits },
    { symbol: "XAU_USD", digits: XAU.digits + 1 },
  ];
  const tick = (ticker: string, nowMs: number, timeMs = nowMs - 100) =>
    watch.ticks([{ ticker, time_msc: timeMs, bid: 1, ask: 1 }], nowMs);
  return {
    ...watch,
    tick,
    live(nowMs = NOW_MS) {
      watch.step("connecting", nowMs);
      watch.matched(matchSymbols([EUR, XAU, GBP], offered, new Map()), offered, nowMs);
      watch.step("live", nowMs);
    },
  };
}

const later = (ms: number) => NOW_MS + ms;
const STALE_MS = Math.max(EUR.staleAfterS, XAU.staleAfterS) * SECOND_MS;

describe("the state of a provider", () => {
  test("it follows the steps of a connection, and says since when", () => {
    const watch = watched();
    expect(watch.report(NOW_MS)).toMatchObject({ state: "idle", wanted: 0, last_tick_at: null });
    watch.step("connecting", later(1));
    watch.step("authenticating", later(2));
    expect(watch.report(later(9))).toMatchObject({ state: "authenticating", since: new Date(later(2)).toISOString() });
    watch.live(later(3));
    watch.received(later(4));
    expect(watch.report(later(9))).toMatchObject({
      state: "live",
      since: new Date(later(3)).toISOString(),
      last_heard_at: new Date(later(4)).toISOString(),
      wanted: 3,
      found: 2,
      expires_at: new Date(later(HOUR_MS)).toISOString(),
    });
    watch.stopped(later(10));
    expect(watch.report(later(11)).state).toBe("idle");
  });

  test("a loss says why, when it is tried again, and is forgotten after an hour", () => {
    const watch = watched();
    watch.live();
    watch.lost(new Upset("silent for 10 s", { kind: "silent" }), later(5), later(500));
    const waiting = watch.report(later(6));
    expect(waiting).toMatchObject({ state: "waiting", problem: "silent for 10 s", until: new Date(later(500)).toISOString() });
    expect(waiting.losses).toMatchObject([{ reason: "silent", text: "silent for 10 s" }]);
    watch.lost(new Refused("wrong token"), later(501), later(60_000));
    watch.lost(new Upset("later", { retryAfterMs: 5 }), later(60_001), later(70_000));
    expect(watch.report(later(60_002))).toMatchObject({ state: "waiting", losses_count: 3 });
    expect(watch.report(later(60_002)).losses.map(({ reason }) => reason)).toEqual(["asked_to_wait", "refused", "silent"]);
    watch.live(later(70_000));
    expect(watch.report(later(70_001))).toMatchObject({ state: "live", problem: null, until: null });
    expect(watch.report(later(HOUR_MS + 600)).losses_count).toBe(1);
    expect(watch.report(later(2 * HOUR_MS)).losses_count).toBe(0);
  });

  test("a refusal is a state of its own; an error of ours is not quoted", () => {
    const watch = watched();
    watch.lost(new Refused("wrong token"), NOW_MS, later(60_000));
    expect(watch.report(later(1))).toMatchObject({ state: "refused", problem: "wrong token" });
    watch.lost(new TypeError("key=secret"), later(2), later(60_000));
    expect(JSON.stringify(watch.report(later(3)))).not.toContain("secret");
  });

  test("losses without end keep memory and report bounded", () => {
    const watch = watched();
    for (let count = 0; count < 5_000; count += 1) watch.lost(new Upset("lost"), later(count), later(count + 1));
    const { losses, losses_count } = watch.report(later(5_000));
    expect([losses.length, losses_count]).toEqual([UPSTREAM_LOSSES_LISTED_COUNT, 900]);
  });
});

describe("the tickers of a provider", () => {
  test("those not offered come first with their reason, and other decimal places are said", () => {
    const watch = watched();
    watch.live();
    watch.tick("EURUSD", later(1));
    const [missing, ...others] = watch.report(later(2)).tickers;
    expect(missing).toMatchObject({ ticker: "GBPUSD", state: "not_offered", symbol: null, reason: "not offered" });
    expect(others.map(({ ticker, state, digits }) => [ticker, state, digits])).toEqual([
      ["XAUUSD", "awaited", [XAU.digits + 1, XAU.digits]],
      ["EURUSD", "live", null],
    ]);
  });

  test("a ticker is offered unless the provider was asked and does not list it; one whose symbol is not clear is offered", () => {
    const watch = watched();
    expect(watch.offers("GBPUSD")).toBe(true);
    const both = [EUR, XAU, GBP];
    watch.matched(
      matchSymbols(both, [{ symbol: "EURUSD" }, { symbol: "XAUUSD.a" }, { symbol: "XAUUSDm" }], new Map()),
      [],
      NOW_MS,
    );
    expect(both.map(({ ticker }) => watch.offers(ticker))).toEqual([true, true, false]);
    expect(watch.report(NOW_MS).tickers.map(({ ticker, state }) => [ticker, state])).toEqual([
      ["XAUUSD", "missing"],
      ["GBPUSD", "not_offered"],
      ["EURUSD", "awaited"],
    ]);
  });

  test("an instrument that was retired is no longer wanted of a provider, also before it is asked again", () => {
    const listed = new Set(["EURUSD", "XAUUSD", "GBPUSD"]);
    const watch = watched(undefined, undefined, (ticker) => listed.has(ticker));
    watch.live();
    expect(watch.report(later(1))).toMatchObject({ wanted: 3, found: 2 });
    listed.delete("GBPUSD");
    expect(watch.report(later(1))).toMatchObject({ wanted: 2, found: 2 });
  });

  test("a ticker is quiet after its own silence while its market is open; the provider is not, for that", () => {
    const watch = watched();
    watch.live();
    watch.tick("EURUSD", later(STALE_MS));
    const one = watch.report(later(STALE_MS + 1));
    expect(one.state).toBe("live");
    expect(one.tickers.find(({ ticker }) => ticker === "XAUUSD")?.state).toBe("quiet");
  });

  test("a provider that lost its connection for want of prices stays quiet, also connected, until a price comes", () => {
    const watch = watched();
    watch.live();
    watch.tick("EURUSD", later(1));
    watch.lost(new Upset("no price for 60 s", { kind: "quiet" }), later(60_001), later(60_500));
    const quiet = { state: "quiet", since: new Date(later(1)).toISOString(), problem: "no price for 60 s" };
    expect(watch.report(later(60_002))).toMatchObject(quiet);
    watch.live(later(60_600));
    expect(watch.report(later(60_700))).toMatchObject(quiet);
    watch.tick("EURUSD", later(70_000));
    expect(watch.report(later(70_001))).toMatchObject({ state: "live", problem: null });
    watch.lost(new Upset("no price", { kind: "quiet" }), later(80_000), later(80_500));
    watch.lost(new Upset("not reached", { kind: "unreachable" }), later(80_600), later(81_500));
    expect(watch.report(later(80_700))).toMatchObject({ state: "waiting", problem: "not reached" });
  });

  test("nothing is quiet while the market is closed, and after an open it is first waited for a tick", () => {
    const watch = watched(() => CLOSING);
    watch.live();
    watch.tick("EURUSD", later(1));
    for (const ms of [600_000, (4 * HOUR_MS) / 2])
      expect(watch.report(later(ms)).tickers.filter(({ state }) => state === "closed")).toHaveLength(2);
    const opensMs = 600_000 + 7_200_000;
    const quietAt = (ms: number) => watch.report(later(ms)).tickers.filter(({ state }) => state === "quiet").length;
    expect([quietAt(opensMs + STALE_MS), quietAt(opensMs + STALE_MS + 1)]).toEqual([0, 2]);
  });

  test("a report lists a bounded number of tickers", () => {
    const watch = watched();
    const many = Array.from({ length: 500 }, (_, at) => ({ ...EUR, ticker: `T${at}` }));
    watch.matched(matchSymbols(many, [], new Map()), [], NOW_MS);
    const { tickers, wanted } = watch.report(NOW_MS);
    expect([tickers.length, wanted]).toEqual([UPSTREAM_TICKERS_LISTED_COUNT, 500]);
  });
});

describe("the times of a provider", () => {
  test("delay and offset are of ticks that came in a run; a first one may be an old price", () => {
    const watch = watched();
    watch.live();
    watch.tick("EURUSD", later(1), later(1 - 2 * HOUR_MS));
    expect(watch.report(later(2))).toMatchObject({ lag: null, clock_offset_ms: null });
    for (let ms = 2; ms < 100; ms += 1) watch.tick("EURUSD", later(ms));
    expect(watch.report(later(100))).toMatchObject({ clock_offset_ms: 100, sends_times: true, clock_is_off: false });
    expect(watch.report(later(100)).lag?.median_ms).toBeCloseTo(100, -1);
  });

  test("a provider without times has neither", () => {
    const watch = watched(undefined, { clock: "none" });
    watch.live();
    for (let ms = 2; ms < 100; ms += 1) watch.tick("EURUSD", later(ms));
    expect(watch.report(later(100))).toMatchObject({ lag: null, clock_offset_ms: null, sends_times: false });
  });

  test("a clock an hour ahead is a problem after a minute", () => {
    const watch = watched();
    watch.live();
    for (let ms = 0; ms < 80_000; ms += 500) watch.tick("EURUSD", later(ms), later(ms + HOUR_MS));
    expect(watch.clockProblem(later(30_000))).toBeNull();
    expect(watch.clockProblem(later(80_000))).toBe(-HOUR_MS);
    expect(watch.report(later(80_000)).clock_is_off).toBe(true);
  });
});

test("messages that were not used are counted by reason, with the first text", () => {
  const watch = watched();
  for (const text of ["first", "second"]) watch.odd("unreadable", text);
  watch.odd("unknown_symbol", "EUR_CHF");
  expect(watch.report(NOW_MS).odd).toEqual([
    { reason: "unreadable", count: 2, text: "first" },
    { reason: "unknown_symbol", count: 1, text: "EUR_CHF" },
  ]);
});
