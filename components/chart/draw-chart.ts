import {
  CandlestickSeries,
  createChart,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  type UTCTimestamp,
} from "lightweight-charts";
import type { Timeframe } from "#lib/contract/primitives";
import { SECOND_MS } from "#lib/units";
import { type Band, createBands } from "./bands";
import { type Break, breaksOf, type Hours, isIntraday, slotsOf } from "./breaks";
import { type ChartColours, chartColours } from "./colours";
import type { Bar } from "./source";

/** Bars shown at first, where each has room for at least so many pixels. */
const SHOWN_COUNT = 120;
const BAR_MIN_PX = 5;
/** Free room after the newest bar, in bars. */
const MARGIN_COUNT = 3;
/** Older bars are wanted when fewer than this are left of the visible ones. */
const NEAR_START_COUNT = 20;
const VOLUME_STRETCH = 0.18;
const ZOOM = 1.25;

interface ChartOptions {
  readonly digits: number;
  readonly timeframe: Timeframe;
  readonly hours: Hours | null;
  /** The bar or break under the crosshair; undefined without one. */
  onPoint(point: Bar | Break | undefined): void;
  onNearStart(): void;
}

/** A drawn chart. */
export interface DrawnChart {
  /** Shows these bars instead of all others; the reader's place on the time axis stays. */
  showAll(bars: readonly Bar[]): void;
  /** Shows a change of the newest bar, or one after it. */
  showLast(bar: Bar): void;
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
const candleOf = ({ time, open, high, low, close }: Bar) => ({ time: at(time), open, high, low, close });
const volumeOf = ({ time, tick_volume }: Bar) => ({ time: at(time), value: tick_volume });

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

function openChart(place: HTMLElement, { digits, timeframe }: ChartOptions, colours: ChartColours) {
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
  /** Times without a bar, ascending. */
  readonly slots: readonly number[];
}

function pointsOf(bars: readonly Bar[], timeframe: Timeframe, hours: Hours | null): Points {
  const breaks = breaksOf(bars, timeframe, hours, Math.floor(Date.now() / SECOND_MS));
  const slots = breaks.map((one) => slotsOf(one, timeframe));
  const bands = breaks.map(({ kind }, index): Band => {
    const own = slots[index] ?? [];
    return { kind, first: own[0] ?? 0, last: own.at(-1) ?? 0 };
  });
  return { bars, breaks, bands, slots: slots.flat() };
}

const NONE: Points = { bars: [], breaks: [], bands: [], slots: [] };

function fill(candles: ISeriesApi<"Candlestick">, volume: ISeriesApi<"Histogram">, { bars, slots }: Points): void {
  const empty = slots.map((time) => ({ time: at(time) }));
  const byTime = (a: { time: number }, b: { time: number }) => a.time - b.time;
  candles.setData([...bars.map(candleOf), ...empty].sort(byTime));
  volume.setData([...bars.map(volumeOf), ...empty].sort(byTime));
}

function showNewest(chart: IChartApi, place: HTMLElement, count: number): void {
  const shown = Math.min(SHOWN_COUNT, Math.max(1, Math.floor(place.clientWidth / BAR_MIN_PX)));
  chart.timeScale().setVisibleLogicalRange({ from: Math.max(0, count - shown) - 0.5, to: count - 1 + MARGIN_COUNT });
}

/** Draws a chart into an element. */
export function drawChart(place: HTMLElement, options: ChartOptions): DrawnChart {
  const { timeframe, hours, onPoint, onNearStart } = options;
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
  chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
    if (range !== null && points.bars.length > 0 && range.from < NEAR_START_COUNT) onNearStart();
  });

  function showAll(bars: readonly Bar[]): void {
    const before = points.bars.length;
    points = pointsOf(bars, timeframe, hours);
    fill(candles, volume, points);
    if (before === 0 && bars.length > 0) showNewest(chart, place, bars.length + points.slots.length);
  }

  return {
    showAll,
    showLast(bar) {
      const known = points.bars.at(-1);
      const bars = known?.time === bar.time ? [...points.bars.slice(0, -1), bar] : [...points.bars, bar];
      const adjoins = known !== undefined && breaksOf([known, bar], timeframe, hours, bar.time).length === 0;
      // A series takes no point before its last one, and a break before the bar has to be drawn.
      if (!adjoins || (points.slots.at(-1) ?? 0) > bar.time) return showAll(bars);
      points = { ...points, bars };
      candles.update(candleOf(bar));
      volume.update(volumeOf(bar));
    },
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
    remove: () => chart.remove(),
  };
}
