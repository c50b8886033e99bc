"use client";

import { LineSeries, LineType, type UTCTimestamp } from "lightweight-charts";
import { useEffect, useMemo, useRef, useState } from "react";
import type { Quote } from "#lib/contract/quote";
import { SECOND_MS } from "#lib/units";
import { priceText } from "../portal/numbers";
import { useTimeZone } from "../portal/time";
import { ChartCaption } from "./chart-caption";
import { tickClock } from "./clock";
import { chartColours, onThemeChange } from "./colours";
import { LEGEND_HEIGHT } from "./legend";
import { createClockedChart, themed } from "./time-axis";

type Tick = Pick<Quote, "time_msc" | "bid" | "ask">;

interface TickChartProps {
  readonly ticker: string;
  readonly digits: number;
  /** Ascending by time. Must not change while the chart is shown. */
  readonly ticks: readonly Tick[];
  /** Height of the plot, as a class. */
  readonly height: string;
}

/** Room of a tick on the time axis, in pixels: as many as an answer can have fit into a phone. */
const TICK_MIN_PX = 0.01;

const secondsOf = ({ time_msc }: Tick) => time_msc / SECOND_MS;

/** Draws bid and ask as steps, because a price holds until the next tick. The returned functions recolour and remove the chart. */
function drawTicks(
  place: HTMLElement,
  {
    ticks,
    digits,
    clock,
    onTick,
  }: Pick<TickChartProps, "ticks" | "digits"> & {
    readonly clock: ReturnType<typeof tickClock>;
    /** The tick under the crosshair; undefined without one. */
    onTick(tick: Tick | undefined): void;
  },
) {
  // The axis has one place for a millisecond: its last tick.
  const byTime = new Map(ticks.map((tick) => [secondsOf(tick), tick]));
  const axis = { timeVisible: true, secondsVisible: true, minBarSpacing: TICK_MIN_PX };
  const chart = createClockedChart(place, clock, chartColours(place), axis);
  const priceFormat = {
    type: "custom",
    formatter: (price: number) => priceText(price, digits),
    minMove: 10 ** -digits,
  } as const;
  const style = { lineWidth: 1, lineType: LineType.WithSteps, priceLineVisible: false, priceFormat } as const;
  const lines = { bid: chart.addSeries(LineSeries, style), ask: chart.addSeries(LineSeries, style) };
  const recolour = () => {
    const colours = chartColours(place);
    chart.applyOptions(themed(colours));
    lines.bid.applyOptions({ color: colours.second });
    lines.ask.applyOptions({ color: colours.text });
  };
  recolour();
  for (const side of ["bid", "ask"] as const)
    lines[side].setData([...byTime].map(([time, tick]) => ({ time: time as UTCTimestamp, value: tick[side] })));
  chart.timeScale().fitContent();
  chart.subscribeCrosshairMove(({ time }) => onTick(byTime.get(Number(time))));
  return { recolour, remove: () => chart.remove() };
}

/** The ticks of an answer: bid and ask over the ticks, each with the same room. */
export function TickChart({ ticker, digits, ticks, height }: TickChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const timeZone = useTimeZone();
  const clock = useMemo(() => tickClock(timeZone), [timeZone]);
  const [pointed, setPointed] = useState<Tick>();
  useEffect(() => {
    if (place.current === null) return;
    const chart = drawTicks(place.current, { ticks, digits, clock, onTick: setPointed });
    const stopTheme = onThemeChange(chart.recolour);
    return () => {
      stopTheme();
      chart.remove();
    };
  }, [ticks, digits, clock]);
  const [first, last] = [ticks[0], ticks.at(-1)];
  const shown = pointed ?? last;
  if (first === undefined || last === undefined || shown === undefined) return null;
  const range = `${clock.text(secondsOf(first))} to ${clock.text(secondsOf(last))}`;
  return (
    <figure className="@container min-w-0">
      <dl
        className={`mb-2 flex flex-wrap content-center items-center gap-x-3 font-mono text-xs leading-5 tabular-nums ${LEGEND_HEIGHT}`}
      >
        <dt className="sr-only">Tick of</dt>
        <dd className="text-ink-soft">{clock.text(secondsOf(shown))}</dd>
        {(["bid", "ask"] as const).map((side) => (
          <div key={side} className="flex gap-1">
            <dt className="text-ink-faint capitalize">{side}</dt>
            <dd className={side === "bid" ? "text-accent" : ""}>{priceText(shown[side], digits)}</dd>
          </div>
        ))}
        <div className="flex gap-1">
          <dt className="text-ink-faint">Spread</dt>
          <dd>{priceText(shown.ask - shown.bid, digits)}</dd>
        </div>
      </dl>
      <div
        ref={place}
        role="img"
        aria-label={`${ticker}: bid and ask of ${ticks.length} ticks, ${range}. The table has them all.`}
        className={`w-full overflow-hidden rounded-lg border border-line ${height}`}
      />
      <ChartCaption>
        <span>
          {ticker}, bid and ask of {ticks.length} ticks. {clock.note}
        </span>
      </ChartCaption>
    </figure>
  );
}
