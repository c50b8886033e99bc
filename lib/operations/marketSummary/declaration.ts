import { z } from "zod";
import { isZone } from "#lib/contract/calendar";
import { SUMMARY_KLINES_PER_COST_UNIT, SUMMARY_MAX_DAYS, SUMMARY_MAX_ROWS, SUMMARY_MINUTES_MAX_DAYS } from "#lib/contract/limits";
import { operation } from "#lib/contract/operation";
import { COUNTED_ERRORS } from "#lib/contract/operation-errors";
import { CENTRES, choiceParameter, DateParameter, IsoDate, Price, Ticker } from "#lib/contract/primitives";
import { format, ticker } from "#lib/contract/query";
import { refuse } from "#lib/contract/validate";
import { DAY_MS, DAY_S, HOUR_S, MINUTE_S } from "#lib/units";

const BYS = ["day", "week", "month", "year", "all", "weekday", "hour_of_day", "session", "event"] as const;
const PARTS = ["open", "close"] as const;
const EVENTS = ["week_open", "week_close", "holiday_eve", "after_holiday", "short_day", "ordinary"] as const;
const TIMEFRAMES = ["M1", "H1"] as const;
export type SummaryBy = (typeof BYS)[number];
export type SummaryEvent = (typeof EVENTS)[number];

/** A longer name is none of the tz database. */
const ZONE_MAX_CHARACTERS = 64;

const ZoneParameter = z
  .string()
  .transform((text, ctx) => {
    if (text.length <= ZONE_MAX_CHARACTERS && isZone(text)) return text;
    return refuse(ctx, { fault: "invalid_parameter", detail: "must be an IANA time zone, for example America/New_York." });
  })
  .pipe(z.string().meta({ default: "UTC" }));

/** Figures of one or more periods of the same kind. Prices are bids; what is not known is null. */
export const SummaryRow = z
  .object({
    group: z
      .string()
      .describe(
        "What the row stands for: a date (2026-01-05; of a week its Monday), a month (2026-01), a year, a weekday (Mon), an hour (08:00), a session (london), an event (holiday_eve), or all.",
      ),
    periods: z.int().min(0).describe("Number of periods in the row that have klines."),
    open: Price.nullable().describe("First bid of the period; null where the row has several periods, or none."),
    high: Price.nullable().describe("Highest bid of the period; null as `open`."),
    low: Price.nullable().describe("Lowest bid of the period; null as `open`."),
    close: Price.nullable().describe("Last bid of the period; null as `open`."),
    range: z
      .number()
      .nullable()
      .describe("Mean over the periods of high - low, which for one period is its range. Null without klines."),
    median_range: z.number().nullable().describe("Median of the same: the middle one, or the mean of the two in the middle."),
    max_range: z.number().nullable().describe("Largest of the same."),
    max_range_on: IsoDate.nullable().describe("Date of the period with the largest range, the first of several."),
    change: z
      .number()
      .nullable()
      .describe("Mean over the periods of close - open, which for one period is its change. Null without klines."),
    up: z.int().min(0).describe("Number of periods that closed above their open; of one period 1 or 0."),
    spread: z
      .number()
      .nullable()
      .describe(
        "Mean over the klines with a known spread of their `spread`, the smallest ask - bid in each. Null if none is known.",
      ),
    count: z.int().min(0).describe("Number of klines of `timeframe` that were found."),
    expected_count: z
      .int()
      .min(0)
      .nullable()
      .describe(
        "Number of klines while the market was open, so far: what is missing of it is a gap, not a closure. Null if the calendar is unknown.",
      ),
  })
  .meta({ id: "SummaryRow", description: "Figures of one or more periods of the same kind." });
export type SummaryRow = z.infer<typeof SummaryRow>;

const frame = {
  ticker: Ticker,
  from: IsoDate.describe("First trading day."),
  to: IsoDate.describe("The day after the last trading day."),
  by: z.enum(BYS).describe("What a row stands for, as requested."),
  session: z.enum(CENTRES).optional().describe("As requested. Absent if none was."),
  part: z.enum(PARTS).optional().describe("As requested. Absent if none was."),
  zone: z.string().optional().describe("Time zone of the hours. Absent unless `by` is hour_of_day."),
  timeframe: z.enum(TIMEFRAMES).describe("The klines of which the figures are made, and which `count` counts."),
};

/** The summary of a ticker. */
export const Summary = z
  .object({
    ...frame,
    items: z.array(SummaryRow).describe(`The rows, in ascending order by what they stand for; at most ${SUMMARY_MAX_ROWS}.`),
  })
  .meta({ id: "Summary", description: "What a market did, in a few rows." });
export type Summary = z.infer<typeof Summary>;

type ColumnName = keyof typeof SummaryRow.shape;
const COLUMNS = Object.keys(SummaryRow.shape) as ColumnName[];
/** What says nothing of a single period, and what is null of several. */
const OF_SEVERAL: readonly ColumnName[] = ["periods", "median_range", "max_range", "max_range_on", "up"];
const OF_ONE: readonly ColumnName[] = ["open", "high", "low", "close"];

/** The same for agents, with rows in place of objects. */
const SummaryTable = z
  .object({
    ...frame,
    columns: z.array(z.enum(COLUMNS)),
    rows: z.array(z.array(z.union([z.string(), z.number()]).nullable())),
  })
  .meta({ id: "SummaryTable", description: "What a market did, as a table, in ascending order by what its rows stand for." });

/** The rows as a table without columns that say nothing: prices where each row has several periods, medians where each has one. */
export function tableOfSummary({ items, ...rest }: Summary): z.infer<typeof SummaryTable> {
  const without = items.every(({ periods }) => periods <= 1) ? OF_SEVERAL : [];
  const left = items.every(({ open }) => open === null) ? OF_ONE : without;
  const columns = COLUMNS.filter((name) => !left.includes(name));
  return { ...rest, columns, rows: items.map((row) => columns.map((name) => row[name])) };
}

/** Days in a range of dates. */
const daysOf = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / DAY_MS;

/** The klines that a summary of so many days is made of. */
export const summaryTimeframe = (from: string, to: string) => (daysOf(from, to) <= SUMMARY_MINUTES_MAX_DAYS ? "M1" : "H1");

const example: Summary = {
  ticker: "EURUSD",
  from: "2026-01-05",
  to: "2026-01-06",
  by: "day",
  timeframe: "M1",
  items: [
    {
      group: "2026-01-05",
      periods: 1,
      open: 1.08502,
      high: 1.08571,
      low: 1.08466,
      close: 1.08543,
      range: 0.00105,
      median_range: 0.00105,
      max_range: 0.00105,
      max_range_on: "2026-01-05",
      change: 0.00041,
      up: 1,
      spread: 0.000063,
      count: 1_440,
      expected_count: 1_440,
    },
  ],
};

export const marketSummary = operation({
  id: "marketSummary",
  method: "GET",
  path: "/api/v1/market/summary",
  scope: "market:read",
  summary: "Market summary",
  description: `Answers questions about a market in at most ${SUMMARY_MAX_ROWS} rows, without its klines. The range of dates is divided into periods: trading days, weeks, months, years, hours of the day, or the hours of one of the sessions Sydney, Tokyo, London and New York; and periods of the same kind make a row. For example, \`by=weekday&session=london&part=open\` has the range of the first hour of London for each day of the week.`,
  query: {
    ticker,
    from: {
      schema: DateParameter,
      required: true,
      description:
        "First trading day, as a date such as 2026-01-05; inclusive. A trading day begins at 17:00 New York time of the day before. Unix seconds and ISO 8601 timestamps stand for their date in UTC.",
      example: "2026-01-05",
    },
    to: {
      schema: DateParameter,
      required: true,
      description: `The day after the last trading day; exclusive, at most ${SUMMARY_MAX_DAYS.toLocaleString("en-US")} days after \`from\`. Days in the future have no rows.`,
      example: "2026-01-10",
    },
    by: {
      schema: choiceParameter(z.enum(BYS)),
      required: true,
      description:
        "What a row stands for. `day`, `week`, `month`, `year`: one of them each. `weekday`, `event`, `all`: all trading days of that kind. `hour_of_day`: all hours with that time. `session`: all office hours of that city. An `event` is by the calendar: week_open and week_close (first and last trading day of a week), holiday_eve and after_holiday (next to a day that a holiday closes or shortens), short_day (shortened by one), ordinary (none of these); a day can have several.",
      example: "day",
    },
    session: {
      schema: choiceParameter(z.enum(CENTRES)),
      required: false,
      description:
        "Counts only the office hours of this city, as far as the market is open: 07:00–16:00 in Sydney, 09:00–18:00 in Tokyo, 08:00–17:00 in London and New York, local time, Monday to Friday. The dates are then those of the city. The periods of a week, month or year are then its sessions.",
      example: "london",
      advanced: true,
    },
    part: {
      schema: choiceParameter(z.enum(PARTS)),
      required: false,
      description:
        "Counts only the first or last clock hour of each trading day or session in which the market is open: `part=open` with `session=london` is the London open.",
      example: "open",
      advanced: true,
    },
    zone: {
      schema: ZoneParameter,
      required: false,
      description:
        "Time zone of the hours of `by=hour_of_day`, by its IANA name (default: UTC). Its offset from UTC has to be in whole hours.",
      example: "America/New_York",
      advanced: true,
    },
    format,
  },
  data: Summary,
  example,
  errors: [
    "invalid_parameter",
    "missing_parameter",
    "invalid_ticker",
    "invalid_range",
    "unknown_ticker",
    "not_in_plan",
    ...COUNTED_ERRORS,
  ],
  cost: ({ from, to }) => {
    const stepS = summaryTimeframe(from, to) === "M1" ? MINUTE_S : HOUR_S;
    return Math.ceil((daysOf(from, to) * DAY_S) / stepS / SUMMARY_KLINES_PER_COST_UNIT);
  },
  costWords: `Costs one rate-limit unit per ${SUMMARY_KLINES_PER_COST_UNIT.toLocaleString("en-US")} klines of the range: minutes up to ${SUMMARY_MINUTES_MAX_DAYS} days, else hours.`,
  mcp: { tool: true, result: { schema: SummaryTable, of: tableOfSummary } },
  revalidated: true,
  check: ({ from, to, by, zone }) => {
    const days = daysOf(from, to);
    if (days <= 0) return { fault: "invalid_range", parameter: "from", detail: "`from` must be before `to`." };
    if (days > SUMMARY_MAX_DAYS)
      return { fault: "invalid_range", parameter: "from", detail: `The range must not exceed ${SUMMARY_MAX_DAYS} days.` };
    if (zone !== undefined && by !== "hour_of_day")
      return { fault: "invalid_parameter", parameter: "zone", detail: "goes with `by=hour_of_day`." };
    return undefined;
  },
});
