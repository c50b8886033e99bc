import { DAY_MS } from "#lib/units";
import { wallTimeMs, zone } from "./zone";

/** A range of time, Unix milliseconds, end excluded. */
interface TimeSpan {
  readonly openMs: number;
  readonly closeMs: number;
}

/** A financial centre and when its desks work: local time, Monday to Friday, by market convention. */
const CENTRES = [
  { name: "Sydney", zone: zone("Australia/Sydney"), opens: wallTimeMs("07:00"), closes: wallTimeMs("16:00") },
  { name: "Tokyo", zone: zone("Asia/Tokyo"), opens: wallTimeMs("09:00"), closes: wallTimeMs("18:00") },
  { name: "London", zone: zone("Europe/London"), opens: wallTimeMs("08:00"), closes: wallTimeMs("17:00") },
  { name: "New York", zone: zone("America/New_York"), opens: wallTimeMs("08:00"), closes: wallTimeMs("17:00") },
] as const;
const SUNDAY = 0;
const SATURDAY = 6;

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
  return CENTRES.map(({ name, zone: local, opens, closes }) => {
    const spans: TimeSpan[] = [];
    // A day of local wall time, as if it were UTC; none is more than a day away from that of UTC.
    for (let day = Math.floor(fromMs / DAY_MS) * DAY_MS - DAY_MS; day < toMs + DAY_MS; day += DAY_MS) {
      const weekday = new Date(day).getUTCDay();
      if (weekday === SUNDAY || weekday === SATURDAY) continue;
      const office = { openMs: local.fromLocal(day + opens), closeMs: local.fromLocal(day + closes) };
      for (const inRange of overlapOf(office, { openMs: fromMs, closeMs: toMs }))
        spans.push(...open.flatMap((session) => overlapOf(inRange, session)));
    }
    return { centre: name, spans };
  });
}
