import { describe, expect, test, vi } from "vitest";
import { KLINES_DEFAULT_LIMIT_ROWS } from "#lib/contract/limits";
import { BARS_MAX_COUNT, startBars } from "./bar-series";
import type { Bar, BarListener, BarSource } from "./bar-source";
import { SpotwireError } from "./errors";

const bar = (time: number, close = 1): Bar => ({ time, open: 1, high: 1, low: 1, close, tick_volume: 1 });
const page = (to: number, count = KLINES_DEFAULT_LIMIT_ROWS) =>
  Array.from({ length: count }, (_, index) => bar(to - count + index));
const NOW = 1_000_000;

/** A source whose reads the test answers one by one, and whose stream it speaks for. */
function open(first: readonly Bar[] = []) {
  const reads: { to: number | undefined; resolve: (bars: Bar[]) => void; reject: (error: unknown) => void }[] = [];
  let listener: BarListener | undefined;
  const source: BarSource = {
    read: ({ to }) => new Promise((resolve, reject) => reads.push({ to, resolve, reject })),
    follow: (_, heard) => {
      listener = heard;
      return () => undefined;
    },
  };
  let bars: readonly Bar[] = [];
  const series = startBars({
    timeframe: "M1",
    source,
    first,
    onAll: (all) => {
      bars = all;
    },
    onLast: (last) => {
      bars = [...bars.filter(({ time }) => time !== last.time), last];
    },
    onState: () => undefined,
  });
  const settle = async (act: () => void) => {
    act();
    await vi.waitFor(() => undefined);
  };
  const hear = () => {
    if (listener === undefined) throw new Error("Nothing is followed.");
    return listener;
  };
  return { reads, series, settle, hear, times: () => bars.map(({ time }) => time), bars: () => bars };
}

describe("the bars of a chart", () => {
  test("the newest page is read first, older ones on request, one read at a time", async () => {
    const { reads, series, settle, times } = open();
    series.older();
    expect(reads.map(({ to }) => to)).toEqual([undefined]);
    await settle(() => reads[0]?.resolve(page(NOW)));
    series.older();
    series.older();
    expect(reads.map(({ to }) => to)).toEqual([undefined, NOW - KLINES_DEFAULT_LIMIT_ROWS]);
    await settle(() => reads[1]?.resolve(page(NOW - KLINES_DEFAULT_LIMIT_ROWS, 3)));
    expect(times()).toHaveLength(KLINES_DEFAULT_LIMIT_ROWS + 3);
    series.older();
    expect(reads).toHaveLength(2);
  });

  test("no more than the maximum is kept, and nothing more is read", async () => {
    const { reads, series, settle, times } = open([bar(NOW)]);
    for (let index = 0; index < 2 * (BARS_MAX_COUNT / KLINES_DEFAULT_LIMIT_ROWS); index += 1) {
      series.older();
      const read = reads[index];
      if (read?.to !== undefined) await settle(() => read.resolve(page(read.to ?? 0)));
    }
    expect(times()).toHaveLength(BARS_MAX_COUNT);
    expect(times().at(-1)).toBe(NOW);
    expect(reads).toHaveLength(BARS_MAX_COUNT / KLINES_DEFAULT_LIMIT_ROWS);
  });

  test("a refused read rests as long as the service says", async () => {
    vi.useFakeTimers();
    const { reads, series } = open([bar(NOW)]);
    series.older();
    reads[0]?.reject(new SpotwireError("rate_limited", "Too many.", { status: 429, retryAfterS: 30 }));
    await vi.advanceTimersByTimeAsync(29_000);
    series.older();
    expect(reads).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_000);
    series.older();
    expect(reads).toHaveLength(2);
    series.stop();
    vi.useRealTimers();
  });

  test("streamed bars update the newest, mend an older one, and withdraw one", async () => {
    const { hear, times, bars } = open([bar(NOW - 2), bar(NOW - 1), bar(NOW)]);
    hear().onBar(bar(NOW, 2), false);
    hear().onBar(bar(NOW + 1), false);
    hear().onBar(bar(NOW - 1, 3), false);
    expect(times()).toEqual([NOW - 2, NOW - 1, NOW, NOW + 1]);
    expect(bars().map(({ close }) => close)).toEqual([1, 3, 2, 1]);
    hear().onBar(bar(NOW - 1), true);
    expect(times()).toEqual([NOW - 2, NOW, NOW + 1]);
  });

  test.each(["stopped", "connecting"] as const)(
    "after the stream was %s, klines that closed meanwhile are read again",
    async (phase) => {
      const { reads, settle, hear, times } = open([bar(NOW - 1), bar(NOW)]);
      hear().onState({ phase: "connecting" });
      hear().onState({ phase: "live" });
      expect(reads).toHaveLength(0);
      hear().onState({ phase });
      hear().onState({ phase: "live" });
      hear().onBar(bar(NOW + 3, 2), false);
      await settle(() => reads[0]?.resolve([bar(NOW), bar(NOW + 1), bar(NOW + 2)]));
      expect(times()).toEqual([NOW - 1, NOW, NOW + 1, NOW + 2, NOW + 3]);
    },
  );

  test("a page that does not reach back to the known bars replaces them: the chart shows no false gap", async () => {
    const { reads, settle, hear, times } = open([bar(1)]);
    hear().onState({ phase: "stopped" });
    hear().onState({ phase: "live" });
    await settle(() => reads[0]?.resolve(page(NOW)));
    expect(times()[0]).toBe(NOW - KLINES_DEFAULT_LIMIT_ROWS);
  });
});
