"use client";

import { memo } from "react";
import type { Venue } from "#lib/contract/primitives";
import { HEALTH_BUCKET_S, type HealthBucket, type HealthHistory } from "#lib/contract/service-status";
import { useTimeZone } from "../portal/time";

const BUCKET_MINUTES = HEALTH_BUCKET_S / 60;
const HEIGHT = 32;
/** Bars and the gaps between them, in units of the drawing. */
const STEP = 4;
const BAR = 3;

interface Stretch extends HealthBucket {
  /** Minutes in which nothing was expected. */
  readonly idle?: number;
}

interface Look {
  readonly fill: string;
  readonly words: string;
}

/** What a stretch looks like, and is called. */
function lookOf({ minutes, well, idle = 0 }: Stretch): Look {
  const expected = minutes - idle;
  if (minutes === 0) return { fill: "fill-line", words: "no data" };
  if (expected === 0) return { fill: "fill-neutral/45", words: "market closed" };
  if (well === expected)
    return {
      fill: "fill-positive",
      words: minutes < BUCKET_MINUTES ? `well in ${minutes} min, no data before or after` : "well",
    };
  if (well === 0) return { fill: "fill-danger", words: "not well" };
  return { fill: "fill-warning", words: `well in ${well} of ${expected} min` };
}

function spanWords(fromMs: number, untilMs: number, timeZone: string): string {
  const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone });
  return `${clock.format(fromMs)} – ${clock.format(untilMs)}`;
}

/** The sum in words: of what was recorded, and of what not. */
function summaryOf(stretches: readonly Stretch[]): string {
  const sum = { minutes: 0, well: 0, idle: 0 };
  for (const { minutes, well, idle = 0 } of stretches) {
    sum.minutes += minutes;
    sum.well += well;
    sum.idle += idle;
  }
  const expected = sum.minutes - sum.idle;
  if (sum.minutes === 0) return "no data";
  if (expected === 0) return "nothing was due";
  const share = (100 * sum.well) / expected;
  return `${share === 100 ? "100" : share.toFixed(2)} % of the ${timeWords(expected)} recorded`;
}

function timeWords(minutes: number): string {
  const hours = Math.floor(minutes / 60);
  return hours === 0 ? `${minutes} min` : `${hours} h ${minutes % 60} min`;
}

interface StripProps {
  readonly label: string;
  readonly stretches: readonly Stretch[];
  readonly history: Pick<HealthHistory, "from_ms" | "bucket_ms">;
}

const Strip = memo(function Strip({ label, stretches, history: { from_ms, bucket_ms } }: StripProps) {
  const timeZone = useTimeZone();
  const summary = summaryOf(stretches);
  return (
    <div className="py-3">
      <div className="mb-1.5 flex flex-wrap items-baseline justify-between gap-x-4">
        <p className="font-medium text-sm">{label}</p>
        <p className="text-ink-soft text-xs tabular-nums">{summary}</p>
      </div>
      <svg
        viewBox={`0 0 ${stretches.length * STEP - (STEP - BAR)} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}, last 24 hours: ${summary}`}
        className="block h-8 w-full"
      >
        {stretches.map((stretch, index) => {
          const { fill, words } = lookOf(stretch);
          const atMs = from_ms + index * bucket_ms;
          return (
            <rect key={atMs} x={index * STEP} width={BAR} y="0" height={HEIGHT} className={fill}>
              <title>{`${spanWords(atMs, atMs + bucket_ms, timeZone)}: ${words}`}</title>
            </rect>
          );
        })}
      </svg>
    </div>
  );
});

const LEGEND: readonly { readonly fill: string; readonly word: string }[] = [
  { fill: "bg-positive", word: "well" },
  { fill: "bg-warning", word: "partly" },
  { fill: "bg-danger", word: "not well" },
  { fill: "bg-neutral/45", word: "market closed" },
  { fill: "bg-line", word: "no data" },
];

const FEEDS: Record<Venue, string> = { live: "Live feed", sandbox: "Sandbox feed" };

/** The last 24 hours of the service and its feeds, a bar for 15 minutes, as they were recorded. */
export function History({ history, bound }: { history: HealthHistory; bound: Readonly<Record<Venue, boolean>> }) {
  return (
    <div className="rounded-xl border border-line bg-surface px-4 py-2 sm:px-5">
      <div className="divide-y divide-line">
        <Strip label="REST" stretches={history.rest} history={history} />
        <Strip label="Streams" stretches={history.stream} history={history} />
        <Strip label={FEEDS.sandbox} stretches={history.feeds.sandbox} history={history} />
        {bound.live ? <Strip label={FEEDS.live} stretches={history.feeds.live} history={history} /> : null}
      </div>
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-1 border-line border-t py-3 text-ink-faint text-xs">
        <p>24 hours ago to now, a bar for 15 minutes</p>
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
