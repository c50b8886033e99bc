import type { CandlestickData, IChartApi, ISeriesApi, UTCTimestamp, WhitespaceData } from "lightweight-charts";
import { type SeriesOptions, startBars } from "./bar-series";
import type { Bar } from "./bar-source";

export type { Kline } from "#lib/contract/kline";
export type { Timeframe } from "#lib/contract/primitives";
export { type Bar, type BarListener, type BarSource, klineSource, type LiveState } from "./bar-source";

/** Older klines are read when fewer than this are left of the visible ones. */
const NEAR_START_COUNT = 20;

const at = (time: number) => time as UTCTimestamp;

/** A series of a chart, and how it shows klines. */
export interface FedSeries {
  /** Shows these klines and gaps (Unix seconds) instead of all others. */
  showAll(bars: readonly Bar[], gaps: readonly number[]): void;
  /** Shows a change of the newest kline, or one after it. */
  showLast(bar: Bar): void;
}

/** The part of a series that this needs. */
interface Fillable<Point> {
  setData(data: Point[]): void;
  update(point: Point): void;
}

function fed<Point extends { time: unknown }>(
  series: Fillable<Point | WhitespaceData<UTCTimestamp>>,
  pointOf: (bar: Bar) => Point,
): FedSeries {
  return {
    showAll(bars, gaps) {
      const points = [...bars.map(pointOf), ...gaps.map((time) => ({ time: at(time) }))];
      series.setData(points.sort((a, b) => Number(a.time) - Number(b.time)));
    },
    showLast: (bar) => series.update(pointOf(bar)),
  };
}

/** Klines as candlesticks or bars. */
export const candlesOn = (series: ISeriesApi<"Candlestick"> | ISeriesApi<"Bar">): FedSeries =>
  fed<CandlestickData<UTCTimestamp>>(series, ({ time, open, high, low, close }) => ({ time: at(time), open, high, low, close }));

/** Closing prices as a line or an area. */
export const closesOn = (series: ISeriesApi<"Line"> | ISeriesApi<"Area"> | ISeriesApi<"Baseline">): FedSeries =>
  fed(series, ({ time, close }) => ({ time: at(time), value: close }));

/** The tick volume as columns. */
export const volumeOn = (series: ISeriesApi<"Histogram">): FedSeries =>
  fed(series, ({ time, tick_volume }) => ({ time: at(time), value: tick_volume }));

/** What a chart shows, and who hears of it. */
export interface FeedOptions extends Pick<SeriesOptions, "timeframe" | "source" | "first" | "onError"> {
  /** The chart whose scrolling reads older klines. */
  readonly chart: Pick<IChartApi, "timeScale">;
  /** Its series that show the klines. */
  readonly series: readonly FedSeries[];
  /**
   * Times without a kline (Unix seconds, ascending) that get room on the time axis: between these klines, and after the last one
   * up to `until`. By default none, so that klines follow each other without gaps.
   */
  readonly gaps?: ((bars: readonly Bar[], until: number) => readonly number[]) | undefined;
  /** The klines as they are shown now, after each change but those of the newest. */
  readonly onAll?: ((bars: readonly Bar[]) => void) | undefined;
  /** The newest kline changed, or one was added after it; `bars` are all, with it. */
  readonly onLast?: ((bar: Bar, bars: readonly Bar[]) => void) | undefined;
  readonly onState?: SeriesOptions["onState"] | undefined;
}

const NO_GAPS = () => [];

/**
 * Fills series of a lightweight-charts chart with klines and keeps them current: reads the newest, reads older ones when the reader
 * scrolls near the oldest, follows the stream, reads again what closed while the stream was away, and shows corrections and
 * removals. At most 5,000 klines are kept.
 * @returns a function that stops it; call it before you remove the chart
 */
export function feedSeries(options: FeedOptions): () => void {
  const { chart, series, gaps = NO_GAPS, timeframe, source, first, onAll, onLast, onState, onError } = options;
  const scale = chart.timeScale();
  let newest: Bar | undefined;
  let lastGap = 0;

  function showAll(bars: readonly Bar[]): void {
    const times = gaps(bars, Math.floor(Date.now() / 1000));
    newest = bars.at(-1);
    lastGap = times.at(-1) ?? 0;
    for (const one of series) one.showAll(bars, times);
    onAll?.(bars);
  }

  function showLast(bar: Bar, bars: readonly Bar[]): void {
    const adjoins = newest !== undefined && gaps([newest, bar], bar.time).length === 0;
    // A series takes no point before its last one, and a gap before the kline needs its room.
    if (!adjoins || lastGap > bar.time) {
      showAll(bars);
      return;
    }
    newest = bar;
    for (const one of series) one.showLast(bar);
    onLast?.(bar, bars);
  }

  const bars = startBars({
    timeframe,
    source,
    first,
    onError,
    onAll: showAll,
    onLast: showLast,
    onState: (state) => onState?.(state),
  });
  const onRange = (range: { from: number } | null) => {
    if (range !== null && newest !== undefined && range.from < NEAR_START_COUNT) bars.older();
  };
  scale.subscribeVisibleLogicalRangeChange(onRange);
  return () => {
    scale.unsubscribeVisibleLogicalRangeChange(onRange);
    bars.stop();
  };
}
