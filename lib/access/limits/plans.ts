import { eachLimit, PLAN_LIMITS, type PlanLimitField, type PlanLimits } from "#lib/contract/limits";

/** What a plan includes besides its rates. */
interface PlanTerms {
  /** Units of a month; null for no quota. */
  readonly monthUnits: number | null;
  /** Calls beyond the quota are refused. */
  readonly monthHard: boolean;
  /** Days of history; null for all. */
  readonly historyDays: number | null;
  /** Its accounts may open streams. */
  readonly streams: boolean;
}

/** The plan of an account, whose keys share it. */
export interface Plan extends PlanLimits, PlanTerms {
  readonly name: string;
}

/** A plan in the database, with the history that one of its accounts may read. */
export interface PlanRow extends Readonly<Record<PlanLimitField, number>> {
  readonly name: string;
  readonly month_units: number | null;
  readonly month_hard: boolean;
  readonly history_days: number | null;
  readonly streams: boolean;
}

const FIELDS = ["name", ...Object.values(PLAN_LIMITS).map(({ field }) => field), "month_units", "month_hard", "streams"];

/** The days of history that an account may read, of bounds of its own and of its plan, where null is none: the shorter one counts. */
export function shorterHistory(...bounds: readonly (number | null)[]): number | null {
  const days = bounds.filter((bound) => bound !== null);
  return days.length === 0 ? null : Math.min(...days);
}

/** What a query selects of a plan `p` and its account `a` to read a PlanRow, with the shorter history. */
export const PLAN_COLUMNS = [...FIELDS.map((one) => `p.${one}`), "LEAST(p.history_days, a.history_days) AS history_days"].join(
  ", ",
);

/** The terms of a plan that includes everything. */
export const NO_TERMS: PlanTerms = { monthUnits: null, monthHard: false, historyDays: null, streams: true };

/** Converts a row to a plan. Operators edit these rows by hand: a limit below 1 would block the account without an error. */
export const toPlan = (row: PlanRow): Plan => ({
  name: row.name,
  ...eachLimit((_, field) => Math.max(1, row[field])),
  monthUnits: row.month_units,
  monthHard: row.month_hard,
  historyDays: row.history_days,
  streams: row.streams,
});
