"use client";

import dynamic from "next/dynamic";
import { useSeen } from "../ui/use-seen";
import type { KlineChartProps } from "./kline-chart";
import { LEGEND_HEIGHT } from "./legend";

/** The chart is as large as the rest of a page: it is loaded shortly before it is seen. */
const AHEAD = "200px";

const KlineChart = dynamic(() => import("./kline-chart").then((module) => module.KlineChart), { ssr: false });

/** A chart that loads when it comes into view; its place has the chart's height from the start. */
export function LazyChart(props: KlineChartProps) {
  const { place, seen } = useSeen(AHEAD);
  return (
    <div ref={place} className="grid *:col-start-1 *:row-start-1">
      {/* Keeps the height of legend, plot and caption until the chart covers it. */}
      <div aria-hidden="true" className={`@container min-w-0 ${seen ? "invisible" : ""}`}>
        <div className={`mb-2 ${LEGEND_HEIGHT}`} />
        <div className={`rounded-lg border border-line bg-surface ${props.height}`} />
        <div className="mt-2 h-12 sm:h-6" />
      </div>
      {seen ? <KlineChart key={props.timeframe} {...props} /> : null}
    </div>
  );
}
