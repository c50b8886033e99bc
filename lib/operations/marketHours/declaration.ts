import { z } from "zod";
import { AgentTime, agentTime } from "#lib/contract/agent-times";
import { HOURS_DEFAULT_DAYS, HOURS_MAX_DAYS, HOURS_SESSIONS_MAX_COUNT } from "#lib/contract/limits";
import { operation } from "#lib/contract/operation";
import { COUNTED_ERRORS } from "#lib/contract/operation-errors";
import { Ticker, UnixSeconds, UnixSecondsParameter } from "#lib/contract/primitives";
import { orderIssue, ticker } from "#lib/contract/query";
import { DAY_S } from "#lib/units";

const TradingSession = z
  .object({
    from: UnixSeconds.describe("When the market opens."),
    to: UnixSeconds.describe("When the market closes, or the end of the range if it is open there."),
  })
  .meta({ id: "TradingSession", description: "A time in which the market is open: from <= time < to." });

/** The sessions of a ticker in a range. */
export const TradingHours = z
  .object({
    ticker: Ticker,
    from: UnixSeconds.describe("Start of the range, inclusive."),
    to: UnixSeconds.describe(
      `End of the range, exclusive. It is earlier than requested where the calendar is not known any further, and after ${HOURS_SESSIONS_MAX_COUNT} sessions: continue with it as \`from\`. When it equals \`from\`, nothing is known.`,
    ),
    sessions: z
      .array(TradingSession)
      .describe("The sessions in the range, ascending. Holidays, early closes and late opens are taken into account."),
  })
  .meta({ id: "TradingHours", description: "When the market of a ticker is open, according to its trading calendar." });
export type TradingHours = z.infer<typeof TradingHours>;

/** The same for agents, with times in ISO 8601. */
const SessionTable = TradingHours.extend({
  from: AgentTime,
  to: AgentTime,
  sessions: z.array(z.object({ from: AgentTime, to: AgentTime })),
}).meta({ id: "SessionTable" });

const tradingHoursExample: TradingHours = {
  ticker: "EURUSD",
  from: 1_766_966_400,
  to: 1_767_571_200,
  sessions: [
    { from: 1_766_966_400, to: 1_767_218_400 },
    { from: 1_767_304_800, to: 1_767_391_200 },
  ],
};

export const marketHours = operation({
  id: "marketHours",
  method: "GET",
  path: "/api/v1/market/hours",
  scope: "market:read",
  summary: "Trading hours",
  description:
    "Returns the times in a range at which the market of a ticker is open, in the past and in the future, based on its trading calendar.",
  query: {
    ticker,
    from: {
      schema: UnixSecondsParameter,
      required: false,
      description: "Start of the range in Unix seconds, or in ISO 8601 with a UTC offset; inclusive (default: now).",
      example: "1766966400",
    },
    to: {
      schema: UnixSecondsParameter,
      required: false,
      description: `End of the range in Unix seconds, or in ISO 8601 with a UTC offset; exclusive, at most ${HOURS_MAX_DAYS} days after \`from\` (default: ${HOURS_DEFAULT_DAYS} days after \`from\`).`,
      example: "1767571200",
    },
  },
  data: TradingHours,
  example: tradingHoursExample,
  errors: ["invalid_parameter", "missing_parameter", "invalid_ticker", "invalid_range", "unknown_ticker", ...COUNTED_ERRORS],
  cost: () => 1,
  mcp: {
    tool: true,
    result: {
      schema: SessionTable,
      of: ({ ticker, from, to, sessions }: TradingHours) => ({
        ticker,
        from: agentTime(from),
        to: agentTime(to),
        sessions: sessions.map((session) => ({ from: agentTime(session.from), to: agentTime(session.to) })),
      }),
    },
  },
  check: ({ from, to }) => rangeIssue(from, to),
});

/** What is wrong with a range whose both ends are known; undefined for nothing. */
export function rangeIssue(from: number | undefined, to: number | undefined) {
  if (from === undefined || to === undefined) return undefined;
  if (to - from <= HOURS_MAX_DAYS * DAY_S) return orderIssue(from, to);
  return { fault: "invalid_range", parameter: "from", detail: `The range must not exceed ${HOURS_MAX_DAYS} days.` } as const;
}
