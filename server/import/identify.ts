import type { Listing } from "#lib/domain/instrument";
import type { Source } from "./decompress";
import { HEAD_MAX_BYTES, headOf, type Recognised, readHead, recognise } from "./detect";
import { ImportFailure } from "./failure";
import type { Options } from "./options";
import { type Sample, takeSample } from "./sample";
import { tickerOf } from "./ticker";

/** Listing fields that an import needs. */
export type ImportListing = Pick<Listing, "ticker" | "base" | "quote" | "digits" | "assetClass">;

/** What the beginning of a file shows: its format, its instrument and samples of its values. */
export interface Identified extends Recognised {
  readonly head: Buffer;
  readonly sample: Sample;
  readonly listing: ImportListing;
}

function refuseLonger({ timeframe }: Sample): void {
  if (timeframe !== null && timeframe !== "M1")
    throw new ImportFailure(`klines of ${timeframe}: only ticks and M1 klines can be imported; M5 to MN1 are rebuilt from M1`);
}

/**
 * Identifies a file by its first bytes and its name.
 * @returns null for an empty .bi5 file: an hour or day without quotes
 * @throws ImportFailure that says what cannot be imported or must be set.
 */
export async function identify(source: Source, options: Options, listings: readonly ImportListing[]): Promise<Identified | null> {
  const head = await readHead(source);
  const found = recognise(headOf(source, head, options), options.format);
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
  return { ...found, head, sample, listing };
}
