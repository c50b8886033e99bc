"use client";

import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import type { Bar, BarSource, LiveState } from "#lib/client/bar-source";
import type { PriceSide, Timeframe } from "#lib/contract/primitives";
import { changeText, priceText } from "../portal/numbers";
import { useTimeZone } from "../portal/time";
import { Badge } from "../ui/badge";
import type { Break, Hours } from "./breaks";
import { ChartCaption } from "./chart-caption";
import { type ChartClock, chartClock } from "./clock";
import { onThemeChange } from "./colours";
import type { Comparison } from "./compare";
import { type DrawnChart, drawChart } from "./draw-chart";
import { Legend } from "./legend";

/** A second instrument, whose closes are drawn beside the klines of the first. */
export interface Second {
  readonly ticker: string;
  readonly source: BarSource;
}

/** What a chart shows. */
export interface KlineChartProps {
  readonly ticker: string;
  readonly digits: number;
  readonly timeframe: Timeframe;
  /** Bars that are known already, ascending. They and the source must not change while the chart is shown. */
  readonly first: readonly Bar[];
  readonly source: BarSource;
  /** When the market was open, to tell closed hours from missing klines; null when unknown. */
  readonly hours?: Hours | null;
  /** Which prices the klines are made of; bids by default. */
  readonly price?: PriceSide | undefined;
  /** The last price, to be marked on the axis; by default the close of the newest kline. */
  readonly last?: number | undefined;
  /** Must not change while the chart is shown, unless the chart is drawn again. */
  readonly second?: Second | undefined;
  /** Height of the plot, as a class. */
  readonly height: string;
}

const LIVE_WORDS: Readonly<Record<LiveState["phase"], string>> = {
  history: "History",
  connecting: "Connecting",
  live: "Streaming",
  stopped: "Not streaming",
};

/** The chart in a sentence, for those who cannot see it. */
function summaryOf(name: string, price: PriceSide, bars: readonly Bar[], digits: number, clock: ChartClock): string {
  const [oldest] = bars;
  const newest = bars.at(-1);
  if (oldest === undefined || newest === undefined) return `${name}: no klines yet.`;
  const high = priceText(Math.max(...bars.map((bar) => bar.high)), digits);
  const low = priceText(Math.min(...bars.map((bar) => bar.low)), digits);
  const range = `${clock.text(oldest.time)} to ${clock.text(newest.time)}`;
  return `${name}: ${bars.length} klines of ${price} prices, ${range}. High ${high}, low ${low}, last ${priceText(newest.close, digits)}. ${clock.note}`;
}

/** What a key does to the chart; undefined for keys it does not take. */
function actionOf(key: string, chart: DrawnChart): (() => void) | undefined {
  const actions = new Map([
    ["ArrowLeft", () => chart.point(-1)],
    ["ArrowRight", () => chart.point(1)],
    ["Escape", () => chart.point(undefined)],
    ["Home", () => chart.moveTo("start")],
    ["End", () => chart.moveTo("end")],
    ["+", () => chart.zoom("in")],
    ["=", () => chart.zoom("in")],
    ["-", () => chart.zoom("out")],
  ]);
  return actions.get(key);
}

/** What a comparison says, over the top of the plot: it moves nothing when it comes. */
function ComparisonLine({
  ticker,
  second,
  comparison,
  clock,
}: {
  ticker: string;
  second: Second;
  comparison: Comparison | undefined;
  clock: ChartClock;
}) {
  const part = (name: string, change: number) => {
    const { text, tone } = changeText(change);
    return (
      <span className="whitespace-nowrap">
        {name} <span className={tone}>{text}</span>
      </span>
    );
  };
  return (
    <section
      aria-label="Comparison"
      className="pointer-events-none absolute top-px left-px z-10 flex max-w-[calc(100%-5rem)] flex-wrap gap-x-3 rounded-lg bg-surface/85 px-2 py-1 font-mono text-xs leading-5 tabular-nums"
    >
      {comparison === undefined ? (
        <span className="text-ink-faint">{second.ticker}: no klines in view yet</span>
      ) : (
        <>
          {part(ticker, comparison.first)}
          <span className="text-accent">{part(second.ticker, comparison.second)}</span>
          <span className="text-ink-faint">since {clock.text(comparison.since)}</span>
        </>
      )}
    </section>
  );
}

/** Klines as candles with their tick volume: read page by page as the reader scrolls back, followed while the source is live. */
export function KlineChart(props: KlineChartProps) {
  const { ticker, digits, timeframe, first, source, hours = null, price = "bid", last, second, height } = props;
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<DrawnChart>(undefined);
  const helpId = useId();
  const timeZone = useTimeZone();
  const clock = useMemo(() => chartClock(timeframe, timeZone), [timeframe, timeZone]);
  const [live, setLive] = useState<LiveState>({ phase: source.follow === undefined ? "history" : "connecting" });
  const [secondLive, setSecondLive] = useState<LiveState>();
  const [comparison, setComparison] = useState<Comparison>();
  const [point, setPoint] = useState<Bar | Break>();
  const [newest, setNewest] = useState(first.at(-1));
  const [none, setNone] = useState(false);
  const [summary, setSummary] = useState("");
  const [byKeys, setByKeys] = useState(false);
  const [away, setAway] = useState(false);

  useEffect(() => {
    if (place.current === null) return;
    setLive({ phase: source.follow === undefined ? "history" : "connecting" });
    const chart = drawChart(place.current, {
      digits,
      timeframe,
      hours,
      source,
      first,
      clock,
      second: second?.source,
      onComparison: setComparison,
      onSecondState: setSecondLive,
      onAway: setAway,
      onPoint: setPoint,
      onAll(bars) {
        setNewest(bars.at(-1));
        setNone(bars.length === 0);
        setSummary(summaryOf(`${ticker} ${timeframe}`, price, bars, digits, clock));
      },
      onLast: setNewest,
      onState: setLive,
    });
    drawn.current = chart;
    const stopTheme = onThemeChange(chart.recolour);
    return () => {
      stopTheme();
      drawn.current = undefined;
      chart.remove();
      setComparison(undefined);
      setSecondLive(undefined);
      setAway(false);
    };
  }, [ticker, digits, timeframe, first, source, hours, price, clock, second]);

  const marked = last ?? newest?.close;
  // After each drawing too: a chart that was drawn again has no mark.
  useEffect(() => {
    if (marked !== undefined) drawn.current?.mark(marked);
  });

  function onNow(): void {
    drawn.current?.moveTo("end");
    // The button goes: what has the focus then is the chart that it moved.
    place.current?.focus({ preventScroll: true });
  }

  function onKeyDown(event: KeyboardEvent): void {
    const action = drawn.current && actionOf(event.key, drawn.current);
    if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    setByKeys(true);
    action();
  }

  return (
    <figure className="@container min-w-0">
      <div aria-live={byKeys ? "polite" : "off"} className="mb-2">
        <Legend point={point ?? newest} digits={digits} clock={clock} none={none} />
      </div>
      <div className="relative">
        {second === undefined ? null : <ComparisonLine ticker={ticker} second={second} comparison={comparison} clock={clock} />}
        {/* biome-ignore lint/a11y/useSemanticElements: no element stands for a picture that the keyboard moves in */}
        <div
          ref={place}
          role="group"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move the crosshair
          tabIndex={0}
          aria-label={summary}
          aria-describedby={helpId}
          onKeyDown={onKeyDown}
          onPointerMove={() => setByKeys(false)}
          onBlur={() => drawn.current?.point(undefined)}
          className={`w-full overflow-hidden rounded-lg border border-line ${height}`}
        />
        {away ? (
          <button
            type="button"
            onClick={onNow}
            className="absolute right-20 bottom-10 z-10 min-h-9 rounded-md border border-edge bg-surface px-3 text-sm shadow-sm hover:bg-sunken pointer-coarse:min-h-11"
          >
            Back to now
          </button>
        ) : null}
      </div>
      <p id={helpId} className="sr-only">
        Left and right arrow keys read one kline after the other, plus and minus zoom, Home and End go to either end.
      </p>
      <ChartCaption>
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <Badge tone={live.phase === "live" ? "positive" : "neutral"}>{LIVE_WORDS[live.phase]}</Badge>
          <span>{live.why ?? secondLive?.why ?? `${ticker} ${timeframe}, ${price} prices with tick volume. ${clock.note}`}</span>
        </span>
      </ChartCaption>
    </figure>
  );
}
