import { DAY_MS, HOUR_MS } from "#lib/units";

/** Weekends last 48 hours of trading break, an hour more or less where clocks change; longer ones hold a holiday. */
const WEEKEND_MIN_MS = 44 * HOUR_MS;
const WEEKEND_MAX_MS = 53 * HOUR_MS;
/** Activity by hour is told from so many days of rows; more would say no more. */
const ACTIVITY_MAX_MS = 14 * DAY_MS;
const WEEKENDS_MAX_COUNT = 5_000;

/** A weekend as the clock of the file shows it, milliseconds. */
export interface Weekend {
  /** End of the last kline, or the last tick, before it. */
  readonly closeMs: number;
  /** The first row after it. */
  readonly openMs: number;
}

/** What the times of a file tell about its clock. */
export interface ClockEvidence {
  readonly weekends: readonly Weekend[];
  /** How lively each hour of the day is on the clock of the file; null where not every hour was seen. */
  readonly activity: readonly number[] | null;
  /** First and last row on the clock of the file; null for a file without rows. */
  readonly span: { readonly firstMs: number; readonly lastMs: number } | null;
}

/** Collects evidence from rows in the order of the file. */
interface EvidenceCollector {
  /** @param weight how lively the row was: tick volume, range, or 1 for a tick */
  row(localMs: number, weight: number): void;
  evidence(): ClockEvidence;
}

/** @param rowMs length of a row: a minute for klines, 0 for ticks */
export function createEvidenceCollector(rowMs: number): EvidenceCollector {
  const weekends: Weekend[] = [];
  const activity = new Array<number>(24).fill(0);
  const seen = new Set<number>();
  let firstMs = Number.NaN;
  let lastMs = Number.NaN;
  return {
    row(localMs, weight) {
      if (Number.isNaN(firstMs)) firstMs = lastMs = localMs;
      const closeMs = lastMs + rowMs;
      const gap = localMs - closeMs;
      if (gap >= WEEKEND_MIN_MS && gap <= WEEKEND_MAX_MS && weekends.length < WEEKENDS_MAX_COUNT)
        weekends.push({ closeMs, openMs: localMs });
      if (localMs > lastMs) lastMs = localMs;
      if (localMs - firstMs > ACTIVITY_MAX_MS) return;
      const hour = Math.floor(localMs / HOUR_MS) % 24;
      activity[hour] = (activity[hour] as number) + weight;
      seen.add(hour);
    },
    evidence: () => ({
      weekends,
      // The hour of a daily break may be empty.
      activity: seen.size >= 23 && lastMs - firstMs >= DAY_MS ? activity : null,
      span: Number.isNaN(firstMs) ? null : { firstMs, lastMs },
    }),
  };
}
