import type { Timeframe } from "#lib/contract/primitives";
import { TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import { MINUTE_S, SECOND_MS } from "#lib/units";
import { UsageError } from "#server/cli/usage-error";
import { Unsure } from "#server/import/failure";
import { type SourceClock, utcOn } from "#server/import/formats/clocks";
import type { Recognition } from "#server/import/formats/format";
import type { Options } from "#server/import/options";
import { AS_WRITTEN, type ReaderSettings, type Role, type SpreadUnit, type VolumeRole } from "#server/import/rows/row";
import type { Identified } from "./identify";
import type { Values } from "./values";

/** No minute has as many quotes: a larger whole number is an amount. */
const QUOTES_MAX_PER_MINUTE = 100_000;
/** Rows needed before the decimals of a file count as those of its source. */
const DECIMALS_MIN_ROWS = 20;

const quotesEnd = (timeframe: Timeframe) => (QUOTES_MAX_PER_MINUTE * TIMEFRAME_SECONDS[timeframe]) / MINUTE_S;

/** What a column is, and how it shows. */
interface Decided<Is> {
  readonly is: Is;
  readonly because: string;
}

/**
 * What a spread column is in: points where all of its values are whole numbers, price units where they are as small as those are.
 * @param pip of the instrument, in price units
 * @throws Unsure for broken numbers that can be pips as well
 */
export function spreadUnitOf({ spread }: Values, given: SpreadUnit | null, pip: number): Decided<SpreadUnit> {
  if (given !== null) return { is: given, because: "set with --spread" };
  const { known, broken, large, example } = spread;
  if (broken === 0) return { is: "points", because: known === 0 ? "all are 0" : "all are whole numbers" };
  if (large * 2 <= known) return { is: "price", because: "they are as small as those" };
  throw new Unsure(
    `its spreads, such as ${example}, may be pips (${Number((example * pip).toPrecision(4))}), average points (${Number((example * pip * 0.1).toPrecision(4))}) or price units: set --spread pips, --spread points or --spread price`,
  );
}

/** What a column of volumes counts whose name does not say it: an amount where any value cannot be a number of quotes. */
export function volumeOf({ volume }: Values, given: Exclude<VolumeRole, "volume"> | null, timeframe: Timeframe) {
  const decided = (is: Exclude<VolumeRole, "volume">, because: string) => ({ is, because });
  if (given !== null) return decided(given, "set with --volume");
  const { known, broken, most } = volume;
  if (broken > 0) return decided("realVolume", "not all are whole numbers");
  if (most >= quotesEnd(timeframe)) return decided("realVolume", "some are more quotes than a kline has");
  return decided("tickVolume", known === 0 ? "all are 0" : "all are whole numbers");
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

/** How much later than its start the time of a row is. @throws UsageError for --labels end where times are always those of starts */
function lateMsOf({ recognition: { kind, layout }, timeframe }: Identified, { labels }: Options): number {
  if (labels !== "end") return 0;
  if (kind === "ticks" || layout === null) throw new UsageError("--labels end: only klines in text have times of their ends");
  if (timeframe === "MN1") throw new UsageError("--labels end: months are not of one length. Import its days instead");
  return TIMEFRAME_SECONDS[timeframe] * SECOND_MS;
}

/** How the times and prices of a file are read. @throws Unsure when it does not show what its prices are */
export function asWritten(found: Identified, options: Options): ReaderSettings {
  return {
    ...AS_WRITTEN,
    pointDigits: pointDigitsOf(found, options.pointDigits),
    lateMs: lateMsOf(found, options),
    overrulesOffset: options.clock !== null,
  };
}

/** What a column was taken for, and why, for the operator. */
interface Decision {
  readonly settings: Partial<ReaderSettings>;
  readonly note: string;
}

/**
 * The unit of a spread column, from the values of all rows.
 * @throws Unsure when they do not show it
 */
function decideSpread(found: Identified, values: Values, options: Options): Decision | null {
  const { recognition, sample, listing } = found;
  if (recognition.exported || values.spread.stated === 0 || recognition.layout?.roles.includes("spread") !== true) return null;
  const pips = Math.max(0, listing.digits - 1);
  const { is, because } = spreadUnitOf(values, options.spread, Number(`1e-${pips}`));
  if (is === "price") return { settings: { spreadDigits: null }, note: `spread in price units: ${because}` };
  const shown = sample.rows >= DECIMALS_MIN_ROWS ? Math.min(sample.decimals, listing.digits) : listing.digits;
  const points = options.pointDigits ?? pointDigitsOf(found, options.pointDigits) ?? shown;
  const spreadDigits = is === "pips" ? pips : points;
  return { settings: { spreadDigits }, note: `spreads read as ${is} of ${spreadDigits} decimals: ${because}` };
}

/** Whether klines have a column "volume", whose name does not say what it counts. */
const hasOpenVolume = ({ kind, layout }: Recognition) => kind === "klines" && layout?.roles.includes("volume") === true;

/** Whether only later rows of a file show its units: the first spreads and volumes may be 0, those of a holiday. */
export function isOpen({ recognition, sample }: Identified, options: Options): boolean {
  const { layout, kind, exported } = recognition;
  if (kind === "ticks" || layout === null || exported === true) return false;
  const { spread, volume, hasVolume } = sample.values;
  const isSpreadOpen = layout.roles.includes("spread") && options.spread === null && spread.known === 0;
  const isVolumeOpen = hasOpenVolume(recognition) && options.volume === null && volume.known === 0;
  const mayHaveVolume = !hasVolume && ["volume", "tickVolume", "realVolume"].some((role) => layout.roles.includes(role as Role));
  return isSpreadOpen || isVolumeOpen || mayHaveVolume;
}

/** What was decided by the values of the first rows, and has to be true of all. */
export function claimsOf(found: Identified, { spreadDigits, volumeIs }: ReaderSettings, options: Options) {
  const { recognition, timeframe, listing } = found;
  const isShown = options.pointDigits === null && spreadDigits !== null && spreadDigits < listing.digits;
  return {
    /** Decimal places of prices, where those of the first ones are the unit of spreads; null where they are not. */
    priceDigits: recognition.exported !== true && options.spread === null && isShown ? spreadDigits : null,
    /** Decimal places of spreads that are whole numbers of them; null where they need not be. */
    spreadDigits: recognition.exported === true || options.spread !== null ? null : spreadDigits,
    /** More than numbers of quotes can be; null where they are not counted. */
    quotesEnd: hasOpenVolume(recognition) && options.volume === null && volumeIs === "tickVolume" ? quotesEnd(timeframe) : null,
  };
}

/** What a column "volume" of klines counts, from the values of all rows. */
function decideVolume({ recognition, timeframe }: Identified, values: Values, options: Options): Decision | null {
  if (!hasOpenVolume(recognition)) return null;
  const { is, because } = volumeOf(values, options.volume, timeframe);
  return {
    settings: { volumeIs: is },
    note: `volume read as ${is === "tickVolume" ? "numbers of quotes" : "amounts"}: ${because}`,
  };
}

/** Unknowns and assumptions, for the operator. */
function notesOf({ recognition }: Identified, values: Values, settings: ReaderSettings, { dateMs, months }: Options): string[] {
  const { layout, inPoints, kind } = recognition;
  const has = (...roles: Role[]) => roles.some((role) => layout?.roles.includes(role));
  const notes: string[] = [];
  if (layout === null && dateMs === null)
    notes.push(`months in its path counted from ${months} (01 is ${months === 0 ? "February" : "January"})`);
  if (settings.pointDigits !== null && !inPoints)
    notes.push(`whole-number prices read as points of ${settings.pointDigits} decimals`);
  if (kind === "ticks" || recognition.exported) return notes;
  if (has("bid", "ask")) notes.push("spread taken from the quote of each kline");
  else if (has("askOpen")) notes.push("spread taken from the first and last quote of each kline");
  else if (values.spread.stated === 0) notes.push("no spread in this file: it stays unknown");
  const counts = has("tickVolume") || (has("volume") && settings.volumeIs === "tickVolume");
  if (!counts || !values.hasVolume) notes.push("no number of quotes in this file: tick_volume stored as 0");
  return notes;
}

/**
 * How the rows of a file are read: what its columns mean, by all of its rows, on a clock.
 * @returns the settings, and what was decided or stays unknown, for the operator
 * @throws Unsure where the rows do not show it; the message names the option that decides
 */
export function decide(found: Identified, values: Values, clock: SourceClock, options: Options) {
  const decisions = [decideSpread(found, values, options), decideVolume(found, values, options)].filter((one) => one !== null);
  const settings: ReaderSettings = Object.assign(
    { ...asWritten(found, options), toUtcMs: utcOn(clock) },
    ...decisions.map((decision) => decision.settings),
  );
  return { settings, notes: [...decisions.map(({ note }) => note), ...notesOf(found, values, settings, options)] };
}
