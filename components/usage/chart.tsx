"use client";

import { type KeyboardEvent, type PointerEvent, type ReactNode, useState } from "react";
import type { UsageGrain, UsagePoint } from "#lib/contract/portal";
import { timeText } from "../portal/date-format";
import { compactText, countText, msText } from "../portal/numbers";
import { Instant } from "../portal/time";

/** A value of a bucket: those of usage, and the units of a month so far. */
type Field = Exclude<keyof UsagePoint, "at"> | "total";

/** A bucket with the values that are drawn. */
export type ChartPoint = { readonly at: string } & { readonly [Name in Field]?: number | null };

/** A line across the chart. */
export interface Bound {
  readonly label: string;
  readonly value: number;
}

/** Which value of a point is drawn, how, and in which colour. */
export interface Series {
  readonly field: Field;
  readonly label: string;
  readonly shape: "bar" | "line";
  readonly tone: "accent" | "danger" | "warning" | "neutral" | "positive";
  /** True for a part of the previous bar, drawn inside it. */
  readonly part?: true;
}

interface ChartProps {
  readonly points: readonly ChartPoint[];
  readonly grain: UsageGrain;
  readonly series: readonly Series[];
  readonly unit: "count" | "ms";
  readonly bound?: Bound | undefined;
}

/** Steps between the lines of the scale: one of these, times a power of ten. */
const STEPS = [1, 2, 5, 10];
const LINES_COUNT = 4;
/** Labels below the chart; every other one on a narrow screen. */
const LABELS_COUNT = 8;
/** The part of its place that a bar takes, or bars side by side. */
const BAR_SHARE = 0.8;
const BAR_MAX_PX = 28;

/** Labels of buckets. Hours and minutes begin at an instant; days are UTC days, as they are counted. */
const bucketText = (grain: UsageGrain, at: string): ReactNode =>
  grain === "day" ? timeText(at, "dayOfYear", "UTC") : <Instant at={at} to="weekdayTime" />;

/** Round values from zero to at least `max`, evenly apart; whole ones for counts. Zero and one where all is zero. */
export function scaleOf(max: number, unit: "count" | "ms"): number[] {
  if (max === 0) return [0, 1];
  const rough = max / LINES_COUNT;
  const power = 10 ** Math.floor(Math.log10(rough));
  const round = power * (STEPS.find((step) => step * power >= rough) ?? 1);
  const step = unit === "count" ? Math.max(1, Math.ceil(round)) : round;
  return Array.from({ length: Math.ceil(max / step) + 1 }, (_, index) => index * step);
}

/** Paths through the values, in percent of the chart: a line with a gap at each missing value, and a dot for a value between two gaps. */
export function pathsOf(values: readonly (number | null | undefined)[], top: number): { line: string; dots: string } {
  const paths = { line: "", dots: "" };
  for (const [index, value] of values.entries()) {
    if (value == null) continue;
    const at = `${(100 * (index + 0.5)) / values.length} ${100 - (100 * value) / top}`;
    const begins = values[index - 1] == null;
    if (begins && values[index + 1] == null) paths.dots += `M${at}h0`;
    else paths.line += `${begins ? "M" : "L"}${at}`;
  }
  return paths;
}

/** Counts or latencies over time. The values of the bucket below the pointer are shown; arrow keys move to others. */
export function Chart({ points, grain, series, unit, bound }: ChartProps) {
  const [shown, show] = useState<number | null>(null);
  const axisText = (value: number) => (unit === "ms" ? `${countText(value)} ms` : compactText(value));
  const valueText = (value: number | null) => (unit === "ms" ? msText(value) : countText(value ?? 0));

  const all = points.flatMap((point) => series.map(({ field }) => point[field] ?? 0));
  const scale = scaleOf(Math.max(...all, bound?.value ?? 0), unit);
  const top = scale.at(-1) ?? 1;
  const percent = (value: number) => `${(100 * value) / top}%`;
  const bars = series.filter(({ shape }) => shape === "bar");
  const columns = bars.filter(({ part }) => !part).length;
  const every = Math.ceil(points.length / LABELS_COUNT);
  const point = shown === null ? undefined : points[shown];

  const onPointerMove = ({ currentTarget, clientX }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    show(Math.max(0, Math.min(points.length - 1, Math.floor(((clientX - left) / width) * points.length))));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    show((at) => Math.max(0, Math.min(points.length - 1, at === null ? points.length - 1 : at + by)));
  };

  return (
    <div className="relative h-56 text-[11px] text-ink-faint">
      <div
        role="application"
        aria-label="Chart; arrow keys read its values"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys read its values
        tabIndex={0}
        className="absolute top-2 right-1 bottom-6 left-13"
        onPointerMove={onPointerMove}
        onPointerLeave={() => show(null)}
        onBlur={() => show(null)}
        onKeyDown={onKeyDown}
      >
        {scale.map((value) => (
          <div key={value} className="absolute inset-x-0 border-line border-t" style={{ bottom: percent(value) }}>
            <span className="absolute right-full mr-2 -translate-y-1/2 whitespace-nowrap">{axisText(value)}</span>
          </div>
        ))}
        {shown === null ? null : (
          <div
            className="absolute inset-y-0 bg-line opacity-40"
            style={{ left: `${(100 * shown) / points.length}%`, width: `${100 / points.length}%` }}
          />
        )}
        <div className="absolute inset-0 flex">
          {points.map((one, index) => (
            <div key={one.at} className="relative flex-1">
              <div
                className="absolute inset-y-0 left-1/2 -translate-x-1/2"
                style={{ width: `min(${100 * BAR_SHARE}%, ${BAR_MAX_PX}px)` }}
              >
                {bars.map(({ field, tone, part }, place) => (
                  <div
                    key={field}
                    data-bar={field}
                    className="absolute bottom-0"
                    style={{
                      left: `${(100 * (part ? place - 1 : place)) / columns}%`,
                      width: `${100 / columns}%`,
                      height: percent(one[field] ?? 0),
                      background: `var(--${tone})`,
                    }}
                  />
                ))}
              </div>
              {/* Not where less than half of its place is left: it would leave the card. */}
              {index % every === 0 && index + every / 2 < points.length ? (
                <span
                  className={`absolute top-full left-1/2 mt-1.5 -translate-x-1/2 whitespace-nowrap ${(index / every) % 2 === 1 ? "max-sm:hidden" : ""}`}
                >
                  {bucketText(grain, one.at)}
                </span>
              ) : null}
            </div>
          ))}
        </div>
        <svg
          aria-hidden="true"
          className="absolute inset-0 size-full overflow-visible"
          viewBox="0 0 100 100"
          preserveAspectRatio="none"
        >
          {series
            .filter(({ shape }) => shape === "line")
            .map(({ field, tone }) => {
              const { line, dots } = pathsOf(
                points.map((one) => one[field]),
                top,
              );
              const stroke = `var(--${tone})`;
              return (
                <g key={field} fill="none" strokeLinecap="round" strokeLinejoin="round">
                  <path d={line} stroke={stroke} strokeWidth={2} vectorEffect="non-scaling-stroke" />
                  <path d={dots} stroke={stroke} strokeWidth={6} vectorEffect="non-scaling-stroke" />
                </g>
              );
            })}
        </svg>
        {bound === undefined ? null : (
          <div className="absolute inset-x-0 border-danger border-t border-dashed" style={{ bottom: percent(bound.value) }} />
        )}
        <div aria-live="polite" className="pointer-events-none">
          {point === undefined || shown === null ? null : (
            <dl
              className={`absolute top-0 z-10 rounded-lg border border-line bg-surface px-2.5 py-1.5 text-ink text-xs w-max max-w-44 ${shown < points.length / 2 ? "ml-3" : "-ml-3 -translate-x-full"}`}
              style={{ left: `${(100 * (shown + 0.5)) / points.length}%` }}
            >
              <dt className="whitespace-nowrap">{bucketText(grain, point.at)}</dt>
              {series.map(({ field, label: name, tone }) => (
                <dd key={field} style={{ color: `var(--${tone})` }}>
                  {`${name}: ${valueText(point[field] ?? null)}`}
                </dd>
              ))}
            </dl>
          )}
        </div>
      </div>
    </div>
  );
}
