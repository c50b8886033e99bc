import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "#lib/clock";
import type { FeedFinding } from "#lib/contract/portal-feeds";
import { type Calendar, compileCalendar } from "#lib/domain/calendar";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { HOUR_MS, MINUTE_MS } from "#lib/units";
import { type FarSide, lineFarSide } from "#server/testing/far-side";
import { checkUpstream } from "./check";
import { oandaUpstream } from "./oanda";

const SECRET = "a1b2c3-marked";
const iso = (agoMs: number) => new Date(Math.floor((Date.now() - agoMs) / MINUTE_MS) * MINUTE_MS).toISOString();
const LISTINGS = SANDBOX_LISTINGS.filter(({ ticker }) => ticker === "EURUSD" || ticker === "XAUUSD");
const OPEN = compileCalendar({ kind: "always" }, []);
const CLOSED = compileCalendar({ kind: "never" }, []);
const INSTRUMENTS = [
  { name: "EUR_USD", displayPrecision: 5 },
  { name: "XAU_USD", displayPrecision: 2 },
];

const PRICES = { o: "1.1", h: "1.2", l: "1.0", c: "1.1" };
const CANDLE = { time: iso(2 * HOUR_MS), complete: true, volume: 3, bid: PRICES, ask: PRICES };

let far: FarSide;
const lists: Record<string, unknown> = {};
beforeEach(async () => {
  lists["/instruments"] = { instruments: INSTRUMENTS };
  lists["/candles"] = { candles: [CANDLE] };
  far = await lineFarSide(lists);
});
afterEach(() => far.close());

interface Tried {
  readonly url?: string;
  readonly waitMs?: number;
  readonly calendar?: Calendar;
}

/** The findings of a check, and the last one. */
async function check({ url = far.url, waitMs = 30_000, calendar = OPEN }: Tried = {}) {
  const findings: FeedFinding[] = [];
  const upstream = oandaUpstream({ token: SECRET, account: "101-1", environment: "practice", url });
  const catalogue = { list: () => LISTINGS, calendar: () => calendar };
  const options = { upstream, catalogue, named: new Map<string, string>(), clock: systemClock, waitMs, moreMs: 50 };
  for await (const finding of checkUpstream(options, new AbortController().signal)) findings.push(finding);
  expect(JSON.stringify(findings)).not.toContain(SECRET);
  expect(findings.slice(0, -1).filter(({ state }) => state === "failed")).toEqual([]);
  return { steps: findings.map(({ step, state }) => `${step} ${state}`), last: findings.at(-1) };
}

function quote(offsetMs = 0): void {
  far.script((peer) => {
    const time = new Date(Date.now() - offsetMs).toISOString();
    const price = { type: "PRICE", instrument: "EUR_USD", time, bids: [{ price: "1.1" }], asks: [{ price: "1.2" }] };
    peer.send(JSON.stringify(price));
  });
}

describe("the check of a provider", () => {
  test("passes each step when ticks come", async () => {
    quote();
    const { steps } = await check();
    expect(steps).toEqual(["name ok", "connection ok", "login ok", "instruments ok", "prices ok", "history ok", "clock ok"]);
  });

  test("names a host that does not resolve", async () => {
    const { steps, last } = await check({ url: `https://${SECRET}:${SECRET}@feed.invalid/${SECRET}?key=${SECRET}` });
    expect(steps).toEqual(["name failed"]);
    expect(last).toMatchObject({ text: expect.stringContaining("feed.invalid"), next: expect.stringContaining("FEED_URL") });
  });

  test("names a port that takes no connection", async () => {
    const { url } = far;
    await far.close();
    expect((await check({ url })).steps).toEqual(["name ok", "connection failed"]);
    far = await lineFarSide(lists);
  });

  test("names a server that speaks no TLS", async () => {
    const { steps, last } = await check({ url: far.url.replace("http:", "https:") });
    expect(steps).toEqual(["name ok", "connection ok", "encryption failed"]);
    expect(last?.next).toContain("http://");
  });

  test.each([
    [401, "Only the owner"],
    [503, "Try again"],
  ])("names the login that is answered with %i, and what to do", async (status, next) => {
    far.refuse({ status, body: JSON.stringify({ errorMessage: `no such token: ${SECRET}` }) });
    const { steps, last } = await check();
    expect(steps).toEqual(["name ok", "connection ok", "login failed"]);
    expect(last).toMatchObject({ text: expect.stringContaining(String(status)), next: expect.stringContaining(next) });
  });

  test("names instruments that are not offered, and fails where none is", async () => {
    quote();
    lists["/instruments"] = { instruments: INSTRUMENTS.slice(0, 1) };
    const some = await check();
    expect(some.steps).toContain("instruments noted");
    expect(some.steps.at(-1)).toBe("clock ok");
    lists["/instruments"] = { instruments: [{ name: "DE30_EUR", displayPrecision: 1 }] };
    const { steps, last } = await check();
    expect(steps.slice(2)).toEqual(["login ok", "instruments failed"]);
    expect(last).toMatchObject({
      text: expect.stringContaining("not offered: EURUSD, XAUUSD"),
      next: expect.stringContaining("FEED_SYMBOLS"),
    });
  });

  test("no tick is a failure while a market is open, and none while all are closed", async () => {
    far.script(() => undefined);
    expect((await check({ waitMs: 50 })).steps.at(-1)).toBe("prices failed");
    expect((await check({ waitMs: 50, calendar: CLOSED })).steps.slice(-2)).toEqual(["prices noted", "history ok"]);
  });

  test("a stream that ends before a tick fails the prices", async () => {
    far.script((peer) => peer.end());
    const { steps, last } = await check();
    expect(steps.at(-1)).toBe("prices failed");
    expect(last?.text).not.toBe("");
  });

  test("names a history that is refused, and one that is empty", async () => {
    quote();
    lists["/candles"] = { candles: [] };
    expect((await check()).steps.slice(-2)).toEqual(["history noted", "clock ok"]);
    lists["/candles"] = { errorMessage: SECRET };
    const { steps, last } = await check();
    expect(steps.slice(-2)).toEqual(["prices ok", "history failed"]);
    expect(last).toMatchObject({ text: expect.stringContaining("candles"), next: expect.stringContaining("history") });
  });

  test.each([
    [3_600_000, "1 h old"],
    [-3_600_000, "ahead of this machine"],
  ])("names a clock that differs by %i ms", async (offset, text) => {
    quote(offset);
    const { steps, last } = await check();
    expect(steps.at(-1)).toBe("clock failed");
    expect(last).toMatchObject({ text: expect.stringContaining(text), next: expect.stringContaining("NTP") });
  });
});
