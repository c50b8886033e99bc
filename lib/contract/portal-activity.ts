import { MINUTE_S } from "#lib/units";
import type { PortalInvitation, PortalMember } from "./organisation";
import type { PortalKey, UsageReport } from "./portal";
import type { PortalAccount } from "./portal-admin";
import type { LinkInfo } from "./portal-links";

/** UTC days of use that the list of keys draws, including today. */
export const KEY_USE_DAYS = 14;
/** The histogram of the request log: so many intervals of so long, the last one with the present. */
export const LOG_INTERVALS_COUNT = 48;
export const LOG_INTERVAL_S = 30 * MINUTE_S;
/** The newest requests that a CSV file of the log has. */
export const LOG_EXPORT_MAX_ROWS = 10_000;
/** Rows of it that are in memory at once. */
export const LOG_EXPORT_PART_MAX_ROWS = 250;

/** Calls of a key on each of the last KEY_USE_DAYS days, oldest first. */
export interface KeyUse {
  readonly key_id: string;
  readonly calls: readonly number[];
}

/** One account as an operator sees it, with its keys and the calls of the last 30 days, by UTC day. */
export interface AccountReport {
  readonly account: PortalAccount;
  readonly members: readonly PortalMember[];
  readonly invitations: readonly PortalInvitation[];
  readonly keys: readonly PortalKey[];
  readonly use: readonly KeyUse[];
  readonly links: readonly LinkInfo[];
  readonly usage: UsageReport;
}

/** Requests in one interval of the histogram. */
export interface LogInterval {
  readonly at: string;
  readonly calls: number;
  /** Those with a status of 400 or more. */
  readonly errors: number;
}

/** Kinds of entries of the audit log, by the first part of their action. */
export const AUDIT_KINDS = [
  "access",
  "account",
  "calendar",
  "feed",
  "history",
  "incident",
  "instrument",
  "key",
  "link",
  "member",
  "operator",
  "organisation",
  "passkey",
  "plan",
  "recovery_code",
  "second_factor",
  "webhook",
] as const;
