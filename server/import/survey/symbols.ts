import { isCurrency } from "#lib/domain/price-ranges";

/** An instrument that a file may contain. */
export interface TickerName {
  readonly ticker: string;
  readonly base: string;
  readonly quote: string;
}

/** Names of metals that brokers use instead of the ticker. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["GOLD", "XAUUSD"],
  ["XAU", "XAUUSD"],
  ["SILVER", "XAGUSD"],
  ["XAG", "XAGUSD"],
]);

/**
 * What brokers put behind a ticker for a kind of account, and tools for a source: behind a separator (EURUSD.m, EURUSD_SB), or in
 * small letters behind a ticker in capitals (EURUSDm). The instrument is the same.
 */
const SUFFIXES: ReadonlySet<string> = new Set([
  "a", // Alpari, Pepperstone Razor
  "c", // Exness and JustMarkets, cent accounts
  "i", // Alpari standard.mt4 (EURUSD_i)
  "m", // Exness Standard, JustMarkets
  "r", // Exness Raw Spread, IC Markets
  "s", // standard accounts of several brokers
  "x", // RoboForex
  "z", // Exness Zero
  "ecn", // RoboForex, JustMarkets, MTCook
  "fx", // several MetaTrader brokers
  "micro", // XM
  "mini", // several brokers, beside micro
  "pro", // Tickmill, FXIFY
  "raw", // Alpha Capital Group, JustMarkets
  "sb", // Pepperstone, spread betting
  "sml", // OANDA's MetaTrader servers
  "std", // standard accounts, beside pro and stp
  "stp", // STP accounts, beside pro and std
  "vip", // VIP accounts of several brokers
  "forex", // EODHD
  "fxcm", // FXCM, in AmiBroker and NautilusTrader
  "idealpro", // Interactive Brokers, in NautilusTrader
  "mt5", // NautilusTrader's adapters of MetaTrader
  "oanda", // OANDA, in NautilusTrader
  "sim", // NautilusTrader's test data, demo servers of proprietary traders
]);
/** `+` of Vantage, `#` of XM, `=X` of Yahoo, a dot of XM Zero, a dash of FX Primus; an underscore where a file name cannot have them. */
const MARK = /(?:[+#._-]|=x)$/i;
/** Any small letter may be an account; a t may be what is left of USDT. */
const LETTER = /^[a-su-z]$/;

/** The timeframe behind a ticker in a file name: EURUSDM1, EURUSD60, EURUSD5min; or a year. */
const TIME_CODE = /^(?:\d+(?:s|m|min|h|d|w)?|M(?:1|5|15|30|60|240|N1?)|H[14]|D1|W1)$/i;
/** Month and year of a future directly behind a ticker: XAUUSDZ24, XAUUSDM2025. */
const FUTURE = /^[FGHJKMNQUVXZ](?:\d|[0-4]\d|20\d\d)$/i;
/** The same as a word of its own, unless it can be a timeframe (M15, H12). */
const FUTURE_WORD = /^(?:[FGJKNQUVXZ][0-4]\d|[HM]2[1-9]|[FGHJKMNQUVXZ]20\d\d)$/;
/** Words of names of other instruments on the same pair. OTC are the prices that sellers of binary options make up on weekends. */
const OTHER_WORDS: ReadonlySet<string> = new Set(
  "PERP PERPETUAL SWAP FUT FUTURE FUTURES FWD FORWARD NDF OPT OPTION OPTIONS CALL PUT ETF OTC".split(" "),
);

/** What a text says of a listed instrument. */
export interface Reading {
  /** The listed ticker. */
  readonly ticker: string;
  /** The instrument as the text has it. */
  readonly said: string;
  /** False for another instrument whose name only resembles that of the listed one: EURUSDT, EURUSD-PERP. */
  readonly same: boolean;
}

/** A way to write a listed ticker. */
interface Form {
  readonly ticker: string;
  readonly pattern: RegExp;
  readonly alias?: string;
}

const FORMS = new WeakMap<readonly TickerName[], readonly Form[]>();

/** The ways to write the listed tickers: EURUSD, EUR/USD, and GOLD unless that is a ticker itself. */
function formsOf(known: readonly TickerName[]): readonly Form[] {
  const made = FORMS.get(known);
  if (made !== undefined) return made;
  const forms: Form[] = known.map(({ ticker, base, quote }) => {
    const word = ticker === base + quote ? `${base}[-_./ ]?${quote}` : ticker;
    return { ticker, pattern: new RegExp(/\d$/.test(ticker) ? `${word}(?!\\d)` : word, "gi") };
  });
  for (const [alias, ticker] of ALIASES)
    if (resolve(alias, known) === ticker) forms.push({ ticker, pattern: new RegExp(alias, "gi"), alias });
  FORMS.set(known, forms);
  return forms;
}

/** The ticker that a word stands for; the word itself where it is an instrument, or stands for none that is listed. */
export function resolve(word: string, known: readonly TickerName[]): string {
  const listed = (ticker: string | undefined) => known.some((name) => name.ticker === ticker);
  const ticker = ALIASES.get(word);
  return ticker !== undefined && listed(ticker) && !listed(word) ? ticker : word;
}

/** Whether what is behind a ticker only names an account or a source. */
function isSuffix(text: string, inCapitals: boolean): boolean {
  const [attached = "", ...words] = text.replace(MARK, "").split(/[._-]/);
  const isSmall = attached === attached.toLowerCase() && (LETTER.test(attached) || SUFFIXES.has(attached));
  return (attached === "" || (inCapitals && isSmall)) && words.every((word) => SUFFIXES.has(word.toLowerCase()));
}

/** Whether letters and digits directly behind a ticker in a name say its timeframe, a year or an account (EURUSDmM1). */
function isAddition(text: string, inCapitals: boolean): boolean {
  if (text === "" || TIME_CODE.test(text)) return true;
  const [suffix = ""] = /^[a-z]*/.exec(text) ?? [];
  const rest = text.slice(suffix.length);
  return !FUTURE.test(text) && isSuffix(suffix, inCapitals) && (rest === "" || TIME_CODE.test(rest));
}

/** Whether an alias is only the beginning of another word: GOLDEN. XAUT is another instrument. */
const isOtherWord = ({ alias = "" }: Form, behind: string) =>
  alias !== "" && !isCurrency(alias) && /^[A-Za-z]/.test(behind) && !FUTURE.test(behind);

/** Another currency than the dollar behind an alias: XAU_EUR. */
function hasOtherQuote({ alias }: Form, behind: string): boolean {
  const quote = /^[-_./ ]?([A-Z]{3})(?![A-Z])/i.exec(behind)?.[1]?.toUpperCase() ?? "USD";
  return alias !== undefined && quote !== "USD" && isCurrency(quote);
}

/** The word next to a ticker, or a month of a future behind it, that makes it another instrument. */
function otherWordIn(text: string, start: number, end: number): RegExpExecArray | undefined {
  const words = [...text.matchAll(/[A-Za-z0-9]+/g)];
  const before = words.filter(({ 0: word, index }) => index + word.length <= start).at(-1);
  const [behind] = words.filter(({ index }) => index > end);
  return [before, behind].find(
    (word) => word !== undefined && (OTHER_WORDS.has(word[0].toUpperCase()) || (word === behind && FUTURE_WORD.test(word[0]))),
  );
}

interface Found extends Reading {
  readonly start: number;
  readonly end: number;
}

/** What one occurrence in a name says; null where it is only a part of another word. */
function foundAt(form: Form, { 0: word, index: start }: RegExpExecArray, text: string): Found | null {
  const end = start + word.length;
  const { ticker, alias } = form;
  const [before = ""] = /[A-Za-z]*$/.exec(text.slice(0, start)) ?? [];
  const [behind = ""] = /^[A-Za-z0-9]*/.exec(text.slice(end)) ?? [];
  const inCapitals = word === word.toUpperCase();
  // Between letters, EUR_USD can be the end of one word and the beginning of another.
  if (before !== "" && (alias !== undefined || /[^A-Za-z0-9]/.test(word))) return null;
  const isPart = isOtherWord(form, behind) && !isAddition(behind, inCapitals);
  if (isPart) return null;
  const place = { ticker, start, end };
  if (before !== "" || !isAddition(behind, inCapitals))
    return { ...place, said: text.slice(start - before.length, end + behind.length), same: false };
  if (behind === "" && hasOtherQuote(form, text.slice(end))) return { ...place, said: text.slice(start, end + 4), same: false };
  const other = otherWordIn(text, start, end);
  if (other === undefined) return { ...place, said: ticker, same: true };
  const said = text.slice(Math.min(start, other.index), Math.max(end, other.index + other[0].length));
  return { ...place, said, same: false };
}

/** What the name of a file or folder says of the listed instruments. */
export function readName(text: string, known: readonly TickerName[]): Reading[] {
  const found = formsOf(known)
    .flatMap((form) => [...text.matchAll(form.pattern)].map((match) => foundAt(form, match, text)))
    .filter((one) => one !== null);
  const isWithin = (inner: Found, outer: Found) =>
    outer.start <= inner.start && inner.end <= outer.end && outer.end - outer.start > inner.end - inner.start;
  return found.filter((one) => !found.some((other) => isWithin(one, other)));
}

/** A source in front of a symbol: `C:` of Massive, `OANDA:` and `FX_IDC:` of TradingView. */
const SOURCE = /^\w+:/;

/** The letters and digits of a symbol without its source. */
export const symbolWord = (symbol: string): string =>
  symbol
    .trim()
    .replace(SOURCE, "")
    .replace(/[^A-Za-z0-9]/g, "")
    .toUpperCase();

/** What a symbol says of the listed instruments; null where it resembles none of them. */
export function readSymbol(symbol: string, known: readonly TickerName[]): Reading | null {
  const text = symbol.trim().replace(SOURCE, "");
  const matches = formsOf(known).flatMap((form) => {
    const match = [...text.matchAll(form.pattern)].find(({ index }) => index === 0);
    return match === undefined ? [] : [{ form, word: match[0] }];
  });
  const [longest] = matches.sort((a, b) => b.word.length - a.word.length);
  if (longest === undefined) return null;
  const { form, word } = longest;
  const behind = text.slice(word.length);
  const same = isSuffix(behind, word === word.toUpperCase());
  if (!same && (isOtherWord(form, behind) || hasOtherQuote(form, behind))) return null;
  return { ticker: form.ticker, said: same ? form.ticker : text, same };
}
