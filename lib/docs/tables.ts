import { ERROR_IDS } from "#lib/contract/errors";
import {
  LINK_CALLS_BURST_COUNT,
  LINK_CALLS_PER_MINUTE_COUNT,
  LINK_LIFETIME_MAX_S,
  LINKS_PER_ACCOUNT_MAX_COUNT,
  PLAN_DEFAULTS,
  PLAN_LIMITS,
} from "#lib/contract/limits";
import {
  DISPLAY_CLASS,
  FINAL_DISPLAY_STATES,
  type FinalDisplayState,
  STATUS_REASONS,
  type StatusReason,
} from "#lib/contract/status";
import { DAY_S } from "#lib/units";
import { closesTable, limitsTable } from "./asyncapi-limits";
import { markdownTable } from "./markdown-table";
import { errorRows } from "./reference/operations";

const STATE_MEANINGS: Readonly<Record<FinalDisplayState, string>> = {
  open: "The market is open and its quotes are current, or it has just opened and the first quote is still expected.",
  closed: "The market is closed: a weekend, a daily break or a holiday. No quotes are expected.",
  unknown: "The instrument has no calendar, or its calendar does not cover this time.",
  open_data_stale:
    "The market is open and quotes have arrived since the open, but the newest is older than the instrument's threshold.",
  late_open_data_stale:
    "The market is open, but no quote has arrived since the open and the grace period for the first one is over.",
  open_data_missing: "The market is open, but there has never been a quote and the grace period for the first one is over.",
  not_offered:
    "The venue's data provider does not offer the instrument, or it was never pushed. No quotes are expected at any time.",
};

const REASON_MEANINGS: Readonly<Record<StatusReason, string>> = {
  calendar_missing: "The instrument has no calendar.",
  calendar_horizon: "The calendar does not cover this time.",
  weekend: "Between the last close of one week and the first open of the next.",
  daily_break: "The break between two trading days.",
  holiday: "A holiday without a session.",
  early_close: "The session closed earlier than usual on this date.",
  late_open: "The session opens later than usual on this date.",
  operator_override: "An operator opened or closed the market manually.",
  ticks_while_closed: "Quotes are arriving although the calendar says the market is closed.",
  quote_older_than_threshold: "The newest quote is older than the instrument's threshold.",
  awaiting_first_quote: "The market has just opened and the first quote is still expected.",
  no_quote_since_open: "No quote has arrived since the open and the grace period is over.",
  not_offered: "The venue's data provider does not offer the instrument, or it was never pushed.",
  projected: "The requested time is in the future, so the status follows from the calendar alone.",
};

function statusTable(): string {
  return [
    markdownTable(
      ["`final_display_state`", "Class", "Meaning"],
      FINAL_DISPLAY_STATES.map((state) => [`\`${state}\``, DISPLAY_CLASS[state], STATE_MEANINGS[state]]),
    ),
    markdownTable(
      ["`reason`", "Meaning"],
      STATUS_REASONS.map((reason) => [`\`${reason}\``, REASON_MEANINGS[reason]]),
    ),
  ].join("\n\n");
}

function planLimitsTable(): string {
  return markdownTable(
    ["Plan", ...Object.values(PLAN_LIMITS).map(({ head }) => head)],
    Object.entries(PLAN_DEFAULTS).map(([plan, limits]) => [plan, ...Object.values(limits)]),
  );
}

function linkLimitsTable(): string {
  return markdownTable(
    ["Limit of links", "Value"],
    [
      ["Calls of one link per minute", LINK_CALLS_PER_MINUTE_COUNT],
      ["Calls of one link at once", LINK_CALLS_BURST_COUNT],
      ["Links of an account", LINKS_PER_ACCOUNT_MAX_COUNT],
      ["Longest time until a link expires", `${LINK_LIFETIME_MAX_S / DAY_S} days`],
    ],
  );
}

/** Tables from the contract that guides include by name: `<StatusTable/>`. */
export const CONTRACT_TABLES: Readonly<Record<string, () => string>> = {
  StatusTable: statusTable,
  CloseCodes: closesTable,
  LimitsTable: () => `${planLimitsTable()}\n\n${limitsTable()}`,
  LinkLimits: linkLimitsTable,
  ErrorsTable: () => errorRows(ERROR_IDS),
};
