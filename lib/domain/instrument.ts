import type { AssetClass, Instrument } from "#lib/contract/instrument";
import type { StreamName, Timeframe } from "#lib/contract/primitives";
import { nameOf } from "./instrument-name";

/** One row of the catalogue: an instrument and how its market is judged. */
export interface Listing {
  readonly ticker: string;
  readonly assetClass: AssetClass;
  readonly base: string;
  readonly quote: string;
  /** Decimal places of a price. */
  readonly digits: number;
  /** Size of a pip in price units. */
  readonly pipSize: number;
  readonly streams: readonly StreamName[];
  readonly timeframes: readonly Timeframe[];
  /** Name of its calendar, null when unknown. */
  readonly calendar: string | null;
  /** A quote older than this many seconds is stale. */
  readonly staleAfterS: number;
  /** Seconds after an open in which a first quote is awaited. */
  readonly openGraceS: number;
}

/** The instrument as the API shows it. */
export function toInstrument(listing: Listing): Instrument {
  return {
    ticker: listing.ticker,
    display_name: listing.ticker,
    name: nameOf(listing),
    asset_class: listing.assetClass,
    base_currency: listing.base,
    quote_currency: listing.quote,
    streams: [...listing.streams],
    timeframes: [...listing.timeframes],
    digits: listing.digits,
    pip_size: listing.pipSize,
  };
}
