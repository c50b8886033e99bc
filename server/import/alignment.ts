import { NEW_YORK_CLOSE, TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import { zone } from "#lib/domain/zone";
import { DAY_MS, HOUR_MS, SECOND_MS } from "#lib/units";
import { countText, minuteText } from "#server/cli/words";
import type { Source } from "./decompress";
import { ImportFailure } from "./failure";
import type { Identified } from "./identify";
import { createIntervals, type Intervals, isLong } from "./interval";
import { type ScanContext, scanFile } from "./load";
import type { ReaderSettings, Row } from "./row";

/** Share of the klines of a file that may open at other times than ours: more are another day boundary. */
export const MISALIGNED_MAX_SHARE = 0.2;
/** Share of its klines that shows the time of day at which those of a file open. */
const USUAL_MIN_SHARE = 0.8;
/** Klines of a source are at least this share of their timeframe apart: some are an hour shorter when a clock changes. */
const APART_MIN_SHARE = 0.7;
/** Times that are kept to say when the klines of a file open. */
const TIMES_MAX_COUNT = 10_000;

/** The time of day that most times have, modulo a period; null when they differ. */
function usualTime(timesMs: readonly number[], periodMs: number): string | null {
  const counts = new Map<number, number>();
  for (const time of timesMs) counts.set(time % periodMs, (counts.get(time % periodMs) ?? 0) + 1);
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  if (most === undefined || most[1] < timesMs.length * USUAL_MIN_SHARE) return null;
  return new Date(most[0]).toISOString().slice(11, 16);
}

/** When klines open, in words: at a time in UTC, or one in New York. */
function boundaryOf({ timeframe }: Intervals, timesMs: readonly number[]): string | null {
  const periodMs = timeframe === "H4" ? 4 * HOUR_MS : DAY_MS;
  const every = timeframe === "H4" ? " and every four hours from there" : "";
  const utc = usualTime(timesMs, periodMs);
  if (utc !== null) return `at ${utc} UTC${every}`;
  const newYork = zone(NEW_YORK_CLOSE.zone);
  const local = usualTime(
    timesMs.map((ms) => newYork.toLocal(ms)),
    periodMs,
  );
  return local === null ? null : `at ${local} in New York${every}`;
}

/** Why klines cannot be taken that open at other times than ours. */
export function misalignedReason(intervals: Intervals, timesMs: readonly number[]): string {
  const { timeframe } = intervals;
  const off = timesMs.find((ms) => intervals.openOf(ms) === null) ?? 0;
  const example = `its ${timeframe} klines open at other times than those of Spotwire, for example at ${minuteText(off)} instead of ${minuteText(intervals.around(off) * SECOND_MS)}`;
  if (!isLong(timeframe)) return `${example}: it is on another clock, set it with --tz`;
  const theirs = boundaryOf(intervals, timesMs);
  const ours = `the trading day of Spotwire opens at ${NEW_YORK_CLOSE.dayStart} in New York`;
  const both = theirs === null ? ours : `${ours}, its klines open ${theirs}`;
  return `${example}: ${both}. Import M1 or H1 of this source instead`;
}

/** What the rows of a file are, as far as alignment is concerned. */
function createExaminer(intervals: Intervals) {
  const apartMs = TIMEFRAME_SECONDS[intervals.timeframe] * SECOND_MS * APART_MIN_SHARE;
  const timesMs: number[] = [];
  let lastMs = Number.NaN;
  const found = { rows: 0, off: 0, offMs: Number.NaN, closeMs: Number.NaN };
  return {
    found,
    timesMs,
    row({ timeMs }: Row): void {
      if (Number.isNaN(timeMs)) return;
      found.rows += 1;
      if (timeMs !== lastMs && Math.abs(timeMs - lastMs) < apartMs && Number.isNaN(found.closeMs)) found.closeMs = timeMs;
      lastMs = timeMs;
      if (timesMs.length < TIMES_MAX_COUNT) timesMs.push(timeMs);
      if (intervals.openOf(timeMs) !== null) return;
      found.off += 1;
      // An example among the times that are kept.
      if (Number.isNaN(found.offMs)) found.offMs = timeMs;
    },
  };
}

/**
 * Reads the times of a file of klines longer than a minute: they must be those of our klines.
 * @returns what the operator should know
 * @throws ImportFailure when too many are not, or the file has klines of a shorter timeframe, too
 */
export async function checkAlignment(
  source: Source,
  { recognition, timeframe, listing }: Identified,
  settings: ReaderSettings,
  context: ScanContext,
): Promise<string[]> {
  const intervals = createIntervals(timeframe, listing.assetClass);
  const { found, timesMs, row } = createExaminer(intervals);
  await scanFile("checking the times", source, recognition, settings, context, row);
  const { rows, off, offMs, closeMs } = found;
  if (!Number.isNaN(closeMs))
    throw new ImportFailure(
      `its klines are ${timeframe}, but around ${minuteText(closeMs)} they are closer together: import each timeframe from a file of its own`,
    );
  if (off > rows * MISALIGNED_MAX_SHARE) throw new ImportFailure(misalignedReason(intervals, [...timesMs, offMs]));
  if (off === 0) return [];
  const example = `for example at ${minuteText(offMs)} instead of ${minuteText(intervals.around(offMs) * SECOND_MS)}`;
  return [
    `${countText(off)} of ${countText(rows)} klines open at other times than those of Spotwire, ${example}: they are refused`,
  ];
}
