"use client";

import { memo } from "react";
import type { Venue } from "#lib/contract/primitives";
import { HEALTH_BUCKET_S, type HealthBucket, type HealthHistory } from "#lib/contract/service-status";
import { durationText } from "#lib/duration";
import { MINUTE_MS, MINUTE_S } from "#lib/units";
import { dateFormat } from "../portal/date-format";
import { useTimeZone } from "../portal/time";

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
  readonly words: string;
}

/** The colour of a bar, and its text. */
function lookOf({ minutes, well, idle = 0 }: Bar): Look {
  const expected = minutes - idle;
  if (minutes === 0) return { fill: "fill-line", words: "no data" };
  if (expected === 0) return { fill: "fill-neutral/45", words: "market closed" };
  if (well === expected)
    return {
      fill: "fill-positive",
      words: minutes < BUCKET_MINUTES ? `operational for ${minutes} min, no data for the rest` : "operational",
    };
  if (well === 0) return { fill: "fill-danger", words: "down" };
  return { fill: "fill-warning", words: `operational for ${well} of ${expected} min` };
}

function spanWords(fromMs: number, untilMs: number, timeZone: string): string {
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
  readonly history: Pick<HealthHistory, "from_ms" | "bucket_ms">;
}

const Strip = memo(function Strip({ label, bars, history: { from_ms, bucket_ms } }: StripProps) {
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
        aria-label={`${label}, last 24 hours: ${summary}`}
        className="block h-8 w-full"
      >
        {bars.map((bar, index) => {
          const { fill, words } = lookOf(bar);
          const atMs = from_ms + index * bucket_ms;
          return (
            <rect key={atMs} x={index * STEP} width={BAR_WIDTH} y="0" height={HEIGHT} className={fill}>
              <title>{`${spanWords(atMs, atMs + bucket_ms, timeZone)}: ${words}`}</title>
            </rect>
          );
        })}
      </svg>
    </div>
  );
});

const LEGEND: readonly { readonly fill: string; readonly word: string }[] = [
  { fill: "bg-positive", word: "operational" },
  { fill: "bg-warning", word: "degraded" },
  { fill: "bg-danger", word: "down" },
  { fill: "bg-neutral/45", word: "market closed" },
  { fill: "bg-line", word: "no data" },
];

const FEEDS: Record<Venue, string> = { live: "Live feed", sandbox: "Sandbox feed" };

/** The recorded last 24 hours of the service and its feeds, one bar per 15 minutes. */
export function History({ history, bound }: { history: HealthHistory; bound: Readonly<Record<Venue, boolean>> }) {
  return (
    <div className="rounded-xl border border-line bg-surface px-4 py-2 sm:px-5">
      <div className="divide-y divide-line">
        <Strip label="REST" bars={history.rest} history={history} />
        <Strip label="Streams" bars={history.stream} history={history} />
        <Strip label={FEEDS.sandbox} bars={history.feeds.sandbox} history={history} />
        {bound.live ? <Strip label={FEEDS.live} bars={history.feeds.live} history={history} /> : null}
      </div>
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-1 border-line border-t py-3 text-ink-faint text-xs">
        <p>Last 24 hours, one bar per {BUCKET_MINUTES} minutes</p>
        <ul className="flex flex-wrap gap-x-4 gap-y-1">
          {LEGEND.map(({ fill, word }) => (
            <li key={word} className="flex items-center gap-1.5">
              <span aria-hidden="true" className={`h-3 w-1.5 rounded-sm ${fill}`} />
              {word}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
