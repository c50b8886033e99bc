import type { IChartApi, ISeriesApi } from "lightweight-charts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { klineExample } from "#lib/contract/kline";
import { DEMO_KEY_DEFAULT } from "#lib/env";
import { fail, type ScriptedService, startScriptedService, succeed } from "#lib/testing/scripted-service";
import { type WatchedClock, watchedClock } from "#lib/testing/watched-clock";
import { createClient } from "./client";
import {
  type Bar,
  type BarListener,
  type BarSource,
  candlesOn,
  closesOn,
  type FeedOptions,
  feedSeries,
  klineSource,
  type LiveState,
  volumeOn,
} from "./lightweight-charts";

const MINUTE = 60;
const NOW = 1_767_787_200;
const bar = (time: number, close = 1): Bar => ({ time, open: 1, high: 2, low: 0.5, close, tick_volume: 7 });

interface Point {
  readonly time: number;
  readonly value?: number;
  readonly close?: number;
}

/** A series that refuses what lightweight-charts refuses: points out of order, and an update before the newest point. */
function strictSeries() {
  let points: Point[] = [];
  const calls: string[] = [];
  const series = {
    setData(data: Point[]) {
      for (const [index, { time }] of data.entries())
        if (index > 0 && time <= (data[index - 1]?.time ?? 0)) throw new Error("data must be asc ordered by time");
      points = [...data];
      calls.push("setData");
    },
    update(point: Point) {
      const last = points.at(-1)?.time ?? 0;
      if (point.time < last) throw new Error("Cannot update oldest data");
      points = [...points.filter(({ time }) => time !== point.time), point];
      calls.push("update");
    },
  };
  return { series, calls, points: () => points, times: () => points.map(({ time }) => time) };
}

/** The scroll position of a chart that the test moves. */
function scrolledChart() {
  const listeners = new Set<(range: { from: number; to: number } | null) => void>();
  const scale = {
    subscribeVisibleLogicalRangeChange: (listener: never) => listeners.add(listener),
    unsubscribeVisibleLogicalRangeChange: (listener: never) => listeners.delete(listener),
  };
  const chart = { timeScale: () => scale } as unknown as Pick<IChartApi, "timeScale">;
  return {
    chart,
    listeners,
    scrollTo: (from: number | null) => {
      for (const listener of listeners) listener(from === null ? null : { from, to: from + 100 });
    },
  };
}

/** A fed candlestick series, whose source the test speaks for. */
function feed(options: Partial<FeedOptions> = {}) {
  const candles = strictSeries();
  const { chart, listeners, scrollTo } = scrolledChart();
  const reads: (number | undefined)[] = [];
  let listener: BarListener | undefined;
  const source: BarSource = {
    read: async ({ to }) => {
      reads.push(to);
      return [];
    },
    follow: (_, heard) => {
      listener = heard;
      return () => undefined;
    },
  };
  const series = [candlesOn(candles.series as unknown as ISeriesApi<"Candlestick">)];
  const stop = feedSeries({ chart, series, timeframe: "M1", source, ...options });
  const hear = (one: Bar, removed = false) => listener?.onBar(one, removed);
  return { candles, listeners, scrollTo, reads, stop, hear };
}

describe("a fed series", () => {
  const FIRST = [bar(NOW), bar(NOW + MINUTE)];

  test("a change of the newest kline and the one after it are updates, everything else sets all data", () => {
    const { candles, hear } = feed({ first: FIRST });
    hear(bar(NOW + MINUTE, 2));
    hear(bar(NOW + 2 * MINUTE));
    expect(candles.calls).toEqual(["setData", "update", "update"]);
    hear(bar(NOW, 3));
    hear(bar(NOW + MINUTE), true);
    expect(candles.calls.slice(3)).toEqual(["setData", "setData"]);
    expect(candles.points().map(({ time, close }) => [time - NOW, close])).toEqual([
      [0, 3],
      [2 * MINUTE, 1],
    ]);
  });

  test("a kline that closes after the next one began, with the values it has, draws nothing", () => {
    const { candles, hear } = feed({ first: FIRST });
    hear(bar(NOW));
    expect(candles.calls).toEqual(["setData"]);
  });

  test("gaps get whitespace, between klines and after the last one, and a kline after a gap brings its room", () => {
    const gaps = (bars: readonly Bar[], until: number) =>
      bars.flatMap(({ time }, index) => {
        const next = bars[index + 1]?.time ?? Math.min(until, NOW + 5 * MINUTE);
        return next - time >= 2 * MINUTE ? [time + MINUTE] : [];
      });
    const { candles, hear } = feed({ first: [bar(NOW), bar(NOW + 3 * MINUTE)], gaps });
    expect(candles.times().map((time) => (time - NOW) / MINUTE)).toEqual([0, 1, 3, 4]);
    // Before the whitespace after the last kline.
    hear(bar(NOW + 3 * MINUTE, 2));
    hear(bar(NOW + 9 * MINUTE));
    expect(candles.times().map((time) => (time - NOW) / MINUTE)).toEqual([0, 1, 3, 4, 9]);
  });

  test("several series show the same klines, each in its way", () => {
    const [closes, volume] = [strictSeries(), strictSeries()];
    feed({
      first: [bar(NOW, 1.5)],
      series: [
        closesOn(closes.series as unknown as ISeriesApi<"Line">),
        volumeOn(volume.series as unknown as ISeriesApi<"Histogram">),
      ],
    });
    expect([closes.points(), volume.points()]).toEqual([[{ time: NOW, value: 1.5 }], [{ time: NOW, value: 7 }]]);
  });

  test("scrolling near the oldest kline reads older ones; farther away, without klines, or after the end it does not", () => {
    const { scrollTo, reads, stop, listeners } = feed({ first: FIRST });
    scrollTo(null);
    scrollTo(20);
    expect(reads).toEqual([]);
    scrollTo(19);
    expect(reads).toEqual([NOW]);
    stop();
    expect(listeners.size).toBe(0);
    const empty = feed();
    empty.scrollTo(0);
    expect(empty.reads).toEqual([undefined]);
  });

  test("a failed read is reported", async () => {
    const failed = new Error("refused");
    const reported = await new Promise((onError) =>
      feed({ source: { read: () => Promise.reject(failed) }, onError }).scrollTo(0),
    );
    expect(reported).toBe(failed);
  });
});

describe("klines of the service as a source", () => {
  let service: ScriptedService;
  let clock: WatchedClock;
  let stop: () => void = () => undefined;

  beforeEach(async () => {
    service = await startScriptedService();
    clock = watchedClock();
  });
  afterEach(async () => {
    stop();
    await service.stop();
  });

  const M1 = { type: "kline", ticker: "EURUSD", timeframe: "M1", epoch: "e1", closed: false } as const;
  const record = (seq: number, time: number, event = "update") => ({
    ...M1,
    event,
    seq,
    data: { ...klineExample, timeframe: "M1", time },
  });

  function follow(key: string = DEMO_KEY_DEFAULT) {
    const client = createClient({ baseUrl: service.url, key, clock, random: () => 0.5 });
    const heard: string[] = [];
    const states: LiveState[] = [];
    const source = klineSource(client, "EURUSD");
    stop =
      source.follow?.("M1", {
        onBar: ({ time }, removed) => heard.push(`${removed ? "removed" : "shown"} ${time}`),
        onState: (state) => states.push(state),
      }) ?? stop;
    return { source, heard, states, phases: () => states.map(({ phase }) => phase) };
  }

  test("history is read over REST, newest klines before a time", async () => {
    service.answer(({ query }) => succeed({ items: [{ ...klineExample, time: Number(query.get("to")) - MINUTE }] }));
    const read = follow().source.read?.({ timeframe: "M1", to: NOW, limit: 5 }, new AbortController().signal);
    expect(await read).toMatchObject([{ time: NOW - MINUTE }]);
    expect(Object.fromEntries(service.requests[0]?.query ?? [])).toEqual({
      ticker: "EURUSD",
      timeframe: "M1",
      to: String(NOW),
      limit: "5",
    });
  });

  test("updates, corrections and removals reach the series; after a gap it learns that it may have missed klines", async () => {
    const { heard, phases } = follow();
    const peer = await service.welcomed();
    await peer.ack();
    for (const message of [record(1, NOW, "snapshot"), record(2, NOW - MINUTE, "correction"), record(3, NOW - MINUTE, "removal")])
      peer.send(message);
    await expect.poll(() => heard).toEqual([`shown ${NOW}`, `shown ${NOW - MINUTE}`, `removed ${NOW - MINUTE}`]);
    expect(phases()).toEqual(["connecting", "live"]);
    peer.send(record(9, NOW));
    await expect.poll(() => phases()).toEqual(["connecting", "live", "connecting", "live"]);
  });

  test("after a lost connection it is live again; a stream that ended for good says why", async () => {
    const { states, phases } = follow();
    const first = await service.welcomed();
    await first.ack();
    first.cut();
    await clock.waitingFor(250);
    await clock.advance(250);
    const second = await service.welcomed();
    await expect.poll(() => phases()).toEqual(["connecting", "live", "connecting", "connecting", "live"]);
    second.close(4401, "unauthorized");
    await expect.poll(() => states.at(-1)?.phase).toBe("stopped");
    expect(states.at(-1)?.why).not.toBe("");
    expect(service.handshakes).toBe(2);
  });

  describe("over a stream that others use too", () => {
    type M1 = ReturnType<typeof record>;
    const of = (ticker: string, message: M1) => ({ ...message, ticker });

    /** A stream, and charts that follow it. */
    function share() {
      const client = createClient({ baseUrl: service.url, key: DEMO_KEY_DEFAULT, clock, random: () => 0.5 });
      const stream = client.stream({ onError: () => undefined });
      stop = () => stream.close();
      const chart = (ticker: string) => {
        const heard: number[] = [];
        const states: LiveState[] = [];
        const listener: BarListener = { onBar: ({ time }) => heard.push(time), onState: (state) => states.push(state) };
        const leave = klineSource(stream, ticker).follow?.("M1", listener) ?? (() => undefined);
        return { heard, states, leave, phases: () => states.map(({ phase }) => phase) };
      };
      return { stream, chart };
    }

    test("two charts of a ticker, one of another and a table take one connection, and each hears its own until it leaves", async () => {
      const { stream, chart } = share();
      const [one, two, gold] = [chart("EURUSD"), chart("EURUSD"), chart("XAUUSD")];
      const table: number[] = [];
      stream.subscribe({ stream: "kline", tickers: ["EURUSD"], timeframe: "M1" }, ({ seq }) => table.push(seq));
      const peer = await service.welcomed();
      expect((await peer.ack()).params).toMatchObject({ tickers: ["EURUSD", "XAUUSD"] });
      peer.send(record(1, NOW, "snapshot"));
      peer.send(of("XAUUSD", record(7, NOW + MINUTE, "snapshot")));
      await expect.poll(() => [one.heard, two.heard, gold.heard, table]).toEqual([[NOW], [NOW], [NOW + MINUTE], [1]]);
      one.leave();
      peer.send(record(2, NOW));
      await expect.poll(() => [one.heard.length, two.heard.length, table.length]).toEqual([1, 2, 2]);
      expect([service.handshakes, stream.state]).toEqual([1, "open"]);
      peer.cut();
      await expect.poll(() => two.phases().at(-1)).toBe("connecting");
      expect(one.phases().at(-1)).toBe("live");
    });

    test("a chart that joins later is live at once, hears of gaps in its own klines, and of the end", async () => {
      const { stream, chart } = share();
      const one = chart("EURUSD");
      const peer = await service.welcomed();
      await peer.ack();
      peer.send(record(1, NOW, "snapshot"));
      await expect.poll(() => one.heard).toEqual([NOW]);
      const two = chart("XAUUSD");
      expect(two.phases()).toEqual(["live"]);
      await peer.ack();
      peer.send(of("XAUUSD", record(1, NOW, "snapshot")));
      peer.send(of("XAUUSD", record(9, NOW, "correction")));
      await expect.poll(() => two.phases()).toEqual(["live", "connecting", "live"]);
      expect(one.phases()).toEqual(["connecting", "live"]);
      stream.close();
      expect([one.phases().at(-1), two.phases().at(-1)]).toEqual(["stopped", "stopped"]);
      expect(() => chart("EURUSD")).toThrow(expect.objectContaining({ id: "stream_closed" }));
    });

    test("a chart whose ticker is refused stops alone", async () => {
      const { stream, chart } = share();
      const [good, bad] = [chart("EURUSD"), chart("AAABBB")];
      const peer = await service.welcomed();
      await peer.ack(["AAABBB"]);
      await expect.poll(() => bad.states.at(-1)).toMatchObject({ phase: "stopped", why: expect.stringContaining("AAABBB") });
      peer.send(record(1, NOW, "snapshot"));
      await expect.poll(() => good.heard).toEqual([NOW]);
      expect([good.phases().at(-1), stream.state]).toEqual(["live", "open"]);
    });

    test("its history is read by the client that made it", async () => {
      service.answer(() => succeed({ items: [{ ...klineExample, time: NOW }] }));
      const source = klineSource(share().stream, "EURUSD");
      expect(await source.read?.({ timeframe: "M1", to: undefined, limit: 5 }, new AbortController().signal)).toMatchObject([
        { time: NOW },
      ]);
      expect(service.requests[0]?.query.get("ticker")).toBe("EURUSD");
    });
  });

  test("while no stream can be opened, each attempt says why", async () => {
    service.refuseHandshakes(fail("too_many_connections", { detail: "Two at a time." }, { "retry-after": "5" }));
    const { states } = follow();
    await clock.waitingFor(5_250);
    await clock.advance(5_250);
    await service.welcomed();
    await expect.poll(() => states.at(-1)).toEqual({ phase: "live" });
    const why = "too_many_connections: Two at a time. (request req-1)";
    const connecting = { phase: "connecting" };
    expect(states).toEqual([connecting, { ...connecting, why }, { ...connecting, why }, { phase: "live" }]);
  });

  test("a ticker that the service does not know is stopped, in words", async () => {
    const { states } = follow();
    const peer = await service.welcomed();
    await peer.ack(["EURUSD"]);
    await expect.poll(() => states.at(-1)).toMatchObject({ phase: "stopped", why: expect.stringContaining("EURUSD") });
  });

  test("a refused key is stopped, in words", async () => {
    service.refuseHandshakes(fail("unauthorized", { detail: "The key was revoked." }));
    const { states } = follow();
    await expect
      .poll(() => states.at(-1))
      .toMatchObject({ phase: "stopped", why: expect.stringContaining("The key was revoked.") });
  });
});
