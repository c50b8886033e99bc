import { isCurrency } from "#lib/domain/price-ranges";
import { UsageError } from "#server/cli/usage-error";
import { Unsure } from "#server/import/failure";

/** Folders above the file whose names are searched: EURUSD/2019/01/04/00h_ticks.bi5. */
const FOLDERS_MAX_COUNT = 5;

/** An instrument that a file may contain. */
interface TickerName {
  readonly ticker: string;
  readonly base: string;
  readonly quote: string;
}

/** Whether a text contains the ticker: not inside a longer word, its parts possibly separated (EUR_USD, EUR-USD, EUR/USD). */
function isNamed({ ticker, base, quote }: TickerName, text: string): boolean {
  const word = ticker === base + quote ? `${base}[-_./ ]?${quote}` : ticker;
  return new RegExp(`(?<![A-Z])${word}(?![A-Z]{2})`, "i").test(text);
}

/** Names of metals that brokers use instead of the ticker. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["GOLD", "XAUUSD"],
  ["XAU", "XAUUSD"],
  ["SILVER", "XAGUSD"],
  ["XAG", "XAGUSD"],
]);

/** The ticker that a word stands for; the word itself where it is an instrument, or stands for none that is listed. */
function resolve(word: string, known: readonly TickerName[]): string {
  const listed = (ticker: string | undefined) => known.some((name) => name.ticker === ticker);
  const ticker = ALIASES.get(word);
  return ticker !== undefined && listed(ticker) && !listed(word) ? ticker : word;
}

/** The instruments whose aliases a text contains: not inside a longer word, nor before another currency (XAU_EUR). */
function aliasesIn(text: string, known: readonly TickerName[]): string[] {
  const found: string[] = [];
  for (const [alias, ticker] of ALIASES) {
    const match = new RegExp(`(?<![A-Z])${alias}(?![A-Z](?!\\d))(?:[-_./ ]([A-Z]{3})(?![A-Z]))?`, "i").exec(text);
    const quote = match?.[1]?.toUpperCase() ?? "USD";
    const inDollars = quote === "USD" || !isCurrency(quote);
    if (match !== null && inDollars && resolve(alias, known) === ticker) found.push(ticker);
  }
  return found;
}

function tickersIn(text: string, known: readonly TickerName[]): string[] {
  const named = known.filter((name) => isNamed(name, text)).map(({ ticker }) => ticker);
  return [...new Set([...named, ...aliasesIn(text, known)])];
}

/** A word of six capital letters, which may be an unlisted ticker. */
function unlistedIn(text: string): string | undefined {
  return /(?<![A-Za-z])([A-Z]{6})(?![A-Za-z])/.exec(text)?.[1];
}

const notListed = (ticker: string, venue: string) =>
  new UsageError(`${ticker} is not an instrument of the ${venue} venue. Add it with: npm run instruments -- add`);

/** Where the ticker of a file can come from. */
interface TickerSources {
  /** The value of --ticker, null when not set. */
  readonly given: string | null;
  /** The value of the file's symbol column, null when it has none. */
  readonly symbol: string | null;
  readonly path: string;
  readonly venue: string;
  /** True to import a file although it names another instrument than --ticker. */
  readonly force: boolean;
}

/** The file name, then the folders above it. */
const partsOf = (path: string) =>
  path
    .replaceAll("\\", "/")
    .split("/")
    .reverse()
    .slice(0, FOLDERS_MAX_COUNT + 1);

/** The tickers that the name of a file, else that of the nearest folder, contains, listed or not. */
function namedBy(path: string, known: readonly TickerName[]): string[] {
  for (const part of partsOf(path)) {
    const listed = tickersIn(part, known);
    if (listed.length > 0) return listed;
    const unlisted = unlistedIn(part);
    if (unlisted !== undefined && isCurrency(unlisted.slice(0, 3)) && isCurrency(unlisted.slice(3))) return [unlisted];
  }
  return [];
}

/** The instrument of a symbol: EUR/USD, and EURUSDm, EURUSD.ecn and others that brokers lengthen. */
function instrumentOf(symbol: string, known: readonly TickerName[]): string {
  const word = resolve(symbol.replace(/[^A-Za-z0-9]/g, "").toUpperCase(), known);
  const lengthened = known.filter(({ ticker }) => word.startsWith(ticker));
  return known.some(({ ticker }) => ticker === word) ? word : (lengthened[0]?.ticker ?? word);
}

/**
 * The ticker of a file: from --ticker, its symbol column, its name, or the folders above it.
 * @throws UsageError when none or several are found, the instrument is not listed, or --ticker is not what the file names; Unsure
 * when its rows and its name say different things.
 */
export function tickerOf({ symbol, path, venue, force, ...sources }: TickerSources, known: readonly TickerName[]): string {
  const given = sources.given === null ? null : resolve(sources.given, known);
  const listed = (ticker: string) => known.some((name) => name.ticker === ticker);
  const own = symbol === null ? null : instrumentOf(symbol, known);
  const names = namedBy(path, known);
  if (given !== null) {
    if (!listed(given)) throw notListed(given, venue);
    if (force || own === given) return given;
    const insist = "--force imports it anyway";
    if (own !== null) throw new UsageError(`its rows are for ${own}, but --ticker is ${given}: ${insist}`);
    if (names.length > 0 && !names.includes(given))
      throw new UsageError(`its name contains ${names.join(" and ")}, but --ticker is ${given}: ${insist}`);
    return given;
  }
  if (own !== null) {
    if (!listed(own)) throw notListed(own, venue);
    if (names.length > 0 && !names.includes(own))
      throw new Unsure(`its rows are for ${own}, but its name contains ${names.join(" and ")}: choose one with --ticker`);
    return own;
  }
  const parts = partsOf(path);
  for (const part of parts) {
    const [ticker, ...others] = tickersIn(part, known);
    if (others.length > 0)
      throw new UsageError(`its name contains ${[ticker, ...others].join(" and ")}: choose one with --ticker`);
    if (ticker !== undefined) return ticker;
    const unlisted = unlistedIn(part);
    if (unlisted !== undefined && part === parts[0])
      throw new UsageError(
        `its name contains no known ticker: set --ticker. (${unlisted} is not an instrument of the ${venue} venue; add one with: npm run instruments -- add)`,
      );
  }
  throw new UsageError("its name contains no known ticker: set it, for example --ticker EURUSD");
}
