import type { Clock } from "#lib/clock";
import type { Listing } from "#lib/domain/instrument";
import { MINUTE_MS } from "#lib/units";
import { UsageError } from "#server/cli/usage-error";
import { type ClockRule, type DetectedClock, detectClock } from "./clock-detect";
import { type ClockEvidence, createEvidenceCollector } from "./clock-evidence";
import { knownClock } from "./clock-zone";
import type { Source } from "./decompress";
import { HEAD_MAX_BYTES, headOf, type Recognised, readHead, recognise } from "./detect";
import { ImportFailure, Unsure } from "./failure";
import { scanFile } from "./load";
import type { Options } from "./options";
import { startProgress, type Terminal } from "./progress";
import type { ReaderSettings, Row, RowKind } from "./row";
import { type Sample, takeSample } from "./sample";
import { tickerOf } from "./ticker";

/** Rows needed before the decimals of a file count as those of its source. */
const DECIMALS_MIN_ROWS = 20;
/** Wall time in New York at which the market of an instrument opens on Sunday. */
const FOREX_OPEN_MS = 17 * 60 * MINUTE_MS;
const METALS_OPEN_MS = 18 * 60 * MINUTE_MS;

/** Listing fields that an import needs. */
export type ImportListing = Pick<Listing, "ticker" | "base" | "quote" | "digits" | "assetClass">;

/** A file with everything that is needed to read its rows. */
export interface Prepared extends Recognised {
  readonly source: Source;
  readonly sample: Sample;
  readonly listing: ImportListing;
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
}

export function sundayOpenMs({ assetClass }: ImportListing): number {
  return assetClass === "metals" ? METALS_OPEN_MS : FOREX_OPEN_MS;
}

/** The activity of a row. */
export function livelinessOf(kind: RowKind): (row: Row) => number {
  return kind === "ticks" ? () => 1 : ({ tickVolume, high, low }) => (tickVolume > 0 ? tickVolume : high - low);
}

/** A collector of evidence from rows of this kind. */
export function evidenceFor(kind: RowKind) {
  return createEvidenceCollector(kind === "ticks" ? 0 : MINUTE_MS);
}

const UNREAD: ReaderSettings = { toUtcMs: (ms) => ms, pointDigits: null, spreadDigits: null, overrulesOffset: false };

async function scanClock(source: Source, { recognition }: Recognised, context: PrepareContext): Promise<ClockEvidence> {
  const evidence = evidenceFor(recognition.kind);
  const liveliness = livelinessOf(recognition.kind);
  const progress = startProgress(context.terminal, "detecting the clock", source.sizeBytes, context.clock);
  try {
    await scanFile(source, recognition, UNREAD, progress, context.signal, (row) => evidence.row(row.timeMs, liveliness(row)));
  } finally {
    progress.stop();
  }
  return evidence.evidence();
}

async function clockOf(
  source: Source,
  found: Recognised,
  listing: ImportListing,
  context: PrepareContext,
): Promise<DetectedClock> {
  const { clock: rule, layout } = found.recognition;
  const given = context.options.clock;
  if (given !== null) {
    if (layout === null) throw new UsageError("--tz: the times of .bi5 files are always UTC");
    return { clock: given, because: "set with --tz", assumed: false };
  }
  if ("fixed" in rule) {
    const because = layout?.zoned ? "each time has an offset" : "defined by the format";
    return { clock: knownClock(rule.fixed), because, assumed: false };
  }
  return detectClock(await scanClock(source, found, context), rule.detect satisfies ClockRule, sundayOpenMs(listing));
}

/** Decimal places of whole-number prices; null where prices are plain decimals. */
function pointDigitsOf({ recognition }: Recognised, sample: Sample, listing: ImportListing, given: number | null): number | null {
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

function notesOf({ recognition }: Recognised, sample: Sample, settings: ReaderSettings): string[] {
  const { layout, inPoints, kind } = recognition;
  const notes: string[] = [];
  const has = (...roles: NonNullable<NonNullable<typeof layout>["roles"][number]>[]) =>
    roles.some((role) => layout?.roles.includes(role));
  if (settings.pointDigits !== null && !inPoints)
    notes.push(`whole-number prices read as points of ${settings.pointDigits} decimals`);
  if (kind === "ticks") return notes;
  if (has("spread") && settings.spreadDigits !== null) notes.push(`spreads read as points of ${settings.spreadDigits} decimals`);
  if (!has("spread", "askOpen")) notes.push("no spread in this file: stored as 0");
  if (has("askOpen")) notes.push("spread taken from the first and last quote of each kline");
  if (!has("tickVolume") || !sample.hasVolume) notes.push("no number of quotes in this file: tick_volume stored as 0");
  return notes;
}

function refuseLonger({ timeframe }: Sample): void {
  if (timeframe !== null && timeframe !== "M1")
    throw new ImportFailure(`klines of ${timeframe}: only ticks and M1 klines can be imported; M5 to MN1 are rebuilt from M1`);
}

/**
 * Detects everything that is needed to read the rows of a file.
 * @returns null for an empty .bi5 file: an hour or day without quotes
 * @throws ImportFailure that says what cannot be imported or must be set.
 */
export async function prepare(source: Source, context: PrepareContext): Promise<Prepared | null> {
  const { options, listings } = context;
  const head = await readHead(source);
  const found = recognise(headOf(source, head, options.dateMs), options.format);
  const { recognition } = found;
  if (recognition.refusal !== null) throw new ImportFailure(recognition.refusal);
  if (head.length === 0 && recognition.layout === null) return null;
  const sample = takeSample(recognition, head, head.length < HEAD_MAX_BYTES);
  refuseLonger(sample);
  const ticker = tickerOf(
    { given: options.ticker, symbol: sample.symbol, path: source.path, venue: options.venue, force: options.force },
    listings,
  );
  const listing = listings.find((entry) => entry.ticker === ticker) as ImportListing;
  const pointDigits = pointDigitsOf(found, sample, listing, options.pointDigits);
  const clock = await clockOf(source, found, listing, context);
  const settings: ReaderSettings = {
    toUtcMs: clock.clock.toUtcMs,
    pointDigits,
    spreadDigits: spreadDigitsOf(sample, listing, pointDigits, options.pointDigits),
    overrulesOffset: options.clock !== null,
  };
  return { ...found, source, sample, listing, clock, settings, notes: notesOf(found, sample, settings) };
}
