"use client";

import dynamic from "next/dynamic";
import type { UsageGrain, UsagePoint } from "#lib/contract/portal";
import { Skeleton } from "../ui/skeleton";
import type { Series } from "./chart";

const PLACE = "h-56 w-full";

// Loaded on demand: it is larger than the rest of the page.
const Chart = dynamic(() => import("./chart").then((module) => module.Chart), {
  ssr: false,
  loading: () => <Skeleton className={PLACE} />,
});

const TONES: Record<Series["tone"], string> = {
  accent: "bg-accent",
  danger: "bg-danger",
  warning: "bg-warning",
  neutral: "bg-neutral",
  positive: "bg-positive",
};

interface ChartCardProps {
  /** A description of the chart, for screen readers. */
  readonly summary: string;
  /** Undefined while loading. */
  readonly points: readonly UsagePoint[] | undefined;
  readonly grain: UsageGrain;
  readonly series: readonly Series[];
  readonly unit: "count" | "ms";
}

/** A chart with its legend; its height is the same in all states. */
export function ChartCard({ summary, points, grain, series, unit }: ChartCardProps) {
  return (
    <figure className="rounded-lg border border-line bg-surface p-4">
      <ul className="mb-3 flex flex-wrap gap-4 text-ink-soft text-xs">
        {series.map(({ field, label, tone }) => (
          <li key={field} className="flex items-center gap-1.5">
            <span aria-hidden="true" className={`size-2 rounded-sm ${TONES[tone]}`} />
            {label}
          </li>
        ))}
      </ul>
      <div className={PLACE}>
        {points === undefined ? (
          <Skeleton className={PLACE} />
        ) : points.every((point) => series.every(({ field }) => !point[field])) ? (
          <p className="flex h-full items-center justify-center text-ink-faint text-sm">No data in this range yet.</p>
        ) : (
          <Chart points={points} grain={grain} series={series} unit={unit} />
        )}
      </div>
      <figcaption className="sr-only">{summary}</figcaption>
    </figure>
  );
}
