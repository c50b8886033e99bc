import { isOneMistakeApart, type SearchableInstrument } from "#lib/instrument-search";
import { byGroup } from "./groups";

const NEAR_MAX_COUNT = 6;
const CODE_CHARACTERS = 3;

/** The ticker with the currencies the other way round: `USDEUR` for `EURUSD`. */
const reversed = ({ base_currency: base, quote_currency: quote }: SearchableInstrument) => quote + base;

/** How near an instrument is to a ticker that is not carried, smaller is nearer; undefined when they have nothing in common. */
function distanceOf(ticker: string, instrument: SearchableInstrument): number | undefined {
  const { base_currency: base, quote_currency: quote, asset_class } = instrument;
  if (ticker.includes(instrument.ticker) || ticker === reversed(instrument)) return 0;
  if (isOneMistakeApart(ticker, instrument.ticker)) return 1;
  if (ticker.startsWith(base)) return 2;
  const asked = ticker.slice(-CODE_CHARACTERS);
  if (asked === quote) return asset_class === "metals" ? 3 : 4;
  return asked === base || ticker.startsWith(quote) ? 5 : undefined;
}

/**
 * The instruments nearest to a ticker that is not carried, at most six: the same one written otherwise, then those with one of its
 * currencies. For one with nothing in common they are those in US dollars, metals first.
 */
export function nearest<One extends SearchableInstrument>(ticker: string, instruments: readonly One[]): One[] {
  const real = byGroup(instruments).filter(({ asset_class }) => asset_class !== "test");
  const near = (asked: string) =>
    real
      .flatMap((one) => {
        const distance = distanceOf(asked, one);
        return distance === undefined ? [] : [{ one, distance }];
      })
      .sort((a, b) => a.distance - b.distance)
      .map(({ one }) => one);
  const found = near(ticker);
  return (found.length > 0 ? found : near(`${ticker}USD`)).slice(0, NEAR_MAX_COUNT);
}
