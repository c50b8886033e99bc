"use client";

import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import type { Bar, BarSource, LiveState } from "#lib/client/bar-source";
import type { PriceSide, Timeframe } from "#lib/contract/primitives";
import { Badge } from "../ui/badge";
import { type Break, type Hours, isIntraday } from "./breaks";
import { onThemeChange } from "./colours";
import { type DrawnChart, drawChart } from "./draw-chart";
import { Legend, timeText } from "./legend";

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
  /** Height of the plot, as a class. */
  readonly height: string;
}

const LIVE_WORDS: Readonly<Record<LiveState["phase"], string>> = {
  history: "History",
  connecting: "Connecting",
  live: "Live",
  stopped: "Not live",
};

/** The chart in a sentence, for those who cannot see it. */
function summaryOf(name: string, price: PriceSide, bars: readonly Bar[], digits: number, byDay: boolean): string {
  const [oldest] = bars;
  const newest = bars.at(-1);
  if (oldest === undefined || newest === undefined) return `${name}: no klines yet.`;
  const high = Math.max(...bars.map((bar) => bar.high)).toFixed(digits);
  const low = Math.min(...bars.map((bar) => bar.low)).toFixed(digits);
  const range = `${timeText(oldest.time, byDay)} to ${timeText(newest.time, byDay)} UTC`;
  return `${name}: ${bars.length} klines of ${price} prices, ${range}. High ${high}, low ${low}, last ${newest.close.toFixed(digits)}.`;
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

/** Klines as candles with their tick volume: read page by page as the reader scrolls back, followed while the source is live. */
export function KlineChart({ ticker, digits, timeframe, first, source, hours = null, price = "bid", height }: KlineChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<DrawnChart>(undefined);
  const helpId = useId();
  const [live, setLive] = useState<LiveState>({ phase: source.follow === undefined ? "history" : "connecting" });
  const [point, setPoint] = useState<Bar | Break>();
  const [newest, setNewest] = useState(first.at(-1));
  const [none, setNone] = useState(false);
  const [summary, setSummary] = useState("");
  const [byKeys, setByKeys] = useState(false);
  const byDay = !isIntraday(timeframe);

  useEffect(() => {
    if (place.current === null) return;
    setLive({ phase: source.follow === undefined ? "history" : "connecting" });
    const chart = drawChart(place.current, {
      ...{ digits, timeframe, hours, source, first },
      onPoint: setPoint,
      onAll(bars) {
        setNewest(bars.at(-1));
        setNone(bars.length === 0);
        setSummary(summaryOf(`${ticker} ${timeframe}`, price, bars, digits, byDay));
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
    };
  }, [ticker, digits, timeframe, first, source, hours, price, byDay]);

  function onKeyDown(event: KeyboardEvent): void {
    const action = drawn.current && actionOf(event.key, drawn.current);
    if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    setByKeys(true);
    action();
  }

  return (
    <figure className="min-w-0">
      <div className="mb-2 flex items-start justify-between gap-x-4">
        <div aria-live={byKeys ? "polite" : "off"} className="min-w-0">
          <Legend point={point ?? newest} digits={digits} byDay={byDay} none={none} />
        </div>
        <Badge tone={live.phase === "live" ? "positive" : "neutral"}>{LIVE_WORDS[live.phase]}</Badge>
      </div>
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
      <p id={helpId} className="sr-only">
        Left and right arrow keys read one kline after the other, plus and minus zoom, Home and End go to either end.
      </p>
      <figcaption className="mt-2 flex flex-wrap justify-between gap-x-4 text-ink-faint text-xs leading-5">
        <span>{live.why ?? `${ticker} ${timeframe}, ${price} prices with tick volume. All times UTC.`}</span>
        <a href="https://www.tradingview.com/" target="_blank" rel="noopener" className="underline">
          Charts by TradingView
        </a>
      </figcaption>
    </figure>
  );
}
