"use client";

import type { UsageGrain } from "#lib/contract/portal";
import { Skeleton } from "../ui/skeleton";
import { type Bound, Chart, type ChartPoint, type Series } from "./chart";

const PLACE = "h-56 w-full";

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
  readonly points: readonly ChartPoint[] | undefined;
  readonly grain: UsageGrain;
  readonly series: readonly Series[];
  readonly unit: "count" | "ms";
  readonly bound?: Bound | undefined;
}

/** A chart with its legend; its height is the same in all states. */
export function ChartCard({ summary, points, grain, series, unit, bound }: ChartCardProps) {
  return (
    <figure className="rounded-lg border border-line bg-surface p-4">
      <ul className="mb-3 flex flex-wrap gap-4 text-ink-soft text-xs">
        {series.map(({ field, label, tone }) => (
          <li key={field} className="flex items-center gap-1.5">
            <span aria-hidden="true" className={`size-2 rounded-sm ${TONES[tone]}`} />
            {label}
          </li>
        ))}
        {bound === undefined ? null : (
          <li className="flex items-center gap-1.5">
            <span aria-hidden="true" className="w-6 border-danger border-t-2 border-dashed" />
            {bound.label}
          </li>
        )}
      </ul>
      <div className={PLACE}>
        {points === undefined ? (
          <Skeleton className={PLACE} />
        ) : points.every((point) => series.every(({ field }) => !point[field])) ? (
          <p className="flex h-full items-center justify-center text-ink-faint text-sm">No data in this range yet.</p>
        ) : (
          <Chart points={points} grain={grain} series={series} unit={unit} bound={bound} />
        )}
      </div>
      <figcaption className="sr-only">{summary}</figcaption>
    </figure>
  );
}
