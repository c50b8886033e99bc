import { expect, test } from "vitest";
import { type Calendar, compileCalendar } from "#lib/domain/calendar";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { createPriceSilence } from "./price-silence";

/** A Wednesday noon, UTC. */
const START_MS = Date.UTC(2026, 0, 7, 12);
const OPEN = compileCalendar({ kind: "always" }, []);
const LISTINGS = SANDBOX_LISTINGS.filter(({ ticker }) => ticker === "EURUSD" || ticker === "USDHKD");

/** A connection whose time passes second by second. */
function connected(startMs = START_MS, calendar: Calendar = OPEN) {
  const silence = createPriceSilence(() => calendar, startMs);
  let nowMs = startMs;
  silence.begin(LISTINGS, nowMs);
  let cut: string | null = null;
  const silent: string[] = [];
  return {
    silence,
    silent,
    now: () => nowMs,
    /** Lets time pass until `toMs` or a cut; prices come with these gaps in seconds, by ticker. @returns why it was cut */
    until(toMs: number, gaps: Readonly<Record<string, number>> = {}): string | null {
      for (cut = null; nowMs < toMs && cut === null; nowMs += SECOND_MS) {
        for (const [ticker, gapS] of Object.entries(gaps))
          if ((nowMs / SECOND_MS) % gapS === 0) {
            const price = 1 + ((nowMs / SECOND_MS / gapS) % 7);
            silence.ticks([{ ticker, time_msc: nowMs, bid: price, ask: price }], nowMs);
          }
        const found = silence.look(nowMs);
        cut = found.cut;
        silent.push(...found.silent.map(({ ticker }) => ticker));
      }
      return cut;
    },
    reconnect: () => silence.begin(LISTINGS, nowMs),
  };
}

test("a connection with a price each second is quiet after a minute without one", () => {
  const { until, now } = connected();
  expect(until(START_MS + 5 * MINUTE_MS, { EURUSD: 1 })).toBeNull();
  expect(until(START_MS + HOUR_MS)).toBe("no price for 60 s while its markets are open");
  expect(now()).toBe(START_MS + 6 * MINUTE_MS);
});

test("a quiet exotic with known long gaps is not quiet before they are far exceeded", () => {
  const { until, now, reconnect } = connected();
  const endMs = START_MS + 3 * HOUR_MS;
  // Its first gap is not known yet.
  expect(until(endMs, { USDHKD: 240 })).not.toBeNull();
  reconnect();
  expect(until(endMs, { USDHKD: 240 })).toBeNull();
  expect(until(endMs + 25 * MINUTE_MS)).toBeNull();
  expect(until(endMs + HOUR_MS)).not.toBeNull();
  expect(now() - endMs).toBeLessThanOrEqual(31 * MINUTE_MS);
});

test("a closed market, and the pause at the start of a trading day, are no silence", () => {
  const opensMs = START_MS + 4 * HOUR_MS;
  const closing = compileCalendar({ kind: "cycle", anchorS: START_MS / SECOND_MS, openS: 3_600, closedS: 3 * 3_600 }, []);
  const closed = connected(START_MS, closing);
  expect(closed.until(START_MS + HOUR_MS, { EURUSD: 1 })).toBeNull();
  expect(closed.until(opensMs + 5 * MINUTE_MS)).toBeNull();
  expect(closed.until(opensMs + 10 * MINUTE_MS)).not.toBeNull();

  // 17:00 in New York.
  const turnMs = Date.UTC(2026, 0, 7, 22);
  const { until } = connected(turnMs - HOUR_MS);
  expect(until(turnMs - MINUTE_MS, { EURUSD: 1 })).toBeNull();
  expect(until(turnMs + 6 * MINUTE_MS)).toBeNull();
  expect(until(turnMs + 20 * MINUTE_MS, { EURUSD: 1 })).toBeNull();
  // It taught nothing.
  expect(until(turnMs + 22 * MINUTE_MS)).not.toBeNull();
});

test("a ticker that is silent alone is found once, and ends the connection at most once an hour", () => {
  const { until, silence, silent, now, reconnect } = connected();
  expect(until(START_MS + 5 * MINUTE_MS, { EURUSD: 1, USDHKD: 2 })).toBeNull();
  expect(until(START_MS + HOUR_MS, { EURUSD: 1 })).toBe("no price of USDHKD for 10 min while its market is open");
  expect(silent).toEqual(["USDHKD"]);
  expect([silence.isQuiet(), silence.isSilent("USDHKD"), silence.isSilent("EURUSD")]).toEqual([false, true, false]);
  reconnect();
  expect(until(now() + 3 * HOUR_MS, { EURUSD: 1 })).toBeNull();
  const back = silence.ticks([{ ticker: "USDHKD", time_msc: now(), bid: 9, ask: 9 }], now());
  expect(back.resumed).toEqual([{ ticker: "USDHKD", sinceMs: START_MS + 5 * MINUTE_MS - 2 * SECOND_MS }]);
  expect(silence.isSilent("USDHKD")).toBe(false);
});

test("nothing is missed of a market that is closed now; of others, everything since the last price", () => {
  const { until, silence, now } = connected();
  until(START_MS + 90 * SECOND_MS, { EURUSD: 60 });
  expect(silence.lacking(now())).toEqual([
    { ticker: "EURUSD", sinceMs: START_MS + MINUTE_MS },
    { ticker: "USDHKD", sinceMs: START_MS },
  ]);
  const closed = connected(START_MS, compileCalendar({ kind: "never" }, []));
  expect(closed.silence.lacking(START_MS + 5)[0]?.sinceMs).toBe(START_MS + 5);
});
