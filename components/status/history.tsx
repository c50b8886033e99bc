"use client";

import { memo, useState } from "react";
import type { Venue } from "#lib/contract/primitives";
import { HEALTH_BUCKET_S, type HealthHistory } from "#lib/contract/service-status";
import { UPTIME_DAYS, type UptimeDays } from "#lib/contract/uptime";
import { DAY_MS, MINUTE_MS, MINUTE_S } from "#lib/units";
import { timeText } from "../portal/date-format";
import { useTimeZone } from "../portal/time";
import { Segmented } from "../ui/segmented";
import { BAR_WORDS, type Bar, type BarState, barOf, summaryOf } from "./bars";

const BUCKET_MINUTES = HEALTH_BUCKET_S / MINUTE_S;
const HEIGHT = 32;
/** Bars and the gaps between them, in units of the drawing. */
const STEP = 4;
const BAR_WIDTH = 3;

/** How a state looks: outages are as high as everything else, and a pattern tells them without their color too. */
const FILLS: Readonly<Record<BarState, string>> = {
  operational: "var(--positive)",
  degraded: "url(#status-degraded)",
  down: "url(#status-down)",
  closed: "color-mix(in oklab, var(--neutral) 45%, transparent)",
  no_data: "var(--line)",
  not_bound: "url(#status-not-bound)",
};

/** The patterns of FILLS, once on the page. They are horizontal, because bars are stretched to the width of the page. */
function Patterns() {
  const stripes = { patternUnits: "userSpaceOnUse", width: HEIGHT } as const;
  return (
    <svg aria-hidden="true" className="absolute size-0">
      <defs>
        <pattern id="status-down" {...stripes} height="4">
          <rect width={HEIGHT} height="4" fill="var(--danger)" />
          <rect y="1.5" width={HEIGHT} height="1.5" fill="var(--surface)" />
        </pattern>
        <pattern id="status-degraded" {...stripes} height="16">
          <rect width={HEIGHT} height="16" fill="var(--warning)" />
          <rect y="6" width={HEIGHT} height="3" fill="var(--surface)" />
        </pattern>
        <pattern id="status-not-bound" {...stripes} height="8">
          <rect width={HEIGHT} height="1" fill="var(--edge)" />
        </pattern>
      </defs>
    </svg>
  );
}

/** What a bar stands for: a quarter of an hour in the zone that the page shows, or a day in UTC. */
function spanWords(fromMs: number, untilMs: number, timeZone: string): string {
  if (untilMs - fromMs === DAY_MS) return timeText(fromMs, "day", "UTC");
  return `${timeText(fromMs, "time", timeZone)} – ${timeText(untilMs, "time", timeZone)}`;
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
          const { state, words } = barOf(bar, bucketMs / MINUTE_MS);
          const atMs = fromMs + index * bucketMs;
          return (
            <rect key={atMs} x={index * STEP} width={BAR_WIDTH} height={HEIGHT} fill={FILLS[state]}>
              <title>{`${spanWords(atMs, atMs + bucketMs, timeZone)}: ${words}`}</title>
            </rect>
          );
        })}
      </svg>
    </div>
  );
});

const LEGEND = Object.entries(BAR_WORDS) as [BarState, string][];

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
}

/** The recorded health of the service and its feeds: the last 24 hours in bars of 15 minutes, or up to 90 days in bars of a day. */
export function History({ history, days }: HistoryProps) {
  const [range, setRange] = useState<Range>(1);
  const { rest, stream, feeds } = range === 1 ? history : lastDays(days, range);
  const time =
    range === 1
      ? { fromMs: history.from_ms, bucketMs: history.bucket_ms }
      : { fromMs: days.from_ms + (UPTIME_DAYS - range) * DAY_MS, bucketMs: DAY_MS };
  const shown = { ...time, span: spanOf(range) };
  return (
    <div className="rounded-xl border border-line bg-surface px-4 py-2 sm:px-5">
      <Patterns />
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
        <Strip label={FEEDS.live} bars={feeds.live} {...shown} />
      </div>
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-1 border-line border-t py-3 text-ink-faint text-xs">
        <p>{range === 1 ? `One bar per ${BUCKET_MINUTES} minutes` : "One bar per day. Days are UTC."}</p>
        <ul className="flex flex-wrap gap-x-4 gap-y-1">
          {LEGEND.map(([state, word]) => (
            <li key={state} className="flex items-center gap-1.5">
              <svg aria-hidden="true" className="h-3 w-2">
                <rect width="8" height="12" fill={FILLS[state]} />
              </svg>
              {word}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
