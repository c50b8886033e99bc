import { ERROR_IDS } from "#lib/contract/errors";
import { PLAN_DEFAULTS } from "#lib/contract/limits";
import {
  DISPLAY_CLASS,
  FINAL_DISPLAY_STATES,
  type FinalDisplayState,
  STATUS_REASONS,
  type StatusReason,
} from "#lib/contract/status";
import { closesTable, limitsTable } from "./asyncapi-limits";
import { markdownTable } from "./markdown-table";
import { errorRows } from "./reference/operations";

const STATE_MEANINGS: Readonly<Record<FinalDisplayState, string>> = {
  open: "The market is open and its quotes are fresh, or the first one after an open is still awaited.",
  closed: "The calendar says closed: a weekend, a break, a holiday. Silence is what is expected.",
  unknown: "There is no calendar for the instrument, or none that reaches this instant.",
  open_data_stale: "Open, and quotes came since the open, but the newest is older than the instrument's threshold.",
  late_open_data_stale: "Open, but no quote came since the open and the time allowed for the first one is over.",
  open_data_missing: "Open, but no quote was ever held, and the time allowed for the first one is over.",
};

const REASON_MEANINGS: Readonly<Record<StatusReason, string>> = {
  calendar_missing: "The instrument has no calendar.",
  calendar_horizon: "The calendar does not reach this instant.",
  weekend: "Between the last close of a week and the first open of the next.",
  daily_break: "The break between two trading days.",
  holiday: "A dated day without a session.",
  early_close: "A dated session has ended earlier than usual.",
  late_open: "A dated session starts later than usual.",
  operator_override: "An operator opened or closed the market by hand.",
  ticks_while_closed: "Fresh quotes came although the calendar says closed.",
  quote_older_than_threshold: "The newest quote is older than the instrument's threshold.",
  awaiting_first_quote: "The market has just opened; the first quote is awaited.",
  no_quote_since_open: "The time allowed for the first quote since the open is over.",
  projected: "The instant asked for is in the future: the calendar alone speaks.",
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
    ["Plan", "Requests a minute", "At once", "Stream connections", "Subscriptions a connection"],
    Object.entries(PLAN_DEFAULTS).map(([plan, limits]) => [plan, ...Object.values(limits)]),
  );
}

/** Tables of the contract that a guide sets by name, in Markdown: `<StatusTable/>`. */
export const CONTRACT_TABLES: Readonly<Record<string, () => string>> = {
  StatusTable: statusTable,
  CloseCodes: closesTable,
  LimitsTable: () => `${planLimitsTable()}\n\n${limitsTable()}`,
  ErrorsTable: () => errorRows(ERROR_IDS),
};
