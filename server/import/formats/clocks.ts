import { zone } from "#lib/domain/zone";
import { DAY_MS, HOUR_MS, isoDate, MINUTE_MS } from "#lib/units";
import { UsageError } from "#server/cli/usage-error";

/** The clock that the times of a file are on. */
export interface SourceClock {
  /** The value of `--tz`. */
  readonly name: string;
  readonly title: string;
  toUtcMs(localMs: number): number;
  /** False for a time that the clock skips when it is put forward. */
  exists(localMs: number): boolean;
}

/** Offsets change only at full quarters of an hour. */
const STEP_MS = 15 * MINUTE_MS;

/** Caches the value of the current quarter of an hour, because successive rows are close in time. */
function remembering<T>(read: (localMs: number) => T): (localMs: number) => T {
  let step = Number.NaN;
  let value: T;
  return (localMs) => {
    const asked = Math.floor(localMs / STEP_MS);
    if (asked !== step) {
      step = asked;
      value = read(localMs);
    }
    return value;
  };
}

function fixedClock(name: string, title: string, offsetMs: number): SourceClock {
  return { name, title, toUtcMs: (localMs) => localMs - offsetMs, exists: () => true };
}

/** The wall clock of a zone, shifted by some hours. */
function zoneClock(name: string, title: string, zoneName: string, aheadMs = 0): SourceClock {
  const local = zone(zoneName);
  const offset = remembering((localMs) => local.fromLocal(localMs - aheadMs) - localMs);
  const exists = remembering((localMs) => local.toLocal(local.fromLocal(localMs - aheadMs)) === localMs - aheadMs);
  return { name, title, exists, toUtcMs: (localMs) => localMs + offset(localMs) };
}

/** Clocks that sources of market data use; created per use, because each caches its offset. */
const MAKERS = {
  UTC: () => fixedClock("UTC", "UTC", 0),
  "-05:00": () => fixedClock("-05:00", "EST without daylight saving (UTC-5)", -5 * HOUR_MS),
  "EST+EU": () => zoneClock("EST+EU", "EST, an hour ahead while Europe has summer time", "Europe/London", -5 * HOUR_MS),
  "America/New_York": () => zoneClock("America/New_York", "New York", "America/New_York"),
  EET: () => zoneClock("EET", "EET/EEST (Europe/Athens, EU daylight saving)", "Europe/Athens"),
  "NY+7": () => zoneClock("NY+7", "New York + 7 h (US daylight saving)", "America/New_York", 7 * HOUR_MS),
  CET: () => zoneClock("CET", "CET/CEST (Europe/Berlin, EU daylight saving)", "Europe/Berlin"),
  "Europe/London": () => zoneClock("Europe/London", "London", "Europe/London"),
  "+03:00": () => fixedClock("+03:00", "UTC+3 all year", 3 * HOUR_MS),
  "+02:00": () => fixedClock("+02:00", "UTC+2 all year", 2 * HOUR_MS),
} as const satisfies Record<string, () => SourceClock>;

export type KnownClock = keyof typeof MAKERS;

export function knownClock(name: KnownClock): SourceClock {
  return MAKERS[name]();
}

/** All known clocks, `first` in front: of two clocks that fit a file equally well, the earlier one is chosen. */
export function knownClocks(first: readonly KnownClock[]): SourceClock[] {
  const names = new Set<KnownClock>([...first, ...(Object.keys(MAKERS) as KnownClock[])]);
  return [...names].map(knownClock);
}

/** The same clock, some hours ahead: nobody names it, but a file may be on it. */
export function shiftedClock({ name, title, toUtcMs, exists }: SourceClock, aheadMs: number): SourceClock {
  return { name, title, toUtcMs: (localMs) => toUtcMs(localMs - aheadMs), exists: (localMs) => exists(localMs - aheadMs) };
}

/** Aliases of the known clocks. */
const ALIASES: Readonly<Record<string, KnownClock>> = {
  Z: "UTC",
  GMT: "UTC",
  EST: "-05:00",
  "EET/EEST": "EET",
  "CET/CEST": "CET",
  "NEW YORK+7": "NY+7",
  NEWYORK: "America/New_York",
};

const OFFSET = /^(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?$/i;

function oneClock(text: string): SourceClock {
  const upper = text.toUpperCase();
  const known = (Object.keys(MAKERS) as KnownClock[]).find((name) => name.toUpperCase() === upper) ?? ALIASES[upper];
  if (known !== undefined) return knownClock(known);
  const offset = OFFSET.exec(text);
  if (offset !== null) {
    const [, sign, hours, minutes = "0"] = offset;
    const ahead = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS;
    if (ahead > 14 * HOUR_MS) throw new UsageError(`--tz ${text}: no clock is more than 14 hours from UTC`);
    return fixedClock(text, `UTC${sign}${hours}:${minutes.padStart(2, "0")} all year`, sign === "-" ? -ahead : ahead);
  }
  try {
    return zoneClock(text, text, text);
  } catch {
    throw new UsageError(
      `--tz ${text}: not a time zone. Give an IANA name (Europe/Athens), an offset (-05:00) or one of ${Object.keys(MAKERS).join(", ")}`,
    );
  }
}

const UNTIL = /^(.+)\.\.(\d{4}-\d{2}-\d{2})$/;

/**
 * The clock that `--tz` names: an IANA zone, an offset, a known name, or several in a row for a server that changed its
 * clock, each but the last with the day (on the file's own clock) on which the next one takes over: `CET..2014-03-30,EET`.
 * @throws UsageError for anything else.
 */
export function parseClock(text: string): SourceClock {
  const parts = text.split(",").map((part) => part.trim());
  const stretches = parts.map((part, index) => {
    const until = UNTIL.exec(part);
    const last = index === parts.length - 1;
    if (last !== (until === null))
      throw new UsageError(`--tz ${text}: every clock but the last needs an end, as in CET..2014-03-30,EET`);
    const untilMs = until === null ? Number.POSITIVE_INFINITY : Date.parse(`${until[2]}T00:00:00Z`);
    if (Number.isNaN(untilMs)) throw new UsageError(`--tz ${text}: ${until?.[2]} is not a valid day`);
    return { clock: oneClock(until?.[1] ?? part), untilMs };
  });
  if (stretches.length === 1 && stretches[0]) return stretches[0].clock;
  const title = stretches.map(({ clock, untilMs }) =>
    untilMs < Number.POSITIVE_INFINITY ? `${clock.title} until ${isoDay(untilMs)}` : clock.title,
  );
  const last = stretches[stretches.length - 1] as (typeof stretches)[number];
  const clockAt = (localMs: number) => (stretches.find(({ untilMs }) => localMs < untilMs) ?? last).clock;
  return {
    name: text,
    title: title.join(", then "),
    toUtcMs: (localMs) => clockAt(localMs).toUtcMs(localMs),
    exists: (localMs) => clockAt(localMs).exists(localMs),
  };
}

/** YYYY-MM-DD of an instant. */
export function isoDay(ms: number): string {
  return isoDate(ms - (ms % DAY_MS));
}
