import type { Instrument } from "#lib/contract/instrument";

/** What an instrument is found by. */
export type SearchableInstrument = Pick<Instrument, "ticker" | "name" | "asset_class" | "base_currency" | "quote_currency">;

/** Vendors' notations: a leading class such as `C:` or `FX:`, and separators between the currencies. */
const PREFIX = /^[A-Z]+:/;
const SEPARATORS = /[^A-Z0-9]/g;

/** The ticker that one in another notation means: `EUR/USD`, `eur-usd` and `C:EURUSD` mean EURUSD. */
export const plainTicker = (text: string): string => text.trim().toUpperCase().replace(PREFIX, "").replace(SEPARATORS, "");

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

/** Shorter words of a text are seldom the name of what is traded. */
const NAME_MIN_CHARACTERS = 4;
/** The worst rank of a word that names the instrument itself. */
const NAMED_RANK = 2;

/** The traded instruments that words of a longer text name, best first: "gold spread" names XAUUSD. */
export function namedInstruments<One extends SearchableInstrument>(instruments: readonly One[], text: string): One[] {
  const traded = instruments.filter(({ asset_class }) => asset_class !== "test");
  const names = wordsOf(text).filter(
    (word) => word.length >= NAME_MIN_CHARACTERS && traded.some((one) => (rankOf(one, word) ?? NAMED_RANK + 1) <= NAMED_RANK),
  );
  return names.length === 0 ? [] : searchInstruments(traded, names.join(" "));
}

/** True for two texts that differ by one typing mistake: a character too many, too few, or another one, or two neighbors swapped. */
export function isOneMistakeApart(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (long.length - short.length > 1 || short === long) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  if (long.length > short.length) return short.slice(at) === long.slice(at + 1);
  if (short.slice(at + 1) === long.slice(at + 1)) return true;
  return short[at] === long[at + 1] && short[at + 1] === long[at] && short.slice(at + 2) === long.slice(at + 2);
}

/**
 * The ticker of an instrument that is one typing mistake away: `EURUSDD` finds EURUSD. Of several, one that has no character
 * that was not typed, so that `EURSD` is EURUSD rather than EURSGD; otherwise the first. Each is looked at once.
 */
export function nearTicker<One extends { readonly ticker: string }>(
  ticker: string,
  instruments: readonly One[],
  mayRead: (one: One) => boolean = () => true,
): string | undefined {
  const near = instruments.filter((one) => isOneMistakeApart(ticker, one.ticker) && mayRead(one));
  const typed = near.find((one) => [...one.ticker].every((character) => ticker.includes(character)));
  return (typed ?? near[0])?.ticker;
}
