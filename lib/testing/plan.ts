import type { PlanForm } from "#lib/contract/portal-admin";

/** The form of a plan that includes everything, without its rates and live access. */
export const NO_PLAN_TERMS = {
  month_units: null,
  month_hard: false,
  history_days: null,
  streams: true,
  permissions: { kind: "all" },
  price: null,
  public: false,
} as const satisfies Partial<PlanForm>;
