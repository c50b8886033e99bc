"use client";

import { Bar, CartesianGrid, ComposedChart, Line, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import type { UsageGrain, UsagePoint } from "#lib/contract/portal";
import { dateFormat } from "../portal/date-format";
import { compactText, countText, msText } from "../portal/numbers";
import { useTimeZone } from "../portal/time";

/** Which value of a point is drawn, how, and in which colour. */
export interface Series {
  readonly field: Exclude<keyof UsagePoint, "at">;
  readonly label: string;
  readonly shape: "bar" | "line";
  readonly tone: "accent" | "danger" | "warning" | "neutral" | "positive";
  /** True for a part of the previous bar, drawn inside it. */
  readonly part?: true;
}

interface ChartProps {
  readonly points: readonly UsagePoint[];
  readonly grain: UsageGrain;
  readonly series: readonly Series[];
  readonly unit: "count" | "ms";
}

const HEIGHT_PX = 224;
const PART_AXIS = "part";
const AXIS = { stroke: "var(--line)", tick: { fill: "var(--ink-faint)", fontSize: 11 }, tickLine: false } as const;

/** Labels of buckets: hours and minutes in the viewer's time zone; days are UTC days, as they are counted. */
function labels(grain: UsageGrain, timeZone: string): (at: string) => string {
  const shape: Intl.DateTimeFormatOptions =
    grain === "day"
      ? { day: "2-digit", month: "short", timeZone: "UTC" }
      : { weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone };
  const format = dateFormat(shape);
  return (at) => format.format(new Date(at));
}

/** Counts or latencies over time. */
export function Chart({ points, grain, series, unit }: ChartProps) {
  const timeZone = useTimeZone();
  const label = labels(grain, timeZone);
  const axisText = (value: number) => (unit === "ms" ? `${countText(value)} ms` : compactText(value));
  const valueText = (value: unknown) => (unit === "ms" ? msText(Number(value)) : countText(Number(value)));
  return (
    <ResponsiveContainer width="100%" height={HEIGHT_PX}>
      <ComposedChart data={[...points]} margin={{ top: 8, right: 4, bottom: 0, left: 0 }} accessibilityLayer>
        <CartesianGrid vertical={false} stroke="var(--line)" />
        <XAxis dataKey="at" scale="band" tickFormatter={label} minTickGap={48} height={24} {...AXIS} />
        {/* Bars on different axes are drawn in the same place, not side by side. */}
        <XAxis xAxisId={PART_AXIS} dataKey="at" scale="band" hide />
        <YAxis width={52} allowDecimals={unit === "ms"} tickFormatter={axisText} axisLine={false} {...AXIS} />
        <Tooltip
          labelFormatter={(at) => label(String(at))}
          formatter={(value, name) => [valueText(value), name]}
          isAnimationActive={false}
          separator=": "
          cursor={{ fill: "var(--line)", opacity: 0.4 }}
          contentStyle={{ background: "var(--surface)", border: "1px solid var(--line)", borderRadius: 8, fontSize: 12 }}
        />
        {series.map(({ field, label: name, shape, tone, part }) =>
          shape === "bar" ? (
            <Bar
              key={field}
              xAxisId={part ? PART_AXIS : 0}
              dataKey={field}
              name={name}
              fill={`var(--${tone})`}
              isAnimationActive={false}
              maxBarSize={28}
            />
          ) : (
            <Line
              key={field}
              dataKey={field}
              name={name}
              stroke={`var(--${tone})`}
              strokeWidth={2}
              dot={points.length === 1}
              isAnimationActive={false}
            />
          ),
        )}
      </ComposedChart>
    </ResponsiveContainer>
  );
}
