import { KLINES_DEFAULT_LIMIT_ROWS, KLINES_MAX_LIMIT_ROWS } from "#lib/contract/limits";
import type { Timeframe } from "#lib/contract/primitives";
import { SECOND_MS } from "#lib/units";
import type { Bar, BarSource, LiveState } from "./bar-source";
import { isSpotwireError } from "./errors";

/** Bars kept in memory; scrolling back stops there. */
export const BARS_MAX_COUNT = KLINES_MAX_LIMIT_ROWS;
/** Bars per read: one page of the API, which costs one unit. */
const PAGE_COUNT = KLINES_DEFAULT_LIMIT_ROWS;
/** Pause after a failed read, unless the service names a longer one. */
const REST_MS = 5 * SECOND_MS;

/** Both lists in one, ascending; bars of `newer` replace those of `older` with the same time. */
function mergeBars(older: readonly Bar[], newer: readonly Bar[]): Bar[] {
  const byTime = new Map(older.map((bar) => [bar.time, bar]));
  for (const bar of newer) byTime.set(bar.time, bar);
  return [...byTime.values()].sort((a, b) => a.time - b.time);
}

const FIELDS = ["time", "open", "high", "low", "close", "tick_volume"] as const satisfies readonly (keyof Bar)[];
/** Whether two bars show the same. */
const isSame = (a: Bar, b: Bar) => FIELDS.every((field) => a[field] === b[field]);

/** The known bars with a page of the newest; without those that the page does not reach back to, which would leave a false gap. */
function join(bars: readonly Bar[], page: readonly Bar[]): readonly Bar[] {
  const [oldest] = page;
  const known = bars.at(-1)?.time ?? 0;
  return page.length === PAGE_COUNT && oldest !== undefined && oldest.time > known ? page : mergeBars(bars, page);
}

/** Where the bars of a chart come from, and who hears of them. */
export interface SeriesOptions {
  readonly timeframe: Timeframe;
  readonly source: BarSource;
  /** Bars that are known already, ascending; without them the newest are read first. */
  readonly first?: readonly Bar[] | undefined;
  /** All bars changed. */
  onAll(bars: readonly Bar[]): void;
  /** Only the newest bar changed, or one was added after it; `bars` are all, with it. */
  onLast(bar: Bar, bars: readonly Bar[]): void;
  onState(state: LiveState): void;
  /** A read failed; it is repeated after a pause when it was for the newest bars, and at the next scroll otherwise. */
  onError?: ((error: unknown) => void) | undefined;
}

/** The bars of a chart: read in pages, then followed. */
interface BarSeries {
  /** Reads the page before the oldest bar, unless a read runs or rests, nothing is older, or enough is kept. */
  older(): void;
  stop(): void;
}

/** Starts reading and following. Reads run one at a time; after a refusal they rest as long as the service says. */
export function startBars({ timeframe, source, first = [], onAll, onLast, onState, onError }: SeriesOptions): BarSeries {
  const stopping = new AbortController();
  const { signal } = stopping;
  let bars: readonly Bar[] = first;
  let busy = false;
  let complete = false;
  let again = false;
  let wasLive = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function read(to: number | undefined): Promise<void> {
    if (source.read === undefined || busy || signal.aborted) return;
    busy = true;
    const before = bars;
    try {
      const page = await source.read({ timeframe, to, limit: PAGE_COUNT }, signal);
      if (signal.aborted) return;
      complete ||= page.length < PAGE_COUNT && (to !== undefined || before.length === 0);
      // A bar that was streamed during the read is newer than the page.
      const streamed = bars === before ? [] : bars.slice(-1);
      const joined = to === undefined ? join(bars, page) : mergeBars(page, bars);
      bars = mergeBars(joined, streamed).slice(-BARS_MAX_COUNT);
      busy = false;
      onAll(bars);
    } catch (error) {
      if (signal.aborted) return;
      onError?.(error);
      const pauseMs = Math.max(REST_MS, isSpotwireError(error) ? (error.retryAfterS ?? 0) * SECOND_MS : 0);
      timer = setTimeout(() => {
        busy = false;
        if (to === undefined) void read(to);
      }, pauseMs);
    }
  }

  function onBar(bar: Bar, removed: boolean): void {
    const last = bars.at(-1);
    if (!removed && (last === undefined || bar.time >= last.time)) {
      bars = last?.time === bar.time ? [...bars.slice(0, -1), bar] : [...bars, bar].slice(-BARS_MAX_COUNT);
      onLast(bar, bars);
      return;
    }
    const [oldest] = bars;
    if (oldest === undefined || bar.time < oldest.time) return;
    // A kline closes after the next one began, mostly with the values that it has already.
    if (!removed && bars.some((known) => isSame(known, bar))) return;
    bars = removed ? bars.filter(({ time }) => time !== bar.time) : mergeBars(bars, [bar]);
    onAll(bars);
  }

  const stop = source.follow?.(timeframe, {
    onBar,
    onState(state) {
      onState(state);
      // What closed while the stream was away is read again.
      if (state.phase === "live" && again) void read(undefined);
      again ||= state.phase === "stopped" || (wasLive && state.phase === "connecting");
      wasLive ||= state.phase === "live";
    },
  });
  if (first.length > 0) onAll(first);
  else void read(undefined);

  return {
    older() {
      const [oldest] = bars;
      if (oldest !== undefined && !complete && bars.length < BARS_MAX_COUNT) void read(oldest.time);
    },
    stop() {
      stopping.abort();
      clearTimeout(timer);
      stop?.();
    },
  };
}
