import { isWellFormedKey, KEY_START } from "#lib/contract/key-text";
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
    throw invalid(`baseUrl must be an http or https address, for example https://market.example.com, not ${text}.`);
  if (url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "")
    throw invalid("baseUrl must not contain a query, a fragment or a password.");
  return url.href.replace(/\/+$/, "");
}

/**
 * Returns a well-formed key; any other key is never sent. The error does not contain the key.
 * @throws SpotwireError invalid_key
 */
export function checkKey(key: string): string {
  if (isWellFormedKey(key)) return key;
  const mistake =
    typeof key !== "string" || key === ""
      ? "The key is empty."
      : key !== key.trim()
        ? "The key has spaces around it."
        : KEY_START.test(key)
          ? "The key is mistyped or truncated: its checksum does not match."
          : "A key starts with a prefix and _live_ or _test_, as sw_live_.";
  throw new SpotwireError("invalid_key", mistake);
}

/** @throws SpotwireError invalid_argument unless the value is a number from `least` up */
export function checkNumber(name: string, value: number, least: number): number {
  if (typeof value === "number" && value >= least) return value;
  throw invalid(`${name} must be a number of at least ${least}, not ${value}.`);
}

/** Normalizes a ticker like the service: trimmed, in upper case. The service validates it. */
function normalise(ticker: unknown): string {
  if (typeof ticker !== "string" || ticker.trim() === "") throw invalid("A ticker must be a non-empty string.");
  const text = ticker.trim();
  if (text.length > TICKER_MAX_CHARACTERS || text.includes(","))
    throw invalid(
      `${text.slice(0, TICKER_MAX_CHARACTERS)} is not a ticker: use at most ${TICKER_MAX_CHARACTERS} letters and digits.`,
    );
  return /^[a-z0-9]+$/i.test(text) ? text.toUpperCase() : text;
}

/**
 * The list itself.
 * @throws SpotwireError invalid_argument unless it is a list of at least one string
 */
export function checkList(name: string, list: readonly string[], example: string): readonly string[] {
  if (!Array.isArray(list) || list.length === 0) throw invalid(`${name} must be a list, for example ["${example}"].`);
  return list;
}

/**
 * The tickers of a call, without duplicates, in the order given.
 * @throws SpotwireError invalid_argument unless it is a list of at least one string
 */
export function checkTickers(tickers: readonly string[]): string[] {
  return [...new Set(checkList("tickers", tickers, "EURUSD").map(normalise))];
}

/**
 * Unix seconds of an instant; a Date is rounded up to a whole second.
 * @throws SpotwireError invalid_argument for an invalid Date
 */
export function unixSeconds(instant: number | Date | undefined): number | undefined {
  if (!(instant instanceof Date)) return instant;
  if (Number.isNaN(instant.getTime())) throw invalid("A date is invalid.");
  return Math.ceil(instant.getTime() / 1000);
}

/**
 * Unix milliseconds of an instant.
 * @throws SpotwireError invalid_argument for an invalid Date
 */
export function unixMilliseconds(instant: number | Date | undefined): number | undefined {
  if (!(instant instanceof Date)) return instant;
  if (Number.isNaN(instant.getTime())) throw invalid("A date is invalid.");
  return instant.getTime();
}

/** An instant as the service reads it: a Date as ISO 8601, anything else as it is. @throws SpotwireError invalid_argument for an invalid Date */
export function isoInstant<Sent extends string | number>(instant: Sent | Date | undefined): Sent | string | undefined {
  if (!(instant instanceof Date)) return instant;
  if (Number.isNaN(instant.getTime())) throw invalid("A date is invalid.");
  return instant.toISOString();
}
