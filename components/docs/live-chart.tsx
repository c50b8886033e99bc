"use client";

import dynamic from "next/dynamic";
import type { LiveChartProps } from "../chart/live-chart";
import { useSeen } from "../ui/use-seen";

/** The chart is loaded shortly before it is seen. */
const AHEAD = "200px";
const HEIGHT = "h-72";
const Chart = dynamic(() => import("../chart/live-chart").then((module) => module.LiveChart), { ssr: false });

/** A chart in a guide: it is loaded when it comes into view, and its place has its height from the start. */
export function SeenChart(props: Omit<LiveChartProps, "height">) {
  const { place, seen } = useSeen(AHEAD);
  return (
    <div ref={place} className="not-prose my-6 grid min-h-96 sm:min-h-88 *:min-w-0">
      {seen ? <Chart {...props} height={HEIGHT} /> : null}
    </div>
  );
}
