"use client";

import { countdownText } from "#lib/duration";
import { MINUTE_MS } from "#lib/units";
import { placeOf, timeText } from "../portal/date-format";
import { startOfDay } from "../portal/local-time";
import { Instant, instantText, useNow, useTimeZone, ZoneName } from "../portal/time";

/** A range of time, Unix milliseconds. */
interface Span {
  readonly openMs: number;
  readonly closeMs: number;
}

interface WorldSessionsProps {
  /** The coming sessions of each centre, ascending. */
  readonly sessions: readonly { readonly centre: string; readonly spans: readonly Span[] }[];
  /** The time on the page before the browser's own clock is read, Unix milliseconds. */
  readonly atMs: number;
}

const HEIGHT = 20;
/** Where the lines of a day have a mark: at its quarters. */
const QUARTERS = [0, 0.25, 0.5, 0.75];
const iso = (ms: number) => new Date(ms).toISOString();
const NAMES = new Intl.ListFormat("en-GB");

const openOf = (spans: readonly Span[], atMs: number) => spans.find(({ openMs, closeMs }) => openMs <= atMs && atMs < closeMs);

/** Times of a day in which at least two centres are open. */
function overlapsOf(sessions: WorldSessionsProps["sessions"], { openMs: fromMs, closeMs: untilMs }: Span): Span[] {
  const ends = sessions
    .flatMap(({ spans }) => spans.flatMap(({ openMs, closeMs }) => [openMs, closeMs]))
    .filter((ms) => ms > fromMs && ms < untilMs);
  const edges = [...new Set([fromMs, ...ends, untilMs])].sort((a, b) => a - b);
  return edges.slice(0, -1).flatMap((openMs, index) => {
    const isOverlap = sessions.filter(({ spans }) => openOf(spans, openMs) !== undefined).length > 1;
    return isOverlap ? [{ openMs, closeMs: edges[index + 1] ?? openMs }] : [];
  });
}

interface LineProps {
  readonly label: string;
  readonly spans: readonly Span[];
  /** From midnight to midnight. */
  readonly day: Span;
  readonly atMs: number;
  readonly fill: string;
}

/** A day as a line: what is open, and now. */
function Line({ label, spans, day: { openMs: fromMs, closeMs: untilMs }, atMs, fill }: LineProps) {
  const zone = useTimeZone();
  const minutes = (ms: number) => (ms - fromMs) / MINUTE_MS;
  const shown = spans.flatMap(({ openMs, closeMs }) => {
    const from = Math.max(openMs, fromMs);
    const until = Math.min(closeMs, untilMs);
    return from < until ? [{ from, until }] : [];
  });
  const clock = (ms: number) => (ms === untilMs ? "24:00" : timeText(ms, "time", zone));
  const words = shown.map(({ from, until }) => `${clock(from)} to ${clock(until)}`);
  const width = minutes(untilMs);
  return (
    <svg
      viewBox={`0 0 ${width} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label} today, times in ${placeOf(zone)}: ${words.length === 0 ? "closed" : words.join(", ")}`}
      className="block h-5 w-full"
    >
      <rect width={width} height={HEIGHT} className="fill-sunken" />
      {QUARTERS.slice(1).map((part) => (
        <rect key={part} x={part * width - 1} width="2" height={HEIGHT} className="fill-line" />
      ))}
      {shown.map(({ from, until }) => (
        <rect key={from} x={minutes(from)} width={minutes(until) - minutes(from)} height={HEIGHT} className={fill} />
      ))}
      <rect x={minutes(atMs) - 2} width="4" height={HEIGHT} className="fill-accent" />
    </svg>
  );
}

/** What a centre does now, and until when. */
function State({ spans, atMs }: { spans: readonly Span[]; atMs: number }) {
  const zone = useTimeZone();
  const now = openOf(spans, atMs);
  const next = spans.find(({ openMs }) => openMs > atMs);
  const turnMs = now?.closeMs ?? next?.openMs;
  return (
    <p className="flex items-center gap-1.5 whitespace-nowrap text-ink-soft text-xs">
      <span aria-hidden="true" className={`size-1.5 rounded-full ${now === undefined ? "bg-neutral" : "bg-positive"}`} />
      {now === undefined ? "opens in " : "closes in "}
      {turnMs === undefined ? (
        "–"
      ) : (
        <time dateTime={iso(turnMs)} title={instantText(iso(turnMs), zone)} className="font-mono text-ink tabular-nums">
          {countdownText(turnMs - atMs)}
        </time>
      )}
    </p>
  );
}

/** The sessions of the world on a line of the day, midnight to midnight in the zone that the page shows, with now and their overlaps. */
export function WorldSessions({ sessions, atMs: firstMs }: WorldSessionsProps) {
  const atMs = useNow() ?? firstMs;
  const zone = useTimeZone();
  const day = { openMs: startOfDay(atMs, 0, zone), closeMs: startOfDay(atMs, 1, zone) };
  const open = sessions.filter(({ spans }) => openOf(spans, atMs) !== undefined).map(({ centre }) => centre);
  const row = "grid items-center gap-x-4 gap-y-1 sm:grid-cols-[15rem_minmax(0,1fr)]";
  return (
    <section aria-labelledby="sessions" className="mt-12 sm:mt-14">
      <div className="mb-3 flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <h2 id="sessions" className="font-medium">
          World sessions
        </h2>
        <p className="text-ink-faint text-sm">
          From the live venue's forex calendar, holidays included. Times in <ZoneName />.
        </p>
      </div>
      <div className="space-y-3 rounded-xl border border-line bg-surface p-4 sm:p-5">
        {sessions.map(({ centre, spans }) => (
          <div key={centre} className={row}>
            <div className="flex items-baseline justify-between gap-3">
              <h3 className="text-sm">{centre}</h3>
              <State spans={spans} atMs={atMs} />
            </div>
            <Line label={centre} spans={spans} day={day} atMs={atMs} fill="fill-positive/60" />
          </div>
        ))}
        <div className={row}>
          <div className="flex items-baseline justify-between gap-3">
            <h3 className="text-sm">Overlaps</h3>
            <p className="text-ink-soft text-xs">{open.length > 1 ? NAMES.format(open) : "none now"}</p>
          </div>
          <Line label="Overlaps" spans={overlapsOf(sessions, day)} day={day} atMs={atMs} fill="fill-accent/50" />
        </div>
        <div className={row} aria-hidden="true">
          <p className="font-mono text-ink-faint text-xs tabular-nums max-sm:hidden">
            now <Instant at={iso(atMs)} to="time" />
          </p>
          <div className="flex justify-between font-mono text-[11px] text-ink-faint tabular-nums">
            {QUARTERS.map((part) => (
              <Instant key={part} at={iso(day.openMs + part * (day.closeMs - day.openMs))} to="time" />
            ))}
            <span>24:00</span>
          </div>
        </div>
      </div>
    </section>
  );
}
