"use client";

import { memo, useState } from "react";
import type { Venue } from "#lib/contract/primitives";
import { HEALTH_BUCKET_S, type HealthBucket, type HealthHistory } from "#lib/contract/service-status";
import { UPTIME_DAYS, type UptimeDays } from "#lib/contract/uptime";
import { durationText } from "#lib/duration";
import { DAY_MS, MINUTE_MS, MINUTE_S } from "#lib/units";
import { dateFormat } from "../portal/date-format";
import { useTimeZone } from "../portal/time";
import { Segmented } from "../ui/segmented";

const BUCKET_MINUTES = HEALTH_BUCKET_S / MINUTE_S;
const HEIGHT = 32;
/** Bars and the gaps between them, in units of the drawing. */
const STEP = 4;
const BAR_WIDTH = 3;

interface Bar extends HealthBucket {
  /** Minutes in which the market was closed. */
  readonly idle?: number;
}

interface Look {
  readonly fill: string;
  /** The part of the full height: the worse, the lower, so that a bar says it without its color too. */
  readonly height: number;
  readonly words: string;
}

const DEGRADED_HEIGHT = 0.6;
const DOWN_HEIGHT = 0.25;

/** The look of a bar, and its text. */
function lookOf({ minutes, well, idle = 0 }: Bar, wholeMinutes: number): Look {
  const expected = minutes - idle;
  if (minutes === 0) return { fill: "fill-line", height: 1, words: "no data" };
  if (expected === 0) return { fill: "fill-neutral/45", height: 1, words: "market closed" };
  const time = (count: number) => durationText(count * MINUTE_MS);
  if (well === expected)
    return {
      fill: "fill-positive",
      height: 1,
      words: minutes < wholeMinutes ? `operational for ${time(minutes)}, no data for the rest` : "operational",
    };
  if (well === 0) return { fill: "fill-danger", height: DOWN_HEIGHT, words: "down" };
  return { fill: "fill-warning", height: DEGRADED_HEIGHT, words: `operational for ${time(well)} of ${time(expected)}` };
}

/** What a bar stands for: a quarter of an hour in the reader's zone, or a day in UTC. */
function spanWords(fromMs: number, untilMs: number, timeZone: string): string {
  if (untilMs - fromMs === DAY_MS)
    return dateFormat({ day: "2-digit", month: "short", year: "numeric", timeZone: "UTC" }).format(fromMs);
  const clock = dateFormat({ hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone });
  return `${clock.format(fromMs)} – ${clock.format(untilMs)}`;
}

/** Availability over the recorded time. */
function summaryOf(bars: readonly Bar[]): string {
  const sum = { minutes: 0, well: 0, idle: 0 };
  for (const { minutes, well, idle = 0 } of bars) {
    sum.minutes += minutes;
    sum.well += well;
    sum.idle += idle;
  }
  const expected = sum.minutes - sum.idle;
  if (sum.minutes === 0) return "no data";
  if (expected === 0) return "market closed";
  const share = (100 * sum.well) / expected;
  return `${share === 100 ? "100" : share.toFixed(2)} % of ${durationText(expected * MINUTE_MS)} recorded`;
}

interface StripProps {
  readonly label: string;
  readonly bars: readonly Bar[];
  readonly fromMs: number;
  readonly bucketMs: number;
  /** The time that the bars cover. */
  readonly span: string;
}

const Strip = memo(function Strip({ label, bars, fromMs, bucketMs, span }: StripProps) {
  const timeZone = useTimeZone();
  const summary = summaryOf(bars);
  return (
    <div className="py-3">
      <div className="mb-1.5 flex flex-wrap items-baseline justify-between gap-x-4">
        <p className="font-medium text-sm">{label}</p>
        <p className="text-ink-soft text-xs tabular-nums">{summary}</p>
      </div>
      <svg
        viewBox={`0 0 ${bars.length * STEP - (STEP - BAR_WIDTH)} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}, ${span}: ${summary}`}
        className="block h-8 w-full"
      >
        {bars.map((bar, index) => {
          const { fill, height, words } = lookOf(bar, bucketMs / MINUTE_MS);
          const atMs = fromMs + index * bucketMs;
          return (
            <rect
              key={atMs}
              {...{ x: index * STEP, y: (1 - height) * HEIGHT, width: BAR_WIDTH, height: height * HEIGHT }}
              className={fill}
            >
              <title>{`${spanWords(atMs, atMs + bucketMs, timeZone)}: ${words}`}</title>
            </rect>
          );
        })}
      </svg>
    </div>
  );
});

const LEGEND: readonly { readonly fill: string; readonly height?: number; readonly word: string }[] = [
  { fill: "bg-positive", word: "operational" },
  { fill: "bg-warning", height: DEGRADED_HEIGHT, word: "degraded" },
  { fill: "bg-danger", height: DOWN_HEIGHT, word: "down" },
  { fill: "bg-neutral/45", word: "market closed" },
  { fill: "bg-line", word: "no data" },
];

const FEEDS: Record<Venue, string> = { live: "Live feed", sandbox: "Sandbox feed" };

const RANGES = [1, 7, 30, UPTIME_DAYS] as const;
type Range = (typeof RANGES)[number];
const spanOf = (days: Range) => (days === 1 ? "last 24 hours" : `last ${days} days`);

type Parts = Pick<HealthHistory, "rest" | "stream"> & { readonly feeds: Readonly<Record<Venue, readonly Bar[]>> };

/** The last days of the long history. */
function lastDays({ rest, stream, feeds }: UptimeDays, days: number): Parts {
  return {
    rest: rest.slice(-days),
    stream: stream.slice(-days),
    feeds: { live: feeds.live.slice(-days), sandbox: feeds.sandbox.slice(-days) },
  };
}

interface HistoryProps {
  readonly history: HealthHistory;
  readonly days: UptimeDays;
  /** Which venues have a provider. */
  readonly bound: Readonly<Record<Venue, boolean>>;
}

/** The recorded health of the service and its feeds: the last 24 hours in bars of 15 minutes, or up to 90 days in bars of a day. */
export function History({ history, days, bound }: HistoryProps) {
  const [range, setRange] = useState<Range>(1);
  const { rest, stream, feeds } = range === 1 ? history : lastDays(days, range);
  const time =
    range === 1
      ? { fromMs: history.from_ms, bucketMs: history.bucket_ms }
      : { fromMs: days.from_ms + (UPTIME_DAYS - range) * DAY_MS, bucketMs: DAY_MS };
  const shown = { ...time, span: spanOf(range) };
  return (
    <div className="rounded-xl border border-line bg-surface px-4 py-2 sm:px-5">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-2">
        <h3 className="font-medium text-sm">Uptime</h3>
        <Segmented
          legend="Range"
          choices={RANGES.map((days) => ({ value: days, label: days === 1 ? "24 h" : `${days} d` }))}
          value={range}
          onChange={setRange}
        />
      </div>
      <div className="divide-y divide-line border-line border-t">
        <Strip label="REST" bars={rest} {...shown} />
        <Strip label="Streams" bars={stream} {...shown} />
        <Strip label={FEEDS.sandbox} bars={feeds.sandbox} {...shown} />
        {bound.live ? <Strip label={FEEDS.live} bars={feeds.live} {...shown} /> : null}
      </div>
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-1 border-line border-t py-3 text-ink-faint text-xs">
        <p>{range === 1 ? `One bar per ${BUCKET_MINUTES} minutes` : "One bar per day. Days are UTC."}</p>
        <ul className="flex flex-wrap gap-x-4 gap-y-1">
          {LEGEND.map(({ fill, height = 1, word }) => (
            <li key={word} className="flex items-baseline gap-1.5">
              <span aria-hidden="true" className={`w-1.5 rounded-xs ${fill}`} style={{ height: `${0.75 * height}rem` }} />
              {word}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
