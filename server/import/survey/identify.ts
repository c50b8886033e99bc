import type { Timeframe } from "#lib/contract/primitives";
import type { Listing } from "#lib/domain/instrument";
import { UsageError } from "#server/cli/usage-error";
import { ImportFailure } from "#server/import/failure";
import type { Source } from "#server/import/files/archives";
import { knownClock, type SourceClock, utcOn } from "#server/import/formats/clocks";
import { headOf, type Recognised, recognise } from "#server/import/formats/detect";
import type { Recognition } from "#server/import/formats/format";
import type { Options } from "#server/import/options";
import { cellTexts } from "#server/import/rows/delimited";
import { linesIn } from "#server/import/rows/lines";
import { AS_WRITTEN, type Layout, type ReaderSettings, type Role } from "#server/import/rows/row";
import type { DetectedClock } from "./clock";
import { tickerOf } from "./ticker";
import { NO_SPACING, type Spacing, spacingOf, timeframeOf } from "./timeframe";
import { createValues, type Values } from "./values";

/** Maximum number of lines that are examined, spread over the head. */
const LINES_MAX_COUNT = 2_000;
/** Prices have at most this many decimals; more are floating-point noise and say nothing about the source's digits. */
const DECIMALS_MAX_COUNT = 8;

const PRICE_ROLES: readonly (Role | null)[] = ["bid", "ask", "open", "high", "low", "close"];

/** What the beginning of a file shows about its values. */
export interface Sample {
  readonly rows: number;
  /** The first row that cannot be read, and why; null when there is none. */
  readonly unread: string | null;
  /** The most decimals of any price. */
  readonly decimals: number;
  /** True when no price has a decimal point: prices in whole points, or an instrument without decimals. */
  readonly wholePrices: boolean;
  /** True when most times are before the one of the row above. */
  readonly newestFirst: boolean;
  /** The first value of a symbol column. */
  readonly symbol: string | null;
  /** What spreads and volumes show. */
  readonly values: Values;
  /** What the times of klines show; nothing of ticks. */
  readonly shown: Spacing;
  /** The same, or what the file states. */
  readonly spacing: Spacing;
}

/** What only the texts of the cells show. */
function textsOf(layout: Layout | null, head: Buffer, isWhole: boolean) {
  const texts = { decimals: 0, wholePrices: false, symbol: null as string | null };
  if (layout === null) return texts;
  const lines = linesIn(head, isWhole).slice(layout.headerLines);
  texts.wholePrices = lines.length > 0;
  const step = Math.max(1, Math.floor(lines.length / LINES_MAX_COUNT));
  for (let index = 0; index < lines.length; index += step) {
    const cells = cellTexts(lines[index] as string, layout.separator);
    layout.roles.forEach((role, column) => {
      const cell = cells[column] ?? "";
      if (cell === "") return;
      if (role === "symbol") texts.symbol ??= cell;
      const [, decimals] = cell.split(layout.decimalMark ?? ".");
      if (!PRICE_ROLES.includes(role) || decimals === undefined) return;
      texts.wholePrices = false;
      if (decimals.length <= DECIMALS_MAX_COUNT) texts.decimals = Math.max(texts.decimals, decimals.length);
    });
  }
  return texts;
}

/**
 * Samples the head of a file: times on the clock of the file, or in UTC where the operator says it; prices unscaled.
 * @param head the first bytes of the file, decompressed
 * @param isWhole true when the head is the complete file
 * @param clock of --tz
 */
export function takeSample(recognition: Recognition, head: Buffer, isWhole: boolean, clock: SourceClock | null): Sample {
  const { kind, layout, timeframe: stated } = recognition;
  const times: number[] = [];
  const values = createValues();
  let unread: string | null = null;
  const reader = recognition.createReader(clock === null ? AS_WRITTEN : onClock(AS_WRITTEN, clock), {
    row(row) {
      times.push(row.timeMs);
      values.row(row);
    },
    malformed(line, reason) {
      unread ??= `line ${line}: ${reason}`;
    },
  });
  reader.push(head);
  if (isWhole) reader.end();
  const texts = textsOf(layout, head, isWhole);
  const newestFirst = times.reduce((sum, time, index) => sum + Math.sign(time - (times[index - 1] ?? time)), 0) < 0;
  const shown = kind === "ticks" ? NO_SPACING : spacingOf(times);
  const spacing = stated === undefined ? shown : { ...NO_SPACING, timeframe: stated, steady: true };
  const symbol = texts.symbol ?? recognition.symbol ?? null;
  return { ...texts, rows: times.length, unread, newestFirst, symbol, values: values.values(), shown, spacing };
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
  const isHeaderOnly = isWhole && layout !== null && linesIn(head).length <= layout.headerLines;
  if (isHeaderOnly) throw new ImportFailure("it has a header line and no rows");
  const sample = takeSample(recognition, head, isWhole, layout === null ? null : options.clock);
  if (isWhole && sample.rows === 0 && sample.unread !== null)
    throw new ImportFailure(`none of its rows can be read: ${sample.unread}`);
  const { spacing, shown } = sample;
  const { timeframe: stated, exported } = recognition;
  const isOther = shown.steady && shown.timeframe !== null && shown.timeframe !== stated;
  if (stated !== undefined && exported !== true && isOther)
    throw new ImportFailure(`it says ${stated}, but its rows are those of ${shown.timeframe}`);
  const timeframe = timeframeOf({ kind, spacing, path, given: options.timeframe });
  const { ticker: given, venue, force } = options;
  const ticker = tickerOf({ given, symbol: sample.symbol, path, venue, force }, listings);
  const listing = listings.find((entry) => entry.ticker === ticker) as ImportListing;
  return { ...found, sample, listing, timeframe };
}

/** Settings with the clock of --tz, which overrules offsets. */
const onClock = (settings: ReaderSettings, clock: SourceClock): ReaderSettings => ({
  ...settings,
  toUtcMs: utcOn(clock),
  overrulesOffset: true,
});

/** The clock that --tz or the format states; null where the times have to show it. @throws UsageError for --tz where it cannot be another */
export function statedClock({ recognition: { clock, layout } }: Identified, options: Options): DetectedClock | null {
  if (options.clock !== null) {
    if (layout === null) throw new UsageError("--tz: the times of .bi5 files are always UTC");
    return { clock: options.clock, because: "set with --tz" };
  }
  if (!("fixed" in clock)) return null;
  return { clock: knownClock(clock.fixed), because: layout?.zoned ? "each time has an offset" : "defined by the format" };
}
