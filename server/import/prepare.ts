import type { Clock } from "#lib/clock";
import type { Timeframe } from "#lib/contract/primitives";
import type { KlineTable } from "#lib/market/kline-store";
import { UsageError } from "#server/cli/usage-error";
import { checkAlignment } from "./alignment";
import type { DetectedClock } from "./clock-detect";
import { type ClockSurvey, checkStated } from "./clock-survey";
import { knownClock } from "./clock-zone";
import type { Source } from "./decompress";
import type { Recognised } from "./detect";
import { Unsure } from "./failure";
import { type Identified, type ImportListing, identify } from "./identify";
import type { Options } from "./options";
import type { Terminal } from "./progress";
import type { ReaderSettings } from "./row";
import type { Sample } from "./sample";

/** Rows needed before the decimals of a file count as those of its source. */
const DECIMALS_MIN_ROWS = 20;
/** A file with everything that is needed to read its rows. */
export interface Prepared extends Recognised {
  readonly source: Source;
  readonly sample: Sample;
  readonly listing: ImportListing;
  /** M1 for ticks. */
  readonly timeframe: Timeframe;
  readonly clock: DetectedClock;
  readonly settings: ReaderSettings;
  /** Unknowns and assumptions, for the operator. */
  readonly notes: readonly string[];
}

export interface PrepareContext {
  readonly options: Options;
  readonly listings: readonly ImportListing[];
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Where the rows will be stored; null where they are only played, and need not agree with anything. */
  readonly store: Pick<KlineTable, "klinesAt"> | null;
  readonly survey: ClockSurvey;
}

function clockOf(source: Source, { recognition }: Identified, { options, survey }: PrepareContext): DetectedClock {
  const { clock: rule, layout } = recognition;
  const given = options.clock;
  if (given !== null) {
    if (layout === null) throw new UsageError("--tz: the times of .bi5 files are always UTC");
    return { clock: given, because: "set with --tz" };
  }
  if (!("fixed" in rule)) return survey.clockOf(source, rule.detect);
  const because = layout?.zoned ? "each time has an offset" : "defined by the format";
  return { clock: knownClock(rule.fixed), because };
}

/** Decimal places of whole-number prices; null where prices are plain decimals. */
function pointDigitsOf({ recognition }: Recognised, sample: Sample, listing: ImportListing, given: number | null): number | null {
  if (recognition.exported) return null;
  if (recognition.inPoints) return given ?? listing.digits;
  if (!sample.wholePrices || listing.digits === 0) return null;
  if (given !== null) return given;
  if (listing.assetClass === "metals")
    throw new Unsure(
      `its prices are whole numbers, and sources of metals define a point differently: set --point-digits 2 (or 3) for ${listing.ticker}`,
    );
  return listing.digits;
}

function spreadDigitsOf(sample: Sample, listing: ImportListing, pointDigits: number | null, given: number | null): number | null {
  if (!sample.wholeSpreads) return null;
  if (given !== null || pointDigits !== null) return given ?? pointDigits;
  return sample.rows >= DECIMALS_MIN_ROWS ? Math.min(sample.decimals, listing.digits) : listing.digits;
}

/** How the date in the path of a .bi5 file is read. */
function pathNotes({ recognition }: Recognised, { dateMs, months }: Options): string[] {
  if (recognition.layout !== null || dateMs !== null) return [];
  return [`months in its path counted from ${months} (01 is ${months === 0 ? "February" : "January"})`];
}

function notesOf({ recognition }: Recognised, sample: Sample, settings: ReaderSettings): string[] {
  const { layout, inPoints, kind } = recognition;
  const notes: string[] = [];
  const has = (...roles: NonNullable<NonNullable<typeof layout>["roles"][number]>[]) =>
    roles.some((role) => layout?.roles.includes(role));
  if (settings.pointDigits !== null && !inPoints)
    notes.push(`whole-number prices read as points of ${settings.pointDigits} decimals`);
  if (kind === "ticks" || recognition.exported) return notes;
  const hasSpread = has("spread") && sample.hasSpread;
  if (hasSpread && settings.spreadDigits !== null) notes.push(`spreads read as points of ${settings.spreadDigits} decimals`);
  if (!hasSpread && !has("askOpen")) notes.push("no spread in this file: it stays unknown");
  if (has("askOpen")) notes.push("spread taken from the first and last quote of each kline");
  if (!has("tickVolume") || !sample.hasVolume) notes.push("no number of quotes in this file: tick_volume stored as 0");
  return notes;
}

/**
 * Detects everything that is needed to read the rows of a file.
 * @returns null for an empty .bi5 file: an hour or day without quotes
 * @throws ImportFailure that says what cannot be imported or must be set.
 */
export async function prepare(source: Source, context: PrepareContext): Promise<Prepared | null> {
  const { options, listings } = context;
  const found = await identify(source, options, listings);
  if (found === null) return null;
  const { sample, listing, recognition } = found;
  const pointDigits = pointDigitsOf(found, sample, listing, options.pointDigits);
  const clock = clockOf(source, found, context);
  const settings: ReaderSettings = {
    toUtcMs: (localMs) => (clock.clock.exists(localMs) ? clock.clock.toUtcMs(localMs) : Number.NaN),
    pointDigits,
    spreadDigits: recognition.exported ? null : spreadDigitsOf(sample, listing, pointDigits, options.pointDigits),
    overrulesOffset: options.clock !== null,
  };
  if ("fixed" in recognition.clock && options.clock === null && recognition.layout !== null && context.store !== null)
    await checkStated(found, settings, context.store);
  const alignment = found.timeframe === "M1" ? [] : await checkAlignment(source, found, settings, context);
  const notes = [...pathNotes(found, options), ...notesOf(found, sample, settings), ...alignment];
  return { ...found, source, clock, settings, notes };
}
