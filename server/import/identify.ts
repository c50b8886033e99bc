import type { Timeframe } from "#lib/contract/primitives";
import type { Listing } from "#lib/domain/instrument";
import type { Source } from "./decompress";
import { HEAD_MAX_BYTES, headOf, type Recognised, readHead, recognise } from "./detect";
import { ImportFailure } from "./failure";
import type { Recognition } from "./format";
import type { Options } from "./options";
import { type Sample, takeSample } from "./sample";
import { tickerOf } from "./ticker";
import { timeframeOf } from "./timeframe";

/** Listing fields that an import needs. */
export type ImportListing = Pick<Listing, "ticker" | "base" | "quote" | "digits" | "assetClass">;

/** What the beginning of a file shows: its format, its instrument and samples of its values. */
export interface Identified extends Recognised {
  readonly head: Buffer;
  readonly sample: Sample;
  readonly listing: ImportListing;
  /** M1 for ticks. */
  readonly timeframe: Timeframe;
}

/** Whether a file ends with its header line. */
function isHeaderOnly({ layout }: Recognition, head: Buffer): boolean {
  if (layout?.headerLines !== 1 || head.length >= HEAD_MAX_BYTES) return false;
  return !/\n[^\r\n]/.test(head.toString("latin1").trimStart());
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
  if (isHeaderOnly(recognition, head)) throw new ImportFailure("it has a header line and no rows");
  const sample = takeSample(recognition, head, head.length < HEAD_MAX_BYTES);
  const timeframe = timeframeOf({ kind: recognition.kind, sample, path: source.path, given: options.timeframe });
  const ticker = tickerOf(
    { given: options.ticker, symbol: sample.symbol, path: source.path, venue: options.venue, force: options.force },
    listings,
  );
  const listing = listings.find((entry) => entry.ticker === ticker) as ImportListing;
  return { ...found, head, sample, listing, timeframe };
}
