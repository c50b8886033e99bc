import { z } from "zod";
import { KeyName } from "./portal";

/** Usage by month, as operators bill it. */

const MonthText = z.string().regex(/^(19[7-9]\d|2\d{3})-(0[1-9]|1[0-2])$/, "must be a month, for example 2026-11.");

/** Which month to show, and how. */
export const BillingQuery = z.strictObject({
  month: MonthText,
  format: z.enum(["json", "csv"]).optional(),
});

/** A key that reads the usage of all accounts, and nothing else. */
export const BillingKeyForm = z.strictObject({ name: KeyName });

/** Usage of one operation; `stream` stands for streams. */
interface BillingOperation {
  readonly operation: string;
  readonly calls: number;
  readonly units: number;
}

/** Usage of one account on one plan. An account whose plan changed within the month has an item for each. */
export interface BillingItem {
  readonly account_id: string;
  /** Its name; in a closed month, the one that it had then. */
  readonly account: string;
  readonly plan: string;
  readonly calls: number;
  readonly units: number;
  /** Opened stream connections, and messages sent to them. */
  readonly connections: number;
  readonly messages: number;
  /** By units, the most first. */
  readonly operations: readonly BillingOperation[];
}

/** What is counted of an item. */
export const BILLING_SUMS = ["calls", "units", "connections", "messages"] as const;
export type BillingSums = Pick<BillingItem, (typeof BILLING_SUMS)[number]>;

/** Usage of all accounts in a month. */
export interface BillingReport {
  readonly month: string;
  /** Since when it does not change any more; null while it is open. */
  readonly closed_at: string | null;
  readonly total: BillingSums;
  /** By account and plan. */
  readonly items: readonly BillingItem[];
}

/** Which month of the reader's own account to show; the current one by default. */
export const MonthQuery = z.strictObject({ month: MonthText.optional() });

/** A UTC day of a month. */
export interface MonthDay {
  readonly at: string;
  readonly units: number;
  /** Units of the month up to the end of this day. */
  readonly total: number;
}

/** How an account used its units in a month, beside the quota that its plan has now. */
export interface MonthReport {
  readonly month: string;
  /** The quota; null for none. Calls beyond a hard one are refused. */
  readonly quota: number | null;
  readonly hard: boolean;
  /** The month in which the account was created: there is nothing before. */
  readonly first_month: string;
  readonly current_month: string;
  /** From the first of the month until its end or today. */
  readonly items: readonly MonthDay[];
}
