import { isCurrency } from "#lib/domain/price-ranges";
import { UsageError } from "#server/cli/usage-error";
import { Unsure } from "#server/import/failure";
import { type Reading, readName, readSymbol, resolve, symbolWord, type TickerName } from "./symbols";

/** Folders above the file whose names are searched: EURUSD/2019/01/04/00h_ticks.bi5. */
const FOLDERS_MAX_COUNT = 5;

/** A word of six capital letters, which may be an unlisted ticker. */
function unlistedIn(text: string, known: readonly TickerName[]): string | undefined {
  const words = text.match(/(?<![A-Za-z])[A-Z]{6}(?![A-Za-z])/g) ?? [];
  return words.find((word) => !known.some(({ ticker }) => ticker === word));
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

/** What names a file says, in its rows or in its name. */
interface Named {
  /** As the file says them. */
  readonly said: readonly string[];
  /** Listed tickers of these or similar names. */
  readonly tickers: readonly string[];
  /** The first that is another instrument than the listed one which it resembles. */
  readonly other: Reading | undefined;
}

function namedIn(readings: readonly Reading[]): Named {
  const distinct = (values: readonly string[]) => [...new Set(values)];
  return {
    said: distinct(readings.map(({ said }) => said)),
    tickers: distinct(readings.map(({ ticker }) => ticker)),
    other: readings.find(({ same }) => !same),
  };
}

/** What the name of a file says, else that of the nearest folder that says something; and an unlisted ticker that the name may be. */
function namedBy(path: string, known: readonly TickerName[]): Named & { readonly unlisted: string | undefined } {
  const [file = "", ...folders] = partsOf(path);
  for (const part of [file, ...folders]) {
    const readings = readName(part, known);
    const unlisted = unlistedIn(part, known);
    const isPair = unlisted !== undefined && isCurrency(unlisted.slice(0, 3)) && isCurrency(unlisted.slice(3));
    if (isPair && !readings.some(({ same }) => same))
      return { said: [unlisted], tickers: [unlisted], other: undefined, unlisted };
    if (readings.length > 0) return { ...namedIn(readings), unlisted: part === file ? undefined : unlistedIn(file, known) };
  }
  return { ...namedIn([]), unlisted: unlistedIn(file, known) };
}

/** The question of a file whose instrument resembles a listed one. */
const anotherThan = (place: string, { said, ticker }: Reading) =>
  new Unsure(
    `${place} ${said}, which is another instrument than ${ticker}. If its prices are those of ${ticker}, set --ticker ${ticker}`,
  );

/** What the symbol column says; an instrument that is not listed as itself. */
function ownOf(symbol: string, known: readonly TickerName[]): Reading {
  const word = symbolWord(symbol);
  return readSymbol(symbol, known) ?? { ticker: word, said: word, same: true };
}

/**
 * The ticker of a file: from --ticker, its symbol column, its name, or the folders above it. An instrument that only resembles a
 * listed one (EURUSDT, XAUUSDZ24) is taken for it with --ticker.
 * @throws UsageError when none or several are found, the instrument is not listed, or --ticker is not what the file names; Unsure
 * when its rows and its name say different things, or another instrument than a listed one.
 */
export function tickerOf({ symbol, path, venue, force, ...sources }: TickerSources, known: readonly TickerName[]): string {
  const given = sources.given === null ? null : resolve(sources.given, known);
  const listed = (ticker: string) => known.some((name) => name.ticker === ticker);
  const own = symbol === null ? null : ownOf(symbol, known);
  const names = namedBy(path, known);
  const named = names.said.join(" and ");
  if (given !== null) {
    if (!listed(given)) throw notListed(given, venue);
    if (force || own?.ticker === given) return given;
    const insist = "--force imports it anyway";
    if (own !== null) throw new UsageError(`its rows are for ${own.said}, but --ticker is ${given}: ${insist}`);
    if (names.said.length > 0 && !names.tickers.includes(given))
      throw new UsageError(`its name contains ${named}, but --ticker is ${given}: ${insist}`);
    return given;
  }
  if (own !== null) {
    if (!own.same) throw anotherThan("its rows are for", own);
    if (!listed(own.ticker)) throw notListed(own.ticker, venue);
    if (names.said.length > 0 && !names.said.includes(own.ticker))
      throw new Unsure(`its rows are for ${own.ticker}, but its name contains ${named}: choose one with --ticker`);
    return own.ticker;
  }
  if (names.unlisted !== undefined)
    throw new UsageError(
      `its name contains no known ticker: set --ticker. (${names.unlisted} is not an instrument of the ${venue} venue; add one with: npm run instruments -- add)`,
    );
  if (names.other !== undefined) throw anotherThan("its name contains", names.other);
  const [ticker, ...others] = names.tickers;
  if (others.length > 0) throw new UsageError(`its name contains ${named}: choose one with --ticker`);
  if (ticker === undefined) throw new UsageError("its name contains no known ticker: set it, for example --ticker EURUSD");
  return ticker;
}
