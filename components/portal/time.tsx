"use client";

import { startTransition, useEffect, useState } from "react";
import { countdownText } from "#lib/duration";
import { SECOND_MS } from "#lib/units";
import { dateFormat } from "./date-format";

const TICK_MS = SECOND_MS;
const SHAPE = { day: "2-digit", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const SHAPES = {
  minute: { ...SHAPE, year: "numeric" },
  second: { ...SHAPE, second: "2-digit" },
  day: { day: "2-digit", month: "short", year: "numeric" },
  clock: { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

/** True once the page that the server rendered was taken over. */
let isTakenOver = false;

/**
 * False on the server and in the first client render, which must match it; then true. The change is a transition: hundreds of
 * times on a page would otherwise be drawn again in one go, and a tap would wait for it.
 */
export function useHydrated(): boolean {
  const [hydrated, setHydrated] = useState(isTakenOver);
  useEffect(() => {
    isTakenOver = true;
    if (!hydrated) startTransition(() => setHydrated(true));
  }, [hydrated]);
  return hydrated;
}

/** Name of the viewer's time zone; UTC until hydrated. */
export function useTimeZone(): string {
  const hydrated = useHydrated();
  return hydrated ? Intl.DateTimeFormat().resolvedOptions().timeZone : "UTC";
}

/** The current time in Unix milliseconds, updated every second; null until hydrated. */
export function useNow(): number | null {
  const [now, setNow] = useState<number | null>(null);
  useEffect(() => {
    const tick = () => setNow(Date.now());
    startTransition(tick);
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** An instant (ISO 8601) in the viewer's time zone, with the UTC instant on hover; an en dash for none. */
export function Instant({ at, to = "minute" }: { at: string | null; to?: keyof typeof SHAPES }) {
  const timeZone = useTimeZone();
  if (at === null) return <span className="text-ink-faint">–</span>;
  return (
    <time dateTime={at} title={at.replace(/\.\d+Z$/, "Z")} className="whitespace-nowrap tabular-nums">
      {dateFormat({ ...SHAPES[to], timeZone }).format(new Date(at))}
    </time>
  );
}

/** The time left until an instant (ISO 8601), counting down by the second. */
export function Countdown({ until }: { until: string }) {
  const now = useNow();
  if (now === null) return null;
  return (
    <time dateTime={until} title={until} className="font-mono tabular-nums">
      {countdownText(Date.parse(until) - now)}
    </time>
  );
}
