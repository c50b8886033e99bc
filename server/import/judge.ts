import type { Kline } from "#lib/domain/kline";
import { NO_KLINES } from "#lib/market/kline-batches";
import type { KlineTable } from "#lib/market/kline-store";
import { SECOND_MS } from "#lib/units";
import { countText, minuteText } from "#server/cli/words";
import { isDoubtful } from "./clock-detect";
import { weeklyHours } from "./clock-judge";
import { evidenceOf } from "./clock-survey";
import { knownClock } from "./clock-zone";
import { type CalendarHours, createClosedHours } from "./closed-hours";
import { type Doubt, rowText } from "./doubt";
import { isFileError } from "./failure";
import { NO_JOBS } from "./jobs";
import { loadFile } from "./load";
import { judgeOverlap, likenessOf } from "./overlap";
import type { PrepareContext, Prepared } from "./prepare";
import { createPriceCheck } from "./price-check";
import { startProgress } from "./progress";
import { createEnds } from "./seam";

/** Share of the klines of a file that can be in closed hours: with more, they are not what they seem to be. */
const CLOSED_MAX_SHARE = 0.5;

/** Nothing is stored while a file is judged. */
const NO_BATCH = { put: async () => NO_KLINES };

interface JudgeContext extends Omit<PrepareContext, "survey" | "signal"> {
  readonly store: KlineTable;
}

/** How a file is read, to be judged and to be stored. */
export type Reading = Omit<Parameters<typeof loadFile>[0], "batch" | "jobs" | "progress" | "onRow" | "check" | "onStored">;

/** Hours of the week, and those of the calendar, in which the market is closed although the file has rows. */
function createHoursJudge(prepared: Prepared, calendar: CalendarHours, isGiven: boolean) {
  const { listing, recognition, clock } = prepared;
  const hours = weeklyHours(listing.assetClass);
  const weekly = createClosedHours(hours);
  const closed = createClosedHours(calendar);
  const evidence = evidenceOf(prepared);
  let total = 0;
  /** The clock was found by these hours, or Spotwire wrote the times. */
  const isSure = recognition.exported === true || (!("fixed" in recognition.clock) && !isGiven);
  return {
    row: evidence.row,
    take(klines: readonly Kline[]): void {
      weekly.add(klines);
      closed.add(klines);
      total += klines.length;
    },
    doubts(): Doubt[] {
      const shown = (count: number) => `${countText(count)} of its ${countText(total)} klines`;
      if (closed.first !== null && closed.count > total * CLOSED_MAX_SHARE)
        return [
          {
            reason: `${shown(closed.count)} are in hours in which the calendar of ${listing.ticker} is closed, the first at ${minuteText(closed.first * SECOND_MS)}: set its clock with --tz`,
            rows: closed.examples.map(rowText),
          },
        ];
      if (isSure || weekly.first === null || !isDoubtful(knownClock("UTC"), { evidence: evidence.evidence(), hours })) return [];
      return [
        {
          reason: `${shown(weekly.count)} are in hours in which the market is closed, the first at ${minuteText(weekly.first * SECOND_MS)}, on ${clock.clock.title} (${clock.because}): set its clock with --tz`,
          rows: weekly.examples.map(rowText),
        },
      ];
    },
  };
}

/**
 * Reads a file to its end before anything of it is stored, and compares it with the hours of its market and with what is stored
 * at the same times, before and after them.
 * Rows that an earlier run stored are not judged again.
 * @returns what is doubtful; empty when nothing is
 * @throws ImportFailure when its prices cannot be those of the instrument; the error of pg when the database is unavailable
 */
export async function judgeFile(
  prepared: Prepared,
  reading: Reading,
  calendar: CalendarHours,
  context: JudgeContext,
): Promise<Doubt[]> {
  const { options, store, terminal, clock, listings } = context;
  const { listing, source } = prepared;
  const hours = createHoursJudge(prepared, calendar, options.clock !== null);
  const prices = createPriceCheck(store);
  const ends = createEnds();
  let overlap: Doubt | null = null;
  let impossible: unknown;
  let beginning: readonly Kline[] = [];
  const progress = startProgress(terminal, "checking the prices", source.sizeBytes, clock);
  try {
    await loadFile({
      ...reading,
      progress,
      batch: NO_BATCH,
      jobs: NO_JOBS,
      onRow: hours.row,
      onStored: () => undefined,
      async check(klines) {
        if (!options.force)
          await prices.check(klines, listing).catch((error: unknown) => {
            impossible = error;
            throw error;
          });
        hours.take(klines);
        ends.take(klines);
        if (beginning.length === 0) beginning = klines;
        overlap ??= await judgeOverlap(klines, listing, store);
      },
    });
  } catch (error) {
    // What ends a file early is found again when it is stored: the rows before it are good.
    if (error === impossible || !isFileError(error)) throw error;
  } finally {
    progress.stop();
  }
  const levels = [...(overlap === null ? [] : [overlap]), ...(await ends.judge(listing.ticker, store))];
  const like = levels.length === 0 ? null : await likenessOf(beginning, listing, listings, store);
  const named = like === null ? [] : [{ reason: `it looks like ${like}: the same prices are stored for it`, rows: [] }];
  return [...hours.doubts(), ...levels, ...named];
}
