import { OPEN_GRACE_DEFAULT_S, STALE_AFTER_DEFAULT_S } from "#lib/contract/limits";
import type { StreamName, Timeframe } from "#lib/contract/primitives";
import type { Listing } from "./instrument";

/** TESTNOTREADY awaits its first quote for the next sixty years; the largest that fits the database's integer is 68. */
const ENDLESS_GRACE_S = 1_900_000_000;

const STREAMS: readonly StreamName[] = ["quote", "kline", "snapshot"];
const TIMEFRAMES: readonly Timeframe[] = ["M1", "M5", "M15", "M30", "H1", "H4", "D1", "W1", "MN1"];

/** The currencies of the 28 major crosses, in the order in which markets quote one against the other. */
const MAJOR_CURRENCIES = ["EUR", "GBP", "AUD", "NZD", "USD", "CAD", "CHF", "JPY"] as const;

const MAJOR_CROSSES = MAJOR_CURRENCIES.flatMap((base, index) =>
  MAJOR_CURRENCIES.slice(index + 1).map((quote): [ticker: string, digits: number] => [base + quote, quote === "JPY" ? 3 : 5]),
);

/** Digits as Dukascopy quotes the pair. */
const FURTHER_PAIRS: readonly [ticker: string, digits: number][] = [
  ["EURCZK", 4],
  ["EURDKK", 5],
  ["EURHUF", 3],
  ["EURNOK", 5],
  ["EURPLN", 5],
  ["EURSEK", 5],
  ["EURSGD", 5],
  ["EURTRY", 5],
  ["SGDJPY", 3],
  ["USDCNH", 5],
  ["USDDKK", 5],
  ["USDHKD", 5],
  ["USDHUF", 3],
  ["USDMXN", 5],
  ["USDNOK", 5],
  ["USDPLN", 5],
  ["USDSEK", 5],
  ["USDSGD", 5],
  ["USDTRY", 5],
  ["USDZAR", 5],
];

/** Digits as Dukascopy quotes the metal, platinum and palladium as OANDA does. */
const METALS: readonly [ticker: string, digits: number][] = [
  ["XAGEUR", 3],
  ["XAGUSD", 3],
  ["XAUEUR", 3],
  ["XAUUSD", 3],
  ["XPDUSD", 3],
  ["XPTUSD", 3],
];

/** The last digit is a tenth of a pip. */
function pipSizeOf(digits: number): number {
  return Number(`1e-${digits - 1}`);
}

function listing(
  assetClass: Listing["assetClass"],
  calendar: Listing["calendar"],
  [ticker, digits]: readonly [ticker: string, digits: number],
): Listing {
  return {
    ticker,
    assetClass,
    base: ticker.slice(0, 3),
    quote: ticker.slice(3),
    digits,
    pipSize: pipSizeOf(digits),
    streams: STREAMS,
    timeframes: TIMEFRAMES,
    calendar,
    staleAfterS: STALE_AFTER_DEFAULT_S,
    openGraceS: OPEN_GRACE_DEFAULT_S,
  };
}

/** A test ticker: priced like a currency pair; XTS is the ISO 4217 code set aside for tests. */
function testListing(ticker: string, calendar: Listing["calendar"], openGraceS = OPEN_GRACE_DEFAULT_S): Listing {
  return { ...listing("test", calendar, ["XTSUSD", 5]), ticker, openGraceS };
}

const TEST_LISTINGS: readonly Listing[] = [
  testListing("TESTCLOSED", "never"),
  testListing("TESTFLIP", "flip"),
  testListing("TESTFX", "forex"),
  testListing("TESTGAP", "always"),
  testListing("TESTLATE", "late"),
  { ...testListing("TESTMETAL", "metals"), digits: 3, pipSize: pipSizeOf(3) },
  testListing("TESTMISSING", "always"),
  testListing("TESTNOTREADY", "late", ENDLESS_GRACE_S),
  testListing("TESTSTALE", "always"),
  testListing("TESTUNKNOWN", null),
];

const byTicker = (a: Listing, b: Listing): number => (a.ticker < b.ticker ? -1 : 1);

function catalogue(forexCalendar: string, metalsCalendar: string): Listing[] {
  const pairs = [...MAJOR_CROSSES, ...FURTHER_PAIRS].map((pair) => listing("forex", forexCalendar, pair)).sort(byTicker);
  return [...pairs, ...METALS.map((metal) => listing("metals", metalsCalendar, metal))];
}

/** What a new database lists on the live venue, by asset class, then ticker; an operator adds and retires there. */
export const LIVE_LISTINGS: readonly Listing[] = catalogue("forex", "metals");

/** The same instruments always open, and a test ticker for each state that a client has to handle. */
export const SANDBOX_LISTINGS: readonly Listing[] = [...catalogue("always", "always"), ...TEST_LISTINGS];
