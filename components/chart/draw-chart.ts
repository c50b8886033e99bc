import {
  CandlestickSeries,
  HistogramSeries,
  type IPriceLine,
  type ISeriesApi,
  LineSeries,
  LineStyle,
  MismatchDirection,
  PriceScaleMode,
  type UTCTimestamp,
} from "lightweight-charts";
import type { Bar, BarSource } from "#lib/client/bar-source";
import { candlesOn, type FeedOptions, feedSeries, volumeOn } from "#lib/client/lightweight-charts";
import type { Timeframe } from "#lib/contract/primitives";
import { SECOND_MS } from "#lib/units";
import { priceText } from "../portal/numbers";
import { type Band, createBands } from "./bands";
import { type Break, breaksOf, type Hours, isIntraday, slotsOf } from "./breaks";
import type { ChartClock } from "./clock";
import { type ChartColours, chartColours } from "./colours";
import { type Comparison, closesAt, comparisonOf } from "./compare";
import { createClockedChart, themed } from "./time-axis";

/** Bars that there is room for at first, where each has at least so many pixels: a chart of two bars has narrow ones too. */
const SHOWN_COUNT = 120;
const BAR_MIN_PX = 5;
/** Free room after the newest bar, in bars. */
const MARGIN_COUNT = 3;
const VOLUME_STRETCH = 0.18;
const ZOOM = 1.25;

interface ChartOptions extends Pick<FeedOptions, "timeframe" | "source" | "first" | "onState"> {
  readonly digits: number;
  readonly hours: Hours | null;
  readonly clock: ChartClock;
  /** The klines of a second instrument, drawn as a line. Both are then shown in percent, from the first kline in view. */
  readonly second: BarSource | undefined;
  /** How both changed from the first kline in view to the one under the crosshair, else to the newest. */
  onComparison(comparison: Comparison | undefined): void;
  /** Whether the second instrument is followed. */
  readonly onSecondState: FeedOptions["onState"];
  /** True when the newest bar is out of view. */
  onAway(away: boolean): void;
  /** The bar or break under the crosshair; undefined without one. */
  onPoint(point: Bar | Break | undefined): void;
  /** All bars, after each change but those of the newest. */
  onAll(bars: readonly Bar[]): void;
  onLast(bar: Bar): void;
}

/** A drawn chart, which follows its source. */
export interface DrawnChart {
  recolour(): void;
  /** Marks the last price on the axis, also when its bar is out of view. */
  mark(price: number): void;
  /** Moves the crosshair by a number of bars; undefined removes it. */
  point(steps: number | undefined): void;
  /** Shows fewer (in) or more (out) bars. */
  zoom(way: "in" | "out"): void;
  /** Moves to the oldest or newest bar. */
  moveTo(end: "start" | "end"): void;
  remove(): void;
}

const at = (time: number) => time as UTCTimestamp;

/** Rising klines are hollow, so that eyes that mix up red and green can tell them from falling ones. */
const candleColours = ({ up, down, ground }: ChartColours) => ({
  upColor: ground,
  downColor: down,
  borderUpColor: up,
  borderDownColor: down,
  wickUpColor: up,
  wickDownColor: down,
});

/** The library marks the close of the last bar in view, which is not the last price: a line of our own does. */
const UNMARKED = { priceLineVisible: false, lastValueVisible: false } as const;
const MARK = { lineWidth: 1, lineStyle: LineStyle.Dotted, axisLabelVisible: true } as const;

function openChart(
  place: HTMLElement,
  { digits, timeframe, clock, second }: Pick<ChartOptions, "digits" | "timeframe" | "clock" | "second">,
  colours: ChartColours,
) {
  const timeScale = { timeVisible: isIntraday(timeframe), secondsVisible: false, rightOffset: MARGIN_COUNT };
  const chart = createClockedChart(place, clock, colours, timeScale);
  const formatter = (price: number) => priceText(price, digits);
  const priceFormat = { type: "custom", formatter, minMove: 10 ** -digits } as const;
  const candles = chart.addSeries(CandlestickSeries, { ...candleColours(colours), ...UNMARKED, priceFormat });
  const volume = chart.addSeries(HistogramSeries, { ...UNMARKED, color: colours.volume, priceFormat: { type: "volume" } }, 1);
  chart.panes()[1]?.setStretchFactor(VOLUME_STRETCH);
  if (second === undefined) return { chart, candles, volume, line: undefined };
  const line = chart.addSeries(LineSeries, { ...UNMARKED, color: colours.second, lineWidth: 2 });
  line.priceScale().applyOptions({ mode: PriceScaleMode.Percentage });
  return { chart, candles, volume, line };
}

/** Marks a price of a series on the axis; called without one, it takes the current color. */
function createMark(series: ISeriesApi<"Candlestick"> | ISeriesApi<"Line">, colour: () => string) {
  let mark: IPriceLine | undefined;
  return (price = mark?.options().price): void => {
    if (price === undefined) return;
    mark ??= series.createPriceLine({ ...MARK, price });
    mark.applyOptions({ price, color: colour() });
  };
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

/** Draws a chart into an element and keeps it current. */
export function drawChart(place: HTMLElement, options: ChartOptions): DrawnChart {
  const { timeframe, source, first, hours, second, onPoint, onAll, onLast, onState, onComparison, onSecondState, onAway } =
    options;
  let colours = chartColours(place);
  let points = NONE;
  let pointed: number | undefined;
  let crossed: number | undefined;
  let others: readonly Bar[] = [];
  let isAway = false;
  const { chart, candles, volume, line } = openChart(place, options, colours);
  const scale = chart.timeScale();
  const drawn = [candlesOn(candles), volumeOn(volume)];
  const marks = { first: createMark(candles, () => colours.text), second: line && createMark(line, () => colours.second) };
  candles.attachPrimitive(
    createBands(
      chart,
      () => points.bands,
      () => colours,
    ),
  );
  const find = (time: number) =>
    points.bars.find((bar) => bar.time === time) ?? points.breaks.find(({ from, to }) => time >= from && time < to);

  /** Shows the last places of the time axis. Gaps have places too, so that the number of bars would not find the last one. */
  function showEnd(count: number): void {
    const last = scale.timeToIndex(at(Math.max(points.bars.at(-1)?.time ?? 0, points.bands.at(-1)?.last ?? 0)));
    if (last !== null) scale.setVisibleLogicalRange({ from: last + MARGIN_COUNT - count, to: last + MARGIN_COUNT });
  }

  function compare(): void {
    const range = scale.getVisibleLogicalRange();
    const since = range && candles.dataByIndex(Math.floor(range.from), MismatchDirection.NearestRight);
    const until = crossed ?? points.bars.at(-1)?.time;
    if (line === undefined || !since || until === undefined) return;
    onComparison(comparisonOf(points.bars, closesAt(points.bars, others), Number(since.time), until));
  }

  /** Shows all bars; in a comparison, those since both instruments have one. */
  function showAll(): void {
    const closes = closesAt(points.bars, others);
    const from = closes[0]?.time ?? Number.NEGATIVE_INFINITY;
    const gaps = points.breaks.flatMap((one) => slotsOf(one, timeframe)).filter((time) => time > from);
    const bars = points.bars.filter(({ time }) => time >= from);
    for (const one of drawn) one.showAll(bars, gaps);
    line?.setData(closes.map(({ time, close }) => ({ time: at(time), value: close })));
    marks.second?.(closes.at(-1)?.close);
    compare();
  }

  function showSecond(): void {
    const last = closesAt(points.bars.slice(-1), others).at(-1);
    if (last !== undefined) line?.update({ time: at(last.time), value: last.close });
    marks.second?.(last?.close);
    compare();
  }

  chart.subscribeCrosshairMove(({ time }) => {
    const point = time === undefined ? undefined : find(Number(time));
    crossed = point !== undefined && "close" in point ? point.time : undefined;
    onPoint(point);
    compare();
  });
  scale.subscribeVisibleLogicalRangeChange(() => {
    if (scale.scrollPosition() < 0 !== isAway) {
      isAway = !isAway;
      onAway(isAway);
    }
    compare();
  });

  const stops = [
    feedSeries({
      chart,
      timeframe,
      source,
      first,
      onState,
      series: [],
      gaps: (bars, until) => breaksOf(bars, timeframe, hours, until).flatMap((one) => slotsOf(one, timeframe)),
      onAll(bars) {
        const isFirst = points.bars.length === 0;
        const breaks = breaksOf(bars, timeframe, hours, Math.floor(Date.now() / SECOND_MS));
        points = { bars, breaks, bands: bandsOf(breaks, timeframe) };
        showAll();
        if (isFirst) showEnd(Math.min(SHOWN_COUNT, Math.max(1, Math.floor(place.clientWidth / BAR_MIN_PX))) + MARGIN_COUNT);
        onAll(bars);
      },
      onLast(bar, bars) {
        points = { ...points, bars };
        for (const one of drawn) one.showLast(bar);
        showSecond();
        onLast(bar);
      },
    }),
  ];
  if (second !== undefined)
    stops.push(
      feedSeries({
        chart,
        timeframe,
        source: second,
        series: [],
        onState: onSecondState,
        onAll(bars) {
          others = bars;
          showAll();
        },
        onLast(_, bars) {
          others = bars;
          showSecond();
        },
      }),
    );

  return {
    recolour() {
      colours = chartColours(place);
      chart.applyOptions(themed(colours));
      candles.applyOptions(candleColours(colours));
      volume.applyOptions({ color: colours.volume });
      line?.applyOptions({ color: colours.second });
      marks.first();
      marks.second?.();
    },
    mark: marks.first,
    point(steps) {
      const last = points.bars.length - 1;
      pointed = steps === undefined ? undefined : Math.min(last, Math.max(0, (pointed ?? last + 1) + steps));
      const bar = pointed === undefined ? undefined : points.bars[pointed];
      if (bar === undefined) chart.clearCrosshairPosition();
      else chart.setCrosshairPosition(bar.close, at(bar.time), candles);
      onPoint(bar);
    },
    zoom(way) {
      const range = scale.getVisibleLogicalRange();
      if (range === null) return;
      const span = (range.to - range.from) * (way === "in" ? 1 / ZOOM : ZOOM);
      scale.setVisibleLogicalRange({ from: range.to - span, to: range.to });
    },
    moveTo(end) {
      const range = scale.getVisibleLogicalRange();
      if (range === null) return;
      if (end === "end") showEnd(range.to - range.from);
      else scale.setVisibleLogicalRange({ from: 0, to: range.to - range.from });
    },
    remove() {
      for (const stop of stops) stop();
      chart.remove();
    },
  };
}
