import { DAY_MS, HOUR_MS } from "#lib/units";

/** Length of a weekend's trading break: 48 hours, an hour more or less when clocks change; longer breaks include a holiday. */
const WEEKEND_MIN_MS = 44 * HOUR_MS;
const WEEKEND_MAX_MS = 53 * HOUR_MS;
/** Days of rows that measure the activity by hour; more would not improve it. */
const ACTIVITY_MAX_MS = 14 * DAY_MS;
const WEEKENDS_MAX_COUNT = 5_000;

/** A weekend on the clock of the file, milliseconds. */
export interface Weekend {
  /** End of the last kline, or the last tick, before it. */
  readonly closeMs: number;
  /** The first row after it. */
  readonly openMs: number;
}

/** Evidence about the clock of a file, from its times. */
export interface ClockEvidence {
  readonly weekends: readonly Weekend[];
  /** Activity in each hour of the day on the clock of the file; null when an hour has no rows. */
  readonly activity: readonly number[] | null;
  /** First and last row on the clock of the file; null for a file without rows. */
  readonly span: { readonly firstMs: number; readonly lastMs: number } | null;
}

/** Collects evidence from rows in the order of the file. */
interface EvidenceCollector {
  /** @param weight activity of the row: tick volume, range, or 1 for a tick */
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
