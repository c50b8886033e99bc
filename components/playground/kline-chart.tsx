"use client";

import { CandlestickSeries, createChart, type IChartApi, type ISeriesApi, type UTCTimestamp } from "lightweight-charts";
import { useEffect, useRef, useState } from "react";
import type { Kline, KlineWindow } from "#lib/contract/kline";
import { Badge } from "../ui/badge";
import { chartColours } from "./chart-colours";
import type { Bearers } from "./credential";
import { followKlines, type LiveState } from "./live-klines";
import type { Credential, StreamOperation } from "./model";

interface KlineChartProps {
  readonly window: KlineWindow;
  readonly bearers: Bearers;
  readonly credential: Credential | undefined;
  readonly stream: StreamOperation;
}

/** A range that ends this close to now continues with the stream; an older one is history. */
const LIVE_WITHIN_S = 60;

const barOf = ({ time, open, high, low, close }: Kline) => ({ time: time as UTCTimestamp, open, high, low, close });

/** Decimals of the prices: those of the most precise one. */
function digitsOf(items: readonly Kline[]): number {
  return Math.max(0, ...items.map(({ close }) => String(close).split(".")[1]?.length ?? 0));
}

function draw(place: HTMLElement, items: readonly Kline[]): { chart: IChartApi; series: ISeriesApi<"Candlestick"> } {
  const colours = chartColours(place);
  const digits = digitsOf(items);
  const chart = createChart(place, {
    autoSize: true,
    // Its own logo needs a style sheet that the security policy refuses; the link below the chart is the attribution.
    layout: { attributionLogo: false, background: { color: colours.ground }, textColor: colours.text, fontSize: 11 },
    grid: { vertLines: { color: colours.line }, horzLines: { color: colours.line } },
    rightPriceScale: { borderColor: colours.line },
    timeScale: { borderColor: colours.line, timeVisible: true },
  });
  const series = chart.addSeries(CandlestickSeries, {
    ...{
      upColor: colours.up,
      downColor: colours.down,
      wickUpColor: colours.up,
      wickDownColor: colours.down,
      borderVisible: false,
    },
    priceFormat: { type: "price", precision: digits, minMove: 10 ** -digits },
  });
  series.setData(items.map(barOf));
  chart.timeScale().fitContent();
  return { chart, series };
}

const LIVE_WORDS: Readonly<Record<LiveState["phase"], string>> = {
  history: "History: the time range ends in the past",
  connecting: "Connecting to the stream",
  live: "Live from the kline stream",
  stopped: "Not live",
};

/** Klines as candles, updated while the window includes the present. */
export function KlineChart({ window: klines, bearers, credential, stream }: KlineChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const [live, setLive] = useState<LiveState>({ phase: "connecting" });
  useEffect(() => {
    if (place.current === null) return;
    const { chart, series } = draw(place.current, klines.items);
    let newest = klines.items.at(-1)?.time ?? 0;
    const update = (kline: Kline) => {
      // The series accepts no bar before its last one.
      if (kline.time < newest) return;
      newest = kline.time;
      series.update(barOf(kline));
    };
    const open = klines.next_from === null && klines.to >= Date.now() / 1_000 - LIVE_WITHIN_S;
    const stop =
      open && credential !== undefined ? followKlines({ bearers, credential, stream, klines, update, tell: setLive }) : undefined;
    if (stop === undefined) setLive({ phase: "history" });
    const recolour = () => {
      const { ground, text, line } = chartColours(place.current ?? document.body);
      chart.applyOptions({
        layout: { background: { color: ground }, textColor: text },
        grid: { vertLines: { color: line }, horzLines: { color: line } },
      });
    };
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", recolour);
    const theme = new MutationObserver(recolour);
    theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      stop?.();
      scheme.removeEventListener("change", recolour);
      theme.disconnect();
      chart.remove();
    };
  }, [klines, bearers, credential, stream]);

  return (
    <figure>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <Badge tone={live.phase === "live" ? "positive" : "neutral"}>{LIVE_WORDS[live.phase]}</Badge>
        {live.why === undefined ? null : <span className="text-ink-soft text-xs leading-5">{live.why}</span>}
      </div>
      <div ref={place} className="h-96 w-full overflow-hidden rounded-lg border border-line" />
      <figcaption className="mt-2 flex flex-wrap justify-between gap-x-4 text-ink-faint text-xs leading-5">
        <span>
          {klines.ticker} {klines.timeframe}, {klines.count} klines of bid prices. All times UTC.
        </span>
        <a href="https://www.tradingview.com/" target="_blank" rel="noopener" className="underline">
          Charts by TradingView
        </a>
      </figcaption>
    </figure>
  );
}
