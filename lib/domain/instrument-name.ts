/** Names of currencies and metals by ISO 4217 code, as Unicode lists them in English. */
const CURRENCIES = new Intl.DisplayNames("en", { type: "currency", fallback: "none" });
/** The only codes that `CURRENCIES` takes; others make it throw. */
const CODE = /^[A-Z]{3}$/;

/** What each test ticker is for. */
const TEST_NAMES: Readonly<Record<string, string>> = {
  TESTCLOSED: "Test: always closed",
  TESTFLIP: "Test: opens and closes every two minutes",
  TESTFX: "Test: forex hours",
  TESTGAP: "Test: missing klines",
  TESTLATE: "Test: no quote since the open",
  TESTMETAL: "Test: metals hours",
  TESTMISSING: "Test: never a quote",
  TESTNOTREADY: "Test: first quote never arrives",
  TESTSTALE: "Test: feed stopped",
  TESTUNKNOWN: "Test: no calendar",
};

/** The English name of a currency or metal, for example "Euro" or "Gold"; the code itself when it has none. */
function currencyName(code: string): string {
  return (CODE.test(code) ? CURRENCIES.of(code) : undefined) ?? code;
}

/** The full name of an instrument, for example "Gold / US Dollar"; `base` and `quote` are codes. */
export function nameOf({ ticker, base, quote }: { ticker: string; base: string; quote: string }): string {
  return TEST_NAMES[ticker] ?? `${currencyName(base)} / ${currencyName(quote)}`;
}

/** The one code that a text probably means: it begins with the code ("EURO"), or is a word of the English name ("GOLD"). */
export function currencyCalled(text: string, codes: readonly string[]): string | undefined {
  const called = codes.filter((code) => text.startsWith(code) || currencyName(code).toUpperCase().split(" ").includes(text));
  return called.length === 1 ? called[0] : undefined;
}
