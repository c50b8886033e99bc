import { z } from "zod";
import { DAY_S } from "#lib/units";
import { lineCounts } from "./ingest";
import { INGEST_KLINES_MAX_AGE_S, INGEST_STATE_RANGES_MAX_COUNT } from "./limits";
import { Ticker, UnixMilliseconds, UnixSeconds } from "./primitives";
import { mustBeOneOf, refuse } from "./validate";

const DAYS = INGEST_KLINES_MAX_AGE_S / DAY_S;

/** One pushed line: a closed M1 kline of bid prices, with the fields of a kline. */
export const KlineLine = z
  .object({
    ticker: Ticker,
    timeframe: z.literal("M1").optional().describe("M1, if given: longer klines are computed from the minutes."),
    time: UnixSeconds.describe("Open time, Unix seconds: the start of a minute."),
    open: z.number().positive().describe("First bid."),
    high: z.number().positive().describe("Highest bid."),
    low: z.number().positive().describe("Lowest bid."),
    close: z.number().positive().describe("Last bid."),
    tick_volume: z.number().min(0).describe("Number of quotes."),
    real_volume: z.number().min(0).nullable().optional().describe("Traded volume, if the source provides it."),
    spread: z.number().min(0).nullable().optional().describe("Smallest ask - bid in price units, if the source knows it."),
  })
  .meta({ id: "KlineLine", description: "One line of a batch of M1 klines." });

const KLINE_REJECTIONS = [
  "malformed_line",
  "line_too_long",
  "unknown_ticker",
  "not_a_minute",
  "not_closed",
  "too_old",
  "bad_price",
  "duplicate",
  "stored",
  "watched",
  "corrected",
  "implausible_price",
  "volume_out_of_range",
] as const;
/**
 * Why a kline was rejected. `duplicate`: stored already with these values, or repeated in the batch. `stored`: another import or
 * push stored this minute, and `replace` is not `all`. `watched`: this service heard every tick of the minute itself.
 * `corrected`: an operator corrected the minute or struck it out. `implausible_price`: the instrument cannot have such a price.
 * `volume_out_of_range`: no minute has such a volume.
 */
export type KlineRejection = (typeof KLINE_REJECTIONS)[number];

export const REPLACES = ["gaps", "all"] as const;
/** Which stored minutes a batch may replace. */
export type Replace = (typeof REPLACES)[number];

/** The `replace` parameter in a query. */
export const ReplaceParameter = z
  .string()
  .transform((text, ctx) => {
    if ((REPLACES as readonly string[]).includes(text)) return text as Replace;
    return refuse(ctx, { fault: "invalid_parameter", detail: mustBeOneOf(REPLACES) });
  })
  .pipe(z.enum(REPLACES).meta({ default: "gaps" }));

/** Result of a pushed batch of klines. */
export const KlineReceipt = z
  .object({
    ...lineCounts(KLINE_REJECTIONS, "Number of klines stored."),
    import: z
      .int()
      .nullable()
      .describe("Number of the import that the klines became part of. Operators can undo it. Null if none was stored."),
  })
  .meta({ id: "KlineReceipt", description: "Result of a batch of M1 klines." });
export type KlineReceipt = z.infer<typeof KlineReceipt>;

export const klineReceiptExample: KlineReceipt = {
  received: 3,
  accepted: 2,
  rejected: 1,
  reasons: { watched: 1 },
  rejections: [{ line: 3, reason: "watched" }],
  import: 12,
};

const MissingRange = z.object({
  from: UnixSeconds.describe("Open time of the first missing minute."),
  to: UnixSeconds.describe("End of the last missing minute, exclusive."),
  minutes: z
    .int()
    .min(1)
    .describe("Number of missing minutes. A range can extend over hours in which the market was closed; they do not count."),
});

const TickerState = z.object({
  ticker: Ticker,
  newest_kline: UnixSeconds.nullable().describe("Open time of the newest stored M1 kline; it may still be open. Null if none."),
  newest_tick: UnixMilliseconds.nullable().describe("Time of the newest accepted tick; null before the first one."),
  missing: z
    .array(MissingRange)
    .nullable()
    .describe(
      `Ranges of closed minutes without a kline in which the market was open, ascending, from the last ${DAYS} days. Null if the calendar is unknown.`,
    ),
  missing_before: UnixSeconds.nullable().describe(
    `Set if there are more than ${INGEST_STATE_RANGES_MAX_COUNT} ranges: \`missing\` then has the newest ones. Request the earlier ones with this value as \`before\`. Otherwise null.`,
  ),
});

/** What a feeder has to know to continue after an outage. */
export const IngestState = z
  .object({
    server_time_msc: UnixMilliseconds.describe("Time of the server, Unix milliseconds."),
    items: z.array(TickerState).describe("The state of each ticker, in the order you requested them."),
  })
  .meta({ id: "IngestState", description: "What is stored of each ticker, and which minutes are missing." });
export type IngestState = z.infer<typeof IngestState>;
export type TickerIngestState = IngestState["items"][number];

export const ingestStateExample: IngestState = {
  server_time_msc: 1_767_226_200_412,
  items: [
    {
      ticker: "EURUSD",
      newest_kline: 1_767_226_200,
      newest_tick: 1_767_226_200_118,
      missing: [{ from: 1_767_225_660, to: 1_767_226_140, minutes: 8 }],
      missing_before: null,
    },
  ],
};
