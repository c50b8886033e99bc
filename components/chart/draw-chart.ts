import { CandlestickSeries, createChart, HistogramSeries, type IChartApi, type UTCTimestamp } from "lightweight-charts";
import type { Bar } from "#lib/client/bar-source";
import { candlesOn, type FeedOptions, feedSeries, volumeOn } from "#lib/client/lightweight-charts";
import type { Timeframe } from "#lib/contract/primitives";
import { SECOND_MS } from "#lib/units";
import { type Band, createBands } from "./bands";
import { type Break, breaksOf, type Hours, isIntraday, slotsOf } from "./breaks";
import { type ChartColours, chartColours } from "./colours";

/** Bars shown at first, where each has room for at least so many pixels. */
const SHOWN_COUNT = 120;
const BAR_MIN_PX = 5;
/** Free room after the newest bar, in bars. */
const MARGIN_COUNT = 3;
const VOLUME_STRETCH = 0.18;
const ZOOM = 1.25;

interface ChartOptions extends Pick<FeedOptions, "timeframe" | "source" | "first" | "onState"> {
  readonly digits: number;
  readonly hours: Hours | null;
  /** The bar or break under the crosshair; undefined without one. */
  onPoint(point: Bar | Break | undefined): void;
  /** All bars, after each change but those of the newest. */
  onAll(bars: readonly Bar[]): void;
  onLast(bar: Bar): void;
}

/** A drawn chart, which follows its source. */
export interface DrawnChart {
  recolour(): void;
  /** Moves the crosshair by a number of bars; undefined removes it. */
  point(steps: number | undefined): void;
  /** Shows fewer (in) or more (out) bars. */
  zoom(way: "in" | "out"): void;
  /** Moves to the oldest or newest bar. */
  moveTo(end: "start" | "end"): void;
  remove(): void;
}

const at = (time: number) => time as UTCTimestamp;
/** The options that follow the theme. */
function themed({ ground, text, line }: ChartColours) {
  return {
    layout: { background: { color: ground }, textColor: text, panes: { separatorColor: line, enableResize: false } },
    grid: { vertLines: { color: line }, horzLines: { color: line } },
    rightPriceScale: { borderColor: line },
    timeScale: { borderColor: line },
  };
}

/** Rising klines are hollow, so that eyes that mix up red and green can tell them from falling ones. */
const candleColours = ({ up, down, ground, text }: ChartColours) => ({
  ...{ upColor: ground, downColor: down, borderUpColor: up, borderDownColor: down, wickUpColor: up, wickDownColor: down },
  // Else the mark of the last price has the color inside the kline, which is that of the ground.
  priceLineColor: text,
});

function openChart(place: HTMLElement, { digits, timeframe }: Pick<ChartOptions, "digits" | "timeframe">, colours: ChartColours) {
  const { layout, timeScale, ...rest } = themed(colours);
  const chart = createChart(place, {
    ...rest,
    autoSize: true,
    // Its own logo needs a style sheet that the security policy refuses; the link below the chart is the attribution.
    layout: { ...layout, attributionLogo: false, fontSize: 11 },
    timeScale: { ...timeScale, timeVisible: isIntraday(timeframe), secondsVisible: false, rightOffset: MARGIN_COUNT },
  });
  const priceFormat = { type: "price", precision: digits, minMove: 10 ** -digits } as const;
  const candles = chart.addSeries(CandlestickSeries, { ...candleColours(colours), priceFormat });
  const volume = chart.addSeries(
    HistogramSeries,
    { color: colours.volume, priceFormat: { type: "volume" }, priceLineVisible: false, lastValueVisible: false },
    1,
  );
  chart.panes()[1]?.setStretchFactor(VOLUME_STRETCH);
  return { chart, candles, volume };
}

interface Points {
  readonly bars: readonly Bar[];
  readonly breaks: readonly Break[];
  readonly bands: readonly Band[];
}

const NONE: Points = { bars: [], breaks: [], bands: [] };

function bandsOf(breaks: readonly Break[], timeframe: Timeframe): Band[] {
  return breaks.map((one): Band => {
    const slots = slotsOf(one, timeframe);
    return { kind: one.kind, first: slots[0] ?? 0, last: slots.at(-1) ?? 0 };
  });
}

function showNewest(chart: IChartApi, place: HTMLElement, count: number): void {
  const shown = Math.min(SHOWN_COUNT, Math.max(1, Math.floor(place.clientWidth / BAR_MIN_PX)));
  chart.timeScale().setVisibleLogicalRange({ from: Math.max(0, count - shown) - 0.5, to: count - 1 + MARGIN_COUNT });
}

/** Draws a chart into an element and keeps it current. */
export function drawChart(place: HTMLElement, options: ChartOptions): DrawnChart {
  const { timeframe, source, first, hours, onPoint, onAll, onLast, onState } = options;
  let colours = chartColours(place);
  let points = NONE;
  let pointed: number | undefined;
  const { chart, candles, volume } = openChart(place, options, colours);
  candles.attachPrimitive(
    createBands(
      chart,
      () => points.bands,
      () => colours,
    ),
  );
  const find = (time: number) =>
    points.bars.find((bar) => bar.time === time) ?? points.breaks.find(({ from, to }) => time >= from && time < to);
  chart.subscribeCrosshairMove(({ time }) => onPoint(time === undefined ? undefined : find(Number(time))));

  const stop = feedSeries({
    ...{ chart, timeframe, source, first, onState },
    series: [candlesOn(candles), volumeOn(volume)],
    gaps: (bars, until) => breaksOf(bars, timeframe, hours, until).flatMap((one) => slotsOf(one, timeframe)),
    onAll(bars) {
      const isFirst = points.bars.length === 0;
      const breaks = breaksOf(bars, timeframe, hours, Math.floor(Date.now() / SECOND_MS));
      points = { bars, breaks, bands: bandsOf(breaks, timeframe) };
      if (isFirst && bars.length > 0) showNewest(chart, place, candles.data().length);
      onAll(bars);
    },
    onLast(bar, bars) {
      points = { ...points, bars };
      onLast(bar);
    },
  });

  return {
    recolour() {
      colours = chartColours(place);
      chart.applyOptions(themed(colours));
      candles.applyOptions(candleColours(colours));
      volume.applyOptions({ color: colours.volume });
    },
    point(steps) {
      const last = points.bars.length - 1;
      pointed = steps === undefined ? undefined : Math.min(last, Math.max(0, (pointed ?? last + 1) + steps));
      const bar = pointed === undefined ? undefined : points.bars[pointed];
      if (bar === undefined) chart.clearCrosshairPosition();
      else chart.setCrosshairPosition(bar.close, at(bar.time), candles);
      onPoint(bar);
    },
    zoom(way) {
      const range = chart.timeScale().getVisibleLogicalRange();
      if (range === null) return;
      const span = (range.to - range.from) * (way === "in" ? 1 / ZOOM : ZOOM);
      chart.timeScale().setVisibleLogicalRange({ from: range.to - span, to: range.to });
    },
    moveTo(end) {
      const range = chart.timeScale().getVisibleLogicalRange();
      if (end === "end") chart.timeScale().scrollToRealTime();
      else if (range !== null) chart.timeScale().setVisibleLogicalRange({ from: 0, to: range.to - range.from });
    },
    remove() {
      stop();
      chart.remove();
    },
  };
}
