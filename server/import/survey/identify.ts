import type { Timeframe } from "#lib/contract/primitives";
import type { Listing } from "#lib/domain/instrument";
import { TIMEFRAME_SECONDS, TIMEFRAMES_ORDER } from "#lib/domain/timeframe";
import { DAY_S, HOUR_S } from "#lib/units";
import { UsageError } from "#server/cli/usage-error";
import { ImportFailure, Unsure } from "#server/import/failure";
import type { Source } from "#server/import/files/archives";
import { knownClock, type SourceClock } from "#server/import/formats/clocks";
import { headOf, type Recognised, recognise } from "#server/import/formats/detect";
import type { Recognition } from "#server/import/formats/format";
import type { Options } from "#server/import/options";
import { cellTexts } from "#server/import/rows/delimited";
import { AS_WRITTEN, type Layout, type ReaderSettings, type Role } from "#server/import/rows/row";
import type { DetectedClock } from "./clock";
import { tickerOf } from "./ticker";
import { timeframeOf } from "./timeframe";

/** Maximum number of lines that are examined, spread over the head. */
const LINES_MAX_COUNT = 2_000;
/** Prices have at most this many decimals; more are floating-point noise and say nothing about the source's digits. */
const DECIMALS_MAX_COUNT = 8;
/** Rows needed before the decimals of a file count as those of its source. */
const DECIMALS_MIN_ROWS = 20;
/** Length of the shortest month: steps from this length on are months. */
const MN1_MIN_S = 28 * DAY_S;
const MN1_MAX_S = 31 * DAY_S;
/** Steps needed before they show a timeframe. */
const STEADY_MIN_STEPS = 10;

const PRICE_ROLES: readonly (Role | null)[] = ["bid", "ask", "open", "high", "low", "close"];

/** What the beginning of a file shows about its values. */
export interface Sample {
  readonly rows: number;
  /** The most decimals of any price. */
  readonly decimals: number;
  /** True when no price has a decimal point: prices in whole points, or an instrument without decimals. */
  readonly wholePrices: boolean;
  /** True when all spreads are whole numbers, which means points. */
  readonly wholeSpreads: boolean;
  /** True when any row has a spread. */
  readonly hasSpread: boolean;
  /** True when any row has a volume: a volume of 0 then means that there was no quote. */
  readonly hasVolume: boolean;
  /** The first value of a symbol column. */
  readonly symbol: string | null;
  /** The longest timeframe that klines can have by the steps between their times; null for ticks, and without a step. */
  readonly timeframe: Timeframe | null;
  /** True when most of many steps are as long as the timeframe: then it has no other. */
  readonly steady: boolean;
}

/** What only the texts of the cells show. */
function textsOf(layout: Layout | null, head: Buffer, isWhole: boolean) {
  const texts = { decimals: 0, wholePrices: false, wholeSpreads: true, hasSpread: false, symbol: null as string | null };
  if (layout === null) return texts;
  const all = head.toString("latin1").split(/\r?\n/);
  // The last line of a head may be incomplete.
  const lines = (isWhole ? all : all.slice(0, -1)).slice(layout.headerLines).filter((line) => line !== "");
  texts.wholePrices = lines.length > 0;
  const step = Math.max(1, Math.floor(lines.length / LINES_MAX_COUNT));
  for (let index = 0; index < lines.length; index += step) {
    const cells = cellTexts(lines[index] as string, layout.separator);
    layout.roles.forEach((role, column) => {
      const cell = cells[column] ?? "";
      if (cell === "") return;
      if (role === "spread") texts.hasSpread = true;
      if (role === "symbol") texts.symbol ??= cell;
      const [, decimals] = cell.split(layout.decimalMark ?? ".");
      if (role === "spread" && (Number(decimals ?? 0) !== 0 || /e-/i.test(cell))) texts.wholeSpreads = false;
      if (!PRICE_ROLES.includes(role) || decimals === undefined) return;
      texts.wholePrices = false;
      if (decimals.length <= DECIMALS_MAX_COUNT) texts.decimals = Math.max(texts.decimals, decimals.length);
    });
  }
  return texts;
}

/** The longest timeframe that matches the steps between times: M1 rows have a step of a minute somewhere, H1 rows never do. */
function longestTimeframe(timesMs: readonly number[], stepsS: readonly number[]): Timeframe | null {
  const stepS = stepsS.reduce((least, step) => Math.min(least, step), Number.POSITIVE_INFINITY);
  if (!Number.isFinite(stepS)) return null;
  if (stepS >= MN1_MIN_S) return "MN1";
  const fitting = TIMEFRAMES_ORDER.filter((timeframe) => {
    const lengthS = TIMEFRAME_SECONDS[timeframe];
    // Of a day or a week in UTC, an hour can be missing when the clock of the source is put forward.
    const shortestS = lengthS >= DAY_S ? lengthS - HOUR_S : lengthS;
    return timeframe !== "MN1" && shortestS <= stepS && timesMs.every((time) => time % (Math.min(lengthS, 3_600) * 1000) === 0);
  });
  return fitting[fitting.length - 1] ?? "M1";
}

/** Whether most of many steps are as long as a timeframe. */
function isSteady(stepsS: readonly number[], timeframe: Timeframe | null): boolean {
  if (timeframe === null) return false;
  const lengthS = TIMEFRAME_SECONDS[timeframe];
  const isOne = (step: number) => (timeframe === "MN1" ? step >= MN1_MIN_S && step <= MN1_MAX_S : step === lengthS);
  return stepsS.length >= STEADY_MIN_STEPS && stepsS.filter(isOne).length * 2 > stepsS.length;
}

/**
 * Samples the head of a file: times on the clock of the file, prices unscaled.
 * @param head the first bytes of the file, decompressed
 * @param isWhole true when the head is the complete file
 */
export function takeSample(recognition: Recognition, head: Buffer, isWhole: boolean): Sample {
  const { kind, layout, timeframe: stated } = recognition;
  const times: number[] = [];
  let hasVolume = false;
  const reader = recognition.createReader(AS_WRITTEN, {
    row({ timeMs, tickVolume, realVolume }) {
      times.push(timeMs);
      hasVolume ||= tickVolume > 0 || realVolume > 0;
    },
  });
  reader.push(head);
  if (isWhole) reader.end();
  const texts = textsOf(layout, head, isWhole);
  const sample = { ...texts, rows: times.length, hasVolume, symbol: texts.symbol ?? recognition.symbol ?? null };
  if (kind === "ticks") return { ...sample, timeframe: null, steady: stated !== undefined };
  // Some files begin with the newest row.
  const steps = times.slice(1).map((time, index) => Math.abs(time - (times[index] as number)) / 1000);
  const stepsS = steps.filter((step) => step > 0);
  const timeframe = stated ?? longestTimeframe(times, stepsS);
  return { ...sample, timeframe, steady: stated !== undefined || isSteady(stepsS, timeframe) };
}

/** Listing fields that an import needs. */
export type ImportListing = Pick<Listing, "ticker" | "base" | "quote" | "digits" | "assetClass">;

/** What the beginning of a file shows: its format, its instrument and samples of its values. */
export interface Identified extends Recognised {
  readonly sample: Sample;
  readonly listing: ImportListing;
  /** M1 for ticks. */
  readonly timeframe: Timeframe;
}

/**
 * Identifies a file by its first bytes and its name.
 * @param isWhole true when the head is the complete file
 * @returns null for an empty .bi5 file: an hour or day without quotes
 * @throws ImportFailure that says what cannot be imported or must be set.
 */
export function identify(
  source: Source,
  head: Buffer,
  isWhole: boolean,
  options: Options,
  listings: readonly ImportListing[],
): Identified | null {
  const { path } = source;
  const found = recognise(headOf(source, head, options), options.format);
  const { recognition } = found;
  const { kind, layout, refusal } = recognition;
  if (refusal !== null) throw new ImportFailure(refusal);
  if (head.length === 0 && layout === null) return null;
  const isHeaderOnly = isWhole && layout?.headerLines === 1 && !/\n[^\r\n]/.test(head.toString("latin1").trimStart());
  if (isHeaderOnly) throw new ImportFailure("it has a header line and no rows");
  const sample = takeSample(recognition, head, isWhole);
  const timeframe = timeframeOf({ kind, sample, path, given: options.timeframe });
  const { ticker: given, venue, force } = options;
  const ticker = tickerOf({ given, symbol: sample.symbol, path, venue, force }, listings);
  const listing = listings.find((entry) => entry.ticker === ticker) as ImportListing;
  return { ...found, sample, listing, timeframe };
}

/** Decimal places of whole-number prices; null where prices are plain decimals. */
function pointDigitsOf({ recognition, sample, listing }: Identified, given: number | null): number | null {
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

/** How the rows of a file are read, whatever its clock. @throws Unsure when it does not show what its prices are */
export function settingsOf(found: Identified, options: Options): Omit<ReaderSettings, "toUtcMs"> {
  const { recognition, sample, listing } = found;
  const pointDigits = pointDigitsOf(found, options.pointDigits);
  const shown = sample.rows >= DECIMALS_MIN_ROWS ? Math.min(sample.decimals, listing.digits) : listing.digits;
  const areWhole = sample.wholeSpreads && recognition.exported !== true;
  const spreadDigits = areWhole ? (options.pointDigits ?? pointDigits ?? shown) : null;
  return { pointDigits, spreadDigits, overrulesOffset: options.clock !== null };
}

/** Converts the times of a clock; NaN for one that it skips. */
export const utcOn =
  ({ exists, toUtcMs }: SourceClock): ReaderSettings["toUtcMs"] =>
  (localMs) =>
    exists(localMs) ? toUtcMs(localMs) : Number.NaN;

/** The clock that --tz or the format states; null where the times have to show it. @throws UsageError for --tz where it cannot be another */
export function statedClock({ recognition: { clock, layout } }: Identified, options: Options): DetectedClock | null {
  if (options.clock !== null) {
    if (layout === null) throw new UsageError("--tz: the times of .bi5 files are always UTC");
    return { clock: options.clock, because: "set with --tz" };
  }
  if (!("fixed" in clock)) return null;
  return { clock: knownClock(clock.fixed), because: layout?.zoned ? "each time has an offset" : "defined by the format" };
}
