"use client";

import { useEffect, useState } from "react";
import { startBars } from "#lib/client/bar-series";
import type { Bar } from "#lib/client/bar-source";
import type { BoardRow } from "#lib/contract/board";
import type { Timeframe, Venue } from "#lib/contract/primitives";
import type { BoardStore } from "../board/board-store";
import { useRow } from "../board/use-board";
import { chartClock } from "../chart/clock";
import { Legend } from "../chart/legend";
import { roundSteps } from "../chart/round-steps";
import { priceText } from "../portal/numbers";
import { useTimeZone } from "../portal/time";

interface HeroChartProps {
  readonly venue: Venue;
  readonly row: BoardRow;
  readonly timeframe: Timeframe;
  /** Bars that are known already, ascending, to be shown until those of now come. */
  readonly first: readonly Bar[];
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
/** Free room above the highest price and below the lowest, as a part of the height. */
const MARGIN = 0.1;
/** Lines of the price axis, at most. */
const LINES_COUNT = 6;

/** The bars of a series: the first ones, then read over REST, then followed over the board's own stream. */
function useBars(ticker: string, { timeframe, first, store }: Pick<HeroChartProps, "timeframe" | "first" | "store">) {
  const [bars, setBars] = useState(first);
  useEffect(() => {
    const show = (all: readonly Bar[]) => setBars(all.slice(-BARS_COUNT));
    const series = startBars({
      timeframe,
      first,
      source: store.bars(ticker),
      onAll: show,
      onLast: (_, all) => show(all),
      onState: () => undefined,
    });
    return series.stop;
  }, [ticker, timeframe, first, store]);
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
export function HeroChart({ row, timeframe, first, venue, store, height }: HeroChartProps) {
  const { ticker, digits, price } = useRow(store, row);
  const bars = useBars(ticker, { timeframe, first, store });
  const clock = chartClock(timeframe, useTimeZone());
  const last = bars.at(-1);
  // The price that the board beside it shows: the two streams need not come at the same time.
  const lastPrice = price?.bid ?? last?.close ?? 0;
  const high = Math.max(lastPrice, ...bars.map((bar) => bar.high));
  const low = Math.min(lastPrice, ...bars.map((bar) => bar.low));
  const range = (high - low || 10 ** -digits) / (1 - 2 * MARGIN);
  const topPrice = (high + low) / 2 + range / 2;
  const partOf = (price: number) => (topPrice - price) / range;
  const lines = last === undefined ? [] : roundSteps(topPrice - range, topPrice, LINES_COUNT, digits);
  const summary =
    last === undefined
      ? `${ticker} ${timeframe}: loading`
      : `${ticker} ${timeframe}: ${bars.length} klines of bid prices. High ${priceText(high, digits)}, low ${priceText(low, digits)}, last ${priceText(lastPrice, digits)}.`;
  return (
    <figure className="@container min-w-0">
      <Legend point={last} digits={digits} clock={clock} />
      <div className={`relative mt-2 overflow-hidden rounded-lg border border-line ${height}`}>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={summary}
          className="absolute inset-y-0 left-0 h-full w-[calc(100%-5rem)]"
        >
          {lines.map((price) => (
            <path
              key={price}
              d={`M0 ${partOf(price) * HEIGHT}H${WIDTH}`}
              className="stroke-line"
              vectorEffect="non-scaling-stroke"
            />
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
            {lines.map((price) => (
              <span key={price} className="absolute right-2 -translate-y-1/2" style={{ top: `${100 * partOf(price)}%` }}>
                {priceText(price, digits)}
              </span>
            ))}
            <span
              className={`absolute right-0 -translate-y-1/2 rounded-l px-2 py-1 text-surface ${last.close >= last.open ? "bg-positive" : "bg-danger"}`}
              style={{ top: `${100 * partOf(lastPrice)}%` }}
            >
              {priceText(lastPrice, digits)}
            </span>
          </div>
        )}
      </div>
      <figcaption className="mt-2 flex flex-wrap justify-between gap-x-4 font-mono text-[11px] text-ink-faint tabular-nums leading-5">
        <span>{bars[0] === undefined ? "–" : clock.text(bars[0].time)}</span>
        <span className="@max-lg:order-last @max-lg:w-full font-sans">
          {venue === "live" ? "Live" : "Synthetic"} bid prices. {clock.note}
        </span>
        <span className="@lg:mr-20">{last === undefined ? "–" : clock.text(last.time)}</span>
      </figcaption>
    </figure>
  );
}
