import { UsageError } from "#server/cli/usage-error";

/** Folders above the file whose names are searched: EURUSD/2019/01/04/00h_ticks.bi5. */
const FOLDERS_MAX_COUNT = 5;

/** An instrument that a file may contain. */
interface TickerName {
  readonly ticker: string;
  readonly base: string;
  readonly quote: string;
}

/** Whether a text contains the ticker: not inside a longer word, its parts possibly separated (EUR_USD, EUR-USD, EUR/USD). */
function named({ ticker, base, quote }: TickerName, text: string): boolean {
  const word = ticker === base + quote ? `${base}[-_./ ]?${quote}` : ticker;
  return new RegExp(`(?<![A-Z])${word}(?![A-Z]{2})`, "i").test(text);
}

function tickersIn(text: string, known: readonly TickerName[]): string[] {
  return known.filter((name) => named(name, text)).map(({ ticker }) => ticker);
}

/** A word of six capital letters, which may be an unlisted ticker. */
function unlistedIn(text: string): string | undefined {
  return /(?<![A-Za-z])([A-Z]{6})(?![A-Za-z])/.exec(text)?.[1];
}

const notListed = (ticker: string, venue: string) =>
  new UsageError(`${ticker} is not an instrument of the ${venue} venue. Add it with: npm run instruments -- add`);

/**
 * The ticker of a file: from --ticker, its symbol column, its name, or the folders above it.
 * @param given the value of --ticker, null when not set
 * @param symbol the value of the file's symbol column, null when it has none
 * @throws UsageError when none or several are found, or the instrument is not listed.
 */
export function tickerOf(
  { given, symbol, path, venue }: { given: string | null; symbol: string | null; path: string; venue: string },
  known: readonly TickerName[],
): string {
  const listed = (ticker: string) => known.some((name) => name.ticker === ticker);
  const own = symbol?.replace(/[^A-Za-z0-9]/g, "").toUpperCase() ?? null;
  if (given !== null) {
    if (!listed(given)) throw notListed(given, venue);
    if (own !== null && own !== given) throw new UsageError(`its rows are for ${own}, but --ticker is ${given}`);
    return given;
  }
  if (own !== null) {
    if (!listed(own)) throw notListed(own, venue);
    return own;
  }
  const parts = path.replaceAll("\\", "/").split("/").reverse();
  for (const part of parts.slice(0, FOLDERS_MAX_COUNT + 1)) {
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
