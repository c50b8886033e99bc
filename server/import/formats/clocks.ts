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

/** Converts the times of a clock to UTC; NaN for one that it skips. */
export const utcOn =
  ({ exists, toUtcMs }: SourceClock) =>
  (localMs: number): number =>
    exists(localMs) ? toUtcMs(localMs) : Number.NaN;

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

/**
 * Other names, as values of `--tz`. An abbreviation is an offset all year; only CET, EET and WET are the clocks of their zones,
 * summer time included, because that is what servers and exports mean by them.
 */
const ALIASES: Readonly<Record<string, string>> = {
  Z: "UTC",
  UT: "UTC",
  UCT: "UTC",
  GMT: "UTC",
  EST: "-05:00",
  EDT: "-04:00",
  MDT: "-06:00",
  PDT: "-07:00",
  AKST: "-09:00",
  AKDT: "-08:00",
  HST: "-10:00",
  BRT: "-03:00",
  "NEW YORK+7": "NY+7",
  NEWYORK: "America/New_York",
  WET: "Europe/Lisbon",
  WEST: "+01:00",
  "CET/CEST": "CET",
  CEST: "+02:00",
  MET: "CET",
  MEZ: "CET",
  MESZ: "+02:00",
  "EET/EEST": "EET",
  EEST: "+03:00",
  SAST: "+02:00",
  EAT: "+03:00",
  TRT: "+03:00",
  // UTC+4 from 2011 to 2014.
  MSK: "Europe/Moscow",
  MSD: "+04:00",
  PKT: "+05:00",
  WIB: "+07:00",
  HKT: "+08:00",
  SGT: "+08:00",
  AWST: "+08:00",
  JST: "+09:00",
  KST: "+09:00",
  ACST: "+09:30",
  ACDT: "+10:30",
  AEST: "+10:00",
  AEDT: "+11:00",
  NZST: "+12:00",
  NZDT: "+13:00",
};

/** Abbreviations that several zones share, and what they can mean. Intl takes one of them without a word. */
const AMBIGUOUS: Readonly<Record<string, readonly string[]>> = {
  ADT: ["America/Halifax (Atlantic daylight time)", "+04:00 (Arabia daylight time)"],
  AMT: ["America/Manaus (Amazon time)", "Asia/Yerevan (Armenia time)"],
  AST: ["America/Halifax (Atlantic time)", "Asia/Riyadh (Arabia time)"],
  BST: ["Europe/London (British summer time)", "Asia/Dhaka (Bangladesh time)", "Pacific/Bougainville"],
  CDT: ["America/Chicago (US Central daylight time)", "America/Havana (Cuba daylight time)", "Asia/Shanghai"],
  CST: ["America/Chicago (US Central time)", "-06:00 (the same without daylight saving)", "Asia/Shanghai", "America/Havana"],
  GST: ["Asia/Dubai (Gulf time)", "Pacific/Guam", "Atlantic/South_Georgia"],
  IST: ["Asia/Kolkata (India time)", "Asia/Jerusalem (Israel time)", "Europe/Dublin (Irish time)"],
  MST: ["America/Denver (US Mountain time)", "-07:00 (the same without daylight saving)", "Asia/Kuala_Lumpur", "Asia/Yangon"],
  NST: ["America/St_Johns (Newfoundland time)", "Asia/Kathmandu (Nepal time)"],
  PST: ["America/Los_Angeles (US Pacific time)", "-08:00 (the same without daylight saving)", "Asia/Manila"],
  SST: ["Asia/Singapore", "Pacific/Pago_Pago (Samoa time)"],
  WST: ["Australia/Perth (Western Australia)", "Pacific/Apia (West Samoa)"],
};

/** Intl takes some of them for a zone that hardly anyone means by them (ACT is Darwin): only those above are taken. */
const ABBREVIATION = /^(?:[A-Za-z]{1,3}|[A-Z]{4,5})$/;
const OFFSET = /^(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?$/i;

function ianaClock(text: string): SourceClock {
  try {
    if (!ABBREVIATION.test(text)) return zoneClock(text, text, text);
  } catch {
    // Not a zone that Intl knows.
  }
  throw new UsageError(
    `--tz ${text}: not a time zone. Give an IANA name (Europe/Athens), an offset (-05:00) or one of ${Object.keys(MAKERS).join(", ")}`,
  );
}

/**
 * The clock with a name: an IANA zone, an offset, a known clock, or an abbreviation that means one thing (EDT, MSK).
 * @throws UsageError for anything else; for an abbreviation that means several (BST) it names them
 */
export function clockNamed(text: string): SourceClock {
  const upper = text.toUpperCase();
  const known = (Object.keys(MAKERS) as KnownClock[]).find((name) => name.toUpperCase() === upper);
  if (known !== undefined) return knownClock(known);
  const alias = Object.hasOwn(ALIASES, upper) ? ALIASES[upper] : undefined;
  if (alias !== undefined) return clockNamed(alias);
  const meanings = Object.hasOwn(AMBIGUOUS, upper) ? AMBIGUOUS[upper] : undefined;
  if (meanings !== undefined)
    throw new UsageError(`--tz ${text}: means ${meanings.join(", ")}: say which, for example --tz ${meanings[0]?.split(" ")[0]}`);
  const offset = OFFSET.exec(text);
  if (offset === null) return ianaClock(text);
  const [, sign, hours, minutes = "0"] = offset;
  const ahead = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS;
  if (ahead > 14 * HOUR_MS) throw new UsageError(`--tz ${text}: no clock is more than 14 hours from UTC`);
  return fixedClock(text, `UTC${sign}${hours}:${minutes.padStart(2, "0")} all year`, sign === "-" ? -ahead : ahead);
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
    return { clock: clockNamed(until?.[1] ?? part), untilMs };
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
