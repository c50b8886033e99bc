import type { Centre } from "#lib/contract/primitives";
import { DAY_MS } from "#lib/units";
import { wallTimeMs, type Zone, zone } from "./zone";

/** A range of time, Unix milliseconds, end excluded. */
interface TimeSpan {
  readonly openMs: number;
  readonly closeMs: number;
}

interface Office {
  readonly name: string;
  readonly zone: Zone;
  /** Wall time, milliseconds since midnight. */
  readonly opens: number;
  readonly closes: number;
}

/** When the desks of a centre work: local time, Monday to Friday, by market convention. */
const OFFICES: Readonly<Record<Centre, Office>> = {
  sydney: { name: "Sydney", zone: zone("Australia/Sydney"), opens: wallTimeMs("07:00"), closes: wallTimeMs("16:00") },
  tokyo: { name: "Tokyo", zone: zone("Asia/Tokyo"), opens: wallTimeMs("09:00"), closes: wallTimeMs("18:00") },
  london: { name: "London", zone: zone("Europe/London"), opens: wallTimeMs("08:00"), closes: wallTimeMs("17:00") },
  new_york: { name: "New York", zone: zone("America/New_York"), opens: wallTimeMs("08:00"), closes: wallTimeMs("17:00") },
};
/** From east to west. */
export const CENTRES_ORDER = Object.keys(OFFICES) as readonly Centre[];
const SUNDAY = 0;
const SATURDAY = 6;

/**
 * The office hours of a centre on a local date, whether the market is open or not; undefined on Saturday and Sunday.
 * @param day midnight UTC of the date, Unix milliseconds
 */
export function officeHours(id: Centre, day: number): TimeSpan | undefined {
  const weekday = new Date(day).getUTCDay();
  if (weekday === SUNDAY || weekday === SATURDAY) return undefined;
  const { zone: local, opens, closes } = OFFICES[id];
  return { openMs: local.fromLocal(day + opens), closeMs: local.fromLocal(day + closes) };
}

/** The sessions of one centre, ascending. */
interface CentreSessions {
  readonly centre: string;
  readonly spans: readonly TimeSpan[];
}

/** What both cover. */
function overlapOf(a: TimeSpan, b: TimeSpan): TimeSpan[] {
  const openMs = Math.max(a.openMs, b.openMs);
  const closeMs = Math.min(a.closeMs, b.closeMs);
  return openMs < closeMs ? [{ openMs, closeMs }] : [];
}

/**
 * The sessions of Sydney, Tokyo, London and New York in a range: office hours there, as far as the market is open. A holiday or an
 * early close of the market shortens them.
 * @param open when the market is open, ascending
 */
export function worldSessions(open: readonly TimeSpan[], fromMs: number, toMs: number): CentreSessions[] {
  return CENTRES_ORDER.map((id) => {
    const spans: TimeSpan[] = [];
    // A day of local wall time, as if it were UTC; none is more than a day away from that of UTC.
    for (let day = Math.floor(fromMs / DAY_MS) * DAY_MS - DAY_MS; day < toMs + DAY_MS; day += DAY_MS) {
      const office = officeHours(id, day);
      if (office === undefined) continue;
      for (const inRange of overlapOf(office, { openMs: fromMs, closeMs: toMs }))
        spans.push(...open.flatMap((session) => overlapOf(inRange, session)));
    }
    return { centre: OFFICES[id].name, spans };
  });
}
