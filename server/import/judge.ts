import type { KlineColumns } from "#lib/domain/columns";
import type { KlineTable } from "#lib/market/kline-store";
import { SECOND_MS } from "#lib/units";
import { countText, minuteText } from "#server/cli/words";
import { isDoubtful } from "./clock-detect";
import { weeklyHours } from "./clock-judge";
import { evidenceOf } from "./clock-survey";
import { knownClock } from "./clock-zone";
import { type CalendarHours, createClosedHours } from "./closed-hours";
import type { Doubt } from "./doubt";
import { createKeeper, type FileReading, type ImportBounds, readFile } from "./load";
import { judgeOverlap, likenessOf } from "./overlap";
import type { PrepareContext, Prepared } from "./prepare";
import { createPriceCheck } from "./price-check";
import { startProgress } from "./progress";
import { createEnds } from "./seam";

/** Share of the klines of a file that can be in closed hours: with more, they are not what they seem to be. */
const CLOSED_MAX_SHARE = 0.5;

interface JudgeContext extends Omit<PrepareContext, "survey"> {
  readonly store: KlineTable;
  readonly bounds: ImportBounds;
}

/** How a file is read, to be judged and to be stored. */
export type Reading = Omit<Parameters<typeof readFile>[0], "progress" | "onRow">;

/** Hours of the week, and those of the calendar, in which the market is closed although the file has rows. */
function createHoursJudge(prepared: Prepared, calendar: CalendarHours, isGiven: boolean) {
  const { listing, recognition, clock, timeframe } = prepared;
  const hours = weeklyHours(listing.assetClass);
  const weekly = createClosedHours(hours, timeframe);
  const closed = createClosedHours(calendar, timeframe);
  const evidence = evidenceOf(prepared);
  let total = 0;
  /** The clock was found by these hours, or Spotwire wrote the times. */
  const isSure = recognition.exported === true || (!("fixed" in recognition.clock) && !isGiven);
  return {
    row: evidence.row,
    take(klines: KlineColumns): void {
      weekly.add(klines);
      closed.add(klines);
      total += klines.time.length;
    },
    doubts(): Doubt[] {
      const shown = (count: number) => `${countText(count)} of its ${countText(total)} klines`;
      if (closed.first !== null && closed.count > total * CLOSED_MAX_SHARE)
        return [
          {
            reason: `${shown(closed.count)} are in hours in which the calendar of ${listing.ticker} is closed, the first at ${minuteText(closed.first * SECOND_MS)}: set its clock with --tz`,
            rows: closed.examples,
          },
        ];
      if (isSure || weekly.first === null || !isDoubtful(knownClock("UTC"), { evidence: evidence.evidence(), hours })) return [];
      return [
        {
          reason: `${shown(weekly.count)} are in hours in which the market is closed, the first at ${minuteText(weekly.first * SECOND_MS)}, on ${clock.clock.title} (${clock.because}): set its clock with --tz`,
          rows: weekly.examples,
        },
      ];
    },
  };
}

/** What is doubtful about a file, empty when nothing is, and the file as it was read; null where it has to be read again. */
interface Judged {
  readonly doubts: readonly Doubt[];
  readonly read: FileReading | null;
}

/**
 * Reads a file to its end before anything of it is stored, and compares it with the hours of its market and with what is stored
 * at the same times, before and after them.
 * Rows that an earlier run stored are not judged again.
 * @throws ImportFailure when its prices cannot be those of the instrument; the error of pg when the database is unavailable
 */
export async function judgeFile(
  prepared: Prepared,
  reading: Reading,
  calendar: CalendarHours,
  context: JudgeContext,
): Promise<Judged> {
  const { options, store, terminal, clock, listings, bounds } = context;
  const { listing, source, timeframe } = prepared;
  const series = { ticker: listing.ticker, timeframe };
  const hours = createHoursJudge(prepared, calendar, options.clock !== null);
  const prices = createPriceCheck(store);
  const ends = createEnds(series);
  let overlap: Doubt | null = null;
  let beginning: KlineColumns | undefined;
  const progress = startProgress(terminal, "checking the prices", source.sizeBytes, clock);
  const read = readFile({ ...reading, progress, onRow: hours.row });
  const keeper = createKeeper(read, bounds);
  try {
    // What ends a file early ends it again when it is stored: the rows before it are good.
    for await (const part of read.parts) {
      const { klines } = part;
      keeper.keep(part);
      if (klines.time.length === 0) continue;
      if (!options.force) await prices.check(klines, timeframe, listing);
      hours.take(klines);
      ends.take(klines);
      beginning ??= klines;
      overlap ??= await judgeOverlap({ series, klines }, listing.digits, store);
    }
  } finally {
    progress.stop();
  }
  const levels = [...(overlap === null ? [] : [overlap]), ...(await ends.judge(store))];
  const isOdd = levels.length > 0 && beginning !== undefined;
  const like = isOdd ? await likenessOf({ series, klines: beginning as KlineColumns }, listings, store) : null;
  const named = like === null ? [] : [{ reason: `it looks like ${like}: the same prices are stored for it`, rows: [] }];
  return { doubts: [...hours.doubts(), ...levels, ...named], read: keeper.again(context.signal) };
}
