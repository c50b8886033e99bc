"use client";

import { createContext, type ReactNode, startTransition, use, useEffect, useMemo, useState } from "react";
import { countdownText } from "#lib/duration";
import { DAY_MS, SECOND_MS } from "#lib/units";
import { placeOf, type TimeShape, timeText } from "./date-format";
import { recall, remember } from "./device-storage";

const TICK_MS = SECOND_MS;

/** What a reader can choose: UTC, or the time zone of the device. */
export type ZoneChoice = "utc" | "local";

const UTC = "UTC";
const STORED_AS = "spotwire.zone";
/** Zones that browsers still give by a name of before. */
const RENAMED: Readonly<Record<string, string>> = {
  "Asia/Calcutta": "Asia/Kolkata",
  "Asia/Katmandu": "Asia/Kathmandu",
  "Asia/Rangoon": "Asia/Yangon",
  "Asia/Saigon": "Asia/Ho_Chi_Minh",
};

interface Zones {
  readonly choice: ZoneChoice;
  /** IANA name of the device's zone; undefined until hydrated. */
  readonly local: string | undefined;
  readonly choose: (choice: ZoneChoice) => void;
}

const ZonesOfPage = createContext<Zones>({ choice: "utc", local: undefined, choose: () => undefined });

/** Gives all pages the zone that was chosen on this device, UTC where none was. A choice reaches all open tabs. */
export function TimeZoneProvider({ children }: { children: ReactNode }) {
  const [choice, setChoice] = useState<ZoneChoice>("utc");
  const [local, setLocal] = useState<string>();
  useEffect(() => {
    // A transition: hundreds of times on a page would otherwise be drawn again in one go, and a tap would wait for it.
    const read = () =>
      startTransition(() => {
        const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
        setLocal(RENAMED[timeZone] ?? timeZone);
        setChoice(recall(STORED_AS) === "local" ? "local" : "utc");
      });
    read();
    window.addEventListener("storage", read);
    // A page that the browser kept for "back" misses changes made in the meantime.
    window.addEventListener("pageshow", read);
    return () => {
      window.removeEventListener("storage", read);
      window.removeEventListener("pageshow", read);
    };
  }, []);
  const zones = useMemo(() => {
    const choose = (next: ZoneChoice) => {
      setChoice(next);
      // Where storage is full or forbidden, the choice is gone with the page.
      remember(STORED_AS, next);
    };
    return { choice, local, choose };
  }, [choice, local]);
  return <ZonesOfPage value={zones}>{children}</ZonesOfPage>;
}

/** The choice, the device's zone, and a function that chooses. */
export const useZones = () => use(ZonesOfPage);

/** False on the server and in the first client render, which must match it; then true. */
export const useHydrated = (): boolean => useZones().local !== undefined;

/** IANA name of the zone that this page shows; UTC until hydrated. */
export function useTimeZone(): string {
  const { choice, local } = useZones();
  return choice === "local" ? (local ?? UTC) : UTC;
}

/** The zone that this page does not show; undefined until hydrated, and where the device's zone is UTC. */
export function useOtherZone(): string | undefined {
  const { choice, local } = useZones();
  return local === UTC ? undefined : choice === "local" ? UTC : local;
}

/** What the zone that this page shows is called, for texts: as on the switch. */
export function ZoneName() {
  return placeOf(useTimeZone());
}

/** An instant (ISO 8601) to the second, with the name of the zone, for tooltips. */
export function instantText(at: string, timeZone: string): string {
  return `${timeText(at, "exact", timeZone)} ${timeZone}`;
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

/** An instant (ISO 8601) in the zone that this page shows, with the other one on hover; an en dash for none. */
export function Instant({ at, to = "minute" }: { at: string | null; to?: TimeShape }) {
  const timeZone = useTimeZone();
  const other = useOtherZone() ?? timeZone;
  if (at === null) return <span className="text-ink-faint">–</span>;
  return (
    <time dateTime={at} title={instantText(at, other)} className="whitespace-nowrap tabular-nums">
      {timeText(at, to, timeZone)}
    </time>
  );
}

/** The day in UTC of an instant (ISO 8601), as history is counted by, with the instant in the zone of the page on hover; an en dash for none. */
export function UtcDay({ at }: { at: string | null }) {
  const timeZone = useTimeZone();
  if (at === null) return <span className="text-ink-faint">–</span>;
  return (
    <time
      dateTime={at.slice(0, "2026-12-31".length)}
      title={instantText(at, timeZone)}
      className="whitespace-nowrap tabular-nums"
    >
      {timeText(at, "day", UTC)}
    </time>
  );
}

/** An instant (ISO 8601) below its day in UTC: the time, with its date where the page shows another zone. */
export function TimeOfUtcDay({ at }: { at: string }) {
  return <Instant at={at} to={useTimeZone() === UTC ? "clock" : "minute"} />;
}

/** The instant of a tick (ISO 8601): its time of day, with its date once it is older than a day. */
export function TickInstant({ at }: { at: string }) {
  const now = useNow();
  return <Instant at={at} to={now !== null && now - Date.parse(at) > DAY_MS ? "minute" : "clock"} />;
}

/** The time left until an instant (ISO 8601), counting down by the second. */
export function Countdown({ until }: { until: string }) {
  const now = useNow();
  const timeZone = useTimeZone();
  if (now === null) return null;
  return (
    <time dateTime={until} title={instantText(until, timeZone)} className="font-mono tabular-nums">
      {countdownText(Date.parse(until) - now)}
    </time>
  );
}
