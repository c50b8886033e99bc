import type { Instrument } from "#lib/contract/instrument";

/** What an instrument is found by. */
export type SearchableInstrument = Pick<Instrument, "ticker" | "name" | "asset_class" | "base_currency" | "quote_currency">;

/** What traders call a currency, besides its name. */
const CURRENCY_NICKNAMES: Readonly<Record<string, string>> = {
  AUD: "aussie",
  CAD: "loonie",
  CHF: "swissy swissie",
  CNH: "renminbi rmb",
  EUR: "single currency",
  GBP: "sterling quid",
  NZD: "kiwi",
  SEK: "stokkie",
  USD: "greenback buck",
};

/** What traders call a pair. */
const PAIR_NICKNAMES: Readonly<Record<string, string>> = {
  EURUSD: "fiber fibre",
  GBPUSD: "cable",
  USDJPY: "gopher ninja",
  EURGBP: "chunnel",
  EURJPY: "yuppy",
  GBPJPY: "geppy dragon",
};

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

/** How well an instrument matches one word, smaller is better; undefined when it does not. */
function rankOf(
  { ticker, name, asset_class, base_currency, quote_currency }: SearchableInstrument,
  word: string,
): number | undefined {
  const symbol = ticker.toLowerCase();
  if (symbol === word) return 0;
  if (symbol.startsWith(word)) return 1;
  const [base = "", quote = ""] = name.split(" / ");
  const called = (text: string) => wordsOf(text).some((one) => one.startsWith(word));
  if (called(PAIR_NICKNAMES[ticker] ?? "")) return 1;
  if (called(`${base} ${CURRENCY_NICKNAMES[base_currency] ?? ""}`)) return 2;
  if (symbol.includes(word)) return 3;
  if (called(`${quote} ${quote_currency} ${CURRENCY_NICKNAMES[quote_currency] ?? ""}`)) return 4;
  return called(asset_class) ? 5 : undefined;
}

/** Of equal matches a pair with it is most likely meant: "gold" is XAUUSD, "yen" is USDJPY. */
const FIRST_CURRENCY = "USD";
const hasFirst = ({ base_currency, quote_currency }: SearchableInstrument) =>
  base_currency === FIRST_CURRENCY || quote_currency === FIRST_CURRENCY;

/**
 * The instruments that match every word of the text by ticker, name, nickname ("cable", "loonie") or asset class; the best
 * first, of equal ones those with the US dollar, otherwise in the given order. `EUR/USD` and `eur usd` find EURUSD. An empty text finds all.
 */
export function searchInstruments<One extends SearchableInstrument>(instruments: readonly One[], text: string): One[] {
  const words = wordsOf(text);
  if (words.length === 0) return [...instruments];
  const found = instruments.flatMap((instrument) => {
    const ranks = words.map((word) => rankOf(instrument, word));
    if (ranks.includes(undefined)) return [];
    return [{ instrument, rank: ranks.reduce<number>((sum, rank) => sum + (rank ?? 0), hasFirst(instrument) ? 0 : 0.5) }];
  });
  return found.sort((a, b) => a.rank - b.rank).map(({ instrument }) => instrument);
}
