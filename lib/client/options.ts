import { isWellFormedKey } from "#lib/contract/key-text";
import { TICKER_MAX_CHARACTERS } from "#lib/contract/limits";
import { SpotwireError } from "./errors";

const invalid = (detail: string) => new SpotwireError("invalid_argument", detail);

/**
 * The address of a service without a slash at its end.
 * @throws SpotwireError invalid_argument unless it is an http or https address without query, fragment or password
 */
export function checkBaseUrl(text: string): string {
  const url = typeof text === "string" && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw invalid(`baseUrl must be an http or https address, for example https://market.example.com; it is ${text}.`);
  if (url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "")
    throw invalid("baseUrl must not carry a query, a fragment or a password.");
  return url.href.replace(/\/+$/, "");
}

/**
 * Lets a well-formed key through; nothing is sent with any other. The key is never repeated in the error.
 * @throws SpotwireError invalid_key
 */
export function checkKey(key: string): string {
  if (isWellFormedKey(key)) return key;
  const mistake =
    typeof key !== "string" || key === ""
      ? "The key is empty."
      : key !== key.trim()
        ? "The key has blanks around it."
        : key.startsWith("sw_live_") || key.startsWith("sw_test_")
          ? "The key is mistyped or cut off: its checksum does not fit."
          : "A key starts with sw_live_ or sw_test_.";
  throw new SpotwireError("invalid_key", mistake);
}

/** @throws SpotwireError invalid_argument unless the value is a number of at least `least` */
export function checkNumber(name: string, value: number, least: number): number {
  if (typeof value === "number" && value >= least) return value;
  throw invalid(`${name} must be a number of at least ${least}; it is ${value}.`);
}

/** A ticker as the service reads it: trimmed, in upper case. What is no ticker is left for the service to judge. */
function normalise(ticker: unknown): string {
  if (typeof ticker !== "string" || ticker.trim() === "") throw invalid("A ticker must be a text that is not empty.");
  const text = ticker.trim();
  if (text.length > TICKER_MAX_CHARACTERS || text.includes(","))
    throw invalid(`${text.slice(0, TICKER_MAX_CHARACTERS)} is no ticker: at most ${TICKER_MAX_CHARACTERS} letters and digits.`);
  return /^[a-z0-9]+$/i.test(text) ? text.toUpperCase() : text;
}

/**
 * The tickers of a call, without duplicates, in the order given.
 * @throws SpotwireError invalid_argument unless it is a list of at least one text
 */
export function checkTickers(tickers: readonly string[]): string[] {
  if (!Array.isArray(tickers) || tickers.length === 0) throw invalid('tickers must be a list, for example ["EURUSD"].');
  return [...new Set(tickers.map(normalise))];
}

/**
 * Unix seconds of an instant; a Date between two seconds becomes the later one.
 * @throws SpotwireError invalid_argument for a Date that is none
 */
export function unixSeconds(instant: number | Date | undefined): number | undefined {
  if (!(instant instanceof Date)) return instant;
  if (Number.isNaN(instant.getTime())) throw invalid("A date is invalid.");
  return Math.ceil(instant.getTime() / 1000);
}

/** @throws SpotwireError invalid_argument for a Date that is none */
export function isoInstant(instant: string | Date | undefined): string | undefined {
  if (!(instant instanceof Date)) return instant;
  if (Number.isNaN(instant.getTime())) throw invalid("A date is invalid.");
  return instant.toISOString();
}
