import { z } from "zod";
import { isoDate, SECOND_MS } from "#lib/units";
import {
  KLINES_DEFAULT_LIMIT_ROWS,
  KLINES_MAX_LIMIT_ROWS,
  TICKER_MAX_CHARACTERS,
  TICKER_MIN_CHARACTERS,
  TICKERS_PER_REQUEST_MAX_COUNT,
  TICKS_DEFAULT_LIMIT_ROWS,
  TICKS_MAX_LIMIT_ROWS,
  UNIX_SECONDS_END,
} from "./limits";
import { mustBeOneOf, refuse } from "./validate";

export const VENUES = ["live", "sandbox"] as const;
/** The two venues share no data. A key belongs to one of them. */
export const Venue = z.enum(VENUES);
export type Venue = z.infer<typeof Venue>;

export const TIMEFRAMES = ["M1", "M5", "M15", "M30", "H1", "H4", "D1", "W1", "MN1"] as const;
export const Timeframe = z.enum(TIMEFRAMES).meta({ id: "Timeframe", description: "Kline timeframe. Case-sensitive." });
export type Timeframe = z.infer<typeof Timeframe>;

/** The financial centres whose office hours are the sessions of the world, from east to west. */
export const CENTRES = ["sydney", "tokyo", "london", "new_york"] as const;
export type Centre = (typeof CENTRES)[number];

export const STREAMS = ["quote", "kline", "snapshot"] as const;
export const StreamName = z.enum(STREAMS).meta({ id: "StreamName", description: "Name of a stream." });
export type StreamName = z.infer<typeof StreamName>;

/**
 * Text without control characters, and without characters that change the direction of text, which make one name look like
 * another.
 */
export const PLAIN_TEXT = /^[^\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$/u;
export const PLAIN_TEXT_WORDS = "must not contain control characters or characters that change the direction of text.";

export const SCOPES = ["market:read", "market:stream", "market:ingest", "billing:read"] as const;
/**
 * market:read for REST, market:stream for sockets, market:ingest (operator-issued) for feeders, billing:read (of operators) for the usage
 * of all accounts.
 */
export const Scope = z.enum(SCOPES);
export type Scope = z.infer<typeof Scope>;

export const Ticker = z
  .string()
  .regex(
    new RegExp(`^[A-Z0-9]{${TICKER_MIN_CHARACTERS},${TICKER_MAX_CHARACTERS}}$`),
    `must be a ticker: ${TICKER_MIN_CHARACTERS} to ${TICKER_MAX_CHARACTERS} capital letters and digits.`,
  )
  .meta({ id: "Ticker", description: "Ticker in compact form: letters and digits, no separator.", examples: ["EURUSD"] });

/** The unit of each schema of a Unix time, and of what is described further. */
export const TIME_UNITS = z.registry<{ unit: "s" | "ms" }>();

/** Unix seconds, UTC. */
export const UnixSeconds = z
  .int()
  .min(0)
  .lt(UNIX_SECONDS_END)
  .meta({ description: "Unix seconds, UTC.", examples: [1_767_225_600] })
  .register(TIME_UNITS, { unit: "s" });

/** Unix milliseconds, UTC. */
export const UnixMilliseconds = z
  .int()
  .min(0)
  .meta({ description: "Unix milliseconds, UTC.", examples: [1_767_225_600_123] })
  .register(TIME_UNITS, { unit: "ms" });

/** ISO 8601 timestamp in UTC, with Z. */
export const IsoInstant = z.iso
  .datetime()
  .meta({ description: "ISO 8601 timestamp, UTC.", examples: ["2026-01-01T00:00:00.000Z"] });

/** A decimal price in the quote currency, rounded. */
export const Price = z.number().meta({ description: "Price in the quote currency, rounded to the instrument's digits." });

const INTEGER = /^-?\d{1,15}$/;

function parseInteger(text: string, ctx: z.RefinementCtx, detail: string): number {
  if (!INTEGER.test(text)) return refuse(ctx, { fault: "invalid_parameter", detail });
  return Number(text);
}

const SECONDS_RULE = "must be Unix seconds, or an ISO 8601 timestamp with a UTC offset, for example 2026-01-01T00:00:00Z.";
const OFFSET_INSTANT = z.iso.datetime({ offset: true });
/** An unescaped "+" in an offset arrives as a space; it is read as "+". */
const BLANK_OFFSET = / (?=\d{2}:\d{2}$)/;

/** Unix milliseconds of an ISO 8601 timestamp with offset in a query, negative before 1970; NaN for any other text. */
function parseInstant(text: string): number {
  const instant = text.replace(BLANK_OFFSET, "+");
  return OFFSET_INSTANT.safeParse(instant).success ? Date.parse(instant) : Number.NaN;
}

const tooEarly = (ctx: z.RefinementCtx) =>
  refuse(ctx, { fault: "invalid_parameter", detail: "is out of range: times before 1970 are not supported." });

/** Milliseconds are detected and reported as such. */
const secondsParameter = (round: (seconds: number) => number) =>
  z
    .string()
    .transform((text, ctx) => {
      const seconds = INTEGER.test(text) ? Number(text) : round(parseInstant(text) / 1000);
      if (Number.isNaN(seconds)) return refuse(ctx, { fault: "invalid_parameter", detail: SECONDS_RULE });
      if (seconds < 0) return tooEarly(ctx);
      if (seconds >= UNIX_SECONDS_END)
        return refuse(ctx, {
          fault: "invalid_parameter",
          detail: INTEGER.test(text)
            ? "must be in Unix seconds; this value looks like milliseconds."
            : "is out of range: times after the year 5137 are not supported.",
        });
      return seconds;
    })
    .pipe(UnixSeconds);

/**
 * A query parameter in Unix seconds, or as ISO 8601 timestamp with offset: text in, integer out. Fractions of a second are rounded
 * up, which keeps the meaning of both ends of a half-open range of whole seconds.
 */
export const UnixSecondsParameter = secondsParameter(Math.ceil);

/** The same for `as_of`: fractions are rounded down, so that nothing from after the instant counts. */
export const PastSecondsParameter = secondsParameter(Math.floor);

const DATE_RULE = "must be a date such as 2026-01-05, Unix seconds, or an ISO 8601 timestamp with a UTC offset.";

/** A calendar date, as ISO 8601. */
export const IsoDate = z.iso.date().meta({ description: "A date.", examples: ["2026-01-05"] });

/** A date in a query. Unix seconds and ISO 8601 timestamps stand for their date in UTC. */
export const DateParameter = z
  .string()
  .transform((text, ctx) => {
    if (IsoDate.safeParse(text).success) return Date.parse(text) < 0 ? tooEarly(ctx) : text;
    const seconds = UnixSecondsParameter.safeParse(text);
    if (seconds.success) return isoDate(seconds.data * SECOND_MS);
    return refuse(ctx, { fault: "invalid_parameter", detail: DATE_RULE });
  })
  .pipe(IsoDate);

const MILLISECONDS_RULE =
  "must be Unix milliseconds, or an ISO 8601 timestamp with a UTC offset, for example 2026-01-01T00:00:00.000Z.";

/** A query parameter in Unix milliseconds, or as ISO 8601 timestamp with offset. Seconds are detected and reported as such. */
export const UnixMillisecondsParameter = z
  .string()
  .transform((text, ctx) => {
    const ms = INTEGER.test(text) ? Number(text) : parseInstant(text);
    if (Number.isNaN(ms)) return refuse(ctx, { fault: "invalid_parameter", detail: MILLISECONDS_RULE });
    if (ms < 0) return tooEarly(ctx);
    if (INTEGER.test(text) && ms > 0 && ms < UNIX_SECONDS_END)
      return refuse(ctx, {
        fault: "invalid_parameter",
        detail: "must be in Unix milliseconds; this value looks like seconds.",
      });
    return ms;
  })
  .pipe(UnixMilliseconds);

/** The meaning of the row limit of klines, with this default. */
export function describeLimit(defaultRows: number): string {
  return `Maximum number of klines to return (default ${defaultRows}). Values outside 1–${KLINES_MAX_LIMIT_ROWS} return an error.`;
}

/** A limit of rows. Values out of range are refused, never clamped. */
const limitParameter = (max: number, defaultRows: number) =>
  z
    .string()
    .transform((text, ctx) => {
      const rule = `must be an integer between 1 and ${max}.`;
      const limit = parseInteger(text, ctx, rule);
      if (limit < 1 || limit > max) return refuse(ctx, { fault: "limit_out_of_range", detail: rule, max });
      return limit;
    })
    .pipe(z.int().min(1).max(max).meta({ default: defaultRows }));

/** The row limit of klines. */
export const LimitParameter = limitParameter(KLINES_MAX_LIMIT_ROWS, KLINES_DEFAULT_LIMIT_ROWS);
/** The row limit of ticks. */
export const TickLimitParameter = limitParameter(TICKS_MAX_LIMIT_ROWS, TICKS_DEFAULT_LIMIT_ROWS);

/** A timeframe in a query: case-sensitive. */
export const TimeframeParameter = z
  .string()
  .transform((text, ctx) => {
    if ((TIMEFRAMES as readonly string[]).includes(text)) return text as Timeframe;
    return refuse(ctx, { fault: "unsupported_timeframe", detail: mustBeOneOf(TIMEFRAMES), allowed: TIMEFRAMES });
  })
  .pipe(Timeframe);

/** One of the words of a schema in a query. The refusal has them in `allowed` too. */
export const choiceParameter = <Words extends Readonly<Record<string, string>>>(schema: z.ZodEnum<Words>) =>
  z
    .string()
    .transform((text, ctx): string => {
      const words: readonly string[] = schema.options;
      return words.includes(text)
        ? text
        : refuse(ctx, { fault: "invalid_parameter", detail: mustBeOneOf(words), allowed: words });
    })
    .pipe(schema);

export const PriceSide = z.enum(["bid", "ask", "mid"]).meta({ id: "PriceSide", description: "Which prices klines are made of." });
export type PriceSide = z.infer<typeof PriceSide>;

/** The price side in a query. */
export const PriceSideParameter = choiceParameter(PriceSide);

/** The format of a response in a query. */
export const FormatParameter = choiceParameter(z.enum(["json", "csv"]).meta({ default: "json" }));

/** Matches the text as sent, in either case: upper-casing first would turn some non-ASCII letters into ASCII ones. */
const TICKER_SHAPE = new RegExp(`^[A-Z0-9]{${TICKER_MIN_CHARACTERS},${TICKER_MAX_CHARACTERS}}$`, "i");
const TICKER_RULE = `A ticker is ${TICKER_MIN_CHARACTERS} to ${TICKER_MAX_CHARACTERS} letters and digits, without separators.`;

/** One ticker in a query: trimmed and upper-cased before the check. */
export const TickerParameter = z
  .string()
  .transform((text, ctx) => {
    const ticker = text.trim();
    if (ticker === "") return refuse(ctx, { fault: "missing_parameter", detail: "must not be empty." });
    if (!TICKER_SHAPE.test(ticker)) return refuse(ctx, { fault: "invalid_ticker", detail: TICKER_RULE, tickers: [ticker] });
    return ticker.toUpperCase();
  })
  .pipe(Ticker);

/** What is said of a list whose item at this index is empty. */
export function emptyItem(index: number, count: number): string {
  return count === 1 ? "must not be empty." : `contains an empty item: number ${index + 1} of ${count}.`;
}

/** A comma-separated list of tickers: trimmed, upper-cased, without duplicates, in the order given. */
export const TickerListParameter = z
  .string()
  .transform((text, ctx) => {
    const elements = text.split(",").map((element) => element.trim());
    const empty = elements.indexOf("");
    if (empty >= 0) return refuse(ctx, { fault: "missing_parameter", detail: emptyItem(empty, elements.length) });
    const tickers = [...new Set(elements.map((element) => element.toUpperCase()))];
    if (tickers.length > TICKERS_PER_REQUEST_MAX_COUNT)
      return refuse(ctx, {
        fault: "too_many_tickers",
        detail: `takes at most ${TICKERS_PER_REQUEST_MAX_COUNT} tickers.`,
        max: TICKERS_PER_REQUEST_MAX_COUNT,
      });
    const malformed = elements.filter((element) => !TICKER_SHAPE.test(element));
    if (malformed.length > 0) return refuse(ctx, { fault: "invalid_ticker", detail: TICKER_RULE, tickers: malformed });
    return tickers;
  })
  .pipe(z.array(Ticker).min(1).max(TICKERS_PER_REQUEST_MAX_COUNT));

/** An ISO 8601 timestamp with offset in a query: text in, Unix milliseconds out. */
export const InstantParameter = z
  .string()
  .transform((text, ctx) => {
    const at = parseInstant(text);
    if (Number.isNaN(at))
      return refuse(ctx, {
        fault: "invalid_parameter",
        detail: "must be an ISO 8601 timestamp with a UTC offset, for example 2026-01-01T00:00:00Z.",
      });
    return at < 0 ? tooEarly(ctx) : at;
  })
  .pipe(UnixMilliseconds);

/** An origin as browsers send it, in a query. */
export const OriginParameter = z
  .string()
  .transform((text, ctx) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || url.origin !== text.toLowerCase())
      return refuse(ctx, {
        fault: "invalid_parameter",
        detail: "must be an origin: a scheme, a host and an optional port, for example https://app.example.com.",
      });
    return url.origin;
  })
  .pipe(z.string().meta({ format: "uri" }));
