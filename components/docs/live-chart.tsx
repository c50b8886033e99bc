"use client";

import dynamic from "next/dynamic";
import type { LiveChartProps } from "../chart/live-chart";
import { Badge } from "../ui/badge";
import { useSeen } from "../ui/use-seen";

/** The chart is loaded shortly before it is seen. */
const AHEAD = "200px";
const HEIGHT = "h-72";
const Chart = dynamic(() => import("../chart/live-chart").then((module) => module.LiveChart), { ssr: false });

/** A chart in a guide: it is loaded when it comes into view, and its place has its height from the start. */
export function SeenChart(props: Omit<LiveChartProps, "height">) {
  const { place, seen } = useSeen(AHEAD);
  return (
    <div className="not-prose my-6">
      <div ref={place} className="grid min-h-96 sm:min-h-88 *:min-w-0">
        {seen ? <Chart {...props} height={HEIGHT} /> : null}
      </div>
      <p className="mt-2 flex items-center gap-2 text-ink-faint text-xs leading-5">
        <Badge tone="neutral">Sandbox</Badge> Synthetic prices, read with the demo key.
      </p>
    </div>
  );
}
