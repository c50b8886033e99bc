"use client";

import { useEffect, useState } from "react";
import { startBars } from "#lib/client/bar-series";
import type { Bar } from "#lib/client/bar-source";
import type { Timeframe } from "#lib/contract/primitives";
import { SECOND_MS } from "#lib/units";
import type { BoardStore } from "../board/board-store";
import { isIntraday } from "../chart/breaks";
import { Legend } from "../chart/legend";

interface HeroChartProps {
  readonly ticker: string;
  readonly digits: number;
  readonly timeframe: Timeframe;
  readonly store: BoardStore;
  /** Height of the plot, as a class. */
  readonly height: string;
}

/** Candles in view, and room after the last one. */
const BARS_COUNT = 72;
const FREE_SLOTS = 3;
const STEP = 10;
const BODY = 7;
const WIDTH = (BARS_COUNT + FREE_SLOTS) * STEP;
const HEIGHT = 320;
/** Lines of the price axis, as parts of the height. */
const LINES = [0.1, 0.3, 0.5, 0.7, 0.9];
const NONE: readonly Bar[] = [];

/** The bars of a series, read over REST, then followed over the board's own stream; empty until they come. */
function useBars({ ticker, timeframe, store }: Pick<HeroChartProps, "ticker" | "timeframe" | "store">) {
  const [bars, setBars] = useState(NONE);
  useEffect(() => {
    const show = (all: readonly Bar[]) => setBars(all.slice(-BARS_COUNT));
    const series = startBars({
      timeframe,
      first: NONE,
      source: store.bars(ticker),
      onAll: show,
      onLast: (_, all) => show(all),
      onState: () => undefined,
    });
    return () => {
      series.stop();
      setBars(NONE);
    };
  }, [ticker, timeframe, store]);
  return bars;
}

function Candle({ bar, x, yOf }: { bar: Bar; x: number; yOf: (price: number) => number }) {
  const { open, high, low, close } = bar;
  const top = yOf(Math.max(open, close));
  // Rising klines are hollow, as in the large charts: colors alone would not do for everybody.
  const tone = close >= open ? "fill-surface stroke-positive" : "fill-danger stroke-danger";
  const height = Math.max(1, yOf(Math.min(open, close)) - top);
  return (
    <g className={tone}>
      <path d={`M${x + BODY / 2} ${yOf(high)}V${yOf(low)}`} vectorEffect="non-scaling-stroke" strokeWidth="1" />
      <rect x={x} y={top} width={BODY} height={height} vectorEffect="non-scaling-stroke" strokeWidth="1" />
    </g>
  );
}

/** The latest candles of a ticker. Drawn without a chart library: loading one would double the size of this page. */
export function HeroChart({ ticker, digits, timeframe, store, height }: HeroChartProps) {
  const bars = useBars({ ticker, timeframe, store });
  const last = bars.at(-1);
  const high = Math.max(...bars.map((bar) => bar.high));
  const low = Math.min(...bars.map((bar) => bar.low));
  const range = (high - low || 1) / (LINES.at(-1) ?? 1) / (1 - (LINES[0] ?? 0));
  const topPrice = (high + low) / 2 + range / 2;
  const partOf = (price: number) => (topPrice - price) / range;
  const byDay = !isIntraday(timeframe);
  const at = (bar: Bar) =>
    new Date(bar.time * SECOND_MS).toISOString().slice(...((byDay ? [5, 10] : [11, 16]) as [number, number]));
  const summary =
    last === undefined
      ? `${ticker} ${timeframe}: loading`
      : `${ticker} ${timeframe}: ${bars.length} klines of bid prices. High ${high.toFixed(digits)}, low ${low.toFixed(digits)}, last ${last.close.toFixed(digits)}.`;
  return (
    <figure className="min-w-0">
      <Legend point={last} digits={digits} byDay={byDay} />
      <div className={`relative mt-2 overflow-hidden rounded-lg border border-line ${height}`}>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={summary}
          className="absolute inset-y-0 left-0 h-full w-[calc(100%-4.5rem)]"
        >
          {LINES.map((part) => (
            <path key={part} d={`M0 ${part * HEIGHT}H${WIDTH}`} className="stroke-line" vectorEffect="non-scaling-stroke" />
          ))}
          {bars.map((bar, index) => (
            <Candle
              key={bar.time}
              bar={bar}
              x={(BARS_COUNT - bars.length + index) * STEP}
              yOf={(price) => partOf(price) * HEIGHT}
            />
          ))}
        </svg>
        {last === undefined ? null : (
          <div aria-hidden="true" className="font-mono text-[11px] text-ink-faint tabular-nums leading-none">
            {LINES.map((part) => (
              <span key={part} className="absolute right-2 -translate-y-1/2" style={{ top: `${100 * part}%` }}>
                {(topPrice - part * range).toFixed(digits)}
              </span>
            ))}
            <span
              className={`absolute right-0 -translate-y-1/2 rounded-l px-2 py-1 text-surface ${last.close >= last.open ? "bg-positive" : "bg-danger"}`}
              style={{ top: `${100 * partOf(last.close)}%` }}
            >
              {last.close.toFixed(digits)}
            </span>
          </div>
        )}
      </div>
      <figcaption className="mt-2 flex justify-between gap-4 font-mono text-[11px] text-ink-faint tabular-nums leading-5">
        <span>{bars[0] === undefined ? "–" : at(bars[0])}</span>
        <span className="font-sans">Synthetic bid prices. All times UTC.</span>
        <span className="mr-18">{last === undefined ? "–" : at(last)}</span>
      </figcaption>
    </figure>
  );
}
