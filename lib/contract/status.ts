import { z } from "zod";
import { FINAL_DISPLAY_STATES } from "./display-class";
import { IsoInstant, Ticker } from "./primitives";

export { DISPLAY_CLASS, FINAL_DISPLAY_STATES, type FinalDisplayState } from "./display-class";

const CALENDAR_STATES = ["open", "closed", "unknown"] as const;
export const MARKET_DATA_STATES = ["live", "stale", "missing"] as const;
const CALENDAR_SOURCES = ["session_rules", "holiday_calendar", "operator_override", "unavailable"] as const;
export const STATUS_REASONS = [
  "calendar_missing",
  "calendar_horizon",
  "weekend",
  "daily_break",
  "holiday",
  "early_close",
  "late_open",
  "operator_override",
  "ticks_while_closed",
  "quote_older_than_threshold",
  "awaiting_first_quote",
  "no_quote_since_open",
  "not_offered",
  "projected",
] as const;

export type CalendarState = (typeof CALENDAR_STATES)[number];
export type MarketDataState = (typeof MARKET_DATA_STATES)[number];
export type CalendarSource = (typeof CALENDAR_SOURCES)[number];
export type StatusReason = (typeof STATUS_REASONS)[number];

/** Market status of one instrument. Clients treat a value they do not know as `unknown`. */
export const MarketStatus = z
  .object({
    ticker: Ticker,
    calendar_state: z.enum(CALENDAR_STATES).describe("State according to the trading calendar."),
    market_data_state: z.enum(MARKET_DATA_STATES).describe("State of the market data."),
    final_display_state: z.enum(FINAL_DISPLAY_STATES).describe("The state to show to users."),
    next_open_at: IsoInstant.nullable().describe("Next open after this time; null if unknown or never."),
    next_close_at: IsoInstant.nullable().describe("Next close after this time; null if unknown or never."),
    reason: z.enum(STATUS_REASONS).nullable().describe("Reason for the state; null if there is nothing to explain."),
    calendar_source: z.enum(CALENDAR_SOURCES).describe("The calendar layer that determined the state."),
    provider_source: z.string().nullable().describe("Slug of the connected provider; null if there is none."),
    updated_at: IsoInstant.describe("When this status was computed."),
  })
  .meta({ id: "MarketStatus", description: "Market status of one instrument." });
export type MarketStatus = z.infer<typeof MarketStatus>;

export const marketStatusExample: MarketStatus = {
  ticker: "EURUSD",
  calendar_state: "closed",
  market_data_state: "stale",
  final_display_state: "closed",
  next_open_at: "2026-01-04T22:00:00.000Z",
  next_close_at: "2026-01-09T22:00:00.000Z",
  reason: "weekend",
  calendar_source: "session_rules",
  provider_source: "sandbox",
  updated_at: "2026-01-03T12:00:00.000Z",
};
