import { HOUR_MS, MINUTE_MS } from "#lib/units";

/** Length of a weekend's trading break: 48 hours, an hour more or less when clocks change; longer breaks include a holiday. */
const WEEKEND_MIN_MS = 44 * HOUR_MS;
const WEEKEND_MAX_MS = 53 * HOUR_MS;
/** Rows that are closer than this belong to one run. */
const PAUSE_MS = 10 * MINUTE_MS;
/** More than a busy source has in decades; of a quiet one, the runs after these are not judged. */
const RUNS_MAX_COUNT = 200_000;
/** Rows that are kept to be compared with stored ones: at most twice as many. */
const SAMPLES_MIN_COUNT = 2_000;

/** A weekend on the clock of the file, milliseconds. */
interface Weekend {
  /** End of the last kline, or the last tick, before it. */
  readonly closeMs: number;
  /** The first row after it. */
  readonly openMs: number;
}

/** A stretch of rows without a pause, on the clock of the file, milliseconds. */
export interface Run {
  readonly fromMs: number;
  untilMs: number;
}

/** One row that can be compared with what is stored: the price of a kline is its close, or its open if it is longer than an hour; that of a tick its bid. */
export interface PricedTime {
  readonly timeMs: number;
  readonly price: number;
}

/** Evidence about the clock of a file, from its times. */
export interface ClockEvidence {
  /** True for klines longer than an hour: each is a run, and a part of it may be in closed hours. */
  readonly long: boolean;
  /** Length of a row. */
  readonly rowMs: number;
  readonly weekends: readonly Weekend[];
  readonly runs: readonly Run[];
  /** Rows spread evenly over the file. */
  readonly samples: readonly PricedTime[];
}

/** Collects evidence from rows in the order of the file. */
interface EvidenceCollector {
  row(localMs: number, price: number): void;
  evidence(): ClockEvidence;
}

/** @param rowMs length of a row; 0 for ticks */
export function createEvidenceCollector(rowMs: number): EvidenceCollector {
  const long = rowMs > HOUR_MS;
  const weekends: Weekend[] = [];
  const runs: Run[] = [];
  let samples: PricedTime[] = [];
  let stride = 1;
  let rows = 0;

  function sample(timeMs: number, price: number): void {
    if (rows % stride !== 0) return;
    samples.push({ timeMs, price });
    if (samples.length < 2 * SAMPLES_MIN_COUNT) return;
    samples = samples.filter((_, index) => index % 2 === 0);
    stride *= 2;
  }

  return {
    row(localMs, price) {
      const last = runs.at(-1);
      const gapMs = last === undefined ? Number.POSITIVE_INFINITY : localMs - last.untilMs;
      if (!long && last !== undefined && gapMs >= WEEKEND_MIN_MS && gapMs <= WEEKEND_MAX_MS)
        weekends.push({ closeMs: last.untilMs, openMs: localMs });
      if (!long && last !== undefined && gapMs <= PAUSE_MS) last.untilMs = Math.max(last.untilMs, localMs + rowMs);
      else if (runs.length < RUNS_MAX_COUNT) runs.push({ fromMs: localMs, untilMs: localMs + rowMs });
      sample(localMs, price);
      rows += 1;
    },
    evidence: () => ({ long, rowMs, weekends, runs, samples }),
  };
}
