import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Instrument, instrumentExample } from "#lib/contract/instrument";
import { type Kline, klineExample } from "#lib/contract/kline";
import { KLINES_MAX_LIMIT_ROWS } from "#lib/contract/limits";
import type { Timeframe } from "#lib/contract/primitives";
import { type CalendarDefinition, compileCalendar } from "#lib/domain/calendar";
import { forex } from "#lib/domain/calendars/forex";
import { metals } from "#lib/domain/calendars/metals";
import { createAlignment } from "#lib/domain/timeframe";
import { DEMO_KEY_DEFAULT } from "#lib/env";
import { type Bar, isOpen, type LibraryDatafeed, type LibrarySubscription, openLibrary } from "#lib/testing/charting-library";
import {
  createInbox,
  fail,
  type Peer,
  quote,
  type ScriptedService,
  startScriptedService,
  succeed,
} from "#lib/testing/scripted-service";
import { type WatchedClock, watchedClock } from "#lib/testing/watched-clock";
import { DAY_MS, DAY_S, MINUTE_MS, MINUTE_S } from "#lib/units";
import { createClient } from "./client";
import type { SpotwireError } from "./errors";
import { createDatafeed, type Datafeed } from "./tradingview";
import { sessionTexts } from "./tradingview/sessions";

/** A Wednesday noon, UTC. */
const NOW_MS = Date.UTC(2026, 0, 7, 12);
const NOW = NOW_MS / 1000;
const EPOCH = { open: 1, high: 2, low: 0.5, close: 1.5, tick_volume: 3 };
const alignment = createAlignment();

let service: ScriptedService;
let clock: WatchedClock;
let datafeed: Datafeed | undefined;
let errors: SpotwireError[];

beforeEach(async () => {
  service = await startScriptedService();
  clock = watchedClock();
  errors = [];
});
afterEach(async () => {
  datafeed?.close();
  await service.stop();
});

const kline = (time: number, more: Partial<Kline> = {}): Kline => ({ ...klineExample, ...EPOCH, timeframe: "M1", time, ...more });

/** The open times of a timeframe before an instant, newest last, from the first kline of a history on. */
function timesBefore(timeframe: Timeframe, to: number, count: number, first: number): number[] {
  const times: number[] = [];
  for (
    let at = alignment.openTime(timeframe, to - 1);
    times.length < count && at >= first;
    at = alignment.openTime(timeframe, at - 1)
  )
    times.unshift(at);
  return times;
}

/** Answers as the service does, with a history that begins at `first`. */
function serve({ first = 0, instruments = [instrumentExample] }: { first?: number; instruments?: Instrument[] } = {}): void {
  service.answer(({ path, query }) => {
    if (path.endsWith("/instruments")) return succeed({ items: instruments });
    if (path.endsWith("/hours")) {
      const [from, to] = [Number(query.get("from")), Number(query.get("to"))];
      return succeed(hoursOf(forex, from, to));
    }
    const timeframe = query.get("timeframe") as Timeframe;
    const limit = Number(query.get("limit"));
    expect(limit).toBeLessThanOrEqual(KLINES_MAX_LIMIT_ROWS);
    const to = Math.min(Number(query.get("to")), NOW + 1);
    return succeed({ items: timesBefore(timeframe, to, limit, first).map((time) => kline(time, { timeframe })) });
  });
}

function hoursOf(definition: CalendarDefinition, from: number, to: number) {
  const sessions = compileCalendar(definition, []).sessionsBetween(from * 1000, to * 1000) ?? [];
  return {
    ticker: "EURUSD",
    from,
    to,
    sessions: sessions.map(({ openMs, closeMs }) => ({ from: openMs / 1000, to: closeMs / 1000 })),
  };
}

/** The library on a datafeed of the scripted service. */
function open(more: { maxAttempts?: number; maxWaitS?: number } = {}) {
  const client = createClient({ baseUrl: service.url, key: DEMO_KEY_DEFAULT, clock, random: () => 0.5, ...more });
  datafeed = createDatafeed(client, { clock, now: () => NOW_MS, onError: (error) => errors.push(error) });
  // Its type is that of the library.
  const typed: LibraryDatafeed = datafeed;
  return openLibrary(typed);
}

const period = (from: number, to: number, countBack: number) => ({ from, to, countBack, firstDataRequest: true });
const klineCalls = () => service.requests.filter(({ path }) => path.endsWith("/klines"));

describe("symbols", () => {
  test("the configuration has every timeframe of the contract as a resolution", async () => {
    expect((await open().ready()).supported_resolutions).toEqual(["1", "5", "15", "30", "60", "240", "1D", "1W", "1M"]);
  });

  test("a symbol has its digits, its resolutions, and a week with its holidays in New York's time", async () => {
    serve();
    const symbol = await open().resolve("FX:eurusd");
    expect(symbol).toMatchObject({
      name: "EURUSD",
      description: "Euro / US Dollar",
      type: "forex",
      pricescale: 100_000,
      timezone: "America/New_York",
      session: "1700-1700:23456",
      data_status: "streaming",
      has_intraday: true,
      intraday_multipliers: ["1", "5", "15", "30", "60", "240"],
      has_weekly_and_monthly: true,
    });
    expect(symbol.corrections).toBe("1700-0300:20241225,20251225,20261225");
    expect(symbol.session_holidays).toBe("20250101,20260101,20270101");
    expect(service.requests.map(({ path }) => path.split("/").at(-1))).toEqual(["instruments", "hours"]);
  });

  test("hours that come in many answers are read in at most four calls, and only while more follow", async () => {
    serve();
    const days = (count: number) =>
      service.answer(({ path, query }) => {
        if (path.endsWith("/instruments")) return succeed({ items: [instrumentExample] });
        const from = Number(query.get("from"));
        return succeed(hoursOf(forex, from, from + count * DAY_S));
      });
    const asked = () =>
      service.requests.filter(({ path }) => path.endsWith("/hours")).map(({ query }) => Number(query.get("from")));
    days(100);
    await open().resolve("EURUSD");
    const [first = 0] = asked();
    expect(asked()).toEqual([0, 1, 2, 3].map((index) => first + index * 100 * DAY_S));
    days(0);
    await open().resolve("EURUSD");
    expect(asked()).toHaveLength(6);
  });

  test("an unknown symbol is refused in words, with the one that is probably meant", async () => {
    serve({ instruments: [instrumentExample, { ...instrumentExample, ticker: "EURGBP" }] });
    await expect(open().resolve("NOSUCH")).rejects.toThrow("Unknown symbol NOSUCH.");
    await expect(open().resolve("EUR/USD")).rejects.toThrow("Unknown symbol EUR/USD. Did you mean EURUSD?");
    await expect(open().resolve("EURUSDD")).rejects.toThrow("Unknown symbol EURUSDD. Did you mean EURUSD?");
  });

  test("a search finds by name and nickname, and filters by type; a failed one finds nothing, and the next one tries again", async () => {
    serve({
      instruments: [
        instrumentExample,
        { ...instrumentExample, ticker: "XAUUSD", name: "Gold / US Dollar", asset_class: "metals" },
      ],
    });
    const library = open();
    expect((await library.search("gold")).map(({ symbol, type }) => `${symbol} ${type}`)).toEqual(["XAUUSD commodity"]);
    expect(await library.search("gold", "forex")).toEqual([]);
    service.answer(() => fail("unauthorized"));
    const other = open();
    expect(await other.search("gold")).toEqual([]);
    serve();
    expect(await other.search("euro")).toHaveLength(1);
  });

  test("a refused key is refused in words", async () => {
    service.answer(() => fail("unauthorized", { detail: "The key was revoked." }));
    await expect(open().resolve("EURUSD")).rejects.toThrow("The key was revoked. (request req-1)");
  });

  test("the time is the service's", async () => {
    service.answer(({ path }) =>
      succeed({ items: [path.endsWith("/status") ? { updated_at: "2026-01-07T12:00:00.900Z" } : instrumentExample] }),
    );
    expect(await open().serverTime()).toBe(NOW);
  });
});

describe("sessions", () => {
  /** Every half hour in which the texts and the calendar differ. */
  function differences(definition: CalendarDefinition, from: string, days: number): string[] {
    const [fromMs, now] = [Date.parse(from), Date.parse(from) / 1000];
    const calendar = compileCalendar(definition, []);
    const texts = sessionTexts(hoursOf(definition, now - 300 * DAY_S, now + 100 * DAY_S));
    const symbol = { timezone: "America/New_York", ...texts } as const;
    const wrong: string[] = [];
    for (let atMs = fromMs; atMs < fromMs + days * DAY_MS; atMs += 30 * MINUTE_MS)
      if (isOpen(symbol, atMs) !== (calendar.sessionAt(atMs).state === "open")) wrong.push(new Date(atMs).toISOString());
    return wrong;
  }

  test.each([
    ["forex over the clock change in spring", forex, "2026-03-01T00:00:00Z", 14],
    ["forex over the clock change in autumn", forex, "2026-10-25T00:00:00Z", 14],
    ["forex over Christmas and New Year", forex, "2025-12-20T00:00:00Z", 16],
    ["metals over the clock change", metals, "2026-03-01T00:00:00Z", 14],
    ["metals over Thanksgiving, with an early close", metals, "2026-11-22T00:00:00Z", 9],
    ["metals over Christmas and New Year", metals, "2025-12-20T00:00:00Z", 16],
    ["a market that is always open", { kind: "always" } as const, "2026-03-01T00:00:00Z", 14],
  ])("%s: the library sees the market open when it is", (_, definition, from, days) => {
    expect(differences(definition, from, days)).toEqual([]);
  });

  test("metals have a break each day, holidays, and early closes", () => {
    const texts = sessionTexts(
      hoursOf(metals, Date.parse("2025-01-01T00:00:00Z") / 1000, Date.parse("2027-01-01T00:00:00Z") / 1000),
    );
    expect(texts.session).toBe("1800-1700:23456");
    expect(texts.session_holidays.split(",")).toContain("20260403");
    expect(texts.corrections).toMatch(/1800-1300:[^;]*20260703/);
  });

  test("a market that opens by the minute, and one whose hours are unknown, are drawn as always open", () => {
    const always = { session: "1700-1700:1234567", session_holidays: "", corrections: "" };
    expect(sessionTexts(hoursOf({ kind: "cycle", anchorS: 0, openS: 60, closedS: 60 }, NOW, NOW + 3 * DAY_S))).toEqual(always);
    expect(sessionTexts({ from: NOW, to: NOW, sessions: [] })).toEqual(always);
  });

  test("a session that ends on the eve of its trading day says so", () => {
    const week = [{ day: 1, open: "18:00", close: "20:00" }] as const;
    const eve = { ...forex, week, holidays: [], earlyCloses: {}, lateOpens: {} };
    expect(sessionTexts(hoursOf(eve, NOW - 60 * DAY_S, NOW)).session).toBe("1800F1-2000F1:3");
  });
});

describe("history", () => {
  const symbolOf = async (library: ReturnType<typeof open>) => library.resolve("EURUSD");

  test.each(["1", "5", "15", "30", "60", "240", "1D", "1W", "1M"])(
    "resolution %s: at least as many bars as asked for, none from `to` on",
    async (resolution) => {
      serve();
      const library = open();
      const { bars } = await library.load(await symbolOf(library), resolution, period(NOW - DAY_S, NOW, 300));
      expect(bars.length).toBeGreaterThanOrEqual(300);
    },
  );

  test("a day has the date of its trading day, also over the clock change", async () => {
    serve();
    const library = open();
    const { bars } = await library.load(await symbolOf(library), "1D", period(NOW - 300 * DAY_S, NOW, 300));
    const dates = bars.map(({ time }) => time / DAY_MS);
    expect(dates).toEqual(dates.map((_, index) => (dates[0] ?? 0) + index));
    expect(new Date(bars.at(-1)?.time ?? 0).toISOString()).toBe("2026-01-07T00:00:00.000Z");
  });

  test("more bars than a page of the service has are read in pages without a gap", async () => {
    serve();
    const library = open();
    const { bars } = await library.load(await symbolOf(library), "1", period(NOW - MINUTE_S, NOW, 12_000));
    expect(bars).toHaveLength(12_000);
    expect((bars.at(-1)?.time ?? 0) - (bars[0]?.time ?? 0)).toBe(11_999 * MINUTE_MS);
    expect(klineCalls()).toHaveLength(3);
  });

  test("one answer reads ten pages at most", async () => {
    serve();
    const library = open();
    const { bars } = await library.load(await symbolOf(library), "1", period(NOW - 3_650 * DAY_S, NOW, 300));
    expect(klineCalls()).toHaveLength(10);
    expect(bars.length).toBeLessThanOrEqual(10 * KLINES_MAX_LIMIT_ROWS);
  });

  test("over a weekend older bars fill the count, so that nothing is empty before the history begins", async () => {
    service.answer(({ path, query }) => {
      if (path.endsWith("/instruments")) return succeed({ items: [instrumentExample] });
      if (path.endsWith("/hours")) return succeed(hoursOf(forex, Number(query.get("from")), Number(query.get("to"))));
      const friday = Date.parse("2026-01-02T22:00:00Z") / 1000;
      const times = timesBefore("M1", Math.min(Number(query.get("to")), friday), Number(query.get("limit")), 0);
      return succeed({ items: times.map((time) => kline(time)) });
    });
    const library = open();
    const saturday = Date.parse("2026-01-03T12:00:00Z") / 1000;
    const { bars } = await library.load(await symbolOf(library), "1", period(saturday, saturday + 3_600, 60));
    expect(bars).toHaveLength(60);
    expect(new Date(bars.at(-1)?.time ?? 0).toISOString()).toBe("2026-01-02T21:59:00.000Z");
    // Versions of the library without a count: the newest bar before the range.
    const { bars: none, meta } = await library.load(await symbolOf(library), "1", period(saturday, saturday + 3_600, 0));
    expect([none, meta]).toEqual([[], { noData: true, nextTime: Date.parse("2026-01-02T21:59:00Z") / 1000 }]);
  });

  test("before the first kline there is no data", async () => {
    serve({ first: NOW - 100 * MINUTE_S });
    const library = open();
    const symbol = await symbolOf(library);
    const { bars } = await library.load(symbol, "1", period(NOW - DAY_S, NOW, 300));
    expect(bars).toHaveLength(100);
    const { meta } = await library.load(symbol, "1", period(NOW - 2 * DAY_S, (bars[0]?.time ?? 0) / 1000, 300));
    expect(meta).toEqual({ noData: true });
    expect((await library.load(symbol, "1", period(-2 * DAY_S, -DAY_S, 300))).meta).toEqual({ noData: true });
    expect((await library.load(symbol, "1", period(-DAY_S, DAY_S, 0))).meta).toEqual({ noData: true });
    for (const { query } of klineCalls())
      for (const name of ["from", "to"]) expect(Number(query.get(name) ?? 0)).toBeGreaterThanOrEqual(0);
  });

  test.each([
    [
      "a resolution that is not supported",
      "3",
      period(NOW - DAY_S, NOW, 10),
      "Resolution 3 is not supported, but 1, 5, 15, 30, 60, 240, 1D, 1W, 1M are.",
    ],
    ["a range that ends before it begins", "1", period(NOW, NOW - DAY_S, 10), "The start of the range must be before its end."],
  ])("%s is refused in words", async (_, resolution, asked, words) => {
    serve();
    const library = open();
    await expect(library.load(await symbolOf(library), resolution, asked)).rejects.toThrow(words);
    expect(klineCalls()).toHaveLength(0);
  });

  test("a call past the limit waits as long as the service says, and when that is too long says so", async () => {
    serve();
    const patient = open();
    const symbol = await symbolOf(patient);
    service.answer(() => fail("rate_limited", { detail: "Too many calls.", retry_after: 7 }, { "retry-after": "7" }));
    const loading = patient.load(symbol, "1", period(NOW - DAY_S, NOW, 10));
    await clock.waitingFor(7_000);
    serve();
    await clock.advance(7_000);
    expect((await loading).bars.length).toBeGreaterThanOrEqual(10);
    const hasty = open({ maxWaitS: 0 });
    service.answer(() => fail("rate_limited", { detail: "Too many calls.", retry_after: 7 }, { "retry-after": "7" }));
    await expect(hasty.load(symbol, "1", period(NOW - DAY_S, NOW, 10))).rejects.toThrow(
      "Too many calls. Try again in 7 s. (request req-1)",
    );
  });
});

describe("live bars", () => {
  const M1 = { type: "kline", ticker: "EURUSD", timeframe: "M1", epoch: "e1" } as const;
  const minute = NOW - (NOW % MINUTE_S);
  let seq = 0;

  interface Opened {
    readonly library: ReturnType<typeof open>;
    readonly peer: Peer;
    readonly subscription: LibrarySubscription;
    readonly ticked: ReturnType<typeof createInbox<Bar | undefined>>;
    readonly reset: ReturnType<typeof createInbox<null>>;
  }

  /** A chart of EURUSD that loaded its bars up to the current minute, and follows them. */
  async function follow(): Promise<Opened> {
    serve();
    seq = 0;
    const library = open();
    const symbol = await library.resolve("EURUSD");
    const { bars } = await library.load(symbol, "1", period(NOW - DAY_S, NOW + MINUTE_S, 300));
    expect(bars.at(-1)?.time).toBe(minute * 1000);
    const ticked = createInbox<Bar | undefined>();
    const reset = createInbox<null>();
    const subscription: LibrarySubscription = library.subscribe(
      { symbol, resolution: "1", id: "1", last: bars.at(-1) },
      () => ticked.put(subscription.ticks.at(-1)),
      () => reset.put(null),
    );
    const peer = await service.welcomed();
    await peer.ack();
    return { library, peer, subscription, ticked, reset };
  }

  const send = (peer: Peer, data: Kline, event = "update") => {
    seq += 1;
    peer.send({ ...M1, event, seq, closed: false, data });
  };
  const at = (minutes: number, close = 1.5) => kline(minute + minutes * MINUTE_S, { close });
  /** Waits until the datafeed wants to reset, and lets it. */
  async function resets({ reset }: Opened): Promise<void> {
    await clock.waitingFor(1_000);
    await clock.advance(1_000);
    await reset.next();
  }

  test("updates change the newest bar, a new minute adds one, and the close of the one before changes nothing", async () => {
    const chart = await follow();
    const { peer, ticked, subscription } = chart;
    send(peer, at(0, 1.6), "snapshot");
    expect(await ticked.next()).toMatchObject({ time: minute * 1000, close: 1.6 });
    send(peer, at(1, 1.7));
    expect(await ticked.next()).toMatchObject({ time: (minute + MINUTE_S) * 1000, close: 1.7 });
    send(peer, at(0, 1.6));
    send(peer, at(1, 1.8));
    expect(await ticked.next()).toMatchObject({ close: 1.8 });
    expect([subscription.ticks.length, subscription.resets()]).toEqual([3, 0]);
  });

  test("a repair of the newest bar is a tick; any other correction makes the library load again, once for all of them", async () => {
    const chart = await follow();
    const { peer, ticked, subscription } = chart;
    send(peer, at(0), "snapshot");
    send(peer, at(0, 1.9), "correction");
    expect(await ticked.next()).toMatchObject({ time: minute * 1000, close: 1.9 });
    send(peer, at(-5, 1.1), "correction");
    send(peer, at(-4, 1.1), "correction");
    send(peer, at(-3), "removal");
    await resets(chart);
    send(peer, at(0, 2));
    await ticked.next();
    expect(subscription.resets()).toBe(1);
  });

  test("late ticks of the minute before make the library load again", async () => {
    const chart = await follow();
    send(chart.peer, at(0, 1.6), "snapshot");
    send(chart.peer, at(1, 1.7));
    send(chart.peer, at(0, 1.65));
    await resets(chart);
    expect(chart.subscription.ticks.map(({ close }) => close)).toEqual([1.6, 1.7]);
  });

  test("after a lost connection the stream resumes, and what was replayed needs no reset", async () => {
    const chart = await follow();
    send(chart.peer, at(0, 1.6), "snapshot");
    await chart.ticked.next();
    chart.peer.cut();
    await clock.waitingFor(250);
    await clock.advance(250);
    const second = await service.welcomed();
    const { params } = (await second.ack()) as { params: { resume?: unknown } };
    expect(params.resume).toEqual({ epoch: "e1", seq: { EURUSD: 1 } });
    send(second, at(0, 1.7));
    send(second, at(1, 1.8));
    await chart.ticked.next();
    await chart.ticked.next();
    expect(chart.subscription.resets()).toBe(0);
  });

  test.each([
    ["records are missing", () => (seq += 100), "update"],
    ["bars closed unseen, in a new epoch", () => 0, "snapshot"],
  ])("when %s, the library drops its bars and loads them again", async (_, skip, event) => {
    const chart = await follow();
    send(chart.peer, at(0, 1.6), "snapshot");
    await chart.ticked.next();
    skip();
    seq += 1;
    chart.peer.send({ ...M1, epoch: event === "snapshot" ? "e2" : "e1", event, seq, closed: false, data: at(4, 1.8) });
    expect(await chart.ticked.next()).toMatchObject({ time: (minute + 4 * MINUTE_S) * 1000 });
    await resets(chart);
  });

  test("a bar that began between the history and the stream makes the library load again", async () => {
    const chart = await follow();
    send(chart.peer, at(1), "snapshot");
    await resets(chart);
  });

  test("a stream that ends for good is reported, and the next subscription opens another that all charts follow", async () => {
    const chart = await follow();
    send(chart.peer, at(0), "snapshot");
    chart.peer.send({
      type: "error",
      id: null,
      code: 40101,
      message: "unauthorized",
      data: { detail: "The key was revoked.", close_code: 4401 },
    });
    chart.peer.close(4401, "unauthorized");
    await expect.poll(() => errors.map(({ detail }) => detail)).toEqual(["The key was revoked."]);
    expect(service.handshakes).toBe(1);
    const symbol = await chart.library.resolve("EURUSD");
    chart.library.subscribe({ symbol, resolution: "1", id: "2" });
    const next = await service.welcomed();
    expect((await next.ack()).method).toBe("subscribe");
    send(next, at(0, 1.7), "snapshot");
    expect(await chart.ticked.next()).toMatchObject({ close: 1.7 });
  });

  test("a datafeed follows its bars over a stream that the page also uses, loads again what it may have missed, and leaves it open", async () => {
    serve();
    const client = createClient({ baseUrl: service.url, key: DEMO_KEY_DEFAULT, clock, random: () => 0.5 });
    const stream = client.stream();
    const prices = createInbox<number>();
    stream.subscribe({ stream: "quote", tickers: ["EURUSD"] }, ({ data }) => prices.put(data.bid));
    const peer = await service.welcomed();
    await peer.ack();
    const shared = createDatafeed(client, { stream, clock, now: () => NOW_MS });
    const library = openLibrary(shared as LibraryDatafeed);
    const symbol = await library.resolve("EURUSD");
    const reset = createInbox<null>();
    const ticked = createInbox<null>();
    library.subscribe(
      { symbol, resolution: "1", id: "1", last: undefined },
      () => ticked.put(null),
      () => reset.put(null),
    );
    expect((await peer.ack()).params).toMatchObject({ stream: "kline", tickers: ["EURUSD"] });
    seq = 0;
    send(peer, at(0), "snapshot");
    await ticked.next();
    peer.send(quote("EURUSD", 1));
    await prices.next();
    peer.cut();
    await clock.waitingFor(250);
    await clock.advance(250);
    const again = await service.welcomed();
    await again.ack();
    await again.ack();
    send(again, at(0, 1.6), "snapshot");
    await ticked.next();
    await clock.waitingFor(1_000);
    await clock.advance(1_000);
    await reset.next();
    shared.close();
    expect((await again.ack()).method).toBe("unsubscribe");
    again.send(quote("EURUSD", 2));
    await prices.next();
    expect([stream.state, service.handshakes]).toEqual(["open", 2]);
    stream.close();
  });

  test("a resolution that is not supported is reported, and nothing is followed", async () => {
    serve();
    const library = open();
    library.subscribe({ symbol: await library.resolve("EURUSD"), resolution: "3", id: "1" });
    expect(errors.map(({ id }) => id)).toEqual(["invalid_argument"]);
    expect(service.handshakes).toBe(0);
  });

  test("a chart that unsubscribes hears nothing more, not even a reset that was due", async () => {
    const chart = await follow();
    send(chart.peer, at(0), "snapshot");
    send(chart.peer, at(-5), "removal");
    await clock.waitingFor(1_000);
    chart.library.unsubscribe("1");
    await clock.advance(1_000);
    expect((await chart.peer.messages.next()).method).toBe("unsubscribe");
    expect(chart.subscription.resets()).toBe(0);
  });
});
